"""Run many programs in many worlds, fast: compiled code from the tokens to the outcome.

The fast twin of `leaps.karel.interpreter`. One lookup in the program's table a step (see
`leaps.dsl.compiler`), no Python in between, all cores (see `leaps.base.parallel`).

What a task adds reaches this module as two compiled functions, called through pointers: `react` after the
actions it wants to hear of, `value` when a rollout is over. So the executor is compiled once, and knows no
task; a rollout without a task pays nothing for it.

Many programs that a search tries never end: they run round and round until the horizon cuts them off. Such a
program comes back to a state that it was in. Then the rounds that it has left are known, and skipped; what
comes out is the same.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from leaps.base.jit import address_of, function_at, jit
from leaps.base.parallel import share
from leaps.domain import NO_ACTION, Outcome, Rollouts
from leaps.dsl.compiler import HALT, OPERATION, SET, SHIFT, STUCK, Compiled
from leaps.karel.physics import CODES, MOVED, PICKED, PUT, act, perceive, strides
from leaps.karel.world import (
    EXIT,
    WORLD_TYPE,
    World,
    Worlds,
    copy_world,
    empty_world,
    flat_pose,
    flatten,
    same_state,
    set_pose,
    world_at,
)

REACT_TYPE = types.boolean(WORLD_TYPE, types.int64, types.int64, types.int64)
"""react(world, what changed, row and column that Karel acted from) → whether the rollout is over"""
VALUE_TYPE = types.float64(WORLD_TYPE, WORLD_TYPE)
"""value(world, the world as it was at the start) → what the task pays in this state"""

react_at, value_at = function_at(REACT_TYPE), function_at(VALUE_TYPE)
_CODES = np.uint64(CODES)
_NOWHERE = np.uint64(2**64 - 1)
_FIRST_MARK = 32
"""steps after which a state is remembered, to see whether it comes again; then twice as many, and so on"""
_NEVER_AGAIN = np.int32(STUCK)
"""the entry of a run that has passed its limit of calls: it can't act again"""
_HALTED, _ENDED, _CUT_OFF, _STUCK = (int(outcome) for outcome in Outcome)


class Hooks(NamedTuple):
    """What a task adds to a rollout."""

    events: int
    """which changes `react` wants to hear of, added up"""
    react: int
    """address of a native function of type REACT_TYPE"""
    value: int
    """address of a native function of type VALUE_TYPE"""
    cost: float
    """subtracted from the value for every action"""


@cache
def no_task() -> Hooks:
    """Let worlds be worlds."""
    return Hooks(0, address_of(_never, REACT_TYPE), address_of(_worthless, VALUE_TYPE), 0.0)


def _never(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    return False


def _worthless(world: World, start: World) -> float:  # noqa: ARG001
    return 0.0


LONGEST = np.iinfo(np.int32).max
"""actions that a rollout may take: more couldn't be told in `Rollouts.steps`"""
GRAIN = 256
"""rollouts that are worth a thread of their own, if nothing is known of how long they are"""


@jit
def _run_range(
    compiled: Compiled,
    calls: NDArray[np.int32] | None,
    worlds: Worlds,
    horizon: int,
    hooks: Hooks,
    outcomes: NDArray[np.uint8],
    steps: NDArray[np.int32],
    returns: NDArray[np.float64],
    actions: NDArray[np.uint8],
    covered: NDArray[np.uint64],
    used: NDArray[np.bool_],
    needed: NDArray[np.float64],
    tried: NDArray[np.int64],
    final: Worlds,
    own: bool,
    first: int,
    last: int,
) -> None:
    """Run rollouts first..last-1, numbered program by program. Outputs of size 0 are not wanted.

    If something is needed, they are all those of some programs.

    One long function on purpose: were the rollout a function of its own, handing it its dozen arrays (numba
    counts the references to each) would cost more than a short rollout does.
    """
    count, width = outcomes.shape[1], np.uint64(worlds.ground.shape[2])
    world = empty_world(worlds)
    here, starts, ends = flatten(world), flatten(worlds), flatten(final)
    past = flatten(empty_world(worlds))
    ground, markers = here.ground, here.markers
    cells, memory = ground.size, here.memory.size
    ahead = strides(worlds.ground.shape[2])
    table, branches, loops = compiled.table, compiled.branches, compiled.loops
    counters = np.zeros(max(1, np.max(np.diff(compiled.start))), np.int64)
    marked_counters = counters.copy()
    recorded = actions.reshape(-1)
    record, race, track = recorded.size > 0, needed.size > 0, branches.size > 0
    watched = track or used.size > 0
    limit = compiled.limit
    events, react, value = hooks.events, react_at(hooks.react), value_at(hooks.value)
    lasting = events | PICKED | PUT  # changes of more than the pose

    program, number = first // count, first % count - 1
    earned, given_up = 0.0, False
    for index in range(first, last):
        number += 1
        if number == count:
            program, number = program + 1, 0
            earned, given_up = 0.0, False
        if given_up:
            continue
        start = index if own else number
        copy_world(starts, start, here, 0, cells, memory)
        position, heading = flat_pose(world)
        rows, entries = np.uint64(compiled.start[program]), np.uint64(compiled.first[program])
        loops_used = compiled.start[program + 1] - compiled.start[program]
        place = np.uint64(compiled.entry[program])
        taken = 0
        spent = 0  # calls
        looked_at = np.uint64(0)
        marked, marked_heading, marked_place, marked_after = _NOWHERE, heading, place, 0
        changed = False  # more than the pose, since the mark
        next_mark = horizon if record or limit > 0 else min(_FIRST_MARK, horizon)
        while True:
            code = perceive(ground, markers, ahead, position, heading)
            at = entries + place * _CODES + code
            entry = table[at]
            if watched:
                if track:
                    looked_at |= branches[at]
                else:
                    used[at] = True
            if calls is not None:
                spent += calls[at]
                if spent > limit:
                    entry = _NEVER_AGAIN
            operation = entry & OPERATION
            while operation >= SET:
                loop = np.uint64(entry >> SHIFT)
                if operation == SET:
                    counters[loop] = loops[rows + loop, 0]
                    place = np.uint64(loops[rows + loop, 1])
                else:
                    counters[loop] -= 1
                    place = np.uint64(loops[rows + loop, 1] if counters[loop] > 0 else loops[rows + loop, 2])
                at = entries + place * _CODES + code
                entry = table[at]
                if watched:
                    if track:
                        looked_at |= branches[at]
                    else:
                        used[at] = True
                if calls is not None:
                    spent += calls[at]
                    if spent > limit:
                        entry = _NEVER_AGAIN
                operation = entry & OPERATION
            if operation >= HALT:
                outcome = _HALTED if operation == HALT else _STUCK
                if calls is not None and operation != HALT:
                    outcome = _CUT_OFF  # it goes round until the limit is passed
                break
            if position == marked and heading == marked_heading and place == marked_place:
                again = True
                for loop_number in range(loops_used):
                    again &= counters[loop_number] == marked_counters[loop_number]
                if again and changed and not same_state(here, past):
                    again, marked = False, _NOWHERE  # once is enough: to compare takes its time
                if again:
                    taken = horizon - (horizon - taken) % (taken - marked_after)
                    marked, next_mark = _NOWHERE, horizon
            if taken == next_mark:
                if taken == horizon:
                    outcome = _CUT_OFF
                    break
                marked, marked_heading, marked_place, marked_after = position, heading, place, taken
                marked_counters[:loops_used] = counters[:loops_used]
                copy_world(here, 0, past, 0, cells, memory)
                changed = False
                next_mark = min(2 * next_mark, horizon)
            place = np.uint64(entry >> SHIFT)
            before = position
            position, heading, change = act(ground, markers, ahead, position, heading, operation)
            if record:
                recorded[index * horizon + taken] = operation
            taken += 1
            if change & lasting:
                changed = True
                if change & events:
                    set_pose(world, position, heading)
                    over = react(world, change, np.int64(before // width), np.int64(before % width))
                    position, heading = flat_pose(world)  # the task may have moved or turned Karel
                    if over or ground[position] == EXIT:
                        outcome = _ENDED
                        break
            if change == MOVED and ground[position] == EXIT:
                outcome = _ENDED
                break
        set_pose(world, position, heading)

        outcomes[program, number] = outcome
        steps[program, number] = taken
        if track:
            covered[program, number] = looked_at
        if returns.size > 0:
            returns[program, number] = value(world, world_at(worlds, start)) - hooks.cost * taken
        if race:
            tried[program] = number + 1
            earned += returns[program, number]
            given_up = earned < needed[number]
        if len(final.pose) > 0:
            copy_world(here, 0, ends, index, cells, memory)


def check_horizon(horizon: int) -> None:
    """Refuse a horizon that `Rollouts` has no room for."""
    if not 0 <= horizon <= LONGEST:
        raise ValueError(f"a horizon is 0 to {LONGEST:,}, found {horizon:,}")


def run(
    compiled: Compiled,
    worlds: Worlds,
    horizon: int,
    hooks: Hooks | None = None,
    *,
    own_worlds: bool = False,
    needed: NDArray[np.float64] | None = None,
    want_actions: bool = False,
    want_final: bool = False,
    want_used: bool = False,
    grain: int = GRAIN,
) -> Rollouts:
    """Run every program in every world. With a task's hooks, returns are what the task pays at the end.

    With `own_worlds` each program has its own: the first as many as go round, and so on. The worlds given are
    not changed. needed: [worlds] what a program must have earned by the end of each world, all in all; one
    that hasn't is given up, and its returns beyond are 0.
    """
    if (compiled.entry < 0).any():
        raise ValueError(f"row {int((compiled.entry < 0).argmax())} of the batch is not a program")
    check_horizon(horizon)
    if own_worlds and worlds.count % max(compiled.count, 1):
        raise ValueError(f"{worlds.count} worlds can't be shared out evenly among {compiled.count} programs")
    shape = (compiled.count, worlds.count // max(compiled.count, 1) if own_worlds else worlds.count)
    if needed is not None and (hooks is None or needed.shape != shape[1:]):
        raise ValueError(f"needed: expected a task, and a number for each of {shape[1]} worlds")
    if want_used and compiled.branches.size:
        raise ValueError("expected programs compiled without branches, if the entries looked up are wanted")
    outcome = np.zeros(shape, np.uint8)
    steps = np.zeros(shape, np.int32)
    returns = np.zeros(shape if hooks else (0, 0), np.float64)
    actions = np.full((*shape, horizon if want_actions else 0), NO_ACTION, np.uint8)
    covered = np.empty(shape if compiled.branches.size else (0, 0), np.uint64)
    used = np.zeros(len(compiled.table) if want_used else 0, np.bool_)
    tried = np.zeros(0 if needed is None else shape[0], np.int64)
    final = Worlds.empty(shape[0] * shape[1] if want_final else 0, worlds.size, worlds.memory.shape[1])
    called = hooks or no_task()
    calls = compiled.calls
    least = np.zeros(0) if needed is None else needed
    # What a program has earned or used is for one thread to say.
    whole = max(shape[1], 1) if want_used or needed is not None else 1
    share(
        lambda first, last: _run_range(
            compiled,
            calls,
            worlds,
            horizon,
            called,
            outcome,
            steps,
            returns,
            actions,
            covered,
            used,
            least,
            tried,
            final,
            own_worlds,
            first * whole,
            last * whole,
        ),
        shape[0] * shape[1] // whole,
        grain=-(-grain // whole),
    )
    return Rollouts(
        outcome,
        steps,
        returns if hooks else None,
        actions if want_actions else None,
        covered if compiled.branches.size else None,
        used if want_used else None,
        None if needed is None else tried,
        final if want_final else None,
    )


@jit
def _replay_all(worlds: Worlds, actions: NDArray[np.uint8], hooks: Hooks, states: Worlds) -> None:
    width, horizon = worlds.ground.shape[2], actions.shape[1]
    ahead = strides(width)
    react = react_at(hooks.react)
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
                    react(world, change, row, column)
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
