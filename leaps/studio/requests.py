"""What comes in: read it, check it against its bounds, and say what was expected and what was found.

Everything here is about strangers' data. What comes out of it is safe to compute with: compiled code indexes
worlds without looking, so a world that a task was not made for must not get past this module.
"""

import json
import re
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from leaps.base.user_code import what_is_wrong
from leaps.domain import LIMIT, SHARE
from leaps.karel.tasks import KarelTask
from leaps.karel.world import World
from leaps.tasks import full_name, named

BODY = 64 * 1024
"""bytes of the longest request"""
CHARACTERS, TOKENS = 4000, 400
"""of the longest program"""
SIDE = 100
ACTIONS = 10 * SIDE * SIDE
"""of a rollout: what a task allows in the largest world"""
"""cells along a side of the largest world"""
EPISODES = 1000
SEEDS = 2**31
WORLDS = 1_000_000
"""numbered worlds of a seed that can be asked for"""
NAME = 64
"""characters of the longest name of a task"""
METHODS = ("ladder", "leaps+", "leaps", "hc", "cebs", "random-64")
BUDGET = 1_000_000
"""evaluations of the longest search"""
ALSO = 4
"""other sizes of worlds at which its program may have to hold"""
PLACED, SHOWN_AT_ONCE, WALK = 16, 6, 21
"""programs placed on the map, rollouts shown, and programs decoded on a walk, in one request"""


class RequestError(ValueError):
    """A request that can't be answered as it is."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


def _number(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def read_json(body: bytes, own: Mapping[str, str] | None = None) -> "Fields":
    """Read a request's body, which must be one JSON object."""
    try:
        values = json.loads(body.decode(), parse_constant=_number)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)[:200]
        raise RequestError(f"expected a JSON object in UTF-8; {reason}", 400) from None
    if not isinstance(values, dict):
        raise RequestError(f"expected a JSON object, found {reprlib.repr(values)}", 400)
    return Fields(values, own or {})


@dataclass(frozen=True)
class Fields:
    """The fields of a request. null is as good as absent."""

    values: Mapping[str, Any]
    own: Mapping[str, str] = field(default_factory=dict)
    """tasks of one's own that may be asked for, and where they are"""

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
        """A list of one to `most` things."""
        value = self.values.get(name)
        if not isinstance(value, list) or not 1 <= len(value) <= most:
            found = f"{len(value)} of them" if isinstance(value, list) else reprlib.repr(value)
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

    def task(self) -> KarelTask:
        return find_task(self.text("task"), self.own)

    def full_task_name(self) -> str:
        """The task's name as another process can call it, which imports the file of one's own itself."""
        self.task()
        with self.telling_mistakes():
            return full_name(self.text("task"), self.own)

    @contextmanager
    def telling_mistakes(self) -> Iterator[None]:
        """Tell who asked what a task of their own gets wrong; what goes wrong with another is our mistake."""
        try:
            yield
        except RequestError:
            raise
        except Exception as error:
            name = self.values.get("task")
            plain = re.split(f"[{SHARE}{LIMIT}]", name)[0] if isinstance(name, str) else ""
            said = what_is_wrong(error, self.own.get(plain, ""))
            if said is None:
                raise
            raise RequestError(f"task: {said}") from error

    def size(self, task: KarelTask) -> tuple[int, int]:
        """The size asked for, or the task's own."""
        if not self.has("size"):
            return task.size
        value = self.values["size"]
        if not isinstance(value, list) or len(value) != 2:
            raise RequestError(f"size: expected [height, width], found {reprlib.repr(value)}")
        return fitting(task, _sides(*value))

    def world(self) -> World:
        """A world drawn by hand."""
        value = self.values.get("world")
        if not isinstance(value, dict):
            raise RequestError(f"world: expected rows and karel, found {reprlib.repr(value)}")
        fields = Fields(value)
        rows = fields.texts("rows", SIDE)
        if (longest := max(map(len, rows))) > SIDE:
            raise RequestError(f"world: expected at most {SIDE} cells a row, found {longest}")
        karel = fields.items("karel", 3)
        if len(karel) != 3:
            raise RequestError(f"karel: expected row, column and heading, found {reprlib.repr(karel)}")
        row, column = (_integer(karel[i], "karel", 0, SIDE - 1) for i in range(2))
        try:
            return World.of(rows, row, column, _integer(karel[2], "heading", 0, 3))
        except ValueError as error:
            raise RequestError(f"world: {error}") from None


def _integer(value: Any, name: str, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise RequestError(f"{name}: expected a whole number, found {reprlib.repr(value)}")
    if not least <= value <= most:
        raise RequestError(f"{name}: expected {least} to {most}, found {reprlib.repr(value)}")
    return value


def find_task(name: str, own: Mapping[str, str] | None = None) -> KarelTask:
    """Find one of the tasks that ship, or of one's own that may be asked for.

    (Not by `get`, which would import whatever file the name points to.)
    """
    if len(name) > NAME:
        raise RequestError(f"task: expected a name of at most {NAME} characters, found {len(name)}")
    try:
        task = named(name, own)
    except (ValueError, OSError) as error:
        raise RequestError(f"task: {error}") from None
    if max(task.size) > SIDE:
        height, width = task.size
        raise RequestError(f"task: expected worlds of at most {SIDE} cells a side, found {height}x{width}")
    if task.actions is not None and task.actions > ACTIONS:
        raise RequestError(f"task: expected rollouts of at most {ACTIONS:,} actions, found {task.actions:,}")
    if task.calls is not None and task.calls > ACTIONS:
        raise RequestError(f"task: expected a limit of at most {ACTIONS:,} calls, found {task.calls:,}")
    return task  # type: ignore[no-any-return]


def fitting(task: KarelTask, size: tuple[int, int]) -> tuple[int, int]:
    """Return a size that a task can be played in, or say why it can't."""
    try:
        return task.check_size(size)
    except ValueError as error:
        raise RequestError(f"size: {error}") from None


def playable(world: World, task: KarelTask, seed: int) -> World:
    """Make a drawn world playable, or say why the task can't be played there."""
    fitting(task, world.size)
    try:
        return task.prepare(world, seed)
    except ValueError as error:
        raise RequestError(f"world: {error}") from None


@dataclass(frozen=True)
class SearchRequest:
    """What is to be searched for, and how."""

    task: str
    """as `leaps.tasks.get` takes it"""
    method: str
    seed: int
    budget: int | None
    size: tuple[int, int] | None
    also: tuple[tuple[int, int], ...] = ()


def read_search(query: Mapping[str, str], own: Mapping[str, str] | None = None) -> SearchRequest:
    """Read the request for a search from the address that was called."""
    values: dict[str, Any] = dict(query)
    for name in ("seed", "budget"):
        if name in values:
            if not re.fullmatch(r"[0-9]{1,12}", values[name]):
                raise RequestError(f"{name}: expected a whole number, found {reprlib.repr(values[name])}")
            values[name] = int(values[name])
    also = [_size(each.strip(), "also") for each in values.get("also", "").split(",") if each.strip()]
    if len(also) > ALSO:
        raise RequestError(f"also: expected at most {ALSO} sizes, found {len(also)}")
    fields = Fields(values, own or {})
    method = fields.text("method") if fields.has("method") else METHODS[0]
    if method not in METHODS:
        raise RequestError(f"method: expected one of {', '.join(METHODS)}, found {reprlib.repr(method)}")
    return SearchRequest(
        fields.full_task_name(),
        method,
        fields.seed(),
        fields.integer("budget", 1, BUDGET) if fields.has("budget") else None,
        _size(values["size"], "size") if "size" in values else None,
        tuple(also),
    )


def _size(text: str, name: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    if not match:
        raise RequestError(f"{name}: expected HEIGHTxWIDTH such as 8x8, found {reprlib.repr(text)}")
    return _sides(int(match[1]), int(match[2]))


def _sides(height: Any, width: Any) -> tuple[int, int]:
    return _integer(height, "height", 3, SIDE), _integer(width, "width", 3, SIDE)
