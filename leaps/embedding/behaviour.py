"""R_mat, the paper's measure of similar behaviour (equation "RL Reward"), on executed traces."""

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import jit
from leaps.domain import Rollouts


@jit
def _match(
    actions: NDArray[np.uint8],
    steps: NDArray[np.int32],
    other_actions: NDArray[np.uint8],
    other_steps: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    for program in range(len(steps)):
        for world in range(steps.shape[1]):
            longer = max(steps[program, world], other_steps[program, world])
            shorter = min(steps[program, world], other_steps[program, world])
            same = 0
            while same < shorter and actions[program, world, same] == other_actions[program, world, same]:
                same += 1
            out[program, world] = same / longer if longer > 0 else 1.0


def match(rollouts: Rollouts, others: Rollouts) -> NDArray[np.float64]:
    """Compute R_mat [programs, worlds]: actions before the first difference, divided by the longer trace.

    Two empty traces have R_mat 1.
    """
    if rollouts.actions is None or others.actions is None:
        raise ValueError("R_mat compares actions: run the programs with want_actions=True")
    if rollouts.steps.shape != others.steps.shape:
        raise ValueError(
            f"expected rollouts of the same programs and worlds, found {rollouts.steps.shape} "
            f"and {others.steps.shape}"
        )
    out = np.empty(rollouts.steps.shape)
    _match(rollouts.actions, rollouts.steps, others.actions, others.steps, out)
    return out
