"""Karel's part of the studio: first programs and drawn worlds."""

import pytest

from leaps.dsl.syntax import tokens_of
from leaps.dsl.text import to_line
from leaps.evaluate import evaluate
from leaps.karel.replay import KarelReplay
from leaps.karel.studio import START, KarelStudio
from leaps.karel.tasks import HARD
from leaps.karel.world import World, Worlds
from leaps.studio.offer import offered
from leaps.studio.requests import TOKENS
from leaps.tasks import get

STUDIO = KarelStudio()


def drawn(world: World) -> Worlds:
    return Worlds.stack([world])


def test_every_listed_task_has_a_first_program() -> None:
    assert list(START) == list(offered())
    assert all(STUDIO.first_program(task) is START[task] for task in START)
    assert all(len(tokens_of(program)) <= TOKENS for program in START.values())


@pytest.mark.parametrize("task", START)
def test_a_first_program_does_something_sensible(task: str) -> None:
    assert evaluate(START[task], task, episodes=200).mean_return[0] > 0.1


@pytest.mark.parametrize("task", [*HARD, "top-off", "harvester", "clean-house"])
def test_a_first_program_leaves_room_for_improvement(task: str) -> None:
    assert evaluate(START[task], task, episodes=200).mean_return[0] < 0.99


def test_any_other_task_starts_with_one_action() -> None:
    assert to_line(STUDIO.first_program("corridor")) == "DEF run m( move m)"


def test_a_drawn_world_is_read() -> None:
    world = STUDIO.drawn_world(["####", "#.1#", "####"], 1, 1, 2).world(0)
    assert (world.rows(), world.place) == (["####", "#.1#", "####"], (1, 1, 2))
    with pytest.raises(ValueError, match="border must be wall"):
        STUDIO.drawn_world(["###", "#.#", "#.#"], 1, 1, 0)


def test_a_snake_needs_room_to_grow() -> None:
    snake = get("snake")
    full = ["#######"] + ["#11111#"] * 5 + ["#######"]
    with pytest.raises(ValueError, match="needs at least 23 empty cells, found 0"):
        STUDIO.prepare(snake, drawn(World.of(full, 1, 1, 1)), 0)
    nearly = ["#######", "#11...#"] + ["#.....#"] * 4 + ["#######"]
    assert STUDIO.prepare(snake, drawn(World.of(nearly, 1, 1, 1)), 0).memory.size > 0
    with pytest.raises(ValueError, match="found 22"):
        STUDIO.prepare(snake, drawn(World.of(nearly, 1, 3, 1)), 0)
    room = ["#######"] + ["#.....#"] * 5 + ["#######"]
    assert STUDIO.prepare(snake, drawn(World.of(room, 1, 1, 1)), 0).memory.size > 0


def test_a_prepared_world_is_a_copy_with_the_tasks_exits() -> None:
    world = World.of(["#####", "#..1#", "#...#", "#...#", "#####"], 3, 1, 1)
    before = str(world)
    assert (STUDIO.prepare(get("maze"), drawn(world), 0).ground == 2).sum() == 1
    assert str(world) == before
    assert (world.ground == 2).sum() == 0


def test_a_rollout_starts_in_the_first_state() -> None:
    worlds = get("maze").worlds(2, 0)
    replay = STUDIO.replay(START["maze"], get("maze"), worlds)
    assert isinstance(replay, KarelReplay)
    assert str(replay.world) == str(worlds.world(0))
