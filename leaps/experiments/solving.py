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
    """Run searches elsewhere; return what they found, in their order, without those that failed.

    `done` and `failed` are called with each as it comes. Interrupted, it returns what is there. A task or a
    method in a file has to lie at the same path where the work is done.
    """
    found: dict[int, Solution] = {}
    try:
        for number, answer in place.run(_solve, [_anywhere(config) for config in configs]):
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
    """Search, where the work is done."""
    # A task can hold functions that can't be pickled; who asked has it anyway.
    return replace(solve(config), task=None)  # type: ignore[arg-type]


def _anywhere(config: SolveConfig) -> SolveConfig:
    """A configuration that is the same in another working directory."""
    return replace(config, task=_absolute(config.task), method=_absolute(config.method))


def _absolute(name: str) -> str:
    found = split_name(name)
    return name if found is None else f"{Path(found[0]).absolute()}:{found[1]}"
