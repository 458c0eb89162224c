from pathlib import Path

import numpy as np
import pytest

from leaps.domain import Outcome
from leaps.dsl.sample import sample_programs
from leaps.karel.executor import run
from leaps.karel.tasks.snake import BODY, EATEN, FOOD, FOODS, INITIAL_LENGTH, LENGTH, SNAKE, SPAN, place_food
from leaps.karel.world import KAREL, LANGUAGE, PROGRAMS, WALL, World, Worlds
from tests.karel.tasks.play import play

EXAMPLES = Path(__file__).parents[3] / "examples"
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
            KAREL.compile("DEF run m( move m)"), Worlds.stack([start]), 5, SNAKE.hooks, want_final=True
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


def test_food_under_the_snake_does_not_count() -> None:
    """Karel may start on it, in a world made by hand: what it comes back to then is itself."""
    room = ROOM.replace("1", ".").strip().split("\n")
    start = World.of([*room[:2], "#..1...#", *room[3:]], 2, 3, 1)
    rollouts = run(
        KAREL.compile("DEF run m( move turnLeft turnLeft move m)"),
        Worlds.stack([SNAKE.prepare(start)]),
        9,
        SNAKE.hooks,
    )
    assert rollouts.returns is not None
    assert (rollouts.returns[0, 0], rollouts.outcome[0, 0]) == (-1.0, Outcome.ENDED)


def play_plainly(start: World, actions: list[int]) -> tuple[int, bool, list[tuple[int, int]]]:
    """Play by a second, simple implementation; return foods eaten, whether it bit itself, and its body."""
    step = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    row, column, heading = start.place
    body, eaten, world = [(row, column)], 0, start.clone()
    for action in actions:
        name = LANGUAGE.actions[action]
        if name in ("turnLeft", "turnRight"):
            heading = (heading + (1 if name == "turnRight" else 3)) % 4
        if name != "move":
            continue
        there = (body[0][0] + step[heading][0], body[0][1] + step[heading][1])
        if world.ground[there] == WALL:
            heading = (heading + 2) % 4
            continue
        if there in body:
            return eaten, True, body
        food = divmod(int(world.memory[FOOD]), SPAN)
        body.insert(0, there)
        if there == food:
            eaten += 1
        body = body[: INITIAL_LENGTH + eaten]
        if there == food and eaten < FOODS:  # the task's own, which is tested above
            world.memory[EATEN] = eaten
            world.pose[:2] = there
            world.markers[:] = 0
            for cell in body[1:]:
                world.markers[cell] = 1
            place_food(world)
    return eaten, False, body


def test_a_snake_does_what_the_rules_say() -> None:
    programs = sample_programs(LANGUAGE, PROGRAMS, 300, seed=21, max_length=45)
    good = KAREL.read((EXAMPLES / "snake.karel").read_text())
    compiled = KAREL.compile(LANGUAGE.batch([*programs, good]))
    starts = SNAKE.worlds(6, seed=22)
    rollouts = run(compiled, starts, 500, SNAKE.hooks, want_actions=True, want_final=True)
    assert rollouts.actions is not None
    assert rollouts.final is not None
    assert rollouts.returns is not None
    bitten = meals = 0
    for program in range(compiled.count):
        for number in range(6):
            actions = rollouts.actions[program, number, : rollouts.steps[program, number]].tolist()
            eaten, bit, body = play_plainly(starts.world(number), actions)
            final = rollouts.final.world(program * 6 + number)
            assert rollouts.returns[program, number] == pytest.approx(eaten / FOODS - bit)
            cells = final.memory[BODY : BODY + final.memory[LENGTH]].tolist()
            assert [divmod(cell, SPAN) for cell in cells] == body
            bitten, meals = bitten + bit, meals + eaten
    assert bitten > 20
    assert meals > 100


def test_twenty_foods_end_the_rollout() -> None:
    snake = SNAKE.prepare(World.parse(ROOM))
    snake.memory[EATEN] = 19
    rollouts = run(KAREL.compile("DEF run m( move move m)"), Worlds.stack([snake]), 9, SNAKE.hooks)
    assert rollouts.returns is not None
    assert (rollouts.returns[0, 0], rollouts.outcome[0, 0], rollouts.steps[0, 0]) == (1.0, Outcome.ENDED, 1)


def test_the_foods_of_a_rollout_follow_from_its_world() -> None:
    starts = SNAKE.worlds(20, seed=4)
    program = KAREL.compile("DEF run m( WHILE c( noMarkersPresent c) w( move move turnRight w) m)")
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
