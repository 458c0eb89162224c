"""Random programs are the paper's: their shares, their limits, and one stream for each."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from leaps.dsl.language import Kind
from leaps.dsl.sample import ProgramDistribution, different_programs, sample_programs, take_programs
from leaps.dsl.syntax import Block, Program, blocks, tokens_of
from leaps.dsl.text import parse
from leaps.karel.world import LANGUAGE, PROGRAMS

ROOMY = 250  # with the paper's limits no program is longer, so that none is thrown away and shares are exact

PINNED = [
    "DEF run m( turnLeft move turnLeft move m)",
    "DEF run m( WHILE c( frontIsClear c) w( move move move w) m)",
    "DEF run m( WHILE c( noMarkersPresent c) w( WHILE c( markersPresent c) w( turnLeft putMarker w) w) m)",
]


def draw(count: int, seed: int = 0, max_length: int = 44, *, first: int = 0) -> NDArray[np.uint8]:
    return sample_programs(LANGUAGE, PROGRAMS, count, seed, max_length, first=first)


def drawn_programs(distribution: ProgramDistribution, count: int, max_length: int = ROOMY) -> list[Program]:
    rows = sample_programs(LANGUAGE, distribution, count, 0, max_length)
    return [parse(LANGUAGE.text(row), LANGUAGE) for row in rows]


def lengths(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.asarray((rows != LANGUAGE.pad).sum(axis=1))


def only(statement: str) -> ProgramDistribution:
    """A distribution of one kind of statement."""
    kinds = ("while_", "repeat", "sequence", "action", "if_", "if_else")
    return replace(PROGRAMS, **{kind: float(kind == statement) for kind in kinds})  # type: ignore[arg-type]


def nesting(block: Block) -> int:
    """Count the blocks within each other."""
    return max((1 + nesting(body) for statement in block for _, body, _ in blocks(statement)), default=0)


# Streams


def test_the_same_seed_draws_the_same_programs() -> None:
    np.testing.assert_array_equal(draw(200, seed=7), draw(200, seed=7))


def test_another_seed_draws_other_programs() -> None:
    shared = set(map(bytes, draw(200, seed=7)[lengths(draw(200, seed=7)) > 20])) & set(
        map(bytes, draw(200, seed=8))
    )
    assert shared == set()


def test_a_program_does_not_depend_on_how_many_are_drawn() -> None:
    np.testing.assert_array_equal(draw(300)[:100], draw(100))


def test_a_program_depends_on_its_number_alone() -> None:
    np.testing.assert_array_equal(draw(300)[120:180], draw(60, first=120))


def test_seed_0_draws_the_golden_programs() -> None:
    assert [LANGUAGE.text(row) for row in draw(3)] == PINNED


def test_drawing_no_program_gives_no_row() -> None:
    assert draw(0).shape == (0, 44)


# Limits


def test_every_random_program_is_a_program() -> None:
    for row in draw(3000):
        parse(LANGUAGE.text(row), LANGUAGE)


@pytest.mark.parametrize("max_length", [5, 6, 12, 44])
def test_no_program_is_longer_than_the_limit(max_length: int) -> None:
    texts = [LANGUAGE.decode(row) for row in draw(300, max_length=max_length)]
    assert all(len(tokens_of(parse(" ".join(text), LANGUAGE))) <= max_length for text in texts)


def test_some_program_is_as_long_as_the_limit() -> None:
    assert lengths(draw(20_000)).max() == 44


def test_a_rows_padding_stands_at_its_end() -> None:
    rows = draw(1000)
    np.testing.assert_array_equal(np.arange(44) >= lengths(rows)[:, None], rows == LANGUAGE.pad)


def test_past_the_deepest_nesting_only_actions_are_drawn() -> None:
    deep = replace(only("while_"), max_depth=1000)
    assert {nesting(program.body) for program in drawn_programs(deep, 20)} == {PROGRAMS.max_nesting}


def test_with_a_nesting_of_one_a_block_holds_actions_only() -> None:
    flat = replace(only("if_else"), max_nesting=1)
    assert {nesting(program.body) for program in drawn_programs(flat, 20)} == {1}


def test_past_the_deepest_expansion_only_actions_are_drawn() -> None:
    programs = drawn_programs(only("sequence"), 20)
    assert {len(program.body) for program in programs} == {8}  # expanded at depths 1, 3 and 5


def test_the_papers_programs_nest_three_blocks_at_most() -> None:
    assert max(nesting(program.body) for program in drawn_programs(PROGRAMS, 3000)) == 3


# Shares. The table is about an expansion of a statement; the first one of a program can be seen from
# outside: a program of several statements began with a sequence.


def test_the_first_expansions_have_the_papers_shares() -> None:
    count = 20_000
    programs = drawn_programs(replace(PROGRAMS, max_depth=1), count)
    first = Counter("Sequence" if len(p.body) > 1 else type(p.body[0]).__name__ for p in programs)
    shares = [first[kind] / count for kind in ("While", "Repeat", "Sequence", "Action", "If", "IfElse")]
    np.testing.assert_allclose(shares, [0.15, 0.03, 0.5, 0.2, 0.08, 0.04], atol=0.015)


def test_the_statements_of_a_sequence_have_the_papers_shares_again() -> None:
    """Two statements in a row are drawn from the same table, where a sequence lengthens the row."""
    programs = [p for p in drawn_programs(replace(PROGRAMS, max_depth=3), 20_000) if len(p.body) == 2]
    both = Counter(type(statement).__name__ for p in programs for statement in p.body)
    shares = [both[kind] / both.total() for kind in ("While", "Repeat", "Action", "If", "IfElse")]
    np.testing.assert_allclose(shares, np.array([0.15, 0.03, 0.2, 0.08, 0.04]) / 0.5, atol=0.03)


def shares_of(kind: Kind) -> NDArray[np.float64]:
    """How the tokens of a kind share a large sample among them."""
    counts = np.bincount(draw(20_000, max_length=ROOMY).reshape(-1), minlength=len(LANGUAGE.tokens))
    of_kind = counts[LANGUAGE.kinds == kind]
    return np.asarray(of_kind / of_kind.sum())


def test_actions_have_the_papers_shares() -> None:
    np.testing.assert_allclose(shares_of(Kind.ACTION), [0.5, 0.15, 0.15, 0.1, 0.1], atol=0.01)


def test_perceptions_have_the_papers_shares() -> None:
    np.testing.assert_allclose(shares_of(Kind.PERCEPTION), [0.5, 0.15, 0.15, 0.1, 0.1], atol=0.02)


def test_repeat_counts_are_even() -> None:
    np.testing.assert_allclose(shares_of(Kind.COUNT), np.full(20, 0.05), atol=0.025)


def test_one_condition_in_ten_is_negated() -> None:
    kinds = LANGUAGE.kinds[draw(20_000, max_length=ROOMY)]
    negated = (kinds == Kind.NOT).sum() / (kinds == Kind.PERCEPTION).sum()
    assert negated == pytest.approx(0.1, abs=0.01)


def test_all_conditions_can_be_negated() -> None:
    kinds = LANGUAGE.kinds[sample_programs(LANGUAGE, replace(PROGRAMS, negation=1.0), 1000, 0, ROOMY)]
    assert (kinds == Kind.NOT).sum() == (kinds == Kind.PERCEPTION).sum()


def test_an_action_of_share_0_is_never_drawn() -> None:
    still = replace(PROGRAMS, actions=(0.0, 0.5, 0.5, 0.0, 0.0))
    rows = sample_programs(LANGUAGE, still, 2000, 0)
    assert not np.isin(rows, LANGUAGE.encode(["move", "pickMarker", "putMarker"])).any()


def test_the_mean_length_is_15_tokens_before_duplicates_are_removed() -> None:
    assert lengths(draw(20_000)).mean() == pytest.approx(15.2, abs=0.3)


# Refusals


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"actions": (0.5, 0.5, 0.5, -0.5, 0.0)}, "shares of actions must be 0 or more and add up to 1"),
        ({"actions": (0.5, 0.1, 0.1, 0.1, 0.1)}, "shares of actions must be 0 or more and add up to 1"),
        ({"perceptions": (1.0, 0.1)}, "shares of perceptions must be 0 or more and add up to 1"),
        ({"while_": 0.5}, "shares of statements must be 0 or more and add up to 1"),
    ],
)
def test_shares_that_are_no_distribution_are_refused(
    change: dict[str, tuple[float, ...]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        replace(PROGRAMS, **change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change", [{"negation": 1.5}, {"negation": -0.1}, {"max_depth": -9}, {"max_nesting": -1}]
)
def test_a_distribution_out_of_range_is_refused(change: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        replace(PROGRAMS, **change)  # type: ignore[arg-type]


def test_shares_for_another_number_of_actions_are_refused() -> None:
    with pytest.raises(ValueError, match="expected 5 shares of actions, found 2"):
        sample_programs(LANGUAGE, ProgramDistribution((0.5, 0.5), PROGRAMS.perceptions), 1, 0)


def test_shares_for_another_number_of_perceptions_are_refused() -> None:
    with pytest.raises(ValueError, match="expected 5 shares of perceptions, found 1"):
        sample_programs(LANGUAGE, ProgramDistribution(PROGRAMS.actions, (1.0,)), 1, 0)


def test_a_limit_below_the_shortest_program_is_refused() -> None:
    with pytest.raises(ValueError, match="max_length=4 is too short; the shortest program has 5 tokens"):
        draw(1, max_length=4)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="seed must be 0 or more, found -1"):
        draw(1, seed=-1)


def test_a_distribution_that_never_fits_the_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="max_length=5"):
        sample_programs(LANGUAGE, only("sequence"), 1, 0, max_length=5)


def test_different_programs_are_those_drawn_without_repetitions() -> None:
    rows = take_programs(different_programs(LANGUAGE, PROGRAMS, 100, 0, 8), 150)
    every = draw(2000, max_length=8)
    first = np.sort(np.unique(every, axis=0, return_index=True)[1])
    assert np.array_equal(rows, every[first][:150])
