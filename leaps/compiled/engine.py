"""The loops compiled for one domain, and the functions that call them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import specialized
from leaps.base.parallel import run_sliced
from leaps.compiled import kernels, rules
from leaps.compiled.kernels import Hooks
from leaps.domain import NO_ACTION, Rollouts
from leaps.dsl.compiler import Compiled

NAMES = tuple(name for name in vars(rules) if not name.startswith("_") and name not in ("Any", "np"))
"""names of the functions and constants that a domain provides"""
LONGEST = np.iinfo(np.int32).max
"""maximum actions of a rollout, since `Rollouts.steps` is int32"""
GRAIN = 256
"""minimum rollouts per thread, if their length is unknown"""


def check_horizon(horizon: int) -> None:
    """Raise a ValueError if `Rollouts` can't represent a horizon."""
    if not 0 <= horizon <= LONGEST:
        raise ValueError(f"horizon must be from 0 to {LONGEST:,}, found {horizon:,}")


class Engine:
    """The executor of programs in one domain, compiled from its rules."""

    def __init__(self, domain: Any, home: str, label: str = "") -> None:
        """domain: a module or other object with all names of `leaps.compiled.rules`. home: its file. label:
        distinguishes it from other domains in the same file.
        """
        if missing := [name for name in NAMES if not hasattr(domain, name)]:
            raise ValueError(f"{home}: expected all of leaps.compiled.rules, found no {', '.join(missing)}")
        names = {name: getattr(domain, name) for name in NAMES}
        self._layout_of = domain.layout_of
        names["code_of"] = specialized(kernels.code_of, names, home, label=label, inline=True)
        self.step = names["step"] = specialized(kernels.step, names, home, label=label, inline=True)
        """for loops that the domain defines itself; see `kernels.step`"""
        # Reference counting would take longer than the work.
        self._run_range = specialized(kernels.run_range, names, home, label=label, counted=False)
        self._replay_range = specialized(kernels.replay_range, names, home, label=label, counted=False)
        self._advance_range = specialized(kernels.advance_range, names, home, label=label, counted=False)

    def run(
        self,
        compiled: Compiled,
        worlds: Any,
        horizon: int,
        hooks: Hooks,
        *,
        own_worlds: bool = False,
        needed: NDArray[np.float64] | None = None,
        want_actions: bool = False,
        want_final: bool = False,
        want_used: bool = False,
        want_returns: bool = True,
        grain: int = GRAIN,
    ) -> Rollouts:
        """Run every program in every world. Returns are the values of the task's hooks at the end.

        With `own_worlds`, the worlds are divided evenly and in order: each program runs in its own part. The
        worlds are not changed. needed: [worlds] minimum cumulative return after each world. A program below
        it is rejected, and its further returns are 0.
        """
        if (compiled.entry < 0).any():
            raise ValueError(f"row {int((compiled.entry < 0).argmax())} of the batch is not a program")
        check_horizon(horizon)
        if own_worlds and worlds.count % max(compiled.count, 1):
            raise ValueError(f"{worlds.count} worlds can't be divided evenly among {compiled.count} programs")
        shape = (
            compiled.count,
            worlds.count // max(compiled.count, 1) if own_worlds else worlds.count,
        )
        if needed is not None and (not want_returns or needed.shape != shape[1:]):
            raise ValueError(f"needed: expected a task, and a number for each of {shape[1]} worlds")
        if want_used and compiled.branches.size:
            raise ValueError(
                "expected programs compiled without branches, if the entries looked up are wanted"
            )
        outcome = np.zeros(shape, np.uint8)
        steps = np.zeros(shape, np.int32)
        returns = np.zeros(shape if want_returns else (0, 0), np.float64)
        actions = np.full((*shape, horizon if want_actions else 0), NO_ACTION, np.uint8)
        covered = np.empty(shape if compiled.branches.size else (0, 0), np.uint64)
        used = np.zeros(len(compiled.table) if want_used else 0, np.bool_)
        tried = np.zeros(0 if needed is None else shape[0], np.int64)
        final = worlds.room(shape[0] * shape[1] if want_final else 0)
        calls, run_range = compiled.calls, self._run_range
        least = np.zeros(0) if needed is None else needed
        # One thread runs all worlds of a program if its cumulative return or its used entries are needed.
        whole = max(shape[1], 1) if want_used or needed is not None else 1
        layout, deepest = self._layout_of(worlds), int(np.diff(compiled.start).max(initial=1))
        run_sliced(
            lambda first, last: run_range(
                compiled,
                calls,
                worlds,
                layout,
                worlds.room(1),
                worlds.room(1),
                np.zeros(deepest, np.int64),
                np.zeros(deepest, np.int64),
                horizon,
                hooks,
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
            returns if want_returns else None,
            actions if want_actions else None,
            covered if compiled.branches.size else None,
            used if want_used else None,
            None if needed is None else tried,
            final if want_final else None,
        )

    def replay(self, worlds: Any, actions: NDArray[np.uint8], hooks: Hooks) -> Any:
        """Replay the actions [worlds, horizon], and return every state: `horizon + 1` per world, in order.

        After the last action of a rollout, its last state is repeated.
        """
        if len(actions) != worlds.count:
            raise ValueError(
                f"expected a row of actions per world, found {len(actions)} rows, {worlds.count} worlds"
            )
        states = worlds.room(worlds.count * (actions.shape[1] + 1))
        self._replay_range(
            worlds, self._layout_of(worlds), worlds.room(1), np.ascontiguousarray(actions), hooks, states
        )
        return states

    def advance(
        self,
        worlds: Any,
        starts: Any,
        values: NDArray[np.float64],
        steps: NDArray[np.int64],
        actions: NDArray[np.int64],
        active: NDArray[np.bool_],
        horizon: int,
        hooks: Hooks,
        *,
        coarse: bool = False,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Do one action in each active world; return rewards, terminated and truncated.

        See `kernels.advance_range`.
        """
        count = len(steps)
        rewards = np.empty(count)
        terminated, truncated = np.empty(count, np.bool_), np.empty(count, np.bool_)
        advance_range, layout = self._advance_range, self._layout_of(worlds)
        run_sliced(
            lambda first, last: advance_range(
                worlds,
                layout,
                starts,
                values,
                steps,
                actions,
                active,
                horizon,
                hooks,
                coarse,
                rewards,
                terminated,
                truncated,
                first,
                last,
            ),
            count,
            grain=1024,
        )
        return rewards, terminated, truncated
