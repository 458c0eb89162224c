import numpy as np
import pytest

from leaps.evaluate import compile_programs
from leaps.karel.executor import run
from leaps.karel.interpreter import Outcome
from leaps.karel.world import World, Worlds
from leaps.tasks.snake import EATEN, LENGTH, SNAKE
from tests.tasks.play import play

ROOM = """
########
#......#
#..>1..#
#......#
#......#
#......#
#......#
########"""


def test_the_body_follows_the_head() -> None:
    world = play("snake", ROOM, "turnRight move move move")[2]
    assert str(world).split("\n")[4:6] == ["#..1...#", "#..v...#"]
    assert world.markers.sum() == 2  # one of body, one of food


def test_food_pays_a_twentieth_and_makes_the_snake_longer() -> None:
    value, outcome, world = play("snake", ROOM, "move move")
    assert value == pytest.approx(0.05)
    assert outcome == Outcome.HALTED
    assert world.memory[LENGTH] == 3
    assert world.markers.sum() == 2 + 1


def test_the_next_food_lies_on_a_free_cell() -> None:
    for seed in range(100):
        start = SNAKE.prepare(World.parse(ROOM), seed)
        rollouts = run(
            compile_programs("DEF run m( move m)"), Worlds.stack([start]), 5, SNAKE.hooks, want_final=True
        )
        assert rollouts.final is not None
        world = rollouts.final.world(0)
        row, column, _ = world.place
        assert world.markers[row, column] == 0
        assert world.markers.sum() == 1 + 1


def test_running_into_the_body_costs_one_and_ends() -> None:
    value, outcome, _ = play("snake", ROOM, "move turnRight turnRight move")
    assert value == pytest.approx(0.05 - 1)
    assert outcome == Outcome.ENDED


def test_three_cells_do_not_close_a_circle_of_four() -> None:
    value, outcome, _ = play("snake", ROOM, "move turnRight move turnRight move turnRight move")
    assert value >= 0.05
    assert outcome == Outcome.HALTED


def test_a_short_snake_cannot_turn_back_onto_itself() -> None:
    assert play("snake", ROOM.replace("1", "."), "move turnRight turnRight move")[:2] == (-1.0, Outcome.ENDED)


def test_twenty_foods_end_the_rollout() -> None:
    snake = SNAKE.prepare(World.parse(ROOM))
    snake.memory[EATEN] = 19
    rollouts = run(compile_programs("DEF run m( move move m)"), Worlds.stack([snake]), 9, SNAKE.hooks)
    assert rollouts.returns is not None
    assert (rollouts.returns[0, 0], rollouts.outcome[0, 0], rollouts.steps[0, 0]) == (1.0, Outcome.ENDED, 1)


def test_the_foods_of_a_rollout_follow_from_its_world() -> None:
    starts = SNAKE.worlds(20, seed=4)
    program = compile_programs("DEF run m( WHILE c( noMarkersPresent c) w( move move turnRight w) m)")
    first, second = (run(program, starts, 300, SNAKE.hooks, want_final=True) for _ in range(2))
    assert first.final is not None
    assert second.final is not None
    assert np.array_equal(first.final.markers, second.final.markers)


@pytest.mark.parametrize("picture", ["####\n#>1#\n####", "#######\n" + "#11111#\n" * 4 + "#>1111#\n#######"])
def test_a_world_without_room_for_food_is_refused(picture: str) -> None:
    """The next food is looked for until there is a place: that would be for ever."""
    with pytest.raises(ValueError, match="snake needs at least 23 empty cells, found 0"):
        SNAKE.prepare(World.parse(picture))


def test_a_world_with_just_enough_room_is_played() -> None:
    nearly = ["#######", "#11...#"] + ["#.....#"] * 4 + ["#######"]
    assert SNAKE.prepare(World.of(nearly, 1, 1, 1)).memory.size > 0
    with pytest.raises(ValueError, match="found 22"):
        SNAKE.prepare(World.of(nearly, 1, 3, 1))
