"""Programs as policies: short, readable programs that solve tasks, found from reward alone."""

__version__ = "0.1.0"
