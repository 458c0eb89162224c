"""Properties of every search: searches in the space, and saving and restoring."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from leaps.dsl.neighbours import Limits, Move, Neighbourhood
from leaps.embedding.space import Space
from leaps.embedding.weights import save_weights
from leaps.karel.world import KAREL, LANGUAGE, PROGRAMS
from leaps.search.beam import Beam, BeamConfig
from leaps.search.cem import CEM, CEMConfig
from leaps.search.hill_climb import HillClimb, HillClimbConfig
from leaps.search.random_search import RandomConfig, RandomSearch
from leaps.search.search import VALID_BONUS, InSpace, PointSearch, Search
from tests.embedding.helpers import placed, untrained

DIMENSIONS = 5


class Bytes:
    """A space in which a point's program is its bytes: equal programs are equal points."""

    dimensions = DIMENSIONS
    limits: list[int | None]

    def __init__(self) -> None:
        self.limits = []

    def decode(self, points: NDArray[np.float32], max_length: int | None = None) -> NDArray[np.uint8]:
        self.limits.append(max_length)
        return np.ascontiguousarray(points, np.float32).view(np.uint8)


class Recorder:
    """A search among points that records its scores."""

    def __init__(self) -> None:
        self.scored: list[tuple[NDArray[np.float32], NDArray[np.float64]]] = []
        self.finished = False
        self.restored: dict[str, Any] | None = None

    def ask(self) -> NDArray[np.float32]:
        return np.arange(3 * DIMENSIONS, dtype=np.float32).reshape(3, DIMENSIONS) + len(self.scored)

    def tell(self, points: NDArray[np.float32], scores: NDArray[np.float64]) -> None:
        self.scored.append((points.copy(), scores.copy()))

    def state(self) -> dict[str, Any]:
        return {"scored": len(self.scored)}

    def restore(self, state: dict[str, Any]) -> None:
        self.restored = state


def in_bytes(search: PointSearch, max_length: int | None = None) -> InSpace:
    return InSpace(search, cast(Space, Bytes()), max_length)


# Searches in the space


def test_a_search_in_the_space_asks_about_the_programs_of_its_points() -> None:
    recorder = Recorder()
    np.testing.assert_array_equal(in_bytes(recorder).ask().view(np.float32), recorder.ask())


def test_point_scores_include_the_bonus_of_valid_programs() -> None:
    recorder = Recorder()
    search = in_bytes(recorder)
    expected = []
    for scores in (np.array([0.0, 0.5, 1.0]), np.array([0.2, 0.0, 0.0])):
        expected.append((search.ask().view(np.float32), scores + VALID_BONUS))
        search.tell(scores)
    for (points, scores), (told_points, told_scores) in zip(expected, recorder.scored, strict=True):
        np.testing.assert_array_equal(told_points, points)
        np.testing.assert_array_equal(told_scores, scores)
    assert VALID_BONUS > 0  # or elites that earn nothing would have no weight


def test_the_callers_scores_are_not_changed() -> None:
    search, scores = in_bytes(Recorder()), np.array([0.0, 0.5, 1.0])
    search.ask()
    search.tell(scores)
    assert scores.tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("max_length", [None, 12])
def test_the_maximum_length_is_passed_to_the_space(max_length: int | None) -> None:
    search = in_bytes(Recorder(), max_length)
    search.ask()
    assert cast(Bytes, search.space).limits == [max_length]


def test_it_is_finished_when_the_search_among_points_is() -> None:
    recorder = Recorder()
    search = in_bytes(recorder)
    assert not search.finished
    recorder.finished = True
    assert search.finished


def test_a_search_in_the_space_has_no_incumbent() -> None:
    assert in_bytes(Recorder()).incumbent is None


def test_its_state_is_that_of_the_search_among_points() -> None:
    recorder = Recorder()
    search = in_bytes(recorder)
    search.ask()
    search.tell(np.zeros(3))
    assert search.state() == {"scored": 1}
    search.restore({"scored": 7})
    assert recorder.restored == {"scored": 7}


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Space:
    """Eight dimensions, for programs of 20 tokens, not trained."""
    file: Path = tmp_path_factory.mktemp("space") / "weights"
    save_weights(placed(untrained(max_length=20)), file, {"training": "none"})
    return Space(file)


@pytest.mark.parametrize(("max_length", "width"), [(None, 20), (9, 9), (30, 30)])
def test_in_a_real_space_it_asks_about_programs_within_the_limit(
    space: Space, max_length: int | None, width: int
) -> None:
    search = InSpace(RandomSearch(RandomConfig(200), space.dimensions, seed=1), space, max_length)
    programs = search.ask()
    assert programs.shape == (200, width)
    assert (KAREL.compile(programs).entry >= 0).all()
    np.testing.assert_array_equal(programs, space.decode(search.points, max_length))
    np.testing.assert_array_equal(
        search.points, RandomSearch(RandomConfig(200), space.dimensions, seed=1).ask()
    )


# Saved and restored


def hill_climb(seed: int) -> Search:
    around = Neighbourhood(LANGUAGE, PROGRAMS, Limits(), {Move.REPLACE: 1.0}, seed)
    return HillClimb(HillClimbConfig(neighbours=30, batch=5), around)


SEARCHES: dict[str, Callable[[int], Search]] = {
    "random": lambda seed: in_bytes(RandomSearch(RandomConfig(6), DIMENSIONS, seed)),
    "cem": lambda seed: in_bytes(CEM(CEMConfig(20, elite_fraction=0.2, decay=True), DIMENSIONS, seed)),
    "beam": lambda seed: in_bytes(Beam(BeamConfig(20, 5), DIMENSIONS, seed)),
    "hill climb": hill_climb,
}


def score(programs: NDArray[np.uint8]) -> NDArray[np.float64]:
    """A score that depends on the program only, with higher and equal scores."""
    return np.asarray((programs.astype(np.int64) * np.arange(1, programs.shape[1] + 1)).sum(axis=1) % 8 / 8)


def follow(search: Search, rounds: int) -> list[NDArray[np.uint8]]:
    """The candidates of a search in some rounds."""
    asked = []
    for _ in range(rounds):
        programs = search.ask()
        asked.append(programs.copy())
        search.tell(score(programs))
    return asked


def through_json(state: dict[str, Any] | None) -> dict[str, Any]:
    """The state after a round trip through a file: lists and plain numbers."""

    def plain(value: Any) -> Any:
        assert isinstance(value, np.ndarray | np.generic), f"found {type(value)} in a state"
        return value.tolist()

    restored: dict[str, Any] = json.loads(json.dumps(state, default=plain))
    return restored


def same_rounds(one: list[NDArray[np.uint8]], other: list[NDArray[np.uint8]]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("rounds", [0, 1, 2, 5, 17])
def test_a_restored_search_continues_identically(name: str, rounds: int) -> None:
    search = SEARCHES[name](1)
    follow(search, rounds)
    state = through_json(search.state())
    expected = follow(search, 20)
    again = SEARCHES[name](2)
    again.restore(state)
    assert same_rounds(follow(again, 20), expected)
    assert again.finished == search.finished


@pytest.mark.parametrize("name", SEARCHES)
def test_a_running_search_can_be_reset_to_an_earlier_state(name: str) -> None:
    search = SEARCHES[name](1)
    follow(search, 6)
    state = through_json(search.state())
    expected = follow(search, 20)
    search.restore(state)
    assert same_rounds(follow(search, 20), expected)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_state_does_not_change_while_the_search_continues(name: str) -> None:
    """The state may be written later."""
    search = SEARCHES[name](1)
    follow(search, 6)
    state = search.state()
    assert state is not None
    expected = follow(search, 20)
    again = SEARCHES[name](2)
    again.restore(state)
    assert same_rounds(follow(again, 20), expected)


@pytest.mark.parametrize("name", SEARCHES)
def test_restoring_does_not_change_the_state(name: str) -> None:
    """Two searches may be restored from one state."""
    search = SEARCHES[name](1)
    follow(search, 6)
    state = through_json(search.state())
    one, other = SEARCHES[name](2), SEARCHES[name](3)
    one.restore(state)
    expected = follow(one, 20)
    other.restore(state)
    assert same_rounds(follow(other, 20), expected)


@pytest.mark.parametrize("name", SEARCHES)
def test_the_seed_determines_the_search(name: str) -> None:
    one, same, other = (follow(SEARCHES[name](seed), 10) for seed in (1, 1, 2))
    assert same_rounds(one, same)
    assert not same_rounds(one, other)


@pytest.mark.parametrize("name", SEARCHES)
def test_worlds_changed_may_be_called_at_any_time(name: str) -> None:
    search = SEARCHES[name](1)
    search.worlds_changed()
    follow(search, 3)
    search.worlds_changed()
    follow(search, 3)
