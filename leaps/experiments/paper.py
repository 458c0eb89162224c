"""Reported numbers of the paper and of later work on the same tasks, for comparison with results here.

By experiment, row and column; a mean, and its standard deviation over five seeds where one is given.
"""

from typing import NamedTuple

from leaps.search.reconstruct import TEST_PROGRAMS


class Reported(NamedTuple):
    mean: float
    deviation: float | None = None

    def __str__(self) -> str:
        return f"{self.mean:.2f}" + ("" if self.deviation is None else f" ({self.deviation:.2f})")


def _row(columns: tuple[str, ...], *numbers: float | tuple[float, float]) -> dict[str, Reported]:
    found = [Reported(*number) if isinstance(number, tuple) else Reported(number) for number in numbers]
    return dict(zip(columns, found, strict=True))


_SIX = ("stair-climber", "four-corner", "top-off", "maze", "clean-house", "harvester")
_TESTS = tuple(TEST_PROGRAMS)
_SPLITS = ("train", "validation", "test")
_LARGE = ("stair-climber", "maze", "four-corner", "top-off", "harvester")
_UNSEEN = tuple(
    f"{task}@{share}" for task in ("top-off", "harvester-subsets") for share in (0.75, 0.5, 0.25, 0.1, 0.05)
)
_STUDIED = ("top-off", "four-corner", "harvester")
_HARD = ("door-key", "one-stroke", "seeder", "snake")

REPORTED: dict[str, dict[str, dict[str, Reported]]] = {
    # Table 1
    "reconstruction": {
        "naive": _row(_TESTS, (0.65, 0.33), (0.83, 0.07), (0.61, 0.33), (0.16, 0.06)),
        "leaps-p": _row(_TESTS, (0.95, 0.13), (0.82, 0.08), (0.58, 0.35), (0.33, 0.17)),
        "leaps-p+r": _row(_TESTS, (0.98, 0.09), (0.77, 0.05), (0.63, 0.25), (0.52, 0.27)),
        "leaps-p+l": _row(_TESTS, (1.06, 0.00), (0.84, 0.10), (0.77, 0.23), (0.33, 0.13)),
        "leaps-rand-8": _row(_TESTS, (0.62, 0.24), (0.49, 0.09), (0.36, 0.18), (0.28, 0.14)),
        "leaps-rand-64": _row(_TESTS, (0.78, 0.22), (0.63, 0.09), (0.55, 0.20), (0.37, 0.09)),
        "leaps": _row(_TESTS, (1.06, 0.08), (0.87, 0.13), (0.85, 0.30), (0.57, 0.23)),
    },
    # Table 2
    "smoothness": {
        "leaps-p": _row(_SPLITS, 0.22, 0.22, 0.22),
        "leaps-p+r": _row(_SPLITS, 0.22, 0.21, 0.22),
        "leaps-p+l": _row(_SPLITS, 0.31, 0.27, 0.28),
        "leaps": _row(_SPLITS, 0.31, 0.27, 0.27),
    },
    # Table 3
    "tasks": {
        "drl": _row(_SIX, (1.00, 0.00), (0.29, 0.05), (0.32, 0.07), (1.00, 0.00), (0.00, 0.00), (0.90, 0.10)),
        # Reported beside its returns in large worlds, where CleanHouse has none.
        "drl-fcn": _row(_LARGE, (1.00, 0.00), (0.97, 0.03), (0.20, 0.34), (0.28, 0.12), (0.46, 0.16)),
        "drl-abs": _row(
            _SIX, (0.13, 0.29), (0.36, 0.44), (0.63, 0.23), (1.00, 0.00), (0.01, 0.02), (0.32, 0.18)
        ),
        "drl-abs-t": _row(
            _SIX, (0.00, 0.00), (0.05, 0.10), (0.17, 0.11), (1.00, 0.00), (0.01, 0.02), (0.16, 0.18)
        ),
        # From "Revisiting Out-of-Distribution Generalization in Programmatic RL" (ICML 2026), which has no
        # CleanHouse; without standard deviations.
        "ppo-last-action": _row(_LARGE, 1.00, 1.00, 1.00, 1.00, 0.59),
        "hrl": _row(
            _SIX, (-0.51, 0.17), (0.01, 0.00), (0.17, 0.11), (0.62, 0.05), (0.01, 0.00), (0.00, 0.00)
        ),
        "hrl-abs": _row(
            _SIX, (-0.05, 0.07), (0.00, 0.00), (0.19, 0.12), (0.56, 0.03), (0.00, 0.00), (-0.03, 0.02)
        ),
        "naive": _row(
            _SIX, (0.40, 0.49), (0.13, 0.15), (0.26, 0.27), (0.76, 0.43), (0.07, 0.09), (0.21, 0.25)
        ),
        "viper": _row(
            _SIX, (0.02, 0.02), (0.40, 0.42), (0.30, 0.06), (0.69, 0.05), (0.00, 0.00), (0.51, 0.07)
        ),
        "leaps-rand-8": _row(
            _SIX, (0.10, 0.17), (0.10, 0.14), (0.28, 0.05), (0.40, 0.50), (0.00, 0.00), (0.07, 0.06)
        ),
        "leaps-rand-64": _row(
            _SIX, (0.18, 0.40), (0.20, 0.11), (0.33, 0.07), (0.58, 0.41), (0.03, 0.06), (0.12, 0.05)
        ),
        "leaps": _row(
            _SIX, (1.00, 0.00), (0.45, 0.40), (0.81, 0.07), (1.00, 0.00), (0.18, 0.14), (0.45, 0.28)
        ),
        # From "Reclaiming the Source of Programmatic Policies" (2024), on its own variants of the tasks and
        # on the 16 worlds that were searched with.
        "hc": _row(_SIX, 1.00, 1.00, 1.00, 1.00, 1.00, 1.00),
        "cebs": _row(_SIX, 1.00, 1.00, 1.00, 1.00, 1.00, 1.00),
    },
    # The two tables of 100x100
    "generalization": {
        # Trained at 100x100
        "drl": _row(_LARGE, (0.00, 0.00), (0.00, 0.00), (0.00, 0.00), (0.01, 0.01), (0.00, 0.00)),
        "drl-abs": _row(_LARGE, (0.00, 0.00), (0.04, 0.05), (0.37, 0.44), (0.15, 0.12), (0.02, 0.01)),
        # From the same paper as in "tasks"
        "ppo-last-action": _row(_LARGE, 1.00, 1.00, 1.00, 1.00, 0.04),
        "drl-fcn": _row(_LARGE, (-0.20, 0.10), (0.01, 0.01), (0.00, 0.00), (0.01, 0.01), (0.02, 0.00)),
        "viper": _row(_LARGE, (0.00, 0.00), (0.10, 0.12), (0.40, 0.42), (0.03, 0.00), (0.04, 0.00)),
        "leaps": _row(_LARGE, (1.00, 0.00), (1.00, 0.00), (0.45, 0.37), (0.21, 0.03), (0.00, 0.00)),
    },
    "unseen": {
        "drl": _row(
            _UNSEEN,
            (0.17, 0.05),
            (0.12, 0.09),
            (0.12, 0.06),
            (0.17, 0.13),
            (0.13, 0.04),
            (0.64, 0.24),
            (0.71, 0.29),
            (0.21, 0.06),
            (0.14, 0.09),
            (0.04, 0.01),
        ),
        "drl-abs": _row(
            _UNSEEN,
            (0.23, 0.29),
            (0.29, 0.36),
            (0.45, 0.45),
            (0.24, 0.38),
            (0.26, 0.37),
            (0.14, 0.21),
            (0.24, 0.25),
            (0.05, 0.06),
            (0.13, 0.21),
            (0.31, 0.31),
        ),
        "viper": _row(
            _UNSEEN,
            (0.27, 0.03),
            (0.28, 0.04),
            (0.27, 0.06),
            (0.27, 0.02),
            (0.28, 0.03),
            (0.54, 0.01),
            (0.54, 0.02),
            (0.55, 0.01),
            (0.54, 0.01),
            (0.44, 0.22),
        ),
        "leaps": _row(
            _UNSEEN,
            (0.68, 0.18),
            (0.65, 0.13),
            (0.61, 0.24),
            (0.68, 0.21),
            (0.67, 0.18),
            (0.40, 0.30),
            (0.42, 0.27),
            (0.50, 0.35),
            (0.12, 0.19),
            (0.01, 0.03),
        ),
    },
    # The study of human debugging: deviations over three people
    "debugging": {
        "original": _row(_STUDIED, 0.86, 0.25, 0.47),
        "3-edits": _row(_STUDIED, (0.95, 0.07), (0.75, 0.35), (0.85, 0.05)),
        "5-edits": _row(_STUDIED, (1.00, 0.00), (0.92, 0.12), (0.89, 0.00)),
    },
    # Later work again, but for LEAPS of the HPRL paper
    "karel-hard": {
        "leaps": _row(_HARD, 0.50, 0.65, 0.51, 0.21),
        "hc": _row(_HARD, 0.84, 0.95, 1.00, 0.65),
        "cebs": _row(_HARD, 0.50, 0.90, 1.00, 0.26),
    },
}

REPORTED["tasks"]["leaps-220"] = REPORTED["tasks"]["leaps"]
REPORTED["as-run"] = {
    "leaps-rand-8": REPORTED["tasks"]["leaps-rand-8"],
    "leaps-rand-64": REPORTED["tasks"]["leaps-rand-64"],
    "leaps": REPORTED["tasks"]["leaps"],
    "leaps+ties+negative+redraw": REPORTED["tasks"]["leaps"],
}
REPORTED["depends"] = {"leaps": REPORTED["tasks"]["leaps"]}
REPORTED["steps"] = dict.fromkeys(("leaps-220", "leaps"), REPORTED["tasks"]["leaps"])
REPORTED["short"] = {
    method: {f"{task}~100": number for task, number in REPORTED["tasks"][method].items()}
    for method in ("drl", "drl-fcn", "drl-abs", "leaps")
}
"""numbers repeated from Table 3"""

UNSEEN_CHANGES = {
    "drl": dict(
        zip(_UNSEEN, (-46.8, -62.5, -62.5, -46.8, -59.4, -28.9, -21.1, -76.7, -84.4, -95.6), strict=True)
    ),
    # The fifth is printed so; 0.26 is 58.7 % below the 0.63 of Table 3.
    "drl-abs": dict(
        zip(_UNSEEN, (-63.5, -54.0, -28.6, -61.9, -18.8, -56.3, -25.0, -84.4, -59.4, -3.13), strict=True)
    ),
    "viper": dict(
        zip(_UNSEEN, (-10.0, -6.67, -10.0, -10.0, -6.67, 5.88, 5.88, 7.84, 5.88, -13.7), strict=True)
    ),
    "leaps": dict(
        zip(_UNSEEN, (-15.0, -18.8, -23.8, -15.0, -16.3, -13.0, -8.69, 8.69, -73.9, -97.6), strict=True)
    ),
}
"""percent changes in the table of unseen configurations, relative to learning from all of them"""
STUDY_INCREASES = {"3-edits": 97.1, "5-edits": 125.0}
"""mean increases in the human debugging study, in percent"""


class ReportedLength(NamedTuple):
    tokens: int
    loops: int
    """number of WHILE and REPEAT"""


LENGTH_100 = {
    "stair-climber": ReportedLength(17, 1),
    "four-corner": ReportedLength(81, 6),
    "top-off": ReportedLength(80, 1),
    "maze": ReportedLength(18, 2),
    "clean-house": ReportedLength(57, 4),
    "harvester": ReportedLength(78, 0),
}
"""the paper's programs of up to 100 tokens, one per task"""
HC_EVALUATIONS = {
    "stair-climber": 295,
    "four-corner": 1_110,
    "top-off": 3_480,
    "maze": 135,
    "clean-house": 818,
    "harvester": 2_066,
    "seeder": 17_058,
}
"""median evaluations until HC's program was perfect on its own 16 worlds, from the paper of HC"""

INTERPOLATIONS = {
    "close": (
        "DEF run m( turnRight move WHILE c( frontIsClear c) w( move w) WHILE c( not c( frontIsClear "
        "c) c) w( move w) IF c( frontIsClear c) i( move i) m)",
        "DEF run m( turnRight move WHILE c( frontIsClear c) w( move w) WHILE c( not c( frontIsClear "
        "c) c) w( move w) IF c( frontIsClear c) i( move i) m)",
        "DEF run m( turnRight move WHILE c( frontIsClear c) w( move w) IF c( not c( frontIsClear c) "
        "c) i( move i) m)",
        "DEF run m( turnRight move WHILE c( frontIsClear c) w( move w) IF c( not c( frontIsClear c) "
        "c) i( move i) m)",
        "DEF run m( turnRight move WHILE c( frontIsClear c) w( move w) IF c( not c( frontIsClear c) "
        "c) i( move i) m)",
        "DEF run m( turnRight move WHILE c( frontIsClear c) w( move w) IF c( not c( frontIsClear c) "
        "c) i( move i) m)",
        "DEF run m( turnRight move WHILE c( frontIsClear c) w( move w) IF c( not c( frontIsClear c) "
        "c) i( move i) m)",
        "DEF run m( turnRight move turnLeft WHILE c( frontIsClear c) w( move w) IF c( not c( "
        "frontIsClear c) c) i( putMarker i) m)",
        "DEF run m( turnRight move turnLeft WHILE c( frontIsClear c) w( move w) IF c( not c( "
        "frontIsClear c) c) i( putMarker i) m)",
        "DEF run m( turnRight move turnLeft WHILE c( frontIsClear c) w( move w) IF c( not c( "
        "frontIsClear c) c) i( putMarker i) m)",
    ),
    "far": (
        "DEF run m( turnRight turnLeft turnLeft move turnRight putMarker move m)",
        "DEF run m( turnRight turnLeft turnLeft move turnRight putMarker move m)",
        "DEF run m( turnRight turnLeft turnLeft move WHILE c( frontIsClear c) w( putMarker w) "
        "turnRight move m)",
        "DEF run m( turnRight turnLeft move turnLeft WHILE c( frontIsClear c) w( putMarker w) move m)",
        "DEF run m( turnRight turnLeft move WHILE c( frontIsClear c) w( turnLeft w) IF c( not c( "
        "frontIsClear c) c) i( move i) m)",
        "DEF run m( turnRight move turnLeft WHILE c( frontIsClear c) w( move w) IF c( not c( "
        "frontIsClear c) c) i( putMarker i) m)",
        "DEF run m( move turnRight turnLeft move WHILE c( frontIsClear c) w( IF c( not c( "
        "rightIsClear c) c) i( putMarker i) w) m)",
        "DEF run m( move turnRight turnLeft move WHILE c( frontIsClear c) w( IF c( not c( "
        "rightIsClear c) c) i( turnLeft i) w) m)",
        "DEF run m( move turnRight move WHILE c( frontIsClear c) w( IF c( not c( rightIsClear c) c) "
        "i( turnLeft i) w) m)",
        "DEF run m( move turnRight move WHILE c( frontIsClear c) w( IF c( not c( rightIsClear c) c) "
        "i( turnLeft i) w) m)",
    ),
}
"""the paper's decoded interpolations from START to END, for a close and a distant pair of programs"""


class ReportedSearch(NamedTuple):
    iterations: int
    converged: bool


TRAJECTORIES = {
    "stair-climber": ReportedSearch(23, converged=True),
    "four-corner": ReportedSearch(1000, converged=False),
}
"""the searches whose trajectories the paper shows"""
MEAN_LENGTH, LONGEST_PROGRAM = 17.9, 44
"""mean and maximum length of the paper's programs, in tokens"""
