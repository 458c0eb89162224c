"""The command line."""

from leaps.cli import baseline as baseline
from leaps.cli import experiment as experiment
from leaps.cli import programs as programs
from leaps.cli import repair as repair
from leaps.cli import report as report
from leaps.cli import results as results
from leaps.cli import search as search
from leaps.cli import space as space
from leaps.cli import studio as studio
from leaps.cli import trajectory as trajectory
from leaps.cli.app import main as main
