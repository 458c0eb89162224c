"""Lists of all initial states: complete, without duplicates, and as likely as the sampler draws them."""

import pickle
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaps.base.randomness import Stream, below
from leaps.domain import States
from leaps.evaluate import evaluate
from leaps.karel.tasks import HELD_OUT, TASKS, VARIANTS, KarelTask
from leaps.karel.tasks.maze import all_mazes
from leaps.karel.tasks.states import can_list, combinations, empty_rooms, equally_likely, subsets
from leaps.karel.tasks.task import is_seen
from leaps.karel.world import EAST, WALL, World, Worlds, clear, place_karel
from leaps.tasks import get
from tests.karel.tasks.corridor import SOLUTION, listed_corridor_in

DRAWS = 20_000
COUNTS = {
    "four-corner": 1,
    "harvester": 1,
    "seeder": 24,
    "one-stroke": 36,
    "stair-climber": 45,
    "top-off": 512,
    "top-off@0.25": 128,
    "top-off~50": 512,
    "door-key": 3672,
    "maze": 23_936,  # 88 mazes with 17 · 16 places for the marker and Karel
    "maze~100": 23_936,
    "maze-from-corner": 1408,
    "maze-as-run": 1408,
    "stair-climber-as-run": 45,
    "stair-climber-free": 45,
    "top-off-as-run": 512,
}
OTHER_SIZES = {
    ("four-corner", (100, 100)): 1,
    ("harvester", (7, 100)): 1,
    ("harvester-subsets", (4, 5)): 63,
    ("harvester-subsets@0.5", (4, 5)): None,  # about half; the empty room is never drawn
    ("seeder", (4, 5)): 2,
    ("seeder", (100, 100)): 98 * 96,
    ("one-stroke", (100, 100)): 98 * 98,
    ("stair-climber", (4, 4)): 1,
    ("stair-climber", (6, 20)): 6,
    ("stair-climber", (20, 6)): 6,
    ("top-off", (3, 4)): 2,
    ("top-off", (40, 17)): 2**14,
    ("door-key", (6, 6)): 4 * 2 * 4 * 1 * 7,
    ("door-key", (7, 9)): 5 * 4 * 5 * 2 * 19,
    ("maze", (5, 5)): 4 * 7 * 6,
    ("maze", (6, 7)): 14 * 11 * 10,
    ("maze-from-corner", (9, 9)): 3820 * 30,
}


def keys(worlds: Worlds) -> list[bytes]:
    """Each world in bytes, with everything that a rollout depends on."""
    fields = [array.reshape(worlds.count, -1).astype(np.int64) for array in worlds]
    return [row.tobytes() for row in np.concatenate(fields, axis=1)]


def listed(name: str, size: tuple[int, int] | None = None) -> States:
    states: States | None = get(name).states(size)
    assert states is not None
    return states


def assert_drawn_as_listed(name: str, size: tuple[int, int] | None) -> None:
    """Every draw is in the list, and the frequencies pass a chi-square test (beyond 4 sigma it fails)."""
    task, states = get(name), listed(name, size)
    numbers = {key: number for number, key in enumerate(keys(states.worlds))}
    assert len(numbers) == states.worlds.count
    assert states.weights.min() > 0
    assert states.weights.sum() == pytest.approx(1, abs=1e-12)
    drawn = [numbers[key] for key in keys(task.worlds(DRAWS, 5, size))]
    expected = DRAWS * states.weights
    observed = np.bincount(drawn, minlength=len(expected))
    freedom = len(expected) - 1
    assert abs(((observed - expected) ** 2 / expected).sum() - freedom) <= 4 * np.sqrt(2 * freedom)


@pytest.mark.parametrize(("name", "count"), COUNTS.items())
def test_a_list_is_complete_and_as_likely_as_drawn(name: str, count: int) -> None:
    assert listed(name).worlds.count == count
    assert_drawn_as_listed(name, None)


@pytest.mark.parametrize(("name", "size", "count"), [(*key, count) for key, count in OTHER_SIZES.items()])
def test_other_sizes_are_listed_too(name: str, size: tuple[int, int], count: int | None) -> None:
    assert count is None or listed(name, size).worlds.count == count
    if size[0] * size[1] < 2000:  # else 20,000 draws take more memory than the test is worth
        assert_drawn_as_listed(name, size)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("snake", None),  # later foods are drawn during the rollout
        ("clean-house", None),
        ("harvester-subsets", None),
        ("door-key", (100, 100)),
        ("maze", (9, 9)),  # 3,820 mazes, 930 places
        ("maze", (100, 100)),
        ("maze-from-corner", (100, 100)),
        ("top-off", (12, 100)),
        ("stair-climber", (1000, 1000)),
        ("one-stroke", (1000, 1000)),
        ("seeder", (1000, 1000)),
    ],
)
def test_too_many_or_unknown_states_are_not_listed(name: str, size: tuple[int, int] | None) -> None:
    assert get(name).states(size) is None


def test_unlisted_tasks_are_known_and_every_listing_is_tested() -> None:
    unlisted = {name for name, task in {**TASKS, **VARIANTS}.items() if task.states() is None}
    assert unlisted == {"clean-house", "snake", "harvester-subsets", *HELD_OUT}
    assert {*TASKS, *VARIANTS} - unlisted <= set(COUNTS)  # so that every list is tested


def test_the_listing_of_an_impossible_size_is_refused() -> None:
    with pytest.raises(ValueError, match="maze needs at least 5x5 cells"):
        get("maze").states((4, 4))


def test_seen_states_keep_their_relative_probabilities() -> None:
    whole, part = listed("top-off"), listed("top-off@0.25")
    task = get("top-off")
    numbers = [task.configuration(whole.worlds.world(index)) for index in range(512)]
    seen = np.array([is_seen(number, 9, 0.25) for number in numbers])
    assert keys(part.worlds) == keys(whole.worlds.take(np.flatnonzero(seen)))
    np.testing.assert_allclose(part.weights, whole.weights[seen] / whole.weights[seen].sum())


def test_a_listed_world_can_be_played_as_a_drawn_one() -> None:
    """Exits and memory are set up: without the marker's exit no rollout in a maze would end."""
    states, drawn = listed("maze"), get("maze").worlds(1, 0)
    assert (states.worlds.ground == 2).sum() == states.worlds.count
    assert states.worlds.memory.shape[1:] == drawn.memory.shape[1:]
    door_key = listed("door-key").worlds
    assert door_key.memory.shape == (3672, get("door-key").memory)


def test_carving_makes_88_of_the_192_perfect_mazes_symmetrically() -> None:
    mazes = all_mazes((8, 8))
    assert mazes is not None
    assert len(mazes) == 88
    assert sum(mazes.values()) == 1
    assert max(mazes.values()) == 3 * min(mazes.values())
    mirrored = {frozenset((row, 6 - column) for row, column in maze): p for maze, p in mazes.items()}
    assert mirrored == mazes
    assert all_mazes((5, 5)) == dict.fromkeys(all_mazes((5, 5)) or {}, Fraction(1, 4))


def test_a_task_with_a_list_can_be_pickled() -> None:
    for name in COUNTS:
        assert pickle.loads(pickle.dumps(get(name))).states().worlds.count == COUNTS[name]


# Helpers


def test_combinations_are_complete_with_the_last_fastest() -> None:
    first, second = combinations(range(2), [5, 7, 9])
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [
        (0, 5), (0, 7), (0, 9), (1, 5), (1, 7), (1, 9),
    ]  # fmt: skip


def test_subsets_begin_with_the_empty_one() -> None:
    assert subsets(2).tolist() == [[False, False], [False, True], [True, False], [True, True]]
    assert len({tuple(row) for row in subsets(7).tolist()}) == 128


def test_the_limit_is_on_worlds_and_on_cells() -> None:
    assert can_list(1_000_000, (10, 10))
    assert not can_list(1_000_001, (3, 3))
    assert not can_list(1_000_000, (10, 11))


# User-defined tasks


def sample(stream: Stream, world: World) -> None:
    clear(world)
    place_karel(world, 1, 1 + below(stream, world.ground.shape[1] - 2), EAST)


def value(world: World, start: World) -> float:  # noqa: ARG001
    return float(world.pose[1] == world.ground.shape[1] - 2)


def states(size: tuple[int, int]) -> States:
    return equally_likely(empty_rooms(size, *combinations([1], range(1, size[1] - 1))))


OWN = KarelTask("own", "stand at the right wall", (4, 7), (3, 4), sample, value, listing=states)


def in_walls(size: tuple[int, int]) -> States:
    rooms = states(size)
    rooms.worlds.ground[3:] = WALL
    return rooms


def too_likely(size: tuple[int, int]) -> States:
    return States(states(size).worlds, np.full(size[1] - 2, 0.5))


def impossible_state(size: tuple[int, int]) -> States:
    weights = np.full(size[1] - 2, 1 / (size[1] - 3))
    weights[0] = 0
    return States(states(size).worlds, weights)


def of_another_size(size: tuple[int, int]) -> States:
    return states((size[0] + 1, size[1]))


def test_a_user_task_can_list_its_states() -> None:
    found = OWN.states()
    assert found is not None
    assert found.worlds.pose[:, 1].tolist() == [1, 2, 3, 4, 5]
    assert found.weights.tolist() == [0.2] * 5
    assert replace(OWN, listing=None).states() is None


def anywhere(stream: Stream, world: World) -> None:
    clear(world)
    place_karel(world, 1 + below(stream, 2), 1, EAST)


def remember_a_draw(stream: Stream, world: World) -> None:
    world.memory[0] = below(stream, 1000)


def test_a_list_of_another_sampler_is_refused() -> None:
    """As is inherited by a task that `replace` makes of another; and one of a task that draws later."""
    message = "own: listing: expected every world that the task draws, but this one is missing"
    with pytest.raises(ValueError, match=message):
        replace(OWN, sample=anywhere).states()
    with pytest.raises(ValueError, match=message):
        replace(OWN, begin=remember_a_draw, memory=1).states()


def test_the_documented_list_is_that_of_the_documented_task(tmp_path: Path) -> None:
    task = get(f"{listed_corridor_in(tmp_path)}:CORRIDOR")
    found = task.states()
    assert found is not None
    assert found.weights.tolist() == [1 / 8] * 8
    assert set(keys(found.worlds)) == set(keys(task.worlds(1000, 0)))
    assert str(evaluate(SOLUTION, task, prefer_exact=True).expected()) == "exact, all 8 states"
    assert evaluate(SOLUTION, task, prefer_exact=True).mean_return[0] == 1.0


@pytest.mark.parametrize(
    ("listing", "message"),
    [
        (in_walls, r"own: expected Karel on a free cell .* \(world 3 of the listing\)"),
        (too_likely, "own: listing: expected positive probabilities that sum to 1, found a sum of 2.5"),
        (impossible_state, "own: listing: expected positive probabilities .* lowest 0"),
        (of_another_size, "own: listing: expected worlds of 4x7 .*, found 5 of 5x7"),
    ],
)
def test_an_invalid_listing_is_refused(listing: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(OWN, listing=listing).states()
