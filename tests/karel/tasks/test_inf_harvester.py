import numpy as np
import pytest

from leaps.domain import Outcome
from leaps.karel.executor import run
from leaps.karel.tasks.inf_harvester import GOAL, INF_HARVESTER, PICKS
from leaps.karel.world import EAST, KAREL, World, Worlds
from tests.karel.tasks.play import play

FIELD = World.of(["####", "#11#", "#11#", "####"], 2, 1, EAST)


def test_a_pick_pays_its_share_of_twice_the_markers() -> None:
    value, outcome, _ = play("inf-harvester", FIELD, "pickMarker")
    assert (value, outcome) == (1 / 8, Outcome.HALTED)


def test_a_marker_grows_after_half_of_the_picks() -> None:
    worlds = INF_HARVESTER.worlds(2000, seed=0)
    program = KAREL.compile("DEF run m( pickMarker m)")
    final = run(program, worlds, 9, INF_HARVESTER.hooks, want_final=True).final
    assert final is not None
    left = final.markers.sum(axis=(1, 2))
    assert set(left.tolist()) == {195, 196}
    assert 0.45 < (left == 196).mean() < 0.55


def test_markers_grow_on_random_empty_cells_karels_own_among_them() -> None:
    room = World.of(["#####", "#...#", "#..##", "#1..#", "#####"], 3, 1, EAST)
    cells = set()
    for seed in range(300):
        world = play("inf-harvester", room, "pickMarker", seed=seed)[2]
        cells |= {tuple(cell) for cell in np.argwhere(world.markers).tolist()}
        assert world.markers.sum() <= 1
    assert cells == {(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)}


def test_putting_a_marker_changes_nothing() -> None:
    empty = World.of(["####", "#1.#", "#.1#", "####"], 2, 1, EAST)
    value, outcome, world = play("inf-harvester", empty, "putMarker pickMarker putMarker")
    assert (value, outcome) == (0.0, Outcome.HALTED)
    assert np.array_equal(world.markers, empty.markers)


def test_the_last_pick_ends_the_rollout() -> None:
    start = INF_HARVESTER.prepare(FIELD)
    start.memory[PICKS] = start.memory[GOAL] - 1
    program = KAREL.compile("DEF run m( pickMarker move m)")
    rollouts = run(program, Worlds.stack([start]), 9, INF_HARVESTER.hooks)
    assert rollouts.returns is not None
    assert (rollouts.returns[0, 0], rollouts.outcome[0, 0], rollouts.steps[0, 0]) == (1.0, Outcome.ENDED, 1)


def test_all_worlds_begin_full() -> None:
    worlds = INF_HARVESTER.worlds(20, seed=0)
    assert (worlds.pose == [14, 1, EAST]).all()
    assert (worlds.markers[:, 1:-1, 1:-1] == 1).all()
    assert (worlds.memory[:, GOAL] == 392).all()


def test_a_world_with_two_markers_in_a_cell_is_refused() -> None:
    with pytest.raises(ValueError, match="inf-harvester needs at most one marker in a cell, found 2"):
        INF_HARVESTER.prepare(World.of(["####", "#12#", "####"], 1, 1, EAST))
