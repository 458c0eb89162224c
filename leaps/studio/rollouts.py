"""Which rollout a request asks for: of Karel, compiled and drawn cell by cell, or of any other task."""

from leaps.domain import Task
from leaps.dsl.syntax import Program
from leaps.karel.tasks import KarelTask
from leaps.studio.karel import KarelTrace
from leaps.studio.requests import WORLDS, Fields, RequestError, playable, with_words
from leaps.studio.spans import Reading, read
from leaps.studio.tracing import Trace

Rollout = Trace | KarelTrace


def rollout_of(fields: Fields) -> Rollout:
    """Check a request for a rollout in a numbered initial state, or in a drawn world of Karel."""
    reading = program_of(fields)
    if not fields.has("world"):
        task = fields.task()
        return numbered(reading, task, fields, fields.integer("index", 0, WORLDS - 1, 0))
    if fields.has("index"):
        raise RequestError("expected an index or a world, found both")
    world = fields.world()
    if not fields.has("task"):
        return KarelTrace(reading, None, world)
    task = fields.task()
    if not isinstance(task, KarelTask):
        raise RequestError(f"world: expected a task of Karel for a drawn world, found {task.name}")
    return KarelTrace(reading, task, playable(world, task, fields.seed()))


def rollouts_of(fields: Fields, most: int) -> list[Rollout]:
    """Check a request for rollouts in several numbered initial states."""
    reading, task = program_of(fields), fields.task()
    indices = [
        Fields({"indices": index}).integer("indices", 0, WORLDS - 1)
        for index in fields.items("indices", most)
    ]
    return [numbered(reading, task, fields, index) for index in indices]


def program_of(fields: Fields) -> Reading:
    """Read the program of a request, which must be one."""
    text = fields.text("program")
    reading = read(text, fields.language(text))
    assert isinstance(reading.program, Program)
    return reading


def numbered(reading: Reading, task: Task, fields: Fields, index: int) -> Rollout:
    """Take the initial state of that number."""
    size, seed = fields.size(task), fields.seed()
    if isinstance(task, KarelTask):
        return KarelTrace(reading, task, task.worlds(1, seed, size, first=index).world(0))
    return Trace(reading, with_words(task, reading.source.text), size, seed, index)
