"""Read requests for rollouts, and choose how they are recorded: by the domain, or by the interpreter."""

from dataclasses import dataclass
from typing import Any

from leaps.domain import Domain, Episodes, Replay, StudioSupport, Task
from leaps.dsl.syntax import Program
from leaps.studio.requests import WORLDS, Fields, RequestError, fitting, with_words
from leaps.studio.spans import Reading, read
from leaps.studio.tracing import FILM_PIXELS, FRAMES, OUTCOMES, TESTS, Trace, describe
from leaps.tasks import default_domain

SHOWN = 20_000
"""maximum number of recorded steps of a rollout that the domain replays"""


@dataclass(frozen=True)
class Replayed:
    """A program in one initial state, recorded by the domain in compiled code."""

    reading: Reading
    task: Task | None
    """None: a drawn world without a task's rules"""
    replay: Replay

    @property
    def length(self) -> int:
        """Maximum number of recorded steps."""
        return min(self.replay.horizon, SHOWN)

    def answer(self) -> dict[str, Any]:
        """Record the rollout."""
        recorded = self.replay.record(SHOWN, TESTS)
        return recorded | {
            "outcome": OUTCOMES[recorded["outcome"]],
            "statements": describe(self.reading),
        }

    def check_film(self) -> None:
        """Raise an error if the rollout can't be filmed."""
        try:
            self.replay.check_film()
        except ValueError as error:
            raise RequestError(str(error)) from None

    def film(self) -> bytes:
        """Film the beginning of the rollout as a GIF."""
        return self.replay.film(FRAMES, FILM_PIXELS)


Rollout = Trace | Replayed


def rollout_of(fields: Fields) -> Rollout:
    """Check a request for a rollout in a numbered initial state or in a drawn world."""
    reading = program_of(fields)
    if not fields.has("world"):
        return numbered(reading, fields.task(), fields, fields.integer("index", 0, WORLDS - 1, 0))
    if fields.has("index"):
        raise RequestError("expected an index or a world, found both")
    task = fields.task() if fields.has("task") else None
    support = drawing_support(task.domain if task else default_domain())
    world = drawn_world(fields, support)
    if task:
        world = playable(world, task, support, fields.seed())
    return Replayed(reading, task, support.replay(reading.program, task, world))


def rollouts_of(fields: Fields, most: int) -> list[Rollout]:
    """Check a request for rollouts in several numbered initial states."""
    reading, task = program_of(fields), fields.task()
    indices = [
        Fields({"indices": index}).integer("indices", 0, WORLDS - 1)
        for index in fields.items("indices", most)
    ]
    return [numbered(reading, task, fields, index) for index in indices]


def program_of(fields: Fields) -> Reading:
    """Read the program of a request; raise an error if the text is no program."""
    text = fields.text("program")
    reading = read(text, fields.language(text))
    assert isinstance(reading.program, Program)
    return reading


def numbered(reading: Reading, task: Task, fields: Fields, index: int) -> Rollout:
    """Take the initial state with this number."""
    size, seed = fields.size(task), fields.seed()
    if support := task.domain.extras.studio:
        episodes = task.worlds(1, seed, size, first=index)
        return Replayed(reading, task, support.replay(reading.program, task, episodes))
    return Trace(reading, with_words(task, reading.source.text), size, seed, index)


def drawing_support(domain: Domain) -> StudioSupport:
    """Return the domain's part of the studio; raise an error if its worlds can't be drawn by hand."""
    support = domain.extras.studio
    if support is None:
        raise RequestError(f"world: expected a task whose worlds can be drawn, found one of {domain.name}")
    return support


def drawn_world(fields: Fields, support: StudioSupport) -> Episodes:
    """Read a world drawn by hand."""
    rows, pose = fields.drawing()
    try:
        return support.drawn_world(rows, *pose)
    except ValueError as error:
        raise RequestError(f"world: {error}") from None


def playable(world: Episodes, task: Task, support: StudioSupport, seed: int) -> Episodes:
    """Set up the task in a drawn world; raise an error if it can't be played there."""
    fitting(task, world.size)
    try:
        return support.prepare(task, world, seed)
    except ValueError as error:
        raise RequestError(f"world: {error}") from None
