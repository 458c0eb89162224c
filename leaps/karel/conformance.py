"""Check interpreter and executor against recorded runs of another implementation.

Each line of a file is a record, a JSON object. A trace has `program`, `grid`, `agent`, `actions`, `halted`,
`final_grid` and `final_agent`; a task run has `task`, `program`, `grid`, `agent`, `steps` and `return`.
Traces are recorded with the limit of calls of the paper authors' interpreter: `halted` is false if it cut the
run off. Task runs are recorded without a limit. `tests/golden` holds runs of that interpreter.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaps.domain import NO_ACTION, Disagreement, Outcome
from leaps.dsl.syntax import Program
from leaps.dsl.text import parse
from leaps.karel.executor import run
from leaps.karel.interpreter import play
from leaps.karel.tasks import KarelTask
from leaps.karel.world import HEADINGS, KAREL, LANGUAGE, World, Worlds
from leaps.tasks import named

LETTERS = "mrlpu"  # move, turnRight, turnLeft, pickMarker, putMarker
TASK_NAMES = {
    "stairClimber": "stair-climber",
    "fourCorners": "four-corner",
    "topOff": "top-off",
    "randomMaze": "maze",
    "cleanHouse": "clean-house",
    "harvester": "harvester",
}
AUTHORS_CALLS = 220
"""limit of calls in the paper authors' interpreter; see `leaps.dsl.interpreter.Calls`"""
MOST_ACTIONS = 1_000_000  # all recorded task runs end before
TOLERANCE = 1e-5  # returns are recorded to six places


@dataclass(frozen=True)
class Observed:
    """The result of running a record's program with one of the runners."""

    actions: str
    outcome: Outcome
    final: World
    value: float | None


def read_records(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records of a file with their line numbers."""
    for number, line in enumerate(file.read_text("utf-8", errors="replace").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"line {number}: expected a JSON object, found {line[:40]!r} ({error.msg})"
            ) from None
        if not isinstance(record, dict):
            raise ValueError(f"line {number}: expected a JSON object, found {line[:40]!r}")
        yield number, record


def _field(record: dict[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    if name not in record:
        raise ValueError(f"the field {name!r} is missing")
    if not isinstance(record[name], kind):
        raise ValueError(f"the field {name!r} has the wrong type: found {json.dumps(record[name])[:60]}")
    return record[name]


def _world(record: dict[str, Any], prefix: str = "") -> World:
    rows = _field(record, f"{prefix}grid", list)
    agent = _field(record, f"{prefix}agent", list)
    if not all(isinstance(row, str) for row in rows):
        raise ValueError(f"the field '{prefix}grid' must be a list of rows of text")
    match agent:
        case [int(row), int(column), str(heading)] if heading in tuple(HEADINGS):
            return World.of(rows, row, column, HEADINGS.index(heading))
    raise ValueError(
        f"the field '{prefix}agent' must be [row, column, one of N E S W], found {json.dumps(agent)[:60]}"
    )


def _executed(
    program: Program, start: World, horizon: int, task: KarelTask | None = None, calls: int | None = None
) -> Observed:
    rollouts = run(
        KAREL.compile(program, calls=calls),
        Worlds.stack([start]),
        horizon,
        task.hooks if task else None,
        want_actions=task is None,
        want_final=True,
    )
    assert rollouts.final is not None
    actions = [] if rollouts.actions is None else rollouts.actions[0, 0].tolist()
    return Observed(
        "".join(LETTERS[action] for action in actions if action != NO_ACTION),
        Outcome(int(rollouts.outcome[0, 0])),
        rollouts.final.world(0),
        None if rollouts.returns is None else float(rollouts.returns[0, 0]),
    )


def _interpreted(
    program: Program, start: World, horizon: int, task: KarelTask | None = None, calls: int | None = None
) -> Observed:
    world = start.clone()
    course = task.play(program, world, horizon) if task else play(program, world, horizon, calls=calls)
    actions = "".join(LETTERS[step.action] for step in course)
    return Observed(
        actions, course.outcome, world, task.return_after(world, start, course.steps) if task else None
    )


RUNNERS = {"executor": _executed, "interpreter": _interpreted}


def _check_trace(record: dict[str, Any], program: Program, start: World, runner: str) -> str | None:
    """Compare one run with a recorded trace; return a description of the difference, if any."""
    halted: bool = _field(record, "halted", bool)
    # No run within the limit takes more actions. One that halted also does so without the limit.
    seen = RUNNERS[runner](program, start, AUTHORS_CALLS, calls=AUTHORS_CALLS)
    what = _difference(record, halted, seen)
    if what is None and halted:
        what = _difference(record, halted, RUNNERS[runner](program, start, AUTHORS_CALLS))
    return what


def _difference(record: dict[str, Any], halted: bool, seen: Observed) -> str | None:
    expected: str = _field(record, "actions", str)
    final = _world(record, "final_")
    if seen.actions != expected:
        return f"actions: recorded {expected or 'none'}, found {seen.actions or 'none'}"
    if halted != (seen.outcome == Outcome.HALTED):
        return f"recorded as {'halted' if halted else 'not halted'}, found {seen.outcome.name.lower()}"
    if seen.final.rows() != final.rows() or seen.final.place != final.place:
        return f"the final worlds differ; recorded:\n{final}\nfound:\n{seen.final}"
    return None


def _check_task(record: dict[str, Any], program: Program, start: World, runner: str) -> str | None:
    """Compare one run with a recorded run on a task; return a description of the difference, if any."""
    name = _field(record, "task", str)
    task = named(TASK_NAMES.get(name, name))
    expected = float(_field(record, "return", (int, float)))
    seen = RUNNERS[runner](program, task.prepare(start), MOST_ACTIONS, task)
    assert seen.value is not None
    if abs(seen.value - expected) > TOLERANCE:
        return f"{task.name}: recorded return {expected:.6f}, found {seen.value:.6f}"
    return None


def conform(file: Path) -> tuple[int, list[Disagreement]]:
    """Check every record of a file with both runners; return the number of records and the disagreements."""
    count = 0
    disagreements = []
    for line, record in read_records(file):
        count += 1
        try:
            program = parse(_field(record, "program", str), LANGUAGE)
            start = _world(record)
            check = _check_task if "task" in record else _check_trace
            for runner in RUNNERS:
                if what := check(record, program, start, runner):
                    disagreements.append(Disagreement(line, record["program"], runner, what))
                    break
        except ValueError as error:
            raise ValueError(f"{file.name}, line {line}: {error}") from None
    if count == 0:
        raise ValueError(f"{file.name} holds no record")
    return count, disagreements
