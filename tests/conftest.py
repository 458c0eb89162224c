"""What all tests share."""

import os
import signal

from hypothesis import settings

# Before torch is imported, here and in commands that tests start: several processes that each use all cores
# get in each other's way, so that what takes three seconds takes thirty.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Ray reads the first of these once, when anything imports it: by then it must be there.
os.environ |= {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # which makes it stay on loopback, on Linux too
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",  # or it writes a token into the home folder
}

# The first use of compiled code compiles it, for seconds: no example is late. Examples are the same each
# time, so that what is checked today is what was checked yesterday; `--hypothesis-profile explore` looks for
# others.
settings.register_profile("explore", deadline=None)
settings.register_profile("same", deadline=None, derandomize=True)
settings.load_profile("same")

# A shell starts what runs in the background with Ctrl-C ignored, and tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
