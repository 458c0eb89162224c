"""Search methods by name, each with its settings."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from leaps.base.randomness import below
from leaps.base.user_code import split_name
from leaps.domain import Domain
from leaps.dsl.neighbours import Limits, Move, Neighbourhood
from leaps.search.beam import Beam, BeamConfig
from leaps.search.hill_climb import HillClimb, HillClimbConfig
from leaps.search.ladder import IDEAS, MOVES, Ladder, LadderConfig, parse_missing
from leaps.search.leaps import CHANGES, REDRAW_EVERY, Leaps, parse_changes
from leaps.search.near import Near
from leaps.search.objective import NEARLY
from leaps.search.random_search import RandomSearch, config_for
from leaps.search.search import Candidates, InSpace, Search
from leaps.search.user_method import builder_in, checked

if TYPE_CHECKING:
    from leaps.embedding.space import Space

START_STD = 0.35
"""standard deviation of the points that climbs start at: short programs that do something are most frequent
around the origin"""


@dataclass(frozen=True)
class Setting:
    """The task and settings that a search is built for."""

    domain: Domain
    """the language and grammar of programs"""
    task: str
    """name of the task, or of the task that it is a variant of"""
    space: str | None
    """a shipped variant, or a path to weights for the domain's language; None: there is no space"""
    seed: int
    max_length: int
    """maximum length of a program in tokens"""
    perfect: float = 1.0 - NEARLY
    """the lowest score that counts as perfect"""
    origin: NDArray[np.uint8] | None = None
    """a program to repair; None: search from scratch"""
    edits: int = 0
    """maximum number of edits to `origin`"""


@dataclass(frozen=True)
class Method:
    """A search method and the settings of its runs."""

    summary: str
    build: Callable[[Setting], Search]
    worlds: int = 16
    """number of worlds that programs are scored on"""
    budget: int = 1_000_000
    """default maximum number of evaluations"""
    counterexamples: bool = False
    """add worlds on which the best program fails, until it is perfect on fresh worlds"""
    simplifies: bool = False
    """simplify the final program"""
    redraw_every: int = 0
    """rounds after which all worlds are replaced; 0: never"""
    until_perfect: bool = True
    """stop at the first program that is perfect on the search's worlds; else the search decides by
    `finished`"""
    repairs: bool = False
    """whether it can repair a program (`Setting.origin`)"""


def _space_of(setting: Setting, raw: bool = False) -> "Space":
    """Load the space that a search among points needs."""
    if setting.space is None:
        raise ValueError(
            f"this search looks among the points of a program space, and {setting.domain.name} has none; "
            "expected ladder or hc, or a space learned by `leaps train --task`"
        )
    from leaps.embedding.space import Space  # imports torch, which METHODS alone doesn't need

    return Space.load(setting.space, raw=raw, language=setting.domain.language)


def _ladder(missing: frozenset[str]) -> Callable[[Setting], Search]:
    """Return the builder of Ladder without the IDEAS in `missing`."""
    config = LadderConfig().without(missing)
    moves = {Move.REPLACE: 1.0} if "moves" in missing else MOVES

    def build(setting: Setting) -> Search:
        if setting.origin is not None:
            near = Near(setting.domain, setting.origin, setting.edits, moves, setting.seed)
            return Ladder(config, near, near.begin)
        # No separate limit on statements in a row: some tasks need many.
        limits = Limits(length=setting.max_length, in_a_row=setting.max_length)
        neighbourhood = Neighbourhood(
            setting.domain.language, setting.domain.programs, limits, moves, setting.seed
        )
        if "space" in missing or setting.space is None:
            return Ladder(config, neighbourhood, neighbourhood.fresh)
        space = _space_of(setting)

        def fresh(count: int) -> Candidates:
            # From the neighbourhood's stream, so that a search saved and restored continues identically.
            rng = np.random.default_rng(below(neighbourhood.stream, 2**53))
            points = START_STD * rng.standard_normal((count, space.dimensions))
            return space.decode(points, setting.max_length)

        return Ladder(config, neighbourhood, fresh)

    return build


def _without(missing: frozenset[str]) -> Method:
    """Return the method Ladder without some of its ideas."""
    return replace(
        METHODS["ladder"],
        summary=f"Ladder without: {', '.join(name for name in IDEAS if name in missing)}",
        build=_ladder(missing),
        counterexamples="counterexamples" not in missing,
        simplifies="simplify" not in missing,
    )


def _leaps(changes: frozenset[str]) -> Callable[[Setting], Search]:
    def build(setting: Setting) -> Search:
        space = _space_of(setting, raw="whitened" not in changes)
        return Leaps(space, setting.task, setting.seed, setting.max_length, changes, setting.perfect)

    return build


def _changed(changes: frozenset[str]) -> Method:
    """Return the method LEAPS with some changes."""
    rounds = 1 if {"stop", "best"} <= changes else 2  # scoring the centre, if needed, takes another round
    return replace(
        METHODS["leaps"],
        summary=f"LEAPS, changed: {', '.join(sorted(changes))}",
        build=_leaps(changes),
        redraw_every=rounds * REDRAW_EVERY if "redraw" in changes else 0,
    )


def _random(samples: int, whitened: bool) -> Callable[[Setting], Search]:
    def build(setting: Setting) -> Search:
        space = _space_of(setting, raw=not whitened)
        config = config_for(setting.task, samples, whitened)
        return InSpace(RandomSearch(config, space.dimensions, setting.seed), space, setting.max_length)

    return build


def _beam(setting: Setting) -> Search:
    space = _space_of(setting)
    return InSpace(Beam(BeamConfig(), space.dimensions, setting.seed), space, setting.max_length)


def _hill_climb(setting: Setting) -> Search:
    limits = Limits(length=setting.max_length)
    return HillClimb(
        HillClimbConfig(),
        Neighbourhood(
            setting.domain.language, setting.domain.programs, limits, {Move.REPLACE: 1.0}, setting.seed
        ),
    )


LEAPS_WORLDS = 10
LEAPS_BUDGET = 65_000
"""evaluations: 1,000 iterations of the largest population and its centre"""

METHODS = {
    "ladder": Method(
        "Ladder, this project's search: many climbs over programs, more time for promising ones; worlds on "
        "which the best program fails are added; without some of its ideas: ladder-space-far",
        _ladder(frozenset()),
        worlds=32,
        counterexamples=True,
        simplifies=True,
        repairs=True,
    ),
    "leaps": Method(
        "LEAPS as published: the cross entropy method in the program space, one start, the paper's setting "
        "for each task",
        _leaps(frozenset()),
        LEAPS_WORLDS,
        LEAPS_BUDGET,
        until_perfect=False,
    ),
    "leaps+": Method(
        f"LEAPS with five changes ({', '.join(CHANGES)}); some of them: leaps+restart+best",
        _leaps(frozenset(CHANGES)),
        LEAPS_WORLDS,
        LEAPS_BUDGET,
        until_perfect=False,
    ),
    "random-8": Method(
        "the paper's ablation: the best of 8 points of the space", _random(8, False), LEAPS_WORLDS, 8
    ),
    "random-64": Method("the same with 64 points", _random(64, False), LEAPS_WORLDS, 64),
    "random-8+": Method("random-8 in whitened coordinates", _random(8, True), LEAPS_WORLDS, 8),
    "random-64+": Method("random-64 in whitened coordinates", _random(64, True), LEAPS_WORLDS, 64),
    "cebs": Method("a beam search in the space (Carvalho et al., 2024)", _beam),
    "hc": Method("hill climbing over programs (Carvalho et al., 2024)", _hill_climb),
}


def get_method(name: str) -> Method:
    """Return a method by name, or a user-defined one by its file: `path/to/file.py:NAME`."""
    if name in METHODS:
        return METHODS[name]
    if (user := split_name(name)) is not None:
        return _of_user(*user)
    if (changes := parse_changes(name)) is not None:
        return _changed(changes)
    if (missing := parse_missing(name)) is not None:
        return _without(missing)
    raise ValueError(f"unknown method {name!r}; expected one of {', '.join(METHODS)}, or FILE.py:NAME")


def _of_user(file: str, name: str) -> Method:
    found = builder_in(file, name)
    if not isinstance(found, Method) and not callable(found):
        raise ValueError(f"{file}: expected {name} to be a class, a function or a Method, found {found!r}")
    return user_method(found, file, name)


def user_method(found: Method | Callable[[Setting], Search], file: str, name: str) -> Method:
    """Return the method of a user's file, with checks at every call."""
    if isinstance(found, Method):
        return replace(found, build=checked(found.build, file))
    summary = (found.__doc__ or "").strip() or f"{name} of {file}"
    return Method(summary.splitlines()[0], checked(found, file))


def short_name(name: str) -> str:
    """Return a method's name without the file: NAME of `path/to/file.py:NAME`."""
    user = split_name(name)
    return name if user is None else user[1]
