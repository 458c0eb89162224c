"""Programs are compiled to tables; invalid rows are marked, stuck loops are found, and no run hangs."""

from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from leaps.base.parallel import set_threads
from leaps.dsl.compiler import (
    HALT,
    LOOP,
    MOST_ASKED,
    NO_SENSE,
    OPERATION,
    SET,
    SHIFT,
    STUCK,
    TOO_MUCH,
    Compiled,
    compile_tokens,
)
from leaps.dsl.interpreter import Calls, Conditional, StuckError, actions_of
from leaps.dsl.language import Kind, Language
from leaps.dsl.sample import ProgramDistribution, sample_programs
from leaps.dsl.syntax import MAX_NESTING, Program, tokens_of
from leaps.dsl.text import ProgramError, parse
from leaps.karel.physics import CODES, FRONT_CLEAR, LEFT_CLEAR, MARKERS, TRUTH
from leaps.karel.world import LANGUAGE, PROGRAMS
from tests.dsl.helpers import GOLDEN, MANY, few_of_many, follow
from tests.hoover import HOOVER
from tests.strategies import programs

PAD = LANGUAGE.pad


def compile_rows(rows: NDArray[np.uint8]) -> Compiled:
    return compile_tokens(rows, LANGUAGE)


def compile_text(text: str) -> Compiled:
    return compile_rows(LANGUAGE.encode(text.split())[None])


def is_program(row: Iterable[int]) -> bool:
    """Ask the parser."""
    tokens = list(row)
    while tokens and tokens[-1] == PAD:
        tokens.pop()
    if any(token > PAD for token in tokens):
        return False
    try:
        parse(" ".join(LANGUAGE.tokens[token] for token in tokens), LANGUAGE)
    except ProgramError:
        return False
    return True


def name(operation: int) -> str:
    names = {HALT: "halt", STUCK: "stuck", SET: "set", LOOP: "loop"}
    return names[operation] if operation in names else LANGUAGE.actions[operation]


def first_entries(text: str) -> list[str]:
    """Return the table's entries at the program's beginning, for each code."""
    compiled = compile_text(text)
    return [name(int(entry) & OPERATION) for entry in compiled.rows(0)[compiled.entry[0]]]


def followed(compiled: Compiled, codes: Iterable[int]) -> Iterator[tuple[str, int]]:
    """Return the operations for a sequence of perceived codes, each with the number of counts before it."""
    for operation, looked_up in follow(compiled, 0, codes):
        yield name(operation), len(looked_up) - 1


def actions(text: str, codes: Iterable[int]) -> list[str]:
    return [what for what, _ in followed(compile_text(text), codes)]


def reachable(compiled: Compiled, program: int) -> dict[int, list[int]]:
    """Return the reachable rows of a program, by number; other rows are not filled in."""
    first, table = int(compiled.start[program]), compiled.rows(program)
    rows: dict[int, list[int]] = {}
    waiting = [int(compiled.entry[program])]
    while waiting:
        place = waiting.pop()
        if place in rows:
            continue
        rows[place] = table[place].tolist()
        for entry in rows[place]:
            operation, target = entry & OPERATION, entry >> SHIFT
            if operation in (SET, LOOP):
                waiting += compiled.loops[first + target, 1:].tolist()
            elif operation not in (HALT, STUCK):
                waiting.append(target)
    return rows


# What is a program


def test_all_golden_programs_compile() -> None:
    rows = LANGUAGE.batch([LANGUAGE.encode(text.split()) for text in GOLDEN])
    assert (compile_rows(rows).entry >= 0).all()


def test_no_prefix_of_a_program_is_a_program() -> None:
    tokens = LANGUAGE.encode(max(GOLDEN, key=len).split())
    rows = LANGUAGE.batch([tokens[:end] for end in range(len(tokens))], len(tokens))
    assert compile_rows(rows).entry.tolist() == [-1] * len(tokens)


def test_compiler_and_parser_refuse_the_same_corrupted_programs() -> None:
    rng = np.random.default_rng(0)
    rows = LANGUAGE.batch([LANGUAGE.encode(text.split()) for text in GOLDEN * 3])
    for _ in range(2):
        rows[np.arange(len(rows)), rng.integers(0, 20, len(rows))] = rng.integers(0, 51, len(rows))
    assert (compile_rows(rows).entry >= 0).tolist() == [is_program(row) for row in rows.tolist()]


Change = tuple[str, int, int]
changes = st.lists(
    st.tuples(st.sampled_from(["replace", "insert", "remove"]), st.integers(0, 60), st.integers(0, 255)),
    max_size=3,
)


def spoil(tokens: list[int], change: Change) -> list[int]:
    how, place, token = change
    place %= len(tokens) + 1
    if how == "insert":
        return [*tokens[:place], token, *tokens[place:]]
    return [*tokens[:place], *([token] if how == "replace" else []), *tokens[place + 1 :]]


@settings(max_examples=300)
@given(programs, changes)
def test_compiler_and_parser_agree_on_any_row_of_bytes(program: Program, spoilt: list[Change]) -> None:
    tokens = LANGUAGE.encode(tokens_of(program)).tolist()
    for change in spoilt:
        tokens = spoil(tokens, change)
    compiled = compile_rows(np.array([tokens], np.uint8))
    assert (compiled.entry[0] >= 0) == is_program(tokens)


def test_random_bytes_are_no_programs() -> None:
    rows = np.random.default_rng(0).integers(0, 256, (20_000, 44), np.uint8)
    assert (compile_rows(rows).entry == -1).all()


@pytest.mark.parametrize(
    "text",
    [
        "<pad> DEF run m( move m)",
        "DEF run m( <pad> move m)",
        "DEF run m( move m) <pad> move",
        "DEF run m( move m) <pad> DEF run m( move m)",
        "<pad> <pad>",
    ],
)
def test_padding_may_stand_at_the_end_only(text: str) -> None:
    assert compile_text(text).entry.tolist() == [-1]


def test_an_invalid_row_does_not_affect_its_neighbours() -> None:
    texts = ("DEF run m( turnLeft m)", "DEF run m( turnLeft move", "DEF run m( turnLeft m)")
    compiled = compile_rows(LANGUAGE.batch([LANGUAGE.encode(text.split()) for text in texts]))
    assert reachable(compiled, 0) == reachable(compiled, 2)


@pytest.mark.parametrize(("depth", "valid"), [(MAX_NESTING, True), (MAX_NESTING + 1, False)])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("REPEAT R=2 r( ", "r) "),
        ("WHILE c( frontIsClear c) w( ", "w) "),
        ("IFELSE c( frontIsClear c) i( move i) ELSE e( ", "e) "),
        ("IFELSE c( frontIsClear c) i( ", "i) ELSE e( move e) "),
    ],
)
def test_the_compiler_nests_as_deep_as_the_parser(
    opening: str, closing: str, depth: int, valid: bool
) -> None:
    compiled = compile_text(f"DEF run m( {opening * depth}move {closing * depth}m)")
    assert (compiled.entry[0] >= 0) == valid


def test_a_hundred_thousand_nested_blocks_are_no_program() -> None:
    depth = 100_000
    assert (
        compile_text("DEF run m( " + "REPEAT R=2 r( " * depth + "move " + "r) " * depth + "m)").entry[0] == -1
    )


# The table


def test_a_table_has_as_many_rows_as_the_programs_have_tokens() -> None:
    rows = LANGUAGE.batch([LANGUAGE.encode(text.split()) for text in GOLDEN])
    compiled = compile_rows(rows)
    assert np.diff(compiled.start).tolist() == (rows != PAD).sum(axis=1).tolist()


@settings(max_examples=100)
@given(programs)
def test_a_program_never_leaves_its_rows(program: Program) -> None:
    tokens = LANGUAGE.encode(tokens_of(program))
    places = reachable(compile_rows(tokens[None]), 0)
    assert set(places) <= set(range(len(tokens)))


@settings(max_examples=100)
@given(programs)
def test_a_program_never_reaches_a_hole(program: Program) -> None:
    known = {*range(len(LANGUAGE.actions)), HALT, STUCK, SET, LOOP}
    places = reachable(compile_rows(LANGUAGE.encode(tokens_of(program))[None]), 0)
    assert {entry & OPERATION for row in places.values() for entry in row} <= known


@settings(max_examples=100)
@given(programs, st.lists(st.integers(0, CODES - 1), max_size=60))
def test_each_open_loop_counts_at_most_twice_between_two_actions(program: Program, codes: list[int]) -> None:
    tokens = LANGUAGE.encode(tokens_of(program))
    opened = np.cumsum((LANGUAGE.kinds[tokens] == Kind.OPEN_R) * 1 - (LANGUAGE.kinds[tokens] == Kind.CLOSE_R))
    counted = [kept for _, kept in followed(compile_rows(tokens[None]), codes)]
    assert max(counted, default=0) <= 2 * opened.max()


def test_a_batch_of_no_programs_compiles() -> None:
    assert compile_rows(np.empty((0, 44), np.uint8)).count == 0


def test_rows_without_tokens_are_no_programs() -> None:
    assert compile_rows(np.empty((3, 0), np.uint8)).entry.tolist() == [-1, -1, -1]


def test_the_order_of_the_array_in_memory_does_not_matter() -> None:
    rows = LANGUAGE.batch([LANGUAGE.encode(text.split()) for text in GOLDEN[:20]])
    plain, turned = compile_rows(rows), compile_rows(np.asfortranarray(rows))
    assert [reachable(plain, i) for i in range(20)] == [reachable(turned, i) for i in range(20)]


# Conditions


def where(condition: NDArray[np.bool_] | list[bool], yes: str, no: str) -> list[str]:
    return [yes if holds else no for holds in condition]


FRONT = [bool(code & FRONT_CLEAR) for code in range(CODES)]
MARKED = [bool(code & MARKERS) for code in range(CODES)]


@pytest.mark.parametrize("number", range(5))
def test_an_if_acts_where_its_perception_holds(number: int) -> None:
    text = f"DEF run m( IF c( {LANGUAGE.perceptions[number]} c) i( pickMarker i) m)"
    assert first_entries(text) == where(TRUTH[number], "pickMarker", "halt")


@pytest.mark.parametrize("number", range(5))
def test_a_negated_if_acts_where_its_perception_does_not_hold(number: int) -> None:
    text = f"DEF run m( IF c( not c( {LANGUAGE.perceptions[number]} c) c) i( pickMarker i) m)"
    assert first_entries(text) == where(TRUTH[number], "halt", "pickMarker")


def test_an_ifelse_acts_either_way() -> None:
    text = "DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE e( turnLeft e) m)"
    assert first_entries(text) == where(FRONT, "move", "turnLeft")


def test_a_negated_ifelse_swaps_its_blocks() -> None:
    text = "DEF run m( IFELSE c( not c( frontIsClear c) c) i( move i) ELSE e( turnLeft e) m)"
    assert first_entries(text) == where(FRONT, "turnLeft", "move")


def test_both_blocks_of_an_ifelse_lead_to_what_follows() -> None:
    text = "DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE e( turnLeft e) putMarker m)"
    assert [actions(text, [code] * 9)[1:] for code in (0, FRONT_CLEAR)] == [["putMarker", "halt"]] * 2


def test_a_while_tests_its_condition_again_after_each_round() -> None:
    text = "DEF run m( WHILE c( frontIsClear c) w( move turnLeft w) putMarker m)"
    codes = [FRONT_CLEAR, 0, FRONT_CLEAR, 0, 0, 0]
    assert actions(text, codes) == ["move", "turnLeft", "move", "turnLeft", "putMarker", "halt"]


# Loops that are stuck


def test_a_while_without_actions_for_some_perceptions_is_stuck_for_those() -> None:
    text = "DEF run m( WHILE c( frontIsClear c) w( IF c( markersPresent c) i( pickMarker i) w) m)"
    expected = [
        "halt" if not f else "pickMarker" if m else "stuck" for f, m in zip(FRONT, MARKED, strict=True)
    ]
    assert first_entries(text) == expected


@pytest.mark.parametrize(
    "body",
    [
        "REPEAT R=0 r( move r)",
        "WHILE c( not c( frontIsClear c) c) w( move w)",
        "IF c( not c( frontIsClear c) c) i( move i)",
        "REPEAT R=19 r( IF c( not c( frontIsClear c) c) i( move i) r)",
        "WHILE c( frontIsClear c) w( REPEAT R=0 r( move r) w)",
        "IFELSE c( frontIsClear c) i( REPEAT R=0 r( move r) i) ELSE e( move e)",
        "IF c( not c( frontIsClear c) c) i( move i) REPEAT R=0 r( turnLeft r)",
    ],
)
def test_a_while_whose_body_does_nothing_is_stuck_where_its_condition_holds(body: str) -> None:
    text = f"DEF run m( WHILE c( frontIsClear c) w( {body} w) m)"
    assert first_entries(text) == where(FRONT, "stuck", "halt")


def test_a_while_whose_inner_while_is_skipped_is_stuck() -> None:
    text = "DEF run m( WHILE c( markersPresent c) w( WHILE c( noMarkersPresent c) w( move w) w) m)"
    assert first_entries(text) == where(MARKED, "stuck", "halt")


def test_a_while_within_a_while_is_stuck_after_its_only_action() -> None:
    text = "DEF run m( WHILE c( frontIsClear c) w( WHILE c( markersPresent c) w( pickMarker w) w) m)"
    assert actions(text, [FRONT_CLEAR | MARKERS, FRONT_CLEAR]) == ["pickMarker", "stuck"]


def test_a_loop_is_stuck_only_when_it_is_reached() -> None:
    text = "DEF run m( turnLeft WHILE c( frontIsClear c) w( REPEAT R=0 r( move r) w) m)"
    assert actions(text, [FRONT_CLEAR] * 2) == ["turnLeft", "stuck"]


def test_a_stuck_while_within_a_repeat_is_stuck() -> None:
    text = "DEF run m( REPEAT R=3 r( WHILE c( frontIsClear c) w( REPEAT R=0 r( move r) w) turnLeft r) m)"
    assert actions(text, [0, FRONT_CLEAR]) == ["turnLeft", "stuck"]


def test_a_while_that_acts_is_never_stuck() -> None:
    text = "DEF run m( WHILE c( frontIsClear c) w( IF c( markersPresent c) i( pickMarker i) move w) m)"
    assert actions(text, [FRONT_CLEAR] * 50) == ["move"] * 50


# REPEAT


def test_a_repeat_of_0_is_skipped() -> None:
    assert first_entries("DEF run m( REPEAT R=0 r( move r) turnLeft m)") == ["turnLeft"] * CODES


@pytest.mark.parametrize("times", range(1, 20))
def test_a_repeat_acts_as_often_as_it_says(times: int) -> None:
    text = f"DEF run m( REPEAT R={times} r( move r) turnLeft m)"
    assert actions(text, [0] * 30) == ["move"] * times + ["turnLeft", "halt"]


def test_repeats_within_each_other_multiply() -> None:
    text = "DEF run m( REPEAT R=19 r( REPEAT R=19 r( move r) r) m)"
    assert actions(text, [0] * 1000) == ["move"] * 361 + ["halt"]


def test_a_repeat_within_a_while_restarts_in_each_round() -> None:
    text = "DEF run m( WHILE c( frontIsClear c) w( REPEAT R=2 r( move r) turnLeft w) m)"
    codes = [FRONT_CLEAR, 0, 0, FRONT_CLEAR, 0, 0, 0]
    assert actions(text, codes) == ["move", "move", "turnLeft"] * 2 + ["halt"]


def test_a_repeat_keeps_its_count_when_an_if_acts_in_a_later_round_only() -> None:
    text = "DEF run m( REPEAT R=3 r( IF c( markersPresent c) i( pickMarker i) move r) m)"
    codes = [0, MARKERS, 0, 0, 0]
    assert actions(text, codes) == ["move", "pickMarker", "move", "move", "halt"]


def nested_repeats(depth: int) -> str:
    silent = "IF c( markersPresent c) i( pickMarker i) "
    return "DEF run m( " + "REPEAT R=19 r( " * depth + silent + "r) " * depth + "m)"


@pytest.mark.parametrize("depth", [1, 2, MAX_NESTING - 1])
def test_repeats_without_actions_end_at_once(depth: int) -> None:
    """Counting would take 19 to the power of their depth."""
    assert actions(nested_repeats(depth), [0]) == ["halt"]


def test_repeats_end_when_their_body_stops_acting() -> None:
    assert actions(nested_repeats(50), [MARKERS] * 30 + [0]) == ["pickMarker"] * 30 + ["halt"]


def test_repeats_that_stop_acting_do_not_count_to_their_end() -> None:
    *_, last = followed(compile_text(nested_repeats(50)), [MARKERS, 0])
    assert last == ("halt", 0)


def test_repeats_without_actions_lead_to_the_next_statement() -> None:
    text = nested_repeats(20).removesuffix("m)") + "turnLeft m)"
    assert actions(text, [0, MARKERS]) == ["turnLeft", "halt"]


def test_a_while_around_repeats_without_actions_is_stuck() -> None:
    body = nested_repeats(20).removeprefix("DEF run m( ").removesuffix("m)")
    text = f"DEF run m( WHILE c( leftIsClear c) w( {body} w) m)"
    assert actions(text, [LEFT_CLEAR | MARKERS, LEFT_CLEAR]) == ["pickMarker", "stuck"]


# Many perceptions


def walked(program: Program, language: Language, perceived: list[int]) -> list[str]:
    """Return the actions of the tree for a sequence of perceived numbers."""
    done: list[str] = []

    def look(statement: Conditional) -> bool:
        perception = language.perceptions.index(statement.condition.perception)
        bit = perceived[len(done)] >> int(language.sense_of[perception]) & 1
        return (bool(bit) != bool(language.inverted[perception])) != statement.condition.negated

    try:
        for action, _ in actions_of(program.body, look, Calls()):
            done.append(action.name)
            if len(done) == len(perceived):
                return done
    except StuckError:
        return [*done, "stuck"]
    return [*done, "halt"]


@pytest.mark.parametrize(
    ("language", "distribution"),
    [
        (MANY, few_of_many(0, 3, 17, 40, 63, 64, 65)),
        (MANY, few_of_many(*range(66))),
        (HOOVER.language, HOOVER.programs),
        (LANGUAGE, PROGRAMS),
    ],
)
def test_table_and_tree_take_the_same_actions(language: Language, distribution: ProgramDistribution) -> None:
    rng = np.random.default_rng(0)
    tokens = sample_programs(language, distribution, 400, seed=1, max_length=90)
    compiled = compile_tokens(tokens, language)
    lengths = []
    for number, row in enumerate(tokens):
        program = parse(language.text(row), language)
        perceived = [int(code) for code in rng.integers(0, 2**64, 40, np.uint64)]
        found = [operation for operation, _ in follow(compiled, number, perceived)]
        names = {HALT: "halt", STUCK: "stuck"} | dict(enumerate(language.actions))
        assert [names[operation] for operation in found] == walked(program, language, perceived)
        lengths.append(len(found))
    assert np.mean(np.array(lengths) > 3) > 0.2


def test_a_program_has_codes_of_the_senses_that_it_uses() -> None:
    text = "DEF run m( WHILE c( notP63 c) w( IF c( p5 c) i( east i) IF c( not c( p63 c) c) i( north i) w) m)"
    compiled = compile_tokens(MANY.encode(text.split())[None], MANY)
    assert compiled.senses[0, :3].tolist() == [63, 5, NO_SENSE]
    assert compiled.rows(0).shape == (len(text.split()), 4)


def test_a_program_that_uses_too_many_senses_is_refused() -> None:
    def asking(count: int) -> NDArray[np.uint8]:
        questions = " ".join(f"IF c( p{i} c) i( east i)" for i in range(count))
        return MANY.encode(f"DEF run m( {questions} m)".split())[None]

    assert compile_tokens(asking(MOST_ASKED), MANY).entry[0] >= 0
    compiled = compile_tokens(MANY.batch([asking(MOST_ASKED + 1)[0], asking(1)[0]]), MANY)
    assert compiled.entry[0] == TOO_MUCH
    assert compiled.entry[1] >= 0


# Arguments and threads


@pytest.mark.parametrize(
    ("tokens", "found"),
    [
        (np.zeros(5, np.uint8), r"uint8\[5\]"),
        (np.zeros((1, 1, 5), np.uint8), r"uint8\[1, 1, 5\]"),
        (np.zeros((1, 5), np.int64), r"int64\[1, 5\]"),
        (np.zeros((1, 5), np.float32), r"float32\[1, 5\]"),
    ],
)
def test_tokens_of_another_shape_or_type_are_refused(tokens: NDArray[np.uint8], found: str) -> None:
    with pytest.raises(ValueError, match=rf"tokens: expected uint8\[programs, length\], found {found}"):
        compile_rows(tokens)


@pytest.fixture
def _threads_restored() -> Iterator[None]:
    yield
    set_threads(None)


@pytest.mark.usefixtures("_threads_restored")
def test_compilation_does_not_depend_on_the_number_of_threads() -> None:
    rows = sample_programs(LANGUAGE, PROGRAMS, 2000, seed=3)
    rows[::7, 5] = LANGUAGE.ids["ELSE"]  # some that are no programs
    set_threads(1)
    alone = compile_rows(rows)
    set_threads(4)
    shared = compile_rows(rows)

    def everything(compiled: Compiled) -> list[dict[int, list[int]] | None]:
        return [reachable(compiled, i) if entry >= 0 else None for i, entry in enumerate(compiled.entry)]

    assert everything(shared) == everything(alone)


@pytest.mark.parametrize(("language", "distribution"), [(LANGUAGE, PROGRAMS), (MANY, few_of_many(1, 2, 3))])
def test_selected_programs_keep_their_tables(language: Language, distribution: ProgramDistribution) -> None:
    rows = sample_programs(language, distribution, 20, seed=8, max_length=45)
    batch = compile_tokens(rows, language)
    for chosen in ([], [7], [3, 0, 19, 3]):
        part, alone = batch.take(np.array(chosen, np.int64)), compile_tokens(rows[chosen], language)
        assert part.count == len(chosen)
        for name in ("entry", "start", "first", "senses"):
            np.testing.assert_array_equal(getattr(part, name), getattr(alone, name))
        codes = [0, 5, 3, 15, 7, 1, 0, 9]
        for number in range(len(chosen)):
            assert list(follow(part, number, codes)) == list(follow(alone, number, codes))
