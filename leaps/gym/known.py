"""Unmodified environments of Gymnasium and MiniGrid as tasks, with their actions and perceptions.

Programs see the observation only. A task has the name of its environment: `leaps solve CartPole-v1`. MiniGrid
is an extra: `pip install leaps[minigrid]`.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from leaps.gym.constants import number
from leaps.gym.perceptions import Perception
from leaps.gym.scene import Episode
from leaps.gym.task import GymTask


def cost_to_goal(episode: Episode, longest: float) -> float:
    """Return the sum of rewards, -1 per step, if the goal was reached; else that of the longest episode.

    So a program can't save the cost of further steps by ending early.
    """
    return sum(episode.rewards) if episode.terminated else -longest


CART_POLE = GymTask(
    "CartPole-v1",
    make="CartPole-v1",
    actions={"pushLeft": 0, "pushRight": 1},
    perceptions={
        "position": number(lambda seen: seen[0]),
        "speed": number(lambda seen: seen[1]),
        "angle": number(lambda seen: seen[2]),
        "angularSpeed": number(lambda seen: seen[3]),
    },
    best=500,
    highest=500,
    repeats=True,
    checked=400,  # detects programs that fail once in 1,000 episodes
)

ACROBOT = GymTask(
    "Acrobot-v1",
    make="Acrobot-v1",
    actions={"pushLeft": 0, "coast": 1, "pushRight": 2},
    perceptions={
        "height": number(lambda seen: -seen[0]),
        "side": number(lambda seen: seen[1]),
        "stretch": number(lambda seen: seen[2]),
        "bend": number(lambda seen: seen[3]),
        "upperSpeed": number(lambda seen: seen[4]),
        "lowerSpeed": number(lambda seen: seen[5]),
    },
    highest=0,
    repeats=True,
    steps=200,  # instead of 500: programs that need more are not good, and a search is faster
    value=partial(cost_to_goal, longest=500),
)

MOUNTAIN_CAR = GymTask(
    "MountainCar-v0",
    make="MountainCar-v0",
    actions={"pushLeft": 0, "coast": 1, "pushRight": 2},
    perceptions={"position": number(lambda seen: seen[0]), "speed": number(lambda seen: seen[1])},
    highest=0,
    repeats=True,
    value=partial(cost_to_goal, longest=200),
)

MOUNTAIN_CAR_CONTINUOUS = GymTask(
    "MountainCarContinuous-v0",
    make="MountainCarContinuous-v0",
    actions={
        "pushLeft": [-1.0],
        "nudgeLeft": [-0.3],
        "touchLeft": [-0.1],
        "coast": [0.0],
        "touchRight": [0.1],
        "nudgeRight": [0.3],
        "pushRight": [1.0],
    },
    perceptions={"position": number(lambda seen: seen[0]), "speed": number(lambda seen: seen[1])},
    highest=100,
    repeats=True,
)


# MiniGrid. An image is [column, row, value]: the 7x7 cells in front of the agent, which stands in column 3 of
# row 6 and looks up. The first value is 0 for unseen cells, 1 empty, 2 wall, 3 floor, 4 door, 5 key, 8 goal,
# 9 lava. A door's last value is 0 if it is open, 1 if closed, 2 if locked. The agent's own cell shows the
# object that it carries.
def front_is_clear(seen: Any) -> bool:
    kind, _, state = seen["image"][3, 5].tolist()
    return kind in (1, 3, 8) or (kind == 4 and state == 0)


def left_is_clear(seen: Any) -> bool:
    kind, _, state = seen["image"][2, 6].tolist()
    return kind in (1, 3, 8) or (kind == 4 and state == 0)


def right_is_clear(seen: Any) -> bool:
    kind, _, state = seen["image"][4, 6].tolist()
    return kind in (1, 3, 8) or (kind == 4 and state == 0)


SEEN_IN_MINIGRID: Mapping[str, Perception] = {
    "frontIsClear": front_is_clear,
    "leftIsClear": left_is_clear,
    "rightIsClear": right_is_clear,
    "frontIsWall": lambda seen: seen["image"][3, 5, 0] == 2,
    "frontIsLava": lambda seen: seen["image"][3, 5, 0] == 9,
    "frontIsGoal": lambda seen: seen["image"][3, 5, 0] == 8,
    "frontIsKey": lambda seen: seen["image"][3, 5, 0] == 5,
    "frontIsClosedDoor": lambda seen: seen["image"][3, 5].tolist()[::2] == [4, 1],
    "frontIsLockedDoor": lambda seen: seen["image"][3, 5].tolist()[::2] == [4, 2],
    "carriesKey": lambda seen: seen["image"][3, 6, 0] == 5,
    "goalAhead": lambda seen: 8 in seen["image"][:, :6, 0],
    "goalLeft": lambda seen: 8 in seen["image"][:3, :, 0],
    "goalRight": lambda seen: 8 in seen["image"][4:, :, 0],
    "keyAhead": lambda seen: 5 in seen["image"][:, :6, 0],
    "keyLeft": lambda seen: 5 in seen["image"][:3, :, 0],
    "keyRight": lambda seen: 5 in seen["image"][4:, :, 0],
    "doorAhead": lambda seen: 4 in seen["image"][:, :6, 0],
    "doorLeft": lambda seen: 4 in seen["image"][:3, :, 0],
    "doorRight": lambda seen: 4 in seen["image"][4:, :, 0],
}
WALKING = {"turnLeft": 0, "turnRight": 1, "forward": 2}
HANDLING = {"pickUp": 3, "toggle": 5}
CLEAR = ("frontIsClear", "leftIsClear", "rightIsClear")
GOAL = ("frontIsGoal", "goalAhead", "goalLeft", "goalRight")
KEY = ("carriesKey", "frontIsKey", "keyAhead", "keyLeft", "keyRight")
DOOR = ("frontIsClosedDoor", "frontIsLockedDoor", "doorAhead", "doorLeft", "doorRight")


def success(episode: Episode) -> float:
    """Return 1 if the goal was reached, else 0; MiniGrid's own reward decreases with the number of steps."""
    return float(sum(episode.rewards) > 0)


def make_minigrid(name: str, render_mode: str | None = None) -> Any:
    """Make an environment of MiniGrid, which registers them when it is imported."""
    import gymnasium

    try:
        import minigrid  # noqa: F401
    except ModuleNotFoundError:
        raise ValueError(f"{name} needs MiniGrid; install it with pip install leaps[minigrid]") from None
    return gymnasium.make(name, render_mode=render_mode, disable_env_checker=True)


def minigrid_task(name: str, steps: int, actions: Mapping[str, int], seen: tuple[str, ...]) -> GymTask:
    """Make a MiniGrid task: reach the goal, or open the door, within a maximum number of steps.

    The environments allow 196 to 324 steps; fewer suffice, and make a search faster.
    """
    return GymTask(
        name,
        make=partial(make_minigrid, name),
        actions=actions,
        perceptions={name: SEEN_IN_MINIGRID[name] for name in seen},
        best=1,
        highest=1,
        steps=steps,
        value=success,
        repeats=True,
        remembers=True,
    )


MINIGRID = (
    minigrid_task("MiniGrid-DoorKey-5x5-v0", 60, WALKING | HANDLING, (*CLEAR, *GOAL, *KEY, *DOOR)),
    minigrid_task("MiniGrid-Unlock-v0", 80, WALKING | HANDLING, (*CLEAR, *KEY, *DOOR)),
    minigrid_task("MiniGrid-LavaGapS7-v0", 30, WALKING, (*CLEAR, "frontIsWall", "frontIsLava", *GOAL)),
    minigrid_task("MiniGrid-LavaCrossingS9N1-v0", 40, WALKING, (*CLEAR, "frontIsWall", "frontIsLava", *GOAL)),
    minigrid_task("MiniGrid-SimpleCrossingS9N1-v0", 40, WALKING, (*CLEAR, *GOAL)),
)

TASKS = {task.name: task for task in (CART_POLE, ACROBOT, MOUNTAIN_CAR, MOUNTAIN_CAR_CONTINUOUS, *MINIGRID)}
VARIANTS: dict[str, GymTask] = {}
