"""Reconstruction: a search for a behaviour, and the R_mat that it reports."""

from collections import Counter

import numpy as np
import pytest

from leaps.domain import Outcome
from leaps.dsl.syntax import If, IfElse, Repeat, While, walk
from leaps.dsl.text import parse
from leaps.experiments.explore import r_mat
from leaps.karel.dataset import HORIZON, in_worlds, worlds_for
from leaps.karel.executor import run
from leaps.karel.world import KAREL, LANGUAGE
from leaps.search.cem import CEMConfig
from leaps.search.leaps import IN_A_ROW
from leaps.search.reconstruct import (
    PAPER_RECONSTRUCTION,
    TEST_PROGRAMS,
    Reconstruction,
    reconstruct,
)
from tests.embedding.helpers import needs_shipped_weights, shipped

CONFIG = CEMConfig(32, 0.25, 0.1)
MOVE = "DEF run m( move m)"
WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"
HARD = TEST_PROGRAMS["WHILE+2IF+IFELSE"]


def found(program: str, seed: int = 0, iterations: int = 40) -> Reconstruction:
    execute = in_worlds(worlds_for(program, seed))
    return reconstruct(shipped(), program, execute, CONFIG, seed, iterations)


def assert_same(one: Reconstruction, other: Reconstruction) -> None:
    assert np.array_equal(one.program, other.program)
    assert np.array_equal(one.point, other.point)
    assert (one.r_mat, one.iterations) == (other.r_mat, other.iterations)


# The paper's tests


@pytest.mark.parametrize(
    ("name", "flow"),
    [
        ("WHILE", {While: 1}),
        ("IFELSE+WHILE", {IfElse: 1, While: 1}),
        ("2IF+IFELSE", {If: 2, IfElse: 1}),
        ("WHILE+2IF+IFELSE", {While: 1, If: 2, IfElse: 1}),
    ],
)
def test_a_test_program_has_the_control_flow_of_its_name(name: str, flow: dict[type, int]) -> None:
    statements = walk(parse(TEST_PROGRAMS[name], LANGUAGE))
    assert Counter(type(s) for s in statements if isinstance(s, If | IfElse | While | Repeat)) == flow


@pytest.mark.parametrize("name", TEST_PROGRAMS)
def test_a_test_program_is_written_on_one_line(name: str) -> None:
    program = TEST_PROGRAMS[name]
    assert program == " ".join(program.split())


def test_the_four_test_programs_have_the_papers_settings() -> None:
    settings = {
        name: (c.population, c.sigma, c.elite_fraction, c.decay, c.initial)
        for name, c in PAPER_RECONSTRUCTION.items()
    }
    assert settings == {
        "WHILE": (32, 0.25, 0.1, False, "narrow"),
        "IFELSE+WHILE": (32, 0.25, 0.1, True, "narrow"),
        "2IF+IFELSE": (16, 0.25, 0.2, True, "narrow"),
        "WHILE+2IF+IFELSE": (32, 0.25, 0.2, False, "narrow"),
    }


def test_every_test_program_has_its_settings() -> None:
    assert PAPER_RECONSTRUCTION.keys() == TEST_PROGRAMS.keys()


# Its worlds


@pytest.mark.parametrize("name", TEST_PROGRAMS)
@pytest.mark.parametrize("seed", range(5))
def test_a_test_program_ends_in_its_worlds_and_takes_all_its_branches_there(name: str, seed: int) -> None:
    tokens = LANGUAGE.batch([KAREL.read(TEST_PROGRAMS[name])])
    rollouts = run(KAREL.compile(tokens, branches=True), worlds_for(TEST_PROGRAMS[name], seed), HORIZON)
    assert (rollouts.outcome == Outcome.HALTED).all()
    assert rollouts.covered is not None
    conditions = sum(TEST_PROGRAMS[name].split().count(word) for word in ("WHILE", "IF", "IFELSE"))
    assert int(np.bitwise_or.reduce(rollouts.covered[0])).bit_count() == 2 * conditions


def test_a_program_that_hardly_ever_ends_has_worlds_too() -> None:
    four_turns = "turnLeft turnLeft turnLeft turnLeft"
    endless = (
        "DEF run m( WHILE c( noMarkersPresent c) w( turnLeft w) "
        f"WHILE c( frontIsClear c) w( {four_turns} w) m)"
    )
    worlds = worlds_for(endless, seed=0)
    outcome = run(KAREL.compile(endless), worlds, HORIZON).outcome[0]
    assert outcome.shape == (10,)
    ends = outcome == Outcome.HALTED
    assert 0 < ends.sum() < 10  # all of those drawn that do, and others


def test_the_same_seed_draws_the_same_worlds() -> None:
    one, same, other = (worlds_for(HARD, seed) for seed in (3, 3, 4))
    assert np.array_equal(one.ground, same.ground)
    assert np.array_equal(one.pose, same.pose)
    assert not np.array_equal(one.ground, other.ground)


# Searching


@needs_shipped_weights
@pytest.mark.parametrize("program", [MOVE, WALK])
def test_the_behaviour_of_a_trivial_program_is_found(program: str) -> None:
    assert max(found(program, seed).r_mat for seed in range(3)) == 1.0


@needs_shipped_weights
@pytest.mark.parametrize("name", TEST_PROGRAMS)
def test_the_search_improves_on_the_first_guess_for_a_test_program(name: str) -> None:
    first, last = found(TEST_PROGRAMS[name], iterations=1), found(TEST_PROGRAMS[name], iterations=100)
    assert last.r_mat > first.r_mat


@needs_shipped_weights
@pytest.mark.parametrize("program", [MOVE, HARD])
@pytest.mark.parametrize("seed", [0, 3])
def test_the_reported_r_mat_is_that_of_the_program_on_the_searchs_worlds(program: str, seed: int) -> None:
    result = found(program, seed)
    worlds = worlds_for(program, seed)
    again = r_mat(KAREL.compile(result.program[None]), KAREL.compile(program), worlds)
    assert result.r_mat == again[0]


@needs_shipped_weights
def test_the_reported_r_mat_contains_no_bonus() -> None:
    assert 0.0 < found(HARD, iterations=1).r_mat < 1.0
    assert found(MOVE).r_mat == 1.0


@needs_shipped_weights
def test_the_reported_latent_decodes_to_the_reported_program() -> None:
    result = found(HARD)
    assert np.array_equal(shipped().decode(result.point[None])[0], result.program)


@needs_shipped_weights
def test_the_reported_iteration_is_the_one_that_found_the_program() -> None:
    result = found(HARD)
    assert_same(found(HARD, iterations=result.iterations), result)
    assert found(HARD, iterations=result.iterations - 1).r_mat < result.r_mat


@needs_shipped_weights
def test_a_longer_search_is_never_worse() -> None:
    scores = [found(HARD, iterations=iterations).r_mat for iterations in (1, 2, 5, 10, 20, 40)]
    assert scores == sorted(scores)


@needs_shipped_weights
def test_a_search_ends_after_ten_perfect_iterations_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    space, decoded = shipped(), []
    decode = space.decode

    def counted(latents: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> object:
        decoded.append(len(latents))
        return decode(latents)

    monkeypatch.setattr(space, "decode", counted)
    execute = in_worlds(worlds_for(MOVE, 0))
    result = reconstruct(space, MOVE, execute, CONFIG, seed=0, iterations=1000)
    assert result.r_mat == 1.0
    assert result.iterations + IN_A_ROW - 1 <= len(decoded) < 1000


# Reproducibility


@needs_shipped_weights
@pytest.mark.parametrize("program", [MOVE, HARD])
def test_the_same_seed_gives_the_same_search(program: str) -> None:
    assert_same(found(program, seed=5), found(program, seed=5))


@needs_shipped_weights
def test_another_seed_gives_another_search() -> None:
    assert not np.array_equal(found(HARD, seed=0).point, found(HARD, seed=1).point)


# Errors


@needs_shipped_weights
def test_an_invalid_program_raises_with_a_suggestion() -> None:
    with pytest.raises(ValueError, match="did you mean 'move'"):
        found("DEF run m( mvoe m)")


@needs_shipped_weights
def test_a_search_without_iterations_raises() -> None:
    with pytest.raises(ValueError, match="iterations"):
        found(MOVE, iterations=0)
