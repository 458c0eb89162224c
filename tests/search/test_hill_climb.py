"""Hill climbing: steps to the first strictly better neighbour, and restarts."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from leaps.dsl.neighbours import Limits, Move, Neighbourhood
from leaps.dsl.syntax import tokens_of
from leaps.dsl.text import parse
from leaps.karel.world import KAREL, LANGUAGE, PROGRAMS
from leaps.search.hill_climb import HillClimb, HillClimbConfig

PUT = LANGUAGE.ids["putMarker"]


class Recorded(Neighbourhood):
    """A neighbourhood that records the program whose neighbours were drawn last."""

    centre: NDArray[np.uint8] | None = None

    def draw(
        self, programs: NDArray[np.uint8], count: int, others: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        assert len(programs) == 1
        self.centre = programs[0].copy()
        return super().draw(programs, count, others)


def climb(neighbours: int = 20, batch: int = 5, seed: int = 0, limits: Limits | None = None) -> HillClimb:
    around = Recorded(LANGUAGE, PROGRAMS, limits or Limits(), {Move.REPLACE: 1.0}, seed)
    return HillClimb(HillClimbConfig(neighbours, batch), around)


def centre_of(search: HillClimb) -> NDArray[np.uint8]:
    """Return the program whose neighbours the search asks about next."""
    search.ask()
    assert isinstance(search.neighbourhood, Recorded)
    assert search.neighbourhood.centre is not None
    return search.neighbourhood.centre


def begun(score: float = 0.5, **options: Any) -> tuple[HillClimb, NDArray[np.uint8]]:
    """Return a search with its first program, and that program."""
    search = climb(**options)
    asked = search.ask()
    search.tell(np.array([score]))
    return search, asked[0].copy()


def test_it_starts_with_one_random_program() -> None:
    asked = climb().ask()
    assert len(asked) == 1
    assert (KAREL.compile(asked).entry >= 0).all()


def test_it_asks_for_neighbours_of_the_program_in_batches() -> None:
    search, program = begun()
    around = Neighbourhood(LANGUAGE, PROGRAMS, Limits(), {Move.REPLACE: 1.0}, seed=0)
    np.testing.assert_array_equal(around.fresh(1)[0], program)
    np.testing.assert_array_equal(search.ask(), around.draw(program[None], 5)[0])


def test_it_steps_to_the_first_better_neighbour_not_the_best() -> None:
    search, _ = begun(score=0.5)
    asked = search.ask()
    search.tell(np.array([0.5, 0.4, 0.6, 0.9, 0.6]))
    assert search.score == 0.6
    np.testing.assert_array_equal(centre_of(search), asked[2])


def test_after_a_step_the_new_score_has_to_be_beaten() -> None:
    search, _ = begun(score=0.5)
    asked = search.ask()
    search.tell(np.array([0.5, 0.8, 0.5, 0.5, 0.5]))
    search.ask()
    search.tell(np.array([0.6, 0.7, 0.8, 0.79, 0.5]))
    np.testing.assert_array_equal(centre_of(search), asked[1])


def test_it_never_steps_to_an_equal_neighbour() -> None:
    search, program = begun(score=0.5, neighbours=1000)
    for _ in range(20):
        np.testing.assert_array_equal(centre_of(search), program)
        search.tell(np.full(5, 0.5))


def test_it_restarts_after_the_maximum_number_of_neighbours() -> None:
    search, program = begun(score=0.5, neighbours=20, batch=5)
    for _ in range(4):
        assert len(search.ask()) == 5
        search.tell(np.full(5, 0.5))
    restarted = search.ask()
    assert len(restarted) == 1
    assert not np.array_equal(restarted[0], program)


def test_after_a_restart_it_accepts_any_first_score() -> None:
    search, _ = begun(score=0.5, neighbours=5, batch=5)
    search.ask()
    search.tell(np.zeros(5))
    restarted = search.ask()
    search.tell(np.array([0.1]))  # worse than where it was before
    np.testing.assert_array_equal(centre_of(search), restarted[0])
    asked = search.asked
    search.tell(np.array([0.1, 0.2, 0.1, 0.1, 0.1]))
    np.testing.assert_array_equal(centre_of(search), asked[1])


def test_a_step_resets_the_count_of_neighbours() -> None:
    search, _ = begun(score=0.5, neighbours=20, batch=5)
    for better in (0, 0, 0, 1, 0, 0, 0, 0):  # the last batch before giving up, then four more
        assert len(search.ask()) == 5
        search.tell(np.full(5, 0.5) + better)
    assert len(search.ask()) == 1


def test_each_climb_has_all_its_neighbours() -> None:
    search, _ = begun(score=0.5, neighbours=10, batch=5)
    sizes = []
    for _ in range(9):
        asked = search.ask()
        sizes.append(len(asked))
        search.tell(np.full(len(asked), 0.5))
    assert sizes == [5, 5, 1, 5, 5, 1, 5, 5, 1]


def test_changed_worlds_make_it_restart() -> None:
    search, program = begun(score=0.5)
    search.worlds_changed()
    restarted = search.ask()
    assert len(restarted) == 1
    assert not np.array_equal(restarted[0], program)


def test_it_has_no_incumbent() -> None:
    """Early rejection is not possible: the search needs the first better program."""
    search, _ = begun()
    assert search.incumbent is None
    assert not search.finished


@pytest.mark.parametrize("seed", range(3))
def test_it_climbs_to_the_top(seed: int) -> None:
    """The score counts putMarker: from any program, a better one is one statement away."""
    limits = Limits(length=12, nesting=2, in_a_row=6)
    search = climb(neighbours=500, batch=25, seed=seed, limits=limits)
    best = np.zeros(12, np.uint8)
    for _ in range(1500):
        asked = search.ask()
        scores = (asked == PUT).sum(axis=1).astype(np.float64)
        if scores.max() > (best == PUT).sum():
            best = asked[scores.argmax()].copy()
        if scores.max() == 6:
            break
        search.tell(scores)
    assert tokens_of(parse(LANGUAGE.text(best), LANGUAGE)).count("putMarker") == 6


def test_a_climb_only_rises() -> None:
    search = climb(neighbours=100, batch=10, seed=5)
    scores_of_climb: list[float] = []
    rises = 0
    for _ in range(300):
        asked = search.ask()
        if len(asked) == 1:
            scores_of_climb = []
        search.tell((asked == PUT).sum(axis=1).astype(np.float64))
        if search.program is not None:
            rises += bool(scores_of_climb) and search.score > scores_of_climb[-1]
            scores_of_climb.append(search.score)
            assert scores_of_climb == sorted(scores_of_climb)
            assert search.score == (search.program == PUT).sum()
    assert rises > 5


@pytest.mark.parametrize(("neighbours", "batch"), [(10, 0), (10, 11), (0, 0), (10, -1)])
def test_settings_out_of_range_raise(neighbours: int, batch: int) -> None:
    with pytest.raises(ValueError, match="expected 1 ≤ batch ≤ neighbours, found HillClimbConfig"):
        HillClimbConfig(neighbours, batch)
