"""The tasks: the paper's six, four harder ones, seven from other papers, and variants."""

from leaps.karel.tasks.clean_house import CLEAN_HOUSE
from leaps.karel.tasks.door_key import DOOR_KEY
from leaps.karel.tasks.farmer import FARMER
from leaps.karel.tasks.four_corner import FOUR_CORNER
from leaps.karel.tasks.harvester import HARVESTER, HARVESTER_SUBSETS
from leaps.karel.tasks.inf_door_key import INF_DOOR_KEY
from leaps.karel.tasks.inf_harvester import INF_HARVESTER
from leaps.karel.tasks.maze import MAZE, MAZE_AS_RUN, MAZE_FROM_CORNER
from leaps.karel.tasks.one_stroke import ONE_STROKE
from leaps.karel.tasks.path_follow import PATH_FOLLOW
from leaps.karel.tasks.seeder import SEEDER
from leaps.karel.tasks.seesaw import SEESAW
from leaps.karel.tasks.snake import SNAKE
from leaps.karel.tasks.stair_climber import STAIR_CLIMBER, STAIR_CLIMBER_AS_RUN, STAIR_CLIMBER_FREE
from leaps.karel.tasks.task import KarelTask
from leaps.karel.tasks.top_off import TOP_OFF, TOP_OFF_AS_RUN
from leaps.karel.tasks.up_n_down import UP_N_DOWN
from leaps.karel.tasks.wall_avoider import WALL_AVOIDER

PAPER_TASKS = {
    task.name: task for task in (STAIR_CLIMBER, FOUR_CORNER, TOP_OFF, MAZE, CLEAN_HOUSE, HARVESTER)
}
HARD = {task.name: task for task in (DOOR_KEY, ONE_STROKE, SEEDER, SNAKE)}
HELD_OUT = {
    task.name: task
    for task in (PATH_FOLLOW, WALL_AVOIDER, SEESAW, UP_N_DOWN, FARMER, INF_DOOR_KEY, INF_HARVESTER)
}
"""tasks from other papers, which no search or hyperparameter here was tuned on"""
TASKS = {**PAPER_TASKS, **HARD, **HELD_OUT}
FEATURED = {"Tasks of the paper": PAPER_TASKS, "Harder tasks": HARD}
"""tasks that the studio always lists, by heading"""
AS_RUN = {
    task.variant_of or task.name: task
    for task in (STAIR_CLIMBER_AS_RUN, FOUR_CORNER, TOP_OFF_AS_RUN, MAZE_AS_RUN, CLEAN_HOUSE, HARVESTER)
}
"""the paper's six tasks as its authors' code runs them, by their names in PAPER_TASKS; three differ from the
paper's text"""
VARIANTS = {
    task.name: task
    for task in (
        MAZE_FROM_CORNER,
        HARVESTER_SUBSETS,
        STAIR_CLIMBER_FREE,
        *(task for task in AS_RUN.values() if task.variant_of is not None),
    )
}
"""tasks that differ from one of TASKS in how a world is drawn or what a state is worth"""

__all__ = [
    "AS_RUN",
    "FEATURED",
    "HARD",
    "HELD_OUT",
    "PAPER_TASKS",
    "TASKS",
    "VARIANTS",
    "KarelTask",
]
