"""Requests: read them, check them against their bounds, and say what was expected and what was found.

Requests come from strangers. What leaves this module is safe to compute with: compiled code indexes worlds
without bounds checks, so a world that a task was not made for must not get past it.
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
from leaps.karel.tasks import KarelTask
from leaps.karel.world import LANGUAGE, World
from leaps.tasks import full_name, named, shipped

BODY = 64 * 1024
"""bytes of the longest request"""
CHARACTERS, TOKENS = 4000, 400
"""of the longest program"""
SIDE = 100
"""cells along a side of the largest world"""
ACTIONS = 10 * SIDE * SIDE
"""of a rollout: what a task of Karel allows in the largest world"""
EPISODES = 1000
SEEDS = 2**31
WORLDS = 1_000_000
"""numbered worlds of a seed that can be asked for"""
NAME = 64
"""characters of the longest name of a task, or of a variant"""
METHODS = {
    "ladder": "Ladder (the default)",
    "leaps+": "LEAPS+ (the paper's, improved)",
    "leaps": "LEAPS (as published)",
    "hc": "Hill climbing",
    "cebs": "Beam search (CEBS)",
    "random-64": "Random, 64 programs",
}
WITHOUT_SPACE = ("ladder", "hc")
"""methods for domains that have no learned program space"""
MOST_WORLDS = 256
"""on which a search scores each program"""
BUDGET = 1_000_000
"""evaluations of the longest search"""
ALSO = 4
"""other sizes or variants at which its program may have to hold"""
PICTURES = 24
"""of an environment, in one request"""
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

    def task(self) -> Task:
        return find_task(self.text("task"), self.own)

    def task_for(self, *programs: str) -> Task:
        """The task that is asked for, with the words of these programs in its language."""
        return with_words(self.task(), *programs)

    def language(self, *programs: str) -> Language:
        """Return the language of the task; Karel's if no task is given."""
        return self.task_for(*programs).domain.language if self.has("task") else LANGUAGE

    def full_task_name(self) -> str:
        """The task's name as another process can call it, which imports the file of one's own itself."""
        self.task()
        with self.telling_mistakes():
            return full_name(self.text("task"), self.own)

    @contextmanager
    def telling_mistakes(self) -> Iterator[None]:
        """Report what a task of one's own gets wrong to the page; any other error is the server's mistake."""
        try:
            yield
        except RequestError:
            raise
        except Exception as error:
            name = self.values.get("task")
            said = mistake(error, name, self.own) if isinstance(name, str) else None
            if said is None:
                raise
            raise RequestError(f"task: {said}") from error

    def size(self, task: Task) -> Size:
        """The size or variant asked for, or the task's own."""
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


def find_task(name: str, own: Mapping[str, str] | None = None) -> Task:
    """Find one of the tasks that ship, or of one's own that may be asked for.

    (Not by `get`, which would import whatever file the name points to.)
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
        said = str(error) if isinstance(error, ValueError | OSError) else mistake(error, name, own or {})
        if said is None:
            raise
        raise RequestError(f"task: {said}") from None
    return task


def with_words(task: Task, *programs: str) -> Task:
    """The task whose language has the words of these programs, where a task's language can have others.

    In tasks that compare numbers with constants, each program brings its own constants.
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
    """The message for an error that a task of one's own raised, or an environment; None for other tasks."""
    plain = re.split(f"[{SHARE}{LIMIT}]", name)[0]
    if plain in own:
        return what_is_wrong(error, own[plain])
    task = shipped().get(plain)
    if task is None or isinstance(task, KarelTask):
        return None
    # What an environment lacks, such as a package that it draws with.
    foreign = type(error).__module__.startswith("gymnasium")
    return str(error) if foreign or isinstance(error, ValueError | ImportError) else None


def check_horizon(task: Task, size: Size, what: str) -> None:
    """Refuse rollouts that may take too long."""
    if (horizon := task.horizon(size)) > ACTIONS:
        raise RequestError(f"{what}: expected rollouts of at most {ACTIONS:,} actions, found {horizon:,}")


def fitting(task: Task, size: Size) -> Size:
    """Return a size that a task can be played in, or say why it can't."""
    try:
        found = task.check_size(size)
    except ValueError as error:
        raise RequestError(f"size: {error}") from None
    check_horizon(task, found, "size")
    return found


def playable(world: World, task: KarelTask, seed: int) -> World:
    """Make a drawn world playable, or say why the task can't be played there."""
    fitting(task, world.size)
    try:
        return task.prepare(world, seed)
    except ValueError as error:
        raise RequestError(f"world: {error}") from None


@dataclass(frozen=True)
class SearchRequest:
    """What to search for, and how."""

    task: str
    """as `leaps.tasks.get` takes it"""
    method: str
    seed: int
    budget: int | None
    size: Size | None
    also: tuple[Size, ...] = ()
    worlds: int | None = None
    """on which each program is scored; the method's own number if not given"""
    mapped: bool = True
    """whether the programs have places on the map"""


def read_search(query: Mapping[str, str], own: Mapping[str, str] | None = None) -> SearchRequest:
    """Read the request for a search from the query of an address."""
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
    """List the search methods that a task can be searched with."""
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
    least = 3 if isinstance(task, KarelTask) else 1
    return _integer(height, "height", least, SIDE), _integer(width, "width", least, SIDE)
