"""Helpers to play a task from a picture."""

from leaps.domain import Outcome
from leaps.karel.executor import run
from leaps.karel.world import KAREL, World, Worlds
from leaps.tasks import get


def play(
    task_name: str, world: World | str, actions: str, horizon: int = 1000, seed: int = 0
) -> tuple[float, Outcome, World]:
    """Do the actions in a world of a task: the return, the outcome, the last world."""
    task = get(task_name)
    start = task.prepare(World.parse(world) if isinstance(world, str) else world, seed)
    rollouts = run(
        KAREL.compile(f"DEF run m( {actions} m)"),
        Worlds.stack([start]),
        horizon,
        task.hooks,
        want_final=True,
    )
    assert rollouts.returns is not None
    assert rollouts.final is not None
    return float(rollouts.returns[0, 0]), Outcome(int(rollouts.outcome[0, 0])), rollouts.final.world(0)
