"""Register the Karel environments: after `import leaps`, `gymnasium.make("Karel/Maze-v0")` works.

Only names are registered; the environment classes are imported at first use. Without Gymnasium (for example
on a machine that only trains), nothing is registered.
"""

from importlib.util import find_spec

TASK_OF = {
    "StairClimber": "stair-climber",
    "FourCorner": "four-corner",
    "TopOff": "top-off",
    "Maze": "maze",
    "CleanHouse": "clean-house",
    "Harvester": "harvester",
    "DoorKey": "door-key",
    "OneStroke": "one-stroke",
    "Seeder": "seeder",
    "Snake": "snake",
    "PathFollow": "path-follow",
    "WallAvoider": "wall-avoider",
    "Seesaw": "seesaw",
    "UpNDown": "up-n-down",
    "Farmer": "farmer",
    "InfDoorKey": "inf-door-key",
    "InfHarvester": "inf-harvester",
}


def register_environments() -> None:
    """Register every task as a single and as a vector environment."""
    if find_spec("gymnasium") is None:
        return
    import gymnasium

    for name, task in TASK_OF.items():
        gymnasium.register(
            f"Karel/{name}-v0",
            entry_point="leaps.karel.env:KarelEnv",
            vector_entry_point="leaps.karel.env:KarelVectorEnv",
            kwargs={"task": task},
        )
