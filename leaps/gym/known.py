"""Environments of Gymnasium and MiniGrid as tasks, unmodified: what can be perceived and done in each.

Programs see the observation and nothing else. A task bears the name of its environment: `leaps solve
CartPole-v1`. MiniGrid is an extra: `pip install leaps[minigrid]`.
"""

from collections.abc import Mapping
from typing import Any

from leaps.gym.constants import number
from leaps.gym.scene import Episode
from leaps.gym.task import GymTask


def to_its_end(episode: Episode) -> float:
    """The sum of rewards; less than any where a program ends before the episode, which costs a reward a step."""
    return sum(episode.rewards) if episode.terminated or episode.truncated else -UNFINISHED


UNFINISHED = 1000.0

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
)

ACROBOT = GymTask(
    "Acrobot-v1",
    make="Acrobot-v1",
    actions={"pushLeft": 0, "coast": 1, "pushRight": 2},
    perceptions={
        "height": number(lambda seen: -seen[0] - seen[0] * seen[2] + seen[1] * seen[3]),
        "lean": number(lambda seen: seen[1]),
        "bend": number(lambda seen: seen[3]),
        "upperSpeed": number(lambda seen: seen[4]),
        "lowerSpeed": number(lambda seen: seen[5]),
    },
    highest=0,
    value=to_its_end,
)

MOUNTAIN_CAR = GymTask(
    "MountainCar-v0",
    make="MountainCar-v0",
    actions={"pushLeft": 0, "coast": 1, "pushRight": 2},
    perceptions={
        "position": number(lambda seen: seen[0]),
        "speed": number(lambda seen: seen[1]),
    },
    highest=0,
    value=to_its_end,
)

MOUNTAIN_CAR_CONTINUOUS = GymTask(
    "MountainCarContinuous-v0",
    make="MountainCarContinuous-v0",
    actions={
        "pushLeft": [-1.0],
        "nudgeLeft": [-0.2],
        "touchLeft": [-0.1],
        "coast": [0.0],
        "touchRight": [0.1],
        "nudgeRight": [0.2],
        "pushRight": [1.0],
    },
    perceptions={
        "position": number(lambda seen: seen[0]),
        "speed": number(lambda seen: seen[1]),
    },
    highest=100,
)


def make_minigrid(name: str, render_mode: str | None = None) -> Any:
    """Make an environment of MiniGrid, which registers them when it is imported."""
    import gymnasium

    try:
        import minigrid
    except ModuleNotFoundError:
        raise ValueError(f"{name} needs MiniGrid; install it with pip install leaps[minigrid]") from None
    if name not in gymnasium.registry:
        minigrid.register_minigrid_envs()
    return gymnasium.make(name, render_mode=render_mode, disable_env_checker=True)


# An observation's image is [column, row, what]: the 7x7 cells before the agent, who is in column 3 of row 6
# and looks up. The numbers: 0 not seen, 1 empty, 2 wall, 3 floor, 4 door, 5 key, 8 goal, 9 lava; a door's
# state: 0 open, 1 closed, 2 locked. The agent's own cell has what it carries.
PERCEPTIONS: Mapping[str, Any] = {
    "frontIsClear": lambda seen: (
        seen["image"][3, 5, 0] in (1, 3, 8) or seen["image"][3, 5].tolist()[::2] == [4, 0]
    ),
    "leftIsClear": lambda seen: (
        seen["image"][2, 6, 0] in (1, 3, 8) or seen["image"][2, 6].tolist()[::2] == [4, 0]
    ),
    "rightIsClear": lambda seen: (
        seen["image"][4, 6, 0] in (1, 3, 8) or seen["image"][4, 6].tolist()[::2] == [4, 0]
    ),
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
