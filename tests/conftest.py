"""What all tests share."""

import signal

from hypothesis import settings

# The first use of compiled code compiles it, for seconds: no example is late.
settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")

# A shell starts what runs in the background with Ctrl-C ignored, and tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
