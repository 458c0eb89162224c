"""What all tests share."""

from hypothesis import settings

# The first use of compiled code compiles it, for seconds: no example is late.
settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")
