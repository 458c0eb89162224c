"""Registry of tasks: find a task of any domain by its name, or by the file that defines it."""

import difflib
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from leaps.base.user_code import load, split_name
from leaps.domain import LIMIT, SHARE, Domain, Task

HOMES = ("leaps.karel.tasks", "leaps.gym.known")
"""modules with TASKS and their VARIANTS by name, and perhaps FEATURED ones by heading; imported when needed,
since imports take time"""
DEFAULT_DOMAIN = "leaps.karel.world:KAREL"
"""domain of programs that are given without a task"""


@cache
def default_domain() -> Domain:
    """Return the domain of programs that are given without a task."""
    module, _, name = DEFAULT_DOMAIN.partition(":")
    found: Domain = getattr(import_module(module), name)
    return found


def featured() -> dict[str, dict[str, Any]]:
    """Return the tasks that the studio always lists, by heading and name."""
    groups: dict[str, dict[str, Any]] = {}
    for home in HOMES:
        groups |= getattr(import_module(home), "FEATURED", {})
    return groups


@cache
def listed() -> dict[str, Any]:
    """Return the tasks of the package by name, without variants."""
    return {name: task for home in HOMES for name, task in import_module(home).TASKS.items()}


@cache
def shipped() -> dict[str, Any]:
    """Return the tasks of the package by name, variants last."""
    variants = {name: task for home in HOMES for name, task in import_module(home).VARIANTS.items()}
    return listed() | variants


def get(name: str) -> Any:
    """Find a task by its name, or a user's task by its file: `path/to/file.py:NAME`.

    Suffixes of the name change the task. For Karel, `top-off@0.25` draws from a quarter of its
    configurations only, and in `top-off~100` a rollout takes at most 100 actions. `top-off~220calls` runs
    programs with the limit of the paper authors' interpreter: 220 internal calls. In `seesaw~cost` every
    action costs 0.0001, as in the published returns of KAREL-LONG. Changes can be combined, as in
    `seesaw~100~cost`.

    A file is imported, so use this only for names from the user who runs the program, and `named` for names
    from anywhere else.
    """
    found = split_name(name)
    if found is None:
        return named(name)
    file, rest = found
    variable, changes = _split_changes(rest)
    return _changed(load(file, variable, (Task,), "task"), changes)


def named(name: str, own: Mapping[str, str] | None = None) -> Any:
    """Find a task of the package, or a variant of one, by its plain name.

    own: plain names of user tasks, and the `path/to/file.py:NAME` of each. No other file is imported.
    """
    own = own or {}
    name, changes = _split_changes(name)
    for home in map(import_module, HOMES):  # import no home that is not needed
        if name in home.TASKS or name in home.VARIANTS:
            return _changed((home.VARIANTS | home.TASKS)[name], changes)
    if name in own:
        return _changed(get(own[name]), changes)
    known = shipped()
    by_letters = {_letters(other): other for other in (*known, *own)}
    close = difflib.get_close_matches(_letters(name), by_letters, n=1)
    expected = ", ".join((*listed(), *own))
    hint = f"did you mean {by_letters[close[0]]!r}?" if close else f"expected one of {expected}"
    raise ValueError(f"unknown task {name!r}; {hint}")


def plain_name(name: str) -> tuple[str, dict[str, str]]:
    """Return a task's name without a path, and the location of a user's task by that name, as for `named`.

    A client that sends the plain name gets this task, and can't make the server import other files.
    """
    found = split_name(name)
    if found is None:
        return str(named(name).name), {}
    file, rest = found
    variable, changes = _split_changes(rest)
    location = f"{Path(file).absolute()}:{variable}"
    task = get(location)
    if task.name in shipped():
        raise ValueError(
            f"{file}: {variable} has the name of a built-in task, {task.name!r}; give it another"
        )
    if set(task.name) & {SHARE, LIMIT}:
        raise ValueError(
            f"{file}: expected a name of {variable} without {SHARE} and {LIMIT}, found {task.name!r}"
        )
    return str(_changed(task, changes).name), {task.name: location}


def full_name(name: str, own: Mapping[str, str]) -> str:
    """Convert a name for `named` into one for `get`, which also works in another process."""
    plain, changes = _split_changes(name)
    named(name, own)  # so that only valid changes are appended to a file
    return own.get(plain, plain) + "".join(symbol + value for symbol, value in changes)


def _letters(name: str) -> str:
    """Reduce a name to its letters and digits, for comparison with misspelt names."""
    return re.sub("[-_ ]", "", name.lower())


def _split_changes(name: str) -> tuple[str, list[tuple[str, str]]]:
    """Split `top-off@0.25~100~cost` into the task's name and its changes."""
    plain, *rest = re.split(f"([{SHARE}{LIMIT}])", name)
    return plain, list(zip(rest[::2], rest[1::2], strict=True))


def _changed(task: Any, changes: list[tuple[str, str]]) -> Any:
    return task.changed(changes) if changes else task
