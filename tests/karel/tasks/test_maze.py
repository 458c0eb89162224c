import numpy as np

from leaps.domain import Outcome
from leaps.karel.tasks.maze import MAZE, MAZE_AS_RUN, MAZE_FROM_CORNER
from leaps.karel.world import WALL, World
from tests.karel.tasks.play import play


def reachable(world: World) -> set[tuple[int, int]]:
    row, column, _ = world.place
    seen, todo = {(row, column)}, [(row, column)]
    while todo:
        r, c = todo.pop()
        for cell in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
            if cell not in seen and world.ground[cell] != WALL:
                seen.add(cell)
                todo.append(cell)
    return seen


def test_a_maze_is_perfect() -> None:
    """One way between any two cells: connected, and one passage fewer than cells."""
    for size in ((8, 8), (9, 9), (11, 14), (5, 5)):
        worlds = MAZE.worlds(30, seed=0, size=size)
        for number in range(30):
            world = worlds.world(number)
            free = {(int(r), int(c)) for r, c in zip(*(world.ground != WALL).nonzero(), strict=True)}
            edges = sum((r + 1, c) in free for r, c in free) + sum((r, c + 1) in free for r, c in free)
            assert reachable(world) == free
            assert edges == len(free) - 1


def test_mazes_differ() -> None:
    def different(size: tuple[int, int]) -> int:
        return len({walls.tobytes() for walls in (MAZE.worlds(1000, seed=1, size=size).ground == WALL)})

    assert different((8, 8)) > 50  # of the 88 that carving makes on 3x3 cells
    assert different((20, 20)) == 1000


def test_marker_and_karel_lie_on_different_free_cells_anywhere() -> None:
    worlds = MAZE.worlds(3000, seed=2)
    _, rows, columns = (worlds.markers > 0).nonzero()
    assert len(rows) == 3000
    assert ((rows != worlds.pose[:, 0]) | (columns != worlds.pose[:, 1])).all()
    assert len(np.unique(worlds.pose[:, :2], axis=0)) > 20


def test_reaching_the_marker_pays_one_and_ends() -> None:
    assert play("maze", "#####\n#>.1#\n#####", "move move move")[:2] == (1.0, Outcome.ENDED)
    assert play("maze", "#####\n#>.1#\n#####", "move")[:2] == (0.0, Outcome.HALTED)


def test_the_authors_start_is_the_bottom_left_corner() -> None:
    worlds = MAZE_FROM_CORNER.worlds(200, seed=3)
    assert (worlds.pose == [6, 1, 1]).all()
    assert (worlds.markers[:, 6, 1] == 0).all()


def test_as_run_the_rollout_continues_and_karel_must_end_on_the_marker() -> None:
    corridor = "######\n#>.1.#\n######"
    assert play("maze-as-run", corridor, "move move")[:2] == (1.0, Outcome.HALTED)
    assert play("maze-as-run", corridor, "move move turnLeft")[:2] == (1.0, Outcome.HALTED)
    assert play("maze-as-run", corridor, "move move move")[:2] == (0.0, Outcome.HALTED)
    assert np.array_equal(MAZE_AS_RUN.worlds(50, seed=3).pose, MAZE_FROM_CORNER.worlds(50, seed=3).pose)
