"""The searches by name, each with the settings that it is used with."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.neighbours import Limits, Move, Neighbourhood
from leaps.embedding.space import Space
from leaps.karel.world import LANGUAGE, PROGRAMS
from leaps.randomness import below
from leaps.search.beam import Beam, BeamConfig
from leaps.search.cem import CEM, PAPER, ROBUST
from leaps.search.climbs import MOVES, Climbs, ClimbsConfig
from leaps.search.hill_climb import HillClimb, HillClimbConfig
from leaps.search.near import Near
from leaps.search.random_search import PAPER as PAPER_RANDOM
from leaps.search.random_search import RandomConfig, RandomSearch
from leaps.search.search import InSpace, Programs, Search

START_DEVIATION = 0.35
"""of the points that climbs begin at: around the origin, short programs that do something are dense"""


@dataclass(frozen=True)
class Setting:
    """What a search is built for."""

    task: str
    """or the one that it is a variant of"""
    space: str
    """a shipped variant, or where weights are"""
    seed: int
    max_length: int
    origin: NDArray[np.uint8] | None = None
    """a program to stay close to"""
    edits: int = 0
    """that what is found may differ from it by"""


@dataclass(frozen=True)
class Method:
    """A search, and how it is run."""

    summary: str
    build: Callable[[Setting], Search]
    worlds: int
    """that programs are tried on"""
    budget: int
    """evaluations by default"""
    hunts: bool = False
    """look for worlds that break the best program, and go on with those, too"""
    in_a_row: int = 1
    """perfect rounds that end the search"""
    repairs: bool = False
    """whether it can stay close to a program"""


def _cem(setting: Setting, paper: bool) -> Search:
    space = Space.load(setting.space)
    config = PAPER.get(setting.task, replace(ROBUST, restart_after=0)) if paper else ROBUST
    return InSpace(CEM(config, space.dimensions, setting.seed), space, setting.max_length)


def _random(setting: Setting, samples: int) -> Search:
    space = Space.load(setting.space)
    config = PAPER_RANDOM[samples].get(setting.task, RandomConfig(samples))
    return InSpace(RandomSearch(config, space.dimensions, setting.seed), space, setting.max_length)


def _beam(setting: Setting) -> Search:
    space = Space.load(setting.space)
    return InSpace(Beam(BeamConfig(), space.dimensions, setting.seed), space, setting.max_length)


def _hill_climb(setting: Setting) -> Search:
    limits = Limits(length=setting.max_length)
    return HillClimb(
        HillClimbConfig(),
        Neighbourhood(LANGUAGE, PROGRAMS, limits, {Move.REPLACE: 1.0}, setting.seed),
    )


def _climbs(setting: Setting) -> Search:
    if setting.origin is not None:
        near = Near(setting.origin, setting.edits, MOVES, setting.seed)
        return Climbs(ClimbsConfig(), near, near.begin)
    space = Space.load(setting.space)
    # As many statements in a row as there is room for: some tasks need them.
    limits = Limits(length=setting.max_length, in_a_row=setting.max_length)
    neighbourhood = Neighbourhood(LANGUAGE, PROGRAMS, limits, MOVES, setting.seed)

    def fresh(count: int) -> Programs:
        # From the neighbourhood's stream, so that a search saved and restored goes on the same.
        rng = np.random.default_rng(below(neighbourhood.stream, 2**53))
        points = START_DEVIATION * rng.standard_normal((count, space.dimensions))
        return space.decode(points, setting.max_length)

    return Climbs(ClimbsConfig(), neighbourhood, fresh)


METHODS = {
    "climbs": Method(
        "ours: many climbs from programs of the space, the promising ones longer; worlds that break the best "
        "program are looked for",
        _climbs,
        worlds=32,
        budget=1_000_000,
        hunts=True,
        repairs=True,
    ),
    "cem": Method(
        "the paper's search, with one setting for all tasks that suits the spaces trained here",
        lambda setting: _cem(setting, paper=False),
        worlds=10,
        budget=64_000,
        in_a_row=10,
    ),
    "cem-paper": Method(
        "the same as in the paper: one start, and its settings for its tasks",
        lambda setting: _cem(setting, paper=True),
        worlds=10,
        budget=64_000,
        in_a_row=10,
    ),
    "random-8": Method(
        "the paper's ablation: the best of 8 points of the space", lambda s: _random(s, 8), 10, 8
    ),
    "random-64": Method("the same with 64", lambda s: _random(s, 64), 10, 64),
    "cebs": Method("a beam in the space (a peer)", _beam, worlds=16, budget=1_000_000),
    "hc": Method(
        "hill climbing over programs (the strongest peer)", _hill_climb, worlds=16, budget=1_000_000
    ),
}


def get_method(name: str) -> Method:
    if name not in METHODS:
        raise ValueError(f"unknown method {name!r}; expected one of {', '.join(METHODS)}")
    return METHODS[name]
