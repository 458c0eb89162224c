"""Programs as policies: short, readable programs that solve tasks, found from reward alone."""

from leaps.registration import register_environments

__version__ = "0.1.0"

register_environments()
