"""The paper's study of human debugging: programs that people improved with a few edits."""

from dataclasses import dataclass

from leaps.dsl.syntax import Program
from leaps.dsl.text import parse
from leaps.experiments.paper import REPORTED
from leaps.karel.world import LANGUAGE

ORIGINAL = "original"
EDITS = {"3-edits": 3, "5-edits": 5}
"""rows of the study's table, and the number of edits allowed"""


@dataclass(frozen=True)
class Studied:
    """A program of the study."""

    task: str
    program: Program
    note: str = ""
    """note for comparing its return with the reported one"""

    @property
    def reported(self) -> dict[int, float]:
        """The mean return that people reached, by number of edits."""
        table = REPORTED["debugging"]
        return {edits: table[row][self.task].mean for row, edits in {ORIGINAL: 0, **EDITS}.items()}


_PICK = "pickMarker move "
_ROUND = "WHILE c( noMarkersPresent c) w( turnRight move w) putMarker move "

STUDY = {
    "top-off": Studied(
        "top-off",
        parse(f"DEF run m( {_ROUND * 4}m)", LANGUAGE),
        "The worlds in the authors' code differ from the paper's text: their last cell always has a marker "
        "(`top-off-as-run`). In those worlds this program has a return of 0.84 (reported: 0.86). Here it "
        "leaves the row when it finds no fourth marker.",
    ),
    "four-corner": Studied(
        "four-corner",
        parse(
            f"DEF run m( turnRight turnRight move {'turnRight ' * 30}putMarker turnRight turnRight m)",
            LANGUAGE,
        ),
    ),
    "harvester": Studied(
        "harvester",
        parse(
            f"DEF run m( turnLeft turnLeft {_PICK * 5}turnLeft {_PICK * 4}turnLeft {_PICK * 3}turnLeft "
            f"{_PICK * 3}turnLeft {_PICK * 3}m)",
            LANGUAGE,
        ),
    ),
}
"""programs by task, as printed in appendix "Human Debugging" of the paper"""
