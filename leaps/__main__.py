"""`python -m leaps` is the command `leaps`."""

from leaps.cli import main

main()
