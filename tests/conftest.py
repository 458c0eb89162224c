"""What all tests share."""

import os
import signal

from hypothesis import settings

# Before torch is imported, here and in commands that tests start: several processes that each use all cores
# get in each other's way, so that what takes three seconds takes thirty.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The first use of compiled code compiles it, for seconds: no example is late.
settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")

# A shell starts what runs in the background with Ctrl-C ignored, and tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
