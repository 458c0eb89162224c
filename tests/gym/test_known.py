"""Known environments: each can be run, and MiniGrid's perceptions are correct."""

from typing import Any

import numpy as np
import pytest

from leaps.domain import Task
from leaps.dsl.sample import sample_programs
from leaps.evaluate import evaluate
from leaps.gym import ProgramPolicy
from leaps.gym.known import SEEN_IN_MINIGRID, TASKS
from leaps.tasks import get

FOLLOW_THE_WALL = (
    "DEF run m( IF c( rightIsClear c) i( turnRight i) "
    "WHILE c( not c( frontIsClear c) c) w( turnLeft w) forward m)"
)
"""in mazes with no open areas, and where what is ahead may be lava"""


@pytest.mark.parametrize("name", TASKS)
def test_every_environment_can_be_played(name: str) -> None:
    task: Task = get(name)
    assert task.name == name
    domain = task.domain
    tokens = sample_programs(domain.language, domain.programs, 5, seed=0, max_length=40)
    found = evaluate([domain.text(program) for program in tokens], task, episodes=2)
    assert (found.returns <= task.highest).all()
    assert np.isfinite(found.returns).all()


@pytest.mark.parametrize("name", ["LavaGapS7", "LavaCrossingS9N1", "SimpleCrossingS9N1"])
def test_following_the_wall_leads_to_the_goal(name: str) -> None:
    assert evaluate(FOLLOW_THE_WALL, f"MiniGrid-{name}-v0", episodes=100).mean_return[0] == 1.0


def test_a_program_cannot_save_the_cost_of_steps_by_ending() -> None:
    for name, longest in (("Acrobot-v1", 500), ("MountainCar-v0", 200)):
        found = evaluate("DEF run m( coast m)", name, episodes=2)
        assert found.returns.tolist() == [[-longest, -longest]]


def view(**cells: tuple[int, int, int]) -> Any:
    """An observation with only these cells, by column and row."""
    image = np.zeros((7, 7, 3), np.uint8)
    for place, cell in cells.items():
        image[int(place[1]), int(place[2])] = cell
    return {"image": image}


@pytest.mark.parametrize(
    ("cell", "holds"),
    [
        ((1, 0, 0), {"frontIsClear"}),
        ((2, 5, 0), {"frontIsWall"}),
        ((4, 0, 0), {"frontIsClear", "doorAhead"}),
        ((4, 0, 1), {"frontIsClosedDoor", "doorAhead"}),
        ((4, 0, 2), {"frontIsLockedDoor", "doorAhead"}),
        ((5, 1, 0), {"frontIsKey", "keyAhead"}),
        ((8, 1, 0), {"frontIsClear", "frontIsGoal", "goalAhead"}),
        ((9, 0, 0), {"frontIsLava"}),
    ],
)
def test_the_cell_in_front_is_perceived(cell: tuple[int, int, int], holds: set[str]) -> None:
    seen = view(c35=cell)
    assert {name for name, perception in SEEN_IN_MINIGRID.items() if perception(seen)} == holds


def test_sides_and_the_carried_object_are_perceived() -> None:
    seen = view(c26=(1, 0, 0), c46=(2, 5, 0), c36=(5, 4, 0), c52=(8, 1, 0))
    held = {name for name, perception in SEEN_IN_MINIGRID.items() if perception(seen)}
    assert held == {"leftIsClear", "carriesKey", "goalAhead", "goalRight"}


def test_a_program_acts_in_the_environment_as_in_the_task() -> None:
    task = TASKS["MiniGrid-SimpleCrossingS9N1-v0"]
    environment, policy = task.environment(), ProgramPolicy(FOLLOW_THE_WALL, task)
    starts = task.worlds(10, seed=1)
    rollouts = task.run(task.compile(FOLLOW_THE_WALL), starts)
    for number, seed in enumerate(starts.seeds.tolist()):
        seen, _ = environment.reset(seed=seed)
        policy.reset()
        steps, over = 0, False
        while not over:
            seen, reward, over, _, _ = environment.step(policy.act(seen))
            steps += 1
        assert (steps, reward > 0) == (rollouts.steps[0, number], True)
