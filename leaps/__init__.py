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
    from leaps.domain import Task
    from leaps.dsl.syntax import Program
    from leaps.gym import GymTask as GymTask
    from leaps.gym import ProgramPolicy as ProgramPolicy
    from leaps.gym import number as number
    from leaps.gym import privileged as privileged
    from leaps.search.config import SolveConfig
    from leaps.search.solve import Solution

__version__ = "0.1.0"

register_environments()


_LAZY = {
    "CompiledTask": "leaps.compiled.task",
    **dict.fromkeys(("GymTask", "ProgramPolicy", "number", "privileged"), "leaps.gym"),
}
"""public names, with the modules that they are imported from at first use"""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'leaps' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def solve(
    task: "str | Task | SolveConfig", method: str = "ladder", seed: int = 0, **settings: Any
) -> "Solution":
    """Find a program for a task, from its reward alone.

    Args:
        task: A name of `leaps tasks`, such as `"maze"`, or a user-defined task: the object or
            `"FILE.py:NAME"`. A `SolveConfig` replaces all other arguments.
        method: The search: a name of `leaps solve --help`, such as `"ladder"`, `"leaps"` or `"hc"`, or your
            own as `"FILE.py:NAME"`.
        seed: The same seed gives the same program, whatever the number of cores.
        settings: Fields of `SolveConfig`, such as `budget` (maximum number of evaluations), `size` (height
            and width of the worlds), `also` (other sizes at which the program must work) and `max_length`
            (tokens). Also `listener`, a function that is called with a `Round` after every round.

    Returns:
        The program as text, its expected return on worlds that the search did not use, and its cost. After
            Ctrl-C it is the best program so far.

    Raises:
        ValueError: An argument is wrong, or the task fails. The message says what was expected.

    >>> import leaps
    >>> found = leaps.solve("maze", seed=1)
    >>> found.solved, found.unseen_return
    (True, 1.0)
    """
    from leaps.search.solve import solve as search  # its imports take a second

    return search(task, method, seed, **settings)


def repair(program: "str | Program", task: "str | Task", edits: int = 3, **settings: Any) -> "Repair":
    """Improve a program with a few edits.

    An edit adds, removes or changes one statement. Edits that make no difference are undone. The result is
    never worse than the given program.

    Args:
        program: The program as text, or as the tree that `parse` returns.
        task: A name of `leaps tasks`, or a user-defined task: the object or `"FILE.py:NAME"`.
        edits: Maximum number of edits.
        settings: `seed`, `budget` (evaluations, 500,000 by default), `size` and `also`, as for `solve`.

    Returns:
        The program before and after, with the return of each on the same worlds, and the number of edits.

    >>> import leaps
    >>> fixed = leaps.repair("DEF run m( WHILE c( noMarkersPresent c) w( move w) m)", "maze", edits=2)
    >>> fixed.edits, fixed.solution.unseen_return
    (1, 1.0)
    """
    from leaps.analysis.repair import repair as search

    return search(program, task, edits, **settings)


def results(folder: "str | Path | None" = None, experiment: str | None = None) -> dict[str, list[Any]]:
    """Read stored results as columns, for pandas, polars or plain Python.

    Args:
        folder: The folder of results. By default `results` in the current folder, or else in the source tree
            that LEAPS runs from. The installed package has no results.
        experiment: The name of one experiment, such as `"tasks"`; all by default.

    Returns:
        Lists of equal length by column name, with one element per stored result. `docs/experiments.md` lists
            the columns.

    >>> import leaps
    >>> table = leaps.results(experiment="tasks")  # with pandas: pd.DataFrame(table)
    >>> len(table["return"]) == len(table["task"])
    True
    """
    from leaps.experiments.export import results as read

    return read(folder, experiment)
