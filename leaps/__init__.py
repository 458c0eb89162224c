"""Programs as policies: short, readable programs that solve tasks, found from reward alone.

>>> import leaps
>>> leaps.solve("maze").solved
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from leaps.karel.registration import register_environments

if TYPE_CHECKING:
    from pathlib import Path

    from leaps.analysis.repair import Repair
    from leaps.compiled.task import CompiledTask as CompiledTask
    from leaps.gym import GymTask as GymTask
    from leaps.gym import ProgramPolicy as ProgramPolicy
    from leaps.gym import number as number
    from leaps.gym import privileged as privileged
    from leaps.search.solve import Solution

__version__ = "0.1.0"

register_environments()


_LAZY = {
    "CompiledTask": "leaps.compiled.task",
    **dict.fromkeys(("GymTask", "ProgramPolicy", "number", "privileged"), "leaps.gym"),
}
"""public names, and the modules that they are imported from when they are first used"""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'leaps' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def solve(task: Any, method: str = "ladder", seed: int = 0, **settings: Any) -> "Solution":
    """Find a program for a task; see `leaps.search.solve.solve`."""
    from leaps.search.solve import solve as search  # what it needs takes a second to import

    return search(task, method, seed, **settings)


def repair(program: Any, task: Any, edits: int = 3, **settings: Any) -> "Repair":
    """Make a program better with a few edits; see `leaps.analysis.repair.repair`."""
    from leaps.analysis.repair import repair as search

    return search(program, task, edits, **settings)


def results(folder: "str | Path | None" = None, experiment: str | None = None) -> dict[str, list[Any]]:
    """Read stored results as columns for pandas or polars; see `leaps.experiments.export.results`."""
    from leaps.experiments.export import results as read

    return read(folder, experiment)
