"""The tasks: the paper's six, four harder ones, seven from other papers, and variants."""

import difflib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from leaps.gym.task import GymTask
from leaps.tasks.clean_house import CLEAN_HOUSE
from leaps.tasks.door_key import DOOR_KEY
from leaps.tasks.farmer import FARMER
from leaps.tasks.four_corner import FOUR_CORNER
from leaps.tasks.harvester import HARVESTER, HARVESTER_SUBSETS
from leaps.tasks.inf_door_key import INF_DOOR_KEY
from leaps.tasks.inf_harvester import INF_HARVESTER
from leaps.tasks.maze import MAZE, MAZE_AS_RUN, MAZE_FROM_CORNER
from leaps.tasks.one_stroke import ONE_STROKE
from leaps.tasks.path_follow import PATH_FOLLOW
from leaps.tasks.seeder import SEEDER
from leaps.tasks.seesaw import SEESAW
from leaps.tasks.snake import SNAKE
from leaps.tasks.stair_climber import STAIR_CLIMBER, STAIR_CLIMBER_AS_RUN, STAIR_CLIMBER_FREE
from leaps.tasks.task import CALLS, COST, LIMIT, SHARE, Task
from leaps.tasks.top_off import TOP_OFF, TOP_OFF_AS_RUN
from leaps.tasks.up_n_down import UP_N_DOWN
from leaps.tasks.wall_avoider import WALL_AVOIDER
from leaps.user_code import load, split_name

N = TypeVar("N", int, float)

PAPER = {task.name: task for task in (STAIR_CLIMBER, FOUR_CORNER, TOP_OFF, MAZE, CLEAN_HOUSE, HARVESTER)}
HARD = {task.name: task for task in (DOOR_KEY, ONE_STROKE, SEEDER, SNAKE)}
HELD_OUT = {
    task.name: task
    for task in (PATH_FOLLOW, WALL_AVOIDER, SEESAW, UP_N_DOWN, FARMER, INF_DOOR_KEY, INF_HARVESTER)
}
"""tasks from other papers, which no search or hyperparameter here was tuned on"""
TASKS = {**PAPER, **HARD, **HELD_OUT}
AS_RUN = {
    task.variant_of or task.name: task
    for task in (STAIR_CLIMBER_AS_RUN, FOUR_CORNER, TOP_OFF_AS_RUN, MAZE_AS_RUN, CLEAN_HOUSE, HARVESTER)
}
"""the paper's six as its authors' code runs them, by their names in PAPER; three differ from the text"""
VARIANTS = {
    task.name: task
    for task in (
        MAZE_FROM_CORNER,
        HARVESTER_SUBSETS,
        STAIR_CLIMBER_FREE,
        *(task for task in AS_RUN.values() if task.variant_of is not None),
    )
}
"""tasks that differ from one of TASKS in how a world is drawn or what a state is worth"""


def get(name: str) -> Any:
    """Find a task by name, or one of your own by its file: `path/to/file.py:NAME`.

    Either way, `top-off@0.25` draws from a quarter of its configurations only, and in `top-off~100` a rollout
    takes at most 100 actions. `top-off~220calls` runs programs with the limit of the paper authors'
    interpreter: 220 internal calls. In `seesaw~cost` every action costs 0.0001, as in the published
    returns of KAREL-LONG. Variants can be combined, as in `seesaw~100~cost`. A file is imported, so this is
    for names that come from whoever runs the program; `named` is for all others.
    """
    place = split_name(name)
    if place is None:
        return named(name)
    file, rest = place
    variable, changes = _split_changes(rest)
    found = load(file, variable, (Task, GymTask), "task")
    if changes and not isinstance(found, Task):
        raise ValueError(f"{name}: {SHARE} and {LIMIT} are for tasks of Karel")
    return _changed(found, changes)


def named(name: str, own: Mapping[str, str] | None = None) -> Task:
    """Find one of the tasks that come with the package, or a variant of one, by its plain name.

    own: plain names of your own, and the `path/to/file.py:NAME` of each. No other file is imported.
    """
    own = own or {}
    name, changes = _split_changes(name)
    known = {**TASKS, **VARIANTS}
    if name in known:
        return _changed(known[name], changes)
    if name in own:
        return _changed(get(own[name]), changes)
    by_letters = {_letters(other): other for other in (*known, *own)}
    close = difflib.get_close_matches(_letters(name), by_letters, n=1)
    listed = ", ".join((*TASKS, *own))
    hint = f"did you mean {by_letters[close[0]]!r}?" if close else f"expected one of {listed}"
    raise ValueError(f"unknown task {name!r}; {hint}")


def plain_name(name: str) -> tuple[str, dict[str, str]]:
    """Give a task a name without a path, and say where it is if it is one of your own: what `named` takes.

    So whoever knows the plain name can ask for the task, but for no other file.
    """
    found = split_name(name)
    if found is None:
        return named(name).name, {}
    file, rest = found
    variable, changes = _split_changes(rest)
    place = f"{Path(file).absolute()}:{variable}"
    task = get(place)
    if task.name in TASKS or task.name in VARIANTS:
        raise ValueError(
            f"{file}: {variable} has the name of a task that ships, {task.name!r}; give it another"
        )
    if set(task.name) & {SHARE, LIMIT}:
        raise ValueError(
            f"{file}: expected a name of {variable} without {SHARE} and {LIMIT}, found {task.name!r}"
        )
    return _changed(task, changes).name, {task.name: place}


def full_name(name: str, own: Mapping[str, str]) -> str:
    """Write a name that `named` takes as `get` takes it, in another process too."""
    plain, changes = _split_changes(name)
    named(name, own)  # so that nothing but valid changes is put behind a file
    return own.get(plain, plain) + "".join(sign + value for sign, value in changes)


def _letters(name: str) -> str:
    """What is left of a name for those who don't remember how it is written."""
    return re.sub("[-_ ]", "", name.lower())


def _split_changes(name: str) -> tuple[str, list[tuple[str, str]]]:
    """Split `top-off@0.25~100~cost` into the task's name and what is to be different."""
    whole = name
    name, *rest = re.split(f"([{SHARE}{LIMIT}])", whole)
    changes = list(zip(rest[::2], rest[1::2], strict=True))
    signs = [sign + COST if value == COST else sign for sign, value in changes]
    if len(set(signs)) < len(signs):
        raise ValueError(
            f"expected {SHARE}, a limit after {LIMIT}, and {LIMIT}{COST} once each at most, found {whole!r}"
        )
    return name, changes


def _changed(task: Task, changes: list[tuple[str, str]]) -> Task:
    for sign, value in changes:
        if sign == SHARE:
            task = task.seen(_number(value, float, "share of configurations", sign))
        elif value == COST:
            task = task.with_cost()
        elif value.endswith(CALLS):
            task = task.within_calls(_number(value, _whole_calls, "number of calls", sign))
        else:
            what = f"number of actions, a number of calls such as 220{CALLS}, or {COST!r}"
            task = task.within(_number(value, _whole, what, sign))
    return task


def _whole_calls(text: str) -> int:
    return _whole(text.removesuffix(CALLS))


def _whole(text: str) -> int:
    if not re.fullmatch("[0-9]+", text):
        raise ValueError
    return int(text)


def _number(text: str, kind: Callable[[str], N], what: str, sign: str) -> N:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"expected a {what} after {sign}, found {text!r}") from None


__all__ = [
    "AS_RUN",
    "HARD",
    "HELD_OUT",
    "PAPER",
    "TASKS",
    "VARIANTS",
    "Task",
    "full_name",
    "get",
    "named",
    "plain_name",
]
