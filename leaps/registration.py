"""Tell Gymnasium of the Karel environments: `gymnasium.make("Karel/Maze-v0")` works once LEAPS is installed.

Gymnasium calls `register_environments` when it is imported, so this module imports nothing else of the
project: the environments themselves are loaded when one is made.
"""

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
}


def register_environments() -> None:
    """Register the ten tasks, each as a single and as a vector environment."""
    import gymnasium

    for name, task in TASK_OF.items():
        environment = f"Karel/{name}-v0"
        if environment not in gymnasium.registry:
            gymnasium.register(
                environment,
                entry_point="leaps.env:KarelEnv",
                vector_entry_point="leaps.env:KarelVectorEnv",
                kwargs={"task": task},
            )
