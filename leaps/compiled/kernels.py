"""The loops that run programs, written for any compiled domain; see `rules` and `Engine`.

A step is one lookup in the program's table (see `leaps.dsl.compiler`), without Python. A task adds two native
functions, called through pointers: `react` after the changes in its `events`, and `value` when a rollout is
over. So a domain's loops are compiled only once, and a rollout without a task has no extra cost.

Many programs that a search tries never end: they loop until the horizon cuts them off. Such a program returns
to an earlier state. The remaining rounds are then known and skipped, with the same result.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.compiled.rules import (
    CODES,
    FINAL,
    STATEFUL,
    act,
    copy_world,
    flatten,
    is_over,
    load,
    perceive,
    react,
    react_at,
    same_state,
    store,
    value_at,
    world_at,
)
from leaps.dsl.compiler import HALT, NO_SENSE, OPERATION, SET, SHIFT, STUCK, Compiled
from leaps.dsl.interpreter import Outcome

NO_ACTION = 255
"""padding of rows of actions"""
_FIRST_MARK = 32
"""steps after which a state is stored for cycle detection; then after twice as many, and so on"""
_OVER_LIMIT = np.int32(STUCK)
"""the table entry of a run that has exceeded its limit of calls: it can't act again"""
_NOWHERE = np.uint64(2**64 - 1)
_HALTED, _ENDED, _CUT_OFF, _STUCK = (int(outcome) for outcome in Outcome)
_ONE = np.uint64(1)


class Hooks(NamedTuple):
    """The hooks of a task that a rollout calls."""

    events: int
    """change bits after which `react` is called"""
    react: int
    """address of a native function, the argument of the domain's `react_at`"""
    value: int
    """address of a native function, the argument of the domain's `value_at`"""
    cost: float
    """subtracted from the value for every action"""


def code_of(perceived: np.uint64, senses: NDArray[np.uint8], program: int) -> np.uint64:
    """Select the senses that a program uses from all perceptions."""
    if CODES > 0:
        return perceived
    code = np.uint64(0)
    for number in range(senses.shape[1]):
        if senses[program, number] == NO_SENSE:
            break
        code |= ((perceived >> np.uint64(senses[program, number])) & _ONE) << np.uint64(number)
    return code


def step(
    flat: Any,
    worlds: Any,
    number: int,
    layout: Any,
    registers: Any,
    action: int,
    events: int,
    hook: Any,
) -> tuple[Any, int, bool]:
    """Do an action and call the task's reaction; return the registers, the changes, and whether it is over.

    flat: flat view of `worlds`.
    """
    before = registers
    registers, change = act(flat, layout, registers, action)
    over = False
    if change & events:
        store(flat, number, layout, registers)
        over = react(hook, world_at(worlds, number), number, layout, change, before)
        registers = load(flat, number, layout)  # the task may have changed them
    if change & (events | FINAL):
        over |= is_over(flat, layout, registers)
    return registers, change, over


def run_range(
    compiled: Compiled,
    calls: NDArray[np.int32] | None,
    worlds: Any,
    layout: Any,
    scratch: Any,
    memo: Any,
    counters: NDArray[np.int64],
    marked_counters: NDArray[np.int64],
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
    final: Any,
    own: bool,
    first: int,
    last: int,
) -> None:
    """Run rollouts first..last-1, numbered program by program. Outputs of size 0 are not computed.

    With `needed`, the range must contain all rollouts of its programs. scratch, memo: buffers of one world
    each. counters, marked_counters: buffers for the loops of the longest program.

    Nothing is allocated, so that no references have to be counted: that would take longer than the work.
    """
    count = outcomes.shape[1]
    here, starts, ends, past = flatten(scratch), flatten(worlds), flatten(final), flatten(memo)
    table, branches, loops, senses = compiled.table, compiled.branches, compiled.loops, compiled.senses
    recorded = actions.reshape(-1)
    record, race, track = recorded.size > 0, needed.size > 0, branches.size > 0
    watched = track or used.size > 0
    limit = compiled.limit
    events, hook, value = hooks.events, react_at(hooks.react), value_at(hooks.value)
    lasting = events | STATEFUL

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
        copy_world(starts, start, here, 0, layout)
        registers = load(here, 0, layout)
        rows, entries = np.uint64(compiled.start[program]), np.uint64(compiled.first[program])
        codes = np.uint64(CODES)
        if CODES == 0:
            codes = _ONE
            for sense in range(senses.shape[1]):
                if senses[program, sense] != NO_SENSE:
                    codes <<= _ONE
        loops_used = compiled.start[program + 1] - compiled.start[program]
        pc = np.uint64(compiled.entry[program])
        taken = 0
        spent = 0  # calls
        looked_at = np.uint64(0)
        marked, marked_pc, marked_after = registers, _NOWHERE, 0
        changed = False  # more than the registers, since the mark
        next_mark = horizon if record or limit > 0 else min(_FIRST_MARK, horizon)
        while True:
            code = code_of(perceive(here, layout, registers), senses, program)
            at = entries + pc * codes + code
            entry = table[at]
            if watched:
                if track:
                    looked_at |= branches[at]
                else:
                    used[at] = True
            if calls is not None:
                spent += calls[at]
                if spent > limit:
                    entry = _OVER_LIMIT
            operation = entry & OPERATION
            while operation >= SET:
                loop = np.uint64(entry >> SHIFT)
                if operation == SET:
                    counters[loop] = loops[rows + loop, 0]
                    pc = np.uint64(loops[rows + loop, 1])
                else:
                    counters[loop] -= 1
                    pc = np.uint64(loops[rows + loop, 1] if counters[loop] > 0 else loops[rows + loop, 2])
                at = entries + pc * codes + code
                entry = table[at]
                if watched:
                    if track:
                        looked_at |= branches[at]
                    else:
                        used[at] = True
                if calls is not None:
                    spent += calls[at]
                    if spent > limit:
                        entry = _OVER_LIMIT
                operation = entry & OPERATION
            if operation >= HALT:
                outcome = _HALTED if operation == HALT else _STUCK
                if calls is not None and operation != HALT:
                    outcome = _CUT_OFF  # it loops until it exceeds the limit
                break
            if pc == marked_pc and registers == marked:
                again = True
                for loop_number in range(loops_used):
                    again &= counters[loop_number] == marked_counters[loop_number]
                if again and changed and not same_state(here, past):
                    again, marked_pc = False, _NOWHERE  # compare only once, since it takes time
                if again:
                    taken = horizon - (horizon - taken) % (taken - marked_after)
                    marked_pc, next_mark = _NOWHERE, horizon
            if taken == next_mark:
                if taken == horizon:
                    outcome = _CUT_OFF
                    break
                marked, marked_pc, marked_after = registers, pc, taken
                for loop_number in range(loops_used):
                    marked_counters[loop_number] = counters[loop_number]
                copy_world(here, 0, past, 0, layout)
                changed = False
                next_mark = min(2 * next_mark, horizon)
            pc = np.uint64(entry >> SHIFT)
            registers, change, over = step(here, scratch, 0, layout, registers, operation, events, hook)
            if record:
                recorded[index * horizon + taken] = operation
            taken += 1
            if change & lasting:
                changed = True
            if over:
                outcome = _ENDED
                break
        store(here, 0, layout, registers)

        outcomes[program, number] = outcome
        steps[program, number] = taken
        if track:
            covered[program, number] = looked_at
        if returns.size > 0:
            returns[program, number] = (
                value(world_at(scratch, 0), world_at(worlds, start)) - hooks.cost * taken
            )
        if race:
            tried[program] = number + 1
            earned += returns[program, number]
            given_up = earned < needed[number]
        if len(final[0]) > 0:
            copy_world(here, 0, ends, index, layout)


def replay_range(
    worlds: Any, layout: Any, scratch: Any, actions: NDArray[np.uint8], hooks: Hooks, states: Any
) -> None:
    """Replay the actions [worlds, horizon] and store every state, `horizon + 1` for each world.

    scratch: buffer of one world.
    """
    horizon, hook = actions.shape[1], react_at(hooks.react)
    here, starts, out = flatten(scratch), flatten(worlds), flatten(states)
    for number in range(len(actions)):
        copy_world(starts, number, here, 0, layout)
        state = number * (horizon + 1)
        copy_world(here, 0, out, state, layout)
        registers = load(here, 0, layout)
        for taken in range(horizon):
            if actions[number, taken] != NO_ACTION:
                action = actions[number, taken]
                registers, _, _ = step(here, scratch, 0, layout, registers, action, hooks.events, hook)
                store(here, 0, layout, registers)
            copy_world(here, 0, out, state + taken + 1, layout)


def advance_range(
    worlds: Any,
    layout: Any,
    starts: Any,
    values: NDArray[np.float64],
    steps: NDArray[np.int64],
    actions: NDArray[np.int64],
    active: NDArray[np.bool_],
    horizon: int,
    hooks: Hooks,
    coarse: bool,
    rewards: NDArray[np.float64],
    terminated: NDArray[np.bool_],
    truncated: NDArray[np.bool_],
    first: int,
    last: int,
) -> None:
    """Do one action in each active world of first..last-1.

    values: the return of each rollout if it ended now. coarse: the task's value depends only on changes that
    `act` reports as STATEFUL or FINAL, not on other changes of registers.
    """
    flat = flatten(worlds)
    events, hook, value = hooks.events, react_at(hooks.react), value_at(hooks.value)
    cost, relevant = hooks.cost, events | FINAL | STATEFUL
    for number in range(first, last):
        rewards[number] = 0.0
        terminated[number] = truncated[number] = False
        if not active[number]:
            continue
        before = load(flat, number, layout)
        registers, change, over = step(flat, worlds, number, layout, before, actions[number], events, hook)
        store(flat, number, layout, registers)
        steps[number] += 1
        terminated[number] = over
        if change & relevant or (not coarse and registers != before) or steps[number] == 1 or cost > 0.0:
            worth = value(world_at(worlds, number), world_at(starts, number)) - cost * steps[number]
            rewards[number] = worth - values[number]
            values[number] = worth
        truncated[number] = steps[number] >= horizon and not over
