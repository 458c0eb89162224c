"""A MiniGrid task for the page: rooms with a goal, with the agent's view as the observation."""

from typing import Any

import gymnasium
import minigrid  # noqa: F401  # registers its environments

from leaps.gym import GymTask, privileged

EMPTY, DOOR, GOAL = 1, 4, 8
"""numbers of objects in an observation"""
AGENT = (3, 6)
"""cell of the agent in its observation; it faces up"""


def front_is_clear(seen: Any) -> bool:
    return bool(seen["image"][AGENT[0], AGENT[1] - 1, 0] in (EMPTY, GOAL))


def right_is_clear(seen: Any) -> bool:
    return bool(seen["image"][AGENT[0] + 1, AGENT[1], 0] in (EMPTY, GOAL))


def at_goal(environment: Any) -> bool:
    cell = environment.grid.get(*environment.agent_pos)
    return cell is not None and cell.type == "goal"


def small(render_mode: str | None = None) -> Any:
    return gymnasium.make("MiniGrid-Empty-5x5-v0", render_mode=render_mode)


ROOMS = GymTask(
    "rooms",
    make="MiniGrid-FourRooms-v0",
    actions={"turnLeft": 0, "turnRight": 1, "move": 2},
    perceptions={
        "frontIsClear": front_is_clear,
        "rightIsClear": right_is_clear,
        "atGoal": privileged(at_goal),
    },
    opposites={"frontIsBlocked": "frontIsClear"},
    variants={"small": small},
    steps=60,
)
