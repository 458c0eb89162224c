"""Ladder: many climbs from programs of the learned space, with more evaluations for promising climbs.

A climb steps from a program to a neighbour that is no worse. Most climbs end on a plateau, a few reach the
top, and there is no way to tell them apart beforehand. So a climb pauses on a rung when its patience, a
number of evaluations without improvement, is used up. For every two climbs that reach a rung, the best one
paused there is resumed with twice the patience. If none may be resumed, another climb starts. Every rung thus
gets about the same share of the evaluations, and a good climb never waits long.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.domain import Reworded
from leaps.dsl.neighbours import Move, Neighbourhood
from leaps.search.objective import DROPPED
from leaps.search.search import Candidates, Scores, State, Turn

MOVES = {
    Move.REPLACE: 3.0,
    Move.INSERT: 2.0,
    Move.DELETE: 1.0,
    Move.WRAP: 1.0,
    Move.UNWRAP: 0.5,
    Move.COPY: 0.5,
    Move.EXCHANGE: 0.5,
    Move.ADJUST: 2.0,
    Move.CROSS: 0.5,
    Move.REHEAD: 0.5,
}
"""relative frequency of each kind of move"""
IDEAS = {
    "space": "starts from the learned space; without: from random programs of the grammar",
    "plateau": "steps to neighbours that are as good",
    "far": "neighbours several moves away",
    "moves": "ten kinds of moves; without: only REPLACE, as in HC",
    "ladder": "rungs; without: every climb ends after its first patience",
    "room": "a limit on the length of programs on a plateau",
    "counterexamples": "checks on fresh worlds; without: a program that is perfect on the first worlds "
    "ends the search",
    "simplify": "simplification of the program that was found",
}
"""parts of Ladder that can be switched off, by the name that follows `ladder-`"""


def parse_missing(name: str) -> frozenset[str] | None:
    """Return the ideas that a method's name leaves out: none for `ladder`, two for `ladder-space-far`.

    Return None if the name does not start with `ladder`.
    """
    base, *missing = name.split("-")
    if base != "ladder":
        return None
    for idea in missing:
        if idea not in IDEAS:
            raise ValueError(f"unknown idea {idea!r} in {name!r}; expected {', '.join(IDEAS)}")
    return frozenset(missing)


@dataclass(frozen=True)
class LadderConfig:
    """Settings of Ladder."""

    patience: int = 250
    """evaluations without a better program after which a climb pauses on the first rung; twice as many for
    the second, and so on"""
    resting: int = 8
    """maximum number of climbs kept on a rung, the best ones; with 0 every climb ends at the first rung"""
    starts: int = 32
    """programs drawn for a new climb, which starts at the best of them"""
    batch: int = 16
    """neighbours scored at once"""
    far: bool = True
    """whether neighbours may be several moves away: half of them one, a quarter two, and so on"""
    plateau: bool = True
    """whether a climb also steps to equally good neighbours"""
    plateau_length: float = 0.7
    """fraction of the maximum length up to which a program may grow by plateau moves. Otherwise idle
    statements soon fill it, and it can't grow where that would help"""

    def __post_init__(self) -> None:
        for name, least in (("patience", 1), ("resting", 0), ("starts", 1), ("batch", 1)):
            if (value := getattr(self, name)) < least:
                raise ValueError(f"{name} must be at least {least}, found {value}")
        if not 0 <= self.plateau_length <= 1:
            raise ValueError(f"plateau_length must be from 0 to 1, found {self.plateau_length}")

    def without(self, ideas: frozenset[str]) -> "LadderConfig":
        """Return these settings with some of IDEAS switched off. Ideas without a setting change nothing."""
        off: dict[str, Any] = {
            "far": {"far": False},
            "plateau": {"plateau": False},
            "ladder": {"resting": 0},
            "room": {"plateau_length": 1.0},
        }
        return replace(self, **{name: value for idea in ideas for name, value in off.get(idea, {}).items()})


@dataclass(eq=False)
class Climb:
    """A climb: its current program, score and remaining patience."""

    program: NDArray[np.uint8] | None = None
    score: float = DROPPED
    waited: int = 0
    """evaluations since its last improvement, or since it was resumed"""
    rung: int = 0
    """the next rung, counted from 0"""


@dataclass
class Rung:
    """A rung: the climbs paused on it, and how many climbs reached and left it."""

    came: int = 0
    """climbs that reached this rung"""
    went_on: int = 0
    """climbs resumed from this rung"""
    climbs: list[Climb] = field(default_factory=list)
    """the best climbs paused here"""


class Ladder:
    """Ladder on the ask/tell protocol.

    fresh: draws programs [n, length] that climbs start from.
    """

    finished = False
    answer = None

    def __init__(
        self, config: LadderConfig, neighbourhood: Neighbourhood, fresh: Callable[[int], Candidates]
    ) -> None:
        self.config, self.neighbourhood, self.fresh = config, neighbourhood, fresh
        self.asked: Candidates = np.zeros((0, 0), np.uint8)
        self.turn = Turn()
        self.outdated = False
        """whether the climbs' programs have to be scored again"""
        self.climb = Climb()
        """the active climb"""
        self.rungs: list[Rung] = []

    @property
    def incumbent(self) -> NDArray[np.uint8] | None:
        return None if self.outdated else self.climb.program

    @property
    def _known(self) -> list[Climb]:
        """Return all climbs that have a program."""
        resting = [climb for rung in self.rungs for climb in rung.climbs]
        return resting if self.climb.program is None else [self.climb, *resting]

    @property
    def _programs(self) -> Candidates:
        return np.stack([climb.program for climb in self._known if climb.program is not None])

    def ask(self) -> Candidates:
        self.turn.ask()
        if self.outdated:
            self.asked = self._programs
        elif self.climb.program is None:
            self.asked = self.fresh(self.config.starts)
        else:
            self.asked = self._neighbours(self.climb.program)
        return self.turn.asked(self.asked)

    def _neighbours(self, program: NDArray[np.uint8]) -> Candidates:
        """Draw neighbours: with `far`, half of them one move away, a quarter two, and so on; else all one."""
        others = self._programs  # CROSS may take pieces of the other climbs' programs
        drawn, _ = self.neighbourhood.draw(program[None], self.config.batch, others)
        far = self.config.batch // 2 if self.config.far else 0
        while far:
            drawn[:far], _ = self.neighbourhood.draw(drawn[:far], far, others)
            far //= 2
        return drawn

    def tell(self, scores: Scores) -> None:
        self.turn.tell(scores)
        if self.outdated:
            self.outdated = False
            for climb, score in zip(self._known, scores, strict=True):
                climb.score = float(score)
            return
        climb = self.climb
        climb.waited += len(scores)
        best = int(scores.argmax())
        if climb.program is None or scores[best] > climb.score:
            climb.program, climb.score, climb.waited = self.asked[best].copy(), float(scores[best]), 0
        elif len(
            equal := np.flatnonzero((scores == climb.score) & self._allowed_plateau_moves(climb.program))
        ):
            climb.program = self.asked[equal[0]].copy()
        if climb.waited >= self.config.patience * 2**climb.rung:
            self._rest()
            self.climb = self._next()

    def _allowed_plateau_moves(self, program: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """[n] whether the climb may step to each program asked about if it is equally good.

        It must differ from the present program, and keep room to grow.
        """
        if not self.config.plateau:
            return np.zeros(len(self.asked), np.bool_)
        pad, longest = self.neighbourhood.language.pad, self.neighbourhood.limits.length
        room = max(int(self.config.plateau_length * longest), int((program != pad).sum()))
        short = (self.asked != pad).sum(axis=1) <= room
        return np.asarray(short & (self.asked != program).any(axis=1))

    def _rest(self) -> None:
        """Pause the active climb on its rung; keep only the best climbs there."""
        if self.climb.rung == len(self.rungs):
            self.rungs.append(Rung())
        rung = self.rungs[self.climb.rung]
        rung.came += 1
        rung.climbs.append(self.climb)
        if len(rung.climbs) > self.config.resting:
            rung.climbs.remove(min(rung.climbs, key=lambda climb: climb.score))

    def _next(self) -> Climb:
        """Resume the best climb of the highest rung that may resume one, or start a new climb."""
        for rung in reversed(self.rungs):
            if rung.climbs and rung.went_on < rung.came // 2:
                climb = max(rung.climbs, key=lambda climb: climb.score)
                rung.climbs.remove(climb)
                rung.went_on += 1
                return replace(climb, waited=0, rung=climb.rung + 1)
        return Climb()

    def worlds_changed(self) -> None:
        self.outdated = len(self._known) > 0

    @property
    def programs(self) -> Candidates | None:
        """The programs of all climbs, best first."""
        ranked = sorted(self._known, key=lambda climb: -climb.score)
        return np.stack([climb.program for climb in ranked if climb.program is not None]) if ranked else None

    def reword(self, change: Reworded) -> None:
        self.neighbourhood.reword(change.task.domain.language, change.tokens)
        for climb in self._known:
            assert climb.program is not None
            self.outdated |= not change.same[climb.program].all()
            climb.program = change.tokens[climb.program]

    def state(self) -> State:
        return {
            "stream": self.neighbourhood.stream.copy(),
            "climb": asdict(self.climb),
            "rungs": [asdict(rung) for rung in self.rungs],
            "outdated": self.outdated,
        }

    def restore(self, state: State) -> None:
        self.neighbourhood.stream[:] = np.asarray(state["stream"], np.uint64)
        self.climb = _climb(state["climb"])
        self.rungs = [
            Rung(rung["came"], rung["went_on"], [_climb(climb) for climb in rung["climbs"]])
            for rung in state["rungs"]
        ]
        self.outdated = state["outdated"]
        self.turn = Turn()


def _climb(saved: dict[str, Any]) -> Climb:
    program = saved["program"]
    return Climb(**{**saved, "program": None if program is None else np.asarray(program, np.uint8)})
