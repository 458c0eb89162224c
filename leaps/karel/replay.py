"""Record and film one rollout of Karel for the studio.

Compiled code replays the actions and lets other threads run. The interpreter's control flow then finds the
statement behind each action from the perceptions recorded at each step. In a large world this takes a
hundredth of the time that the interpreter takes in the world itself.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import jit
from leaps.compiled.kernels import Hooks
from leaps.domain import Outcome
from leaps.dsl.interpreter import CallLimitError, Calls, Conditional, StuckError, actions_of
from leaps.dsl.syntax import Program, walk
from leaps.karel.draw import frames_of_actions, save_gif
from leaps.karel.executor import ENGINE, no_task, run
from leaps.karel.physics import CODES, TRUTH, layout_of, load, perceive, react_at, store, value_at
from leaps.karel.tasks import KarelTask
from leaps.karel.world import EXIT, KAREL, LANGUAGE, WALL, World, Worlds, flatten, world_at

LARGEST = 40
"""maximum number of cells along a side of a filmed world"""
LARGEST_CELL = 28
"""maximum number of pixels along a side of a cell in a film; larger films take seconds to make"""
DIGITS = 6
"""number of decimals of the value after each step"""
BECAME_WALL = -1
_PERCEIVED = ["".join(str(int(row[code])) for row in TRUTH) for code in range(CODES)]
"""[codes] the perceptions as text of 1 and 0, in the order of the language"""


@dataclass(frozen=True)
class KarelReplay:
    """A program in one world; see `leaps.domain.Replay`."""

    program: Program
    task: KarelTask | None
    """None: a drawn world without a task's rules"""
    world: World

    @property
    def horizon(self) -> int:
        height, width = self.world.size
        return self.task.horizon(self.world.size) if self.task else 10 * height * width

    @property
    def calls(self) -> int | None:
        return self.task.calls if self.task else None

    @property
    def hooks(self) -> Hooks | None:
        return self.task.hooks if self.task else None

    def actions(self) -> tuple[NDArray[np.uint8], Outcome, float | None]:
        """Run the program; return its actions, the outcome, and the return if there is a task."""
        rollouts = run(
            KAREL.compile(self.program, calls=self.calls),
            Worlds.stack([self.world]),
            self.horizon,
            self.hooks,
            want_actions=True,
        )
        assert rollouts.actions is not None
        taken = rollouts.actions[0, 0, : rollouts.steps[0, 0]]
        earned = None if rollouts.returns is None else float(rollouts.returns[0, 0])
        return taken, Outcome(int(rollouts.outcome[0, 0])), earned

    def record(self, steps: int, tests: int) -> dict[str, Any]:
        actions, outcome, earned = self.actions()
        shown = min(len(actions), steps)
        recording = record_actions(self.world, actions[:shown], self.hooks)
        if self.task:
            self.task.check_values(recording.value)
        whole = shown == len(actions)
        reasons = explain(self.program, recording.codes, shown, whole, outcome, self.calls, tests)
        shown = len(reasons.statements)
        perceived = [_PERCEIVED[code] for code in recording.codes[: shown + 1].tolist()]
        changes = recording.changes[recording.changes[:, 0] < shown]
        row, column, heading = self.world.place
        return {
            "perceptions": list(LANGUAGE.perceptions),
            "world": {"rows": self.world.rows(), "karel": [row, column, heading]},
            "exits": np.argwhere(self.world.ground == EXIT).tolist(),
            "steps": {
                "statement": reasons.statements,
                "row": recording.pose[:shown, 0].tolist(),
                "column": recording.pose[:shown, 1].tolist(),
                "heading": recording.pose[:shown, 2].tolist(),
                "changes": changes.tolist(),
                "value": recording.value[:shown].round(DIGITS).tolist() if self.task else [None] * shown,
                "tests": reasons.tests,
                "perceived": perceived[:-1],
            },
            "final_tests": reasons.final_tests,
            "final_perceived": perceived[-1],
            "outcome": outcome,
            "return": earned,
            "shown": shown,
            "total": len(actions),
            "horizon": self.horizon,
        }

    def check_film(self) -> None:
        if max(self.world.size) > LARGEST:
            height, width = self.world.size
            raise ValueError(
                f"a filmed world must have at most {LARGEST} cells a side, found {height}x{width}"
            )

    def film(self, frames: int, pixels: int) -> bytes:
        actions, _, _ = self.actions()
        states = frames_of_actions(self.world, actions[: frames - 1], self.hooks)
        with TemporaryDirectory(prefix="leaps-film-") as folder:
            file = Path(folder) / "rollout.gif"
            save_gif(states, file, cell=min(LARGEST_CELL, pixels // max(self.world.size)))
            return file.read_bytes()


@dataclass(frozen=True)
class Recording:
    """States of a rollout."""

    pose: NDArray[np.int64]
    """[steps, 3] Karel's pose after each step"""
    value: NDArray[np.float64]
    """[steps] value after each step: the return if the rollout ended there"""
    codes: NDArray[np.uint8]
    """[steps + 1] code of the perceptions before each step, and at the end"""
    changes: NDArray[np.int64]
    """[n, 4] step, row, column and markers of a changed cell; BECAME_WALL instead of markers if it is now
    wall"""


def record_actions(world: World, actions: NDArray[np.uint8], hooks: Hooks | None) -> Recording:
    """Replay actions with the task's reactions, and record poses, values, perceptions and changed cells."""
    count = len(actions)
    pose = np.empty((count, 3), np.int64)
    value = np.empty(count, np.float64)
    codes = np.empty(count + 1, np.uint8)
    called = hooks or no_task()
    changes = _record_all(
        Worlds.stack([world]), world.clone(), np.ascontiguousarray(actions), called, pose, value, codes
    )
    return Recording(pose, value, codes, changes)


do = ENGINE.step


@jit
def _record_all(
    worlds: Worlds,
    start: World,
    actions: NDArray[np.uint8],
    hooks: Hooks,
    pose: NDArray[np.int64],
    values: NDArray[np.float64],
    codes: NDArray[np.uint8],
) -> NDArray[np.int64]:
    world = world_at(worlds, 0)
    height, width = world.ground.shape
    flat, layout = flatten(worlds), layout_of(worlds)
    ground, markers = flat.ground, flat.markers
    known = np.empty(height * width, np.int64)
    for cell in range(height * width):
        known[cell] = BECAME_WALL if ground[cell] == WALL else np.int64(markers[cell])
    react, value = react_at(hooks.react), value_at(hooks.value)
    changes = np.empty((64, 4), np.int64)
    changed = 0
    registers = load(flat, 0, layout)
    for step in range(len(actions)):
        codes[step] = perceive(flat, layout, registers)
        before = np.int64(registers[0])
        registers, change, _ = do(flat, worlds, 0, layout, registers, actions[step], hooks.events, react)
        store(flat, 0, layout, registers)
        # An action changes only the cell that Karel stands on; a task's reaction may change any cell.
        first, last = before, before + 1
        if change & hooks.events:
            first, last = np.int64(0), np.int64(height * width)
        for cell in range(first, last):
            now = BECAME_WALL if ground[cell] == WALL else np.int64(markers[cell])
            if now != known[cell]:
                known[cell] = now
                if changed == len(changes):
                    longer = np.empty((2 * changed, 4), np.int64)
                    longer[:changed] = changes
                    changes = longer
                changes[changed, 0], changes[changed, 1] = step, cell // width
                changes[changed, 2], changes[changed, 3] = cell % width, now
                changed += 1
        pose[step, 0], pose[step, 1], pose[step, 2] = world.pose[0], world.pose[1], world.pose[2]
        values[step] = value(world, start) - hooks.cost * (step + 1)
    codes[len(actions)] = perceive(flat, layout, registers)
    return changes[:changed].copy()


@dataclass(frozen=True)
class Reasons:
    """Statements and tested conditions behind the actions of a rollout."""

    statements: list[int]
    """number of the statement that acted, for each step"""
    tests: list[tuple[int, int, int]]
    """step, statement, and whether its condition held, for each test before the step's action"""
    final_tests: list[tuple[int, int]]
    """statement, and whether its condition held, for each test after the last action"""


class _Recalled:
    """Test conditions against the recorded perceptions of each step instead of a world."""

    def __init__(self, program: Program, codes: list[int]) -> None:
        self.codes, self.steps = codes, 0
        self.numbers = {id(statement): number for number, statement in enumerate(walk(program))}
        self.truth = {
            id(statement): [
                bool(TRUTH[LANGUAGE.perceptions.index(statement.condition.perception), code])
                != statement.condition.negated
                for code in range(CODES)
            ]
            for statement in walk(program)
            if isinstance(statement, Conditional)
        }
        self.tested: list[tuple[int, int, int]] = []

    def look(self, statement: Conditional) -> bool:
        holds = self.truth[id(statement)][self.codes[self.steps]]
        self.tested.append((self.steps, self.numbers[id(statement)], int(holds)))
        return holds


def explain(
    program: Program,
    codes: NDArray[np.uint8],
    steps: int,
    whole: bool,
    outcome: Outcome,
    calls: int | None,
    most_tests: int,
) -> Reasons:
    """Find the statement of each step and the tests before it; stop after more than `most_tests` tests.

    whole: whether these are all steps of a rollout with this outcome. calls: the limit of calls in the
    rollout, if any.
    """
    recalled = _Recalled(program, codes.tolist())
    statements: list[int] = []
    pending = actions_of(program.body, recalled.look, Calls(calls))
    while len(statements) < steps:
        statement, _ = next(pending)
        if len(recalled.tested) > most_tests:
            break
        statements.append(recalled.numbers[id(statement)])
        recalled.steps += 1
    tests = [test for test in recalled.tested if test[0] < len(statements)]
    if not whole or len(statements) < steps or outcome == Outcome.ENDED:
        return Reasons(statements, tests, [])  # the world ended the rollout before another test
    recalled.tested.clear()
    with suppress(StuckError, CallLimitError):
        next(pending, None)
    return Reasons(statements, tests, [(number, held) for _, number, held in recalled.tested])
