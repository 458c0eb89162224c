"""Check a user-defined search method against the ask/tell protocol before running it on a task."""

import inspect
import json
from collections.abc import Callable

import numpy as np

from leaps.base.user_code import split_name
from leaps.domain import Domain
from leaps.search.methods import Method, Setting, get_method, user_method
from leaps.search.objective import DROPPED
from leaps.search.search import Candidates, Scores, Search
from leaps.tasks import get

ROUNDS = 20
_LENGTHS = (45, 15)
"""maximum program lengths in tokens: the default, and another that a search must read from its setting"""
_TASK = "maze"
"""task whose domain the programs belong to"""


def check_method(method: str | Method | Callable[[Setting], Search], rounds: int = ROUNDS) -> None:
    """Run a search for a few rounds on a toy task; ValueError if it violates the protocol.

    Every `ask` must return programs of at most the maximum length, and `tell` must accept their scores. The
    same seed must give the same programs. A search that is saved (`state`) and restored (`restore`) must ask
    about the same programs as the original search. `finished`, `answer` and `incumbent`, if they exist, must
    have the right types.

    method: `FILE.py:NAME`, or the class, function or `Method` itself.
    """
    if rounds < 2:
        raise ValueError(f"rounds must be at least 2, found {rounds}")
    if isinstance(method, str):
        if split_name(method) is None:
            raise ValueError(f"expected FILE.py:NAME, or a class, a function or a Method, found {method!r}")
        name, build = method, get_method(method).build
    else:
        made = method.build if isinstance(method, Method) else method
        if not inspect.isclass(made) and not inspect.isfunction(made):
            raise ValueError(f"expected a class, a function or a Method, or FILE.py:NAME, found {made!r}")
        name, file = made.__name__, inspect.getsourcefile(made) or ""
        build = user_method(method, file, name).build
    for max_length in _LENGTHS:
        setting = _setting(max_length)
        first, again = (_run(build(setting), setting.domain, rounds) for _ in range(2))
        if (number := _differ(first, again)) is not None:
            raise ValueError(
                f"{name}: the same seed asked about other programs in round {number + 1}; expected all "
                "randomness to come from setting.seed"
            )
    _check_saving(name, build, rounds)


def _setting(max_length: int) -> Setting:
    domain = get(_TASK).domain
    return Setting(domain, _TASK, domain.space, 0, max_length)


def _check_saving(name: str, build: Callable[[Setting], Search], rounds: int) -> None:
    setting = _setting(_LENGTHS[0])
    domain = setting.domain
    search, restored = build(setting), build(setting)
    _run(search, domain, rounds // 2)
    state = search.state()
    if state is None:
        return
    # Like a checkpoint, which stores arrays as lists.
    restored.restore(json.loads(json.dumps(state, default=lambda value: value.tolist())))
    if search.finished != restored.finished:
        raise ValueError(f"{name}: finished is {search.finished}, and {restored.finished} once restored")
    if (number := _differ(_run(search, domain, rounds), _run(restored, domain, rounds))) is not None:
        raise ValueError(
            f"{name}: the restored search asked about other programs in round {number + 1}; expected state "
            "to hold all that the rest of the search depends on, random numbers included"
        )
    search.worlds_changed()
    _run(search, domain, 1)


def _run(search: Search, domain: Domain, rounds: int) -> list[Candidates]:
    """Run a search for some rounds on the toy task; return the programs that it asks about."""
    asked: list[Candidates] = []
    for _ in range(rounds):
        if search.finished:
            break
        asked.append(search.ask())
        search.tell(_scores(asked[-1], search, domain))
        _ = search.answer
    return asked


def _scores(programs: Candidates, search: Search, domain: Domain) -> Scores:
    """Score programs on the toy task: 0.1 for each first or last action of the language, at most 0.9."""
    actions = domain.language.actions
    paid = [domain.language.ids[name] for name in (actions[0], actions[-1])]

    def worth(programs: Candidates) -> Scores:
        return np.asarray(np.isin(programs, paid).sum(axis=-1).clip(max=9) / 10, np.float64)

    scores = worth(programs)
    if (incumbent := search.incumbent) is not None:
        scores[scores < worth(incumbent)] = DROPPED  # as in a task: those that fall behind are rejected early
    return scores


def _differ(one: list[Candidates], other: list[Candidates]) -> int | None:
    """Return the first round, from 0, in which two searches asked about different programs, or None."""
    if len(one) != len(other):
        return min(len(one), len(other))
    return next(
        (number for number, pair in enumerate(zip(one, other, strict=True)) if not np.array_equal(*pair)),
        None,
    )
