"""Settings of all tests."""

import os
import signal

from hypothesis import settings

# Set before torch is imported, here and in commands that tests start. Several processes that each use all
# cores slow each other down tenfold.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Ray reads the first of these once, when it is first imported, so it must be set before that.
os.environ |= {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # keeps Ray on the loopback interface, on Linux too
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",  # otherwise Ray writes a token into the home folder
}

# No deadlines: the first use of compiled code takes seconds to compile. Examples are the same each time, so
# that results are reproducible; `--hypothesis-profile explore` draws new ones.
settings.register_profile("explore", deadline=None)
settings.register_profile("same", deadline=None, derandomize=True)
settings.load_profile("same")

# A shell starts background processes with SIGINT ignored, but tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
