"""Run many programs in many worlds, fast: compiled code from the tokens to the outcome.

The fast twin of `leaps.karel.interpreter`. One lookup in the program's table a step (see
`leaps.dsl.compiler`), no Python in between, all cores (see `leaps.parallel`).

What a task adds reaches this module as two compiled functions, called through pointers: `react` after the
actions it wants to hear of, `value` when a rollout is over. So the executor is compiled once, and knows no
task; a rollout without a task pays nothing for it.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from leaps.dsl.compiler import HALT, OPERATION, SET, SHIFT, Compiled, compile_tokens
from leaps.jit import inlined, jit, pointer
from leaps.karel.interpreter import Outcome
from leaps.karel.physics import CODES, MOVED, TRUTH, act, perceive, strides
from leaps.karel.world import (
    EXIT,
    LANGUAGE,
    WORLD_TYPE,
    World,
    Worlds,
    copy_world,
    empty_world,
    flat_pose,
    flatten,
    set_pose,
    world_at,
)
from leaps.parallel import share

REACT_TYPE = types.boolean(WORLD_TYPE, types.int64, types.int64, types.int64)
"""react(world, what changed, row and column that Karel acted from) → whether the rollout is over"""
VALUE_TYPE = types.float64(WORLD_TYPE, WORLD_TYPE)
"""value(world, the world as it was at the start) → what the task pays in this state"""

_CODES = np.uint64(CODES)
_HALTED, _ENDED, _CUT_OFF, _STUCK = (int(outcome) for outcome in Outcome)


class Hooks(NamedTuple):
    """What a task adds to a rollout."""

    events: int
    """which changes `react` wants to hear of, added up"""
    react: Any
    value: Any


def no_task() -> Hooks:
    """Let worlds be worlds."""
    return Hooks(0, pointer(_never, REACT_TYPE), pointer(_worthless, VALUE_TYPE))


def _never(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    return False


def _worthless(world: World, start: World) -> float:  # noqa: ARG001
    return 0.0


def compile_karel(tokens: NDArray[np.uint8]) -> Compiled:
    """Compile Karel programs from token ids, [programs, length]."""
    return compile_tokens(tokens, LANGUAGE, TRUTH)


@dataclass(frozen=True)
class Rollouts:
    """What happened: an element per program and world."""

    outcome: NDArray[np.uint8]
    """[programs, worlds] an `Outcome` each"""
    steps: NDArray[np.int32]
    """[programs, worlds] actions taken"""
    returns: NDArray[np.float64] | None = None
    """[programs, worlds] the task's value at the end"""
    actions: NDArray[np.uint8] | None = None
    """[programs, worlds, horizon] what was done; filled up with NO_ACTION"""
    final: Worlds | None = None
    """the worlds as the programs left them: those of program 0 first"""


NO_ACTION = 255


@inlined
def _rollout(
    table: NDArray[np.int32],
    loops: NDArray[np.int32],
    first: np.uint64,
    entry_place: int,
    world: World,
    ground: NDArray[np.uint8],
    markers: NDArray[np.uint8],
    ahead: NDArray[np.uint64],
    horizon: int,
    hooks: Hooks,
    counters: NDArray[np.int64],
    actions: NDArray[np.uint8],
    record: int,
) -> tuple[int, int]:
    """Run one program in one world: the outcome and the number of actions.

    `table` is flat, and so are `ground` and `markers`, views of the world's. The program's rows begin with
    `first`. `record`: where in `actions` to write them, or -1.
    """
    position, heading = flat_pose(world)
    place = np.uint64(entry_place)
    steps = 0
    while True:
        code = perceive(ground, markers, ahead, position, heading)
        entry = table[(first + place) * _CODES + code]
        operation = entry & OPERATION
        while operation >= SET:
            loop = np.uint64(entry >> SHIFT)
            if operation == SET:
                counters[loop] = loops[first + loop, 0]
                place = np.uint64(loops[first + loop, 1])
            else:
                counters[loop] -= 1
                place = np.uint64(loops[first + loop, 1] if counters[loop] > 0 else loops[first + loop, 2])
            entry = table[(first + place) * _CODES + code]
            operation = entry & OPERATION
        if operation >= HALT:
            outcome = _HALTED if operation == HALT else _STUCK
            break
        if steps == horizon:
            outcome = _CUT_OFF
            break
        place = np.uint64(entry >> SHIFT)
        before = position
        position, heading, change = act(ground, markers, ahead, position, heading, operation)
        if record >= 0:
            actions[record + steps] = operation
        steps += 1
        if change & hooks.events:
            set_pose(world, position, heading)
            width = np.uint64(world.ground.shape[1])
            if hooks.react(world, change, np.int64(before // width), np.int64(before % width)):
                outcome = _ENDED
                break
        if change == MOVED and ground[position] == EXIT:
            outcome = _ENDED
            break
    set_pose(world, position, heading)
    return outcome, steps


@jit
def _run_range(
    compiled: Compiled,
    worlds: Worlds,
    horizon: int,
    hooks: Hooks,
    outcome: NDArray[np.uint8],
    steps: NDArray[np.int32],
    returns: NDArray[np.float64],
    actions: NDArray[np.uint8],
    final: Worlds,
    first: int,
    last: int,
) -> None:
    """Run rollouts first..last-1, numbered program by program. Outputs of size 0 are not wanted."""
    count, width = len(worlds.pose), worlds.ground.shape[2]
    world = empty_world(worlds)
    here, starts, ends = flatten(world), flatten(worlds), flatten(final)
    cells, memory = here.ground.size, here.memory.size
    ahead = strides(width)
    table, recorded = compiled.table.reshape(-1), actions.reshape(-1)
    counters = np.empty(max(1, np.max(np.diff(compiled.start))), np.int64)
    program, number = first // count, first % count - 1
    for index in range(first, last):
        number += 1
        if number == count:
            number = 0
            program += 1
        copy_world(starts, number, here, 0, cells, memory)
        outcome[program, number], steps[program, number] = _rollout(
            table,
            compiled.loops,
            np.uint64(compiled.start[program]),
            compiled.entry[program],
            world,
            here.ground,
            here.markers,
            ahead,
            horizon,
            hooks,
            counters,
            recorded,
            index * horizon if actions.size > 0 else -1,
        )
        if returns.size > 0:
            returns[program, number] = hooks.value(world, world_at(worlds, number))
        if len(final.pose) > 0:
            copy_world(here, 0, ends, index, cells, memory)


def run(
    compiled: Compiled,
    worlds: Worlds,
    horizon: int,
    hooks: Hooks | None = None,
    *,
    want_actions: bool = False,
    want_final: bool = False,
) -> Rollouts:
    """Run every program in every world. With a task's hooks, returns are what the task pays at the end.

    The worlds given are not changed.
    """
    if (compiled.entry < 0).any():
        raise ValueError(f"row {int((compiled.entry < 0).argmax())} of the batch is not a program")
    if horizon < 0:
        raise ValueError(f"a horizon is 0 or more, found {horizon}")
    shape = (compiled.count, worlds.count)
    outcome = np.empty(shape, np.uint8)
    steps = np.empty(shape, np.int32)
    returns = np.empty(shape if hooks else (0, 0), np.float64)
    actions = np.full((*shape, horizon if want_actions else 0), NO_ACTION, np.uint8)
    final = Worlds.empty(
        compiled.count * worlds.count if want_final else 0, worlds.size, worlds.memory.shape[1]
    )
    called = hooks or no_task()
    share(
        lambda first, last: _run_range(
            compiled, worlds, horizon, called, outcome, steps, returns, actions, final, first, last
        ),
        compiled.count * worlds.count,
        grain=256,
    )
    return Rollouts(
        outcome,
        steps,
        returns if hooks else None,
        actions if want_actions else None,
        final if want_final else None,
    )


@jit
def _replay_all(worlds: Worlds, actions: NDArray[np.uint8], hooks: Hooks, states: Worlds) -> None:
    width, horizon = worlds.ground.shape[2], actions.shape[1]
    ahead = strides(width)
    world = empty_world(worlds)
    here, starts, out = flatten(world), flatten(worlds), flatten(states)
    cells, memory = here.ground.size, here.memory.size
    for number in range(len(actions)):
        copy_world(starts, number, here, 0, cells, memory)
        state = number * (horizon + 1)
        copy_world(here, 0, out, state, cells, memory)
        for step in range(horizon):
            action = actions[number, step]
            if action != NO_ACTION:
                row, column = world.pose[0], world.pose[1]
                position, heading = flat_pose(world)
                position, heading, change = act(here.ground, here.markers, ahead, position, heading, action)
                set_pose(world, position, heading)
                if change & hooks.events:
                    hooks.react(world, change, row, column)
            copy_world(here, 0, out, state + step + 1, cells, memory)


def replay(worlds: Worlds, actions: NDArray[np.uint8], hooks: Hooks | None = None) -> Worlds:
    """Do the actions [worlds, horizon] again, and return every state: `horizon + 1` per world, in order.

    After the last action of a rollout its last state is repeated.
    """
    if len(actions) != worlds.count:
        raise ValueError(
            f"expected a row of actions per world, found {len(actions)} rows, {worlds.count} worlds"
        )
    states = Worlds.empty(worlds.count * (actions.shape[1] + 1), worlds.size, worlds.memory.shape[1])
    _replay_all(worlds, np.ascontiguousarray(actions), hooks or no_task(), states)
    return states
