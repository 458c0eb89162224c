"""Neighbours near a program: within the edits; useless edits are taken back."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from leaps.dsl.edit import edit_distance
from leaps.dsl.neighbours import Move
from leaps.dsl.syntax import Program, tokens_of
from leaps.dsl.text import parse
from leaps.karel.world import KAREL, LANGUAGE
from leaps.search.ladder import MOVES
from leaps.search.near import Near, return_to_origin
from leaps.search.objective import Objective
from leaps.search.search import Candidates
from leaps.tasks import get
from tests.search.counting import CountsMoves
from tests.strategies import programs

MAZE = "DEF run m( WHILE c( noMarkersPresent c) w( move turnRight w) m)"
TOP_OFF = "DEF run m( WHILE c( frontIsClear c) w( IF c( markersPresent c) i( putMarker i) move w) m)"
SHORTEST = "DEF run m( move m)"
DEEP = f"DEF run m( {'WHILE c( not c( frontIsClear c) c) w( turnLeft ' * 12}move {'w) ' * 12}m)"
DEEPEST = f"DEF run m( {'REPEAT R=2 r( ' * 100}move {'r) ' * 100}m)"
"""no program may be nested deeper"""
LONG = f"DEF run m( {'pickMarker move ' * 40}turnLeft m)"
ORIGINS = [SHORTEST, MAZE, TOP_OFF, DEEP, DEEPEST, LONG]


def tree_of(row: NDArray[np.uint8]) -> Program:
    return parse(text_of(row), LANGUAGE)


def text_of(row: NDArray[np.uint8]) -> str:
    return LANGUAGE.text(row)


def row_of(program: str, length: int) -> NDArray[np.uint8]:
    return np.asarray(LANGUAGE.batch([KAREL.read(program)], length)[0])


def near_of(origin: str, edits: int = 3, *moves: Move, seed: int = 0) -> Near:
    """Draw with these moves, equally frequent; by default with those of climbs."""
    return Near(KAREL, KAREL.read(origin), edits, dict.fromkeys(moves, 1.0) or MOVES, seed)


def actions(*names: str) -> str:
    return f"DEF run m( {' '.join(names)} m)"


def rows_of(near: Near, *texts: str) -> Candidates:
    return np.stack([row_of(text, near.limits.length) for text in texts])


def texts_of(rows: Candidates) -> list[str]:
    return [text_of(row) for row in rows]


def assert_close(rows: Candidates, origin: Program, edits: int) -> None:
    """Check that all are programs close to the origin, with padding at the end only."""
    assert (KAREL.compile(rows).entry >= 0).all()
    lengths = (rows != LANGUAGE.pad).sum(axis=1)
    np.testing.assert_array_equal(np.arange(rows.shape[1]) >= lengths[:, None], rows == LANGUAGE.pad)
    for row in np.unique(rows, axis=0):
        assert edit_distance(origin, tree_of(row), LANGUAGE) <= edits


# Distances


def generations(near: Near, others: Candidates | None = None) -> Iterator[Candidates]:
    """A long walk within the edits reaches programs that are not next to the origin."""
    walkers = near.begin(24)
    yield walkers
    for _ in range(6):
        walkers, _ = near.draw(walkers, 24, walkers if others is None else others)
        yield walkers


@pytest.mark.parametrize("origin", ORIGINS, ids=["shortest", "maze", "top-off", "deep", "deepest", "long"])
@pytest.mark.parametrize("edits", [1, 2, 5])
def test_all_neighbours_are_programs_within_the_edits(origin: str, edits: int) -> None:
    for rows in generations(near_of(origin, edits)):
        assert_close(rows, parse(origin, LANGUAGE), edits)


@settings(max_examples=25)
@given(programs, programs, st.integers(1, 4), st.integers(0, 1000))
def test_neighbours_of_any_program_are_close_to_the_origin(
    origin: Program, other: Program, edits: int, seed: int
) -> None:
    """For any other programs that pieces come from."""
    near = near_of(" ".join(tokens_of(origin)), edits, seed=seed)
    piece = LANGUAGE.encode(tokens_of(other))
    others = np.stack([piece]) if len(piece) <= near.limits.length else None
    for rows in generations(near, others):
        assert_close(rows, origin, edits)


@pytest.mark.parametrize("origin", [MAZE, DEEP, LONG])
def test_all_numbers_of_edits_occur(origin: str) -> None:
    for edits in (1, 3):
        near = near_of(origin, edits)
        farthest = [int(near.distances(rows).max()) for rows in generations(near)]
        assert max(farthest) == edits


def test_every_kind_of_move_occurs() -> None:
    near = near_of(DEEP, 3)
    _, moves = near.draw(near.begin(24), 2000, near.begin(24))
    assert set(moves.tolist()) >= set(Move)


def test_a_program_may_grow_by_the_longest_statement_with_every_edit() -> None:
    """A loop or conditional with a negated condition around the whole program."""
    near = near_of(SHORTEST, 2, Move.WRAP)
    rows = near.begin(400)
    for _ in range(2):
        rows, _ = near.draw(rows, 400)
    longest = int((rows != LANGUAGE.pad).sum(axis=1).max())
    assert longest == len(SHORTEST.split()) + 2 * 9


def test_a_program_of_many_statements_in_a_row_may_have_one_more() -> None:
    near = near_of(LONG, 1, Move.INSERT)
    rows, moves = near.draw(KAREL.read(LONG)[None], 50)
    assert (moves == Move.INSERT).all()
    assert {edit_distance(parse(LONG, LANGUAGE), tree_of(row), LANGUAGE) for row in rows} == {1}


def test_a_program_of_maximum_nesting_gets_no_deeper() -> None:
    near = near_of(DEEPEST, 1, Move.WRAP)
    rows, moves = near.draw(KAREL.read(DEEPEST)[None], 20)
    assert set(texts_of(rows)) == {" ".join(DEEPEST.split())}
    assert (moves == len(Move)).all()


def test_pieces_come_from_other_programs() -> None:
    near = near_of(actions("move", "move"), 1, Move.CROSS)
    others = rows_of(near, actions("putMarker"), actions("pickMarker"))
    rows, moves = near.draw(KAREL.read(actions("move", "move"))[None], 100, others)
    assert (moves == Move.CROSS).all()
    assert set(texts_of(rows)) == {
        actions(*pair) for other in ("putMarker", "pickMarker") for pair in (("move", other), (other, "move"))
    }


# Parents


FIRST = ["turnLeft", *["move"] * 5]


def test_several_parents_have_neighbours_in_turn() -> None:
    """Few neighbours of the second are close, so the rows are filled in several rounds."""
    origin = ["move"] * 6
    near = near_of(actions(*origin), 1, Move.ADJUST)
    rows, moves = near.draw(rows_of(near, actions(*origin), actions(*FIRST)), 201)
    assert (moves == Move.ADJUST).all()
    for number, text in enumerate(texts_of(rows)):
        body = text.split()[3:-1]
        changed = [name != "move" for name in body]
        if number % 2 == 0:
            assert sum(changed) == 1  # somewhere
        else:
            assert sum(changed[1:]) == 0  # what the second differs in may change or go, and that is all
            assert body[0] != "turnLeft"
    assert len(set(texts_of(rows[::2]))) > 6
    assert len(set(texts_of(rows[1::2]))) == len(LANGUAGE.actions) - 1


def test_fewer_neighbours_than_parents_use_the_first_parents() -> None:
    near = near_of(actions(*["move"] * 4, *["turnLeft"] * 4), 8, Move.DELETE)
    parents = rows_of(near, *(actions(*[name] * 4) for name in ("move", "turnLeft", "putMarker")))
    rows, _ = near.draw(parents, 2)
    assert texts_of(rows) == [actions(*["move"] * 3), actions(*["turnLeft"] * 3)]


def test_a_parent_without_a_close_neighbour_is_returned_unchanged() -> None:
    """Any insertion into the second makes it two statements longer than the origin."""
    near = near_of(SHORTEST, 1, Move.INSERT)
    full = actions("move", "turnLeft")
    rows, moves = near.draw(rows_of(near, SHORTEST, full), 40)
    assert texts_of(rows[1::2]) == [full] * 20
    assert (moves[1::2] == len(Move)).all()
    assert (moves[::2] == Move.INSERT).all()
    assert (near.distances(rows[::2]) == 1).all()


def test_rare_neighbours_are_found_by_repeated_draws() -> None:
    """Nothing can be deleted here, and the other move is so rare that most draws fail."""
    near = Near(KAREL, KAREL.read(SHORTEST), 1, {Move.DELETE: 1.0, Move.ADJUST: 0.02}, 0)
    rows, moves = near.draw(KAREL.read(SHORTEST)[None], 50)
    assert (moves == Move.ADJUST).all()
    assert SHORTEST not in texts_of(rows)


def test_a_parent_too_far_away_is_unchanged_or_comes_close() -> None:
    near = near_of(SHORTEST, 1, Move.DELETE)
    far, farther = actions("move", "turnLeft", "turnLeft"), actions("move", *["turnLeft"] * 3)
    rows, moves = near.draw(rows_of(near, far, farther), 8)
    assert texts_of(rows[1::2]) == [farther] * 4
    assert (moves[1::2] == len(Move)).all()
    assert texts_of(rows[::2]) == [actions("move", "turnLeft")] * 4


def test_the_same_seed_draws_the_same_neighbours() -> None:
    one, same, other = (near_of(MAZE, 2, seed=seed) for seed in (4, 4, 5))
    for _ in range(3):
        begun = one.begin(20)
        np.testing.assert_array_equal(begun, same.begin(20))
        for drawn, again in zip(one.draw(begun, 50, begun), same.draw(begun, 50, begun), strict=True):
            np.testing.assert_array_equal(drawn, again)
    assert not np.array_equal(near_of(MAZE, 2, seed=4).begin(20), other.begin(20))


def test_drawing_does_not_change_the_given_programs() -> None:
    near = near_of(MAZE, 2)
    parents, others = rows_of(near, MAZE), rows_of(near, TOP_OFF)
    before = parents.copy(), others.copy()
    near.draw(parents, 100, others)
    np.testing.assert_array_equal(parents, before[0])
    np.testing.assert_array_equal(others, before[1])


def test_padding_is_not_part_of_the_origin() -> None:
    padded = Near(KAREL, row_of(MAZE, 45), 2, MOVES, 0)
    np.testing.assert_array_equal(padded.begin(30), near_of(MAZE, 2).begin(30))


# Starting programs


@pytest.mark.parametrize("count", [1, 2, 32])
def test_the_first_starting_program_is_the_origin(count: int) -> None:
    for seed in range(5):
        begun = near_of(TOP_OFF, seed=seed).begin(count)
        assert len(begun) == count
        assert text_of(begun[0]) == TOP_OFF


def test_not_all_starting_programs_are_next_to_the_origin() -> None:
    near = near_of(LONG, 4)
    distances = near.distances(near.begin(64))
    assert len(np.unique(distances)) > 3
    assert distances[48:].mean() > distances[1:33].mean()


class Counting(CountsMoves, Near):
    pass


def test_half_of_the_starting_programs_are_one_move_away_a_quarter_two_and_so_on() -> None:
    away, count = np.unique(
        Counting(KAREL, KAREL.read(MAZE), 3, MOVES, 0).begin(32)[:, 0], return_counts=True
    )
    assert dict(zip(away.tolist(), count.tolist(), strict=True)) == {0: 1, 1: 16, 2: 8, 3: 4, 4: 2, 5: 1}


@pytest.mark.parametrize("edits", [0, -2])
def test_zero_edits_raise(edits: int) -> None:
    with pytest.raises(ValueError, match=f"edits must be at least 1, found {edits}"):
        near_of(MAZE, edits)


# Returning to the origin


def objective_of(task: str, worlds: int = 60) -> Objective:
    return Objective(get(task), get(task).worlds(worlds, seed=5))


def returned(program: str, origin: str, task: str, seed: int = 0) -> str:
    """Return the result of `return_to_origin` for a program in a row longer than needed."""
    row = row_of(program, len(program.split()) + 9)
    return text_of(return_to_origin(row, objective_of(task), KAREL.read(origin), seed))


@pytest.mark.parametrize(
    ("part", "edited"),
    [
        ("move", "turnLeft turnRight move"),
        ("move", "move turnLeft turnLeft turnLeft turnLeft"),
        ("noMarkersPresent", "not c( markersPresent c)"),
        ("move", "IF c( markersPresent c) i( turnLeft putMarker i) move"),
        ("move", "IFELSE c( noMarkersPresent c) i( move i) ELSE e( turnLeft e)"),
        ("turnRight", "turnLeft"),  # the other way along the walls is as good
        ("w) m)", "w) turnLeft m)"),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_edits_that_make_no_difference_are_taken_back(part: str, edited: str, seed: int) -> None:
    program = MAZE.replace(part, edited)
    assert objective_of("maze").scores(KAREL.read(program)[None])[0] == 1.0
    assert returned(program, MAZE, "maze", seed) == MAZE


def test_a_removed_useless_statement_is_restored() -> None:
    origin = MAZE.replace("WHILE", "turnLeft WHILE")
    assert returned(MAZE, origin, "maze") == origin


@pytest.mark.parametrize("seed", [0, 1])
def test_of_several_edits_only_the_one_that_matters_stays(seed: int) -> None:
    broken = TOP_OFF.replace("c( markersPresent c)", "c( not c( markersPresent c) c)")
    program = TOP_OFF.replace("move w)", "move turnLeft turnRight w) turnLeft")
    assert objective_of("top-off").scores(KAREL.read(program)[None])[0] == 1.0
    assert edit_distance(parse(broken, LANGUAGE), parse(program, LANGUAGE), LANGUAGE) == 4
    assert returned(program, broken, "top-off", seed) == TOP_OFF


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_edit_that_matters_is_left_alone(seed: int) -> None:
    broken = MAZE.replace("turnRight", "putMarker")
    assert returned(MAZE, broken, "maze", seed) == MAZE


@pytest.mark.parametrize("seed", [0, 1])
def test_an_edit_that_matters_is_made_as_short_as_it_can_be(seed: int) -> None:
    broken = MAZE.replace("turnRight", "putMarker")
    lengthy = MAZE.replace("turnRight", "IF c( not c( markersPresent c) c) i( turnRight i)")
    assert edit_distance(parse(broken, LANGUAGE), parse(lengthy, LANGUAGE), LANGUAGE) == 2
    after = returned(lengthy, broken, "maze", seed)
    assert edit_distance(parse(broken, LANGUAGE), parse(after, LANGUAGE), LANGUAGE) == 1
    assert len(after.split()) == len(MAZE.split())
    # A negation is as many edits as a condition of the opposite meaning, and longer.
    broken = MAZE.replace("noMarkersPresent", "leftIsClear")
    assert (
        returned(MAZE.replace("noMarkersPresent", "not c( markersPresent c)"), broken, "maze", seed) == MAZE
    )


def test_unedited_parts_are_not_shortened() -> None:
    """Useless statements of the origin are kept."""
    padded = MAZE.replace("move", "turnLeft turnRight move")
    broken = padded.replace("noMarkersPresent", "frontIsClear")
    assert returned(padded, broken, "maze") == padded


def test_harmful_edits_are_taken_back() -> None:
    assert returned(MAZE.replace("turnRight", "putMarker"), MAZE, "maze") == MAZE


def test_an_unedited_program_is_left_alone() -> None:
    row = row_of(MAZE, 30)
    np.testing.assert_array_equal(return_to_origin(row, objective_of("maze"), KAREL.read(MAZE), 0), row)


@pytest.mark.parametrize("task", ["harvester", "top-off", "seeder"])
@pytest.mark.parametrize("worlds", [8, 60])  # so few that none is dropped in a race, and more
def test_the_result_is_never_worse_nor_farther_from_the_origin(task: str, worlds: int) -> None:
    objective = objective_of(task, worlds)
    origin = parse(TOP_OFF.replace("putMarker", "pickMarker turnLeft"), LANGUAGE)
    near = near_of(" ".join(tokens_of(origin)), 4)
    edited = near.begin(256)
    best = edited[np.argsort(-objective.scores(edited), kind="stable")[:4]]
    for number, program in enumerate([*best, *edited[-4:]]):
        before = program.copy()
        after = return_to_origin(program, objective, near.origin, number)
        np.testing.assert_array_equal(program, before)
        assert_close(after[None], origin, edit_distance(origin, tree_of(program), LANGUAGE))
        assert objective.scores(after[None])[0] >= objective.scores(program[None])[0] - 1e-9


def test_the_same_seed_takes_back_the_same_edits() -> None:
    program = TOP_OFF.replace("move w)", "move turnLeft turnRight w) turnLeft pickMarker")
    assert returned(program, MAZE, "top-off", 3) == returned(program, MAZE, "top-off", 3)


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_neighbour_differs_from_its_parent(origin: str) -> None:
    near = near_of(origin, 2)
    parents = near.begin(24)
    rows, moves = near.draw(parents, 480, parents)
    differ = (rows != parents[np.arange(480) % 24]).any(axis=1)
    np.testing.assert_array_equal(differ, moves < len(Move))
