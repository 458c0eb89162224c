"""Run the searches of several seeds at once, on local processes or a cluster."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from leaps.base.user_code import split_name
from leaps.experiments.backends import Backend, Failure
from leaps.search.solve import Solution, SolveConfig, solve
from leaps.tasks import get


def solve_all(
    configs: Sequence[SolveConfig],
    place: Backend,
    done: Callable[[Solution], object] = id,
    failed: Callable[[SolveConfig, str], object] = lambda config, why: None,  # noqa: ARG005
) -> list[Solution]:
    """Run searches on a backend, and return the solutions of successful ones in the order of the configs.

    place: the backend. `done` and `failed` are called after each search. An interruption returns the
    solutions so far. A task or method from a file must have the same path on the workers.
    """
    found: dict[int, Solution] = {}
    try:
        for number, answer in place.run(_solve, [_with_absolute_paths(config) for config in configs]):
            config = configs[number]
            if isinstance(answer, Failure):
                failed(config, answer.message)
            else:
                asked = replace(answer.config, task=config.task, method=config.method)
                found[number] = replace(answer, config=asked, task=get(config.task))
                done(found[number])
    except KeyboardInterrupt:
        pass
    return [found[number] for number in sorted(found)]


def _solve(config: SolveConfig) -> Solution:
    """Run a search in the worker."""
    # A task may hold functions that can't be pickled; the caller has the task anyway.
    return replace(solve(config), task=None)  # type: ignore[arg-type]


def _with_absolute_paths(config: SolveConfig) -> SolveConfig:
    """A copy of a configuration with absolute paths, valid in any working directory."""
    return replace(config, task=_absolute(config.task), method=_absolute(config.method))


def _absolute(name: str) -> str:
    found = split_name(name)
    return name if found is None else f"{Path(found[0]).absolute()}:{found[1]}"
