"""Read requests, and check every field against its bounds; errors name what was expected and found.

Requests are not trusted. Compiled code indexes worlds without bounds checks, so a world that a task was not
made for must be rejected here or by the domain.
"""

import json
import re
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from leaps.base.user_code import what_is_wrong
from leaps.domain import LIMIT, SHARE, Size, Task
from leaps.dsl.language import Language
from leaps.dsl.text import words
from leaps.tasks import default_domain, full_name, named, shipped

BODY = 64 * 1024
"""maximum number of bytes of a request"""
CHARACTERS, TOKENS = 4000, 400
"""maximum numbers of characters and of tokens in a program"""
SIDE = 100
"""maximum number of cells along a side of a world"""
ACTIONS = 10 * SIDE * SIDE
"""maximum number of actions in a rollout: ten per cell of the largest world"""
EPISODES = 1000
SEEDS = 2**31
WORLDS = 1_000_000
"""number of worlds of a seed that can be requested"""
NAME = 64
"""maximum number of characters in the name of a task or a variant"""
METHODS = {
    "ladder": "Ladder (the default)",
    "leaps+": "LEAPS+ (the paper's, improved)",
    "leaps": "LEAPS (as published)",
    "hc": "Hill climbing",
    "cebs": "Beam search (CEBS)",
    "random-64": "Random, 64 programs",
}
WITHOUT_SPACE = ("ladder", "hc")
"""methods for domains without a learned program space"""
MOST_WORLDS = 256
"""maximum number of worlds on which a search scores each program"""
BUDGET = 1_000_000
"""maximum number of evaluations of a search"""
ALSO = 4
"""maximum number of other sizes or variants at which its program must work"""
PICTURES = 24
"""maximum number of pictures of an environment in one request"""
PLACED, SHOWN_AT_ONCE, WALK = 16, 6, 21
"""maximum numbers of programs placed on the map, of rollouts, and of programs on a walk, in one request"""


class RequestError(ValueError):
    """A request that is wrong, with its HTTP status."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


def _number(text: str) -> Any:
    raise ValueError(f"{text} is not valid JSON")


def read_json(body: bytes, own: Mapping[str, str] | None = None) -> "Fields":
    """Read a request's body, which must be one JSON object."""
    try:
        values = json.loads(body.decode(), parse_constant=_number)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise RequestError(f"expected a JSON object in UTF-8; {reason}", 400) from None
    if not isinstance(values, dict):
        raise RequestError(f"expected a JSON object, found {reprlib.repr(values)}", 400)
    return Fields(values, own or {})


@dataclass(frozen=True)
class Fields:
    """The fields of a request. null means absent."""

    values: Mapping[str, Any]
    own: Mapping[str, str] = field(default_factory=dict)
    """names of the user tasks that may be requested, and their locations"""

    def has(self, name: str) -> bool:
        return self.values.get(name) is not None

    def text(self, name: str) -> str:
        value = self.values.get(name)
        if not isinstance(value, str):
            raise RequestError(f"{name}: expected a text, found {reprlib.repr(value)}")
        return value

    def integer(self, name: str, least: int, most: int, default: int | None = None) -> int:
        value = self.values.get(name)
        if value is None and default is not None:
            return default
        return _integer(value, name, least, most)

    def items(self, name: str, most: int) -> list[Any]:
        """Read a list of 1 to `most` items."""
        value = self.values.get(name)
        if not isinstance(value, list) or not 1 <= len(value) <= most:
            found = f"{len(value)} items" if isinstance(value, list) else reprlib.repr(value)
            raise RequestError(f"{name}: expected a list of 1 to {most}, found {found}")
        return value

    def texts(self, name: str, most: int) -> list[str]:
        items = self.items(name, most)
        for item in items:
            if not isinstance(item, str):
                raise RequestError(f"{name}: expected texts, found {reprlib.repr(item)}")
        return items

    def seed(self) -> int:
        return self.integer("seed", 0, SEEDS - 1, 0)

    def task(self) -> Task:
        return find_task(self.text("task"), self.own)

    def task_for(self, *programs: str) -> Task:
        """Return the requested task, with the words of these programs in its language."""
        return with_words(self.task(), *programs)

    def language(self, *programs: str) -> Language:
        """Return the language of the task; the default domain's if no task is given."""
        domain = self.task_for(*programs).domain if self.has("task") else default_domain()
        return domain.language

    def full_task_name(self) -> str:
        """Return the task's name for another process, with the file of a user task."""
        self.task()
        with self.task_errors():
            return full_name(self.text("task"), self.own)

    @contextmanager
    def task_errors(self) -> Iterator[None]:
        """Turn errors of a user task into request errors; any other error is a bug of the server."""
        try:
            yield
        except RequestError:
            raise
        except Exception as error:
            name = self.values.get("task")
            message = mistake(error, name, self.own) if isinstance(name, str) else None
            if message is None:
                raise
            raise RequestError(f"task: {message}") from error

    def size(self, task: Task) -> Size:
        """Return the requested size or variant, or the task's own."""
        if not self.has("size"):
            return task.check_size(None)
        value = self.values["size"]
        if isinstance(value, str) and len(value) <= NAME:
            return fitting(task, value)
        if not isinstance(value, list) or len(value) != 2:
            raise RequestError(
                f"size: expected [height, width] or the name of a variant, found {reprlib.repr(value)}"
            )
        return fitting(task, _sides(task, *value))

    def drawing(self) -> tuple[list[str], tuple[int, int, int]]:
        """Read a drawing of a world: its rows, and the agent's row, column and heading."""
        value = self.values.get("world")
        if not isinstance(value, dict):
            raise RequestError(f"world: expected rows and karel, found {reprlib.repr(value)}")
        fields = Fields(value)
        rows = fields.texts("rows", SIDE)
        if (longest := max(map(len, rows))) > SIDE:
            raise RequestError(f"world: expected at most {SIDE} cells a row, found {longest}")
        pose = fields.items("karel", 3)
        if len(pose) != 3:
            raise RequestError(f"karel: expected row, column and heading, found {reprlib.repr(pose)}")
        row, column = (_integer(pose[i], "karel", 0, SIDE - 1) for i in range(2))
        return rows, (row, column, _integer(pose[2], "heading", 0, 3))


def _integer(value: Any, name: str, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise RequestError(f"{name}: expected a whole number, found {reprlib.repr(value)}")
    if not least <= value <= most:
        raise RequestError(f"{name}: expected {least} to {most}, found {reprlib.repr(value)}")
    return value


def find_task(name: str, own: Mapping[str, str] | None = None) -> Task:
    """Find a task of the package, or a user task that may be requested.

    Not with `get`, which would import any file that the name points to.
    """
    if len(name) > NAME:
        raise RequestError(f"task: expected a name of at most {NAME} characters, found {len(name)}")
    try:
        task: Task = named(name, own)
        size = task.check_size(None)
        if isinstance(size, tuple) and max(size) > SIDE:
            height, width = size
            raise RequestError(
                f"task: expected worlds of at most {SIDE} cells a side, found {height}x{width}"
            )
        check_horizon(task, size, "task")
    except RequestError:
        raise
    except Exception as error:
        known = isinstance(error, ValueError | OSError)
        message = str(error) if known else mistake(error, name, own or {})
        if message is None:
            raise
        raise RequestError(f"task: {message}") from None
    return task


def with_words(task: Task, *programs: str) -> Task:
    """Return the task with the words of these programs in its language.

    In tasks that compare numbers with constants, each program has its own constants.
    """
    fitting = getattr(task, "fitting", None)
    if fitting is None:
        return task
    try:
        found: Task = fitting({word.text for program in programs for word in words(program)})
    except ValueError as error:
        raise RequestError(f"program: {error}") from None
    return found


def mistake(error: Exception, name: str, own: Mapping[str, str]) -> str | None:
    """Return the message for an error of a user task or an environment; None for other tasks."""
    plain = re.split(f"[{SHARE}{LIMIT}]", name)[0]
    if plain in own:
        return what_is_wrong(error, own[plain])
    task = shipped().get(plain)
    if task is None or task.domain.compiled:
        return None
    # A library that an environment needs may be missing, for example to draw it.
    foreign = type(error).__module__.startswith("gymnasium")
    return str(error) if foreign or isinstance(error, ValueError | ImportError) else None


def check_horizon(task: Task, size: Size, what: str) -> None:
    """Raise an error for rollouts that may take too long."""
    if (horizon := task.horizon(size)) > ACTIONS:
        raise RequestError(f"{what}: expected rollouts of at most {ACTIONS:,} actions, found {horizon:,}")


def fitting(task: Task, size: Size) -> Size:
    """Return the size; raise an error if the task can't be played at it."""
    try:
        found = task.check_size(size)
    except ValueError as error:
        raise RequestError(f"size: {error}") from None
    check_horizon(task, found, "size")
    return found


@dataclass(frozen=True)
class SearchRequest:
    """A checked request for a search."""

    task: str
    """name or FILE.py:NAME, as `leaps.tasks.get` takes it"""
    method: str
    seed: int
    budget: int | None
    size: Size | None
    also: tuple[Size, ...] = ()
    worlds: int | None = None
    """number of worlds on which each program is scored; the method's own if not given"""
    mapped: bool = True
    """whether the page shows the programs on the map"""


def read_search(query: Mapping[str, str], own: Mapping[str, str] | None = None) -> SearchRequest:
    """Read the request for a search from the query of a URL."""
    values: dict[str, Any] = dict(query)
    for name in ("seed", "budget", "worlds"):
        if name in values:
            if not re.fullmatch(r"[0-9]{1,12}", values[name]):
                raise RequestError(f"{name}: expected a whole number, found {reprlib.repr(values[name])}")
            values[name] = int(values[name])
    fields = Fields(values, own or {})
    task = fields.task()
    also = [_size(task, each.strip(), "also") for each in values.get("also", "").split(",") if each.strip()]
    if len(also) > ALSO:
        raise RequestError(f"also: expected at most {ALSO} sizes, found {len(also)}")
    known = methods_for(task)
    method = fields.text("method") if fields.has("method") else known[0]
    if method not in known:
        raise RequestError(f"method: expected one of {', '.join(known)}, found {reprlib.repr(method)}")
    return SearchRequest(
        fields.full_task_name(),
        method,
        fields.seed(),
        fields.integer("budget", 1, BUDGET) if fields.has("budget") else None,
        _size(task, values["size"], "size") if "size" in values else None,
        tuple(also),
        fields.integer("worlds", 1, MOST_WORLDS) if fields.has("worlds") else None,
        task.domain.space is not None,
    )


def methods_for(task: Task) -> list[str]:
    """List the search methods that work for a task."""
    return [name for name in METHODS if task.domain.space is not None or name in WITHOUT_SPACE]


def _size(task: Task, text: str, name: str) -> Size:
    """Read HEIGHTxWIDTH, or the name of a variant for a task that has variants."""
    if isinstance(task.check_size(None), str):
        return fitting(task, text[:NAME])
    match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    if not match:
        raise RequestError(f"{name}: expected HEIGHTxWIDTH such as 8x8, found {reprlib.repr(text)}")
    return _sides(task, int(match[1]), int(match[2]))


def _sides(task: Task, height: Any, width: Any) -> tuple[int, int]:
    least = 3 if task.domain.extras.studio is not None else 1  # worlds that are drawn have a border
    return _integer(height, "height", least, SIDE), _integer(width, "width", least, SIDE)
