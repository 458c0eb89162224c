"""A language is made from a domain's actions and perceptions; Karel's is one, and not the only one."""

import numpy as np
import pytest

from leaps.dsl.compiler import HALT, OPERATION, SHIFT, STUCK, compile_tokens
from leaps.dsl.language import Kind, Language
from leaps.dsl.mask import SyntaxMask
from leaps.dsl.sample import sample_programs
from leaps.dsl.syntax import Action, Condition, If, Program, Repeat, While
from leaps.dsl.text import ProgramError, parse, to_indented, to_line
from leaps.karel.world import LANGUAGE
from tests.hoover import HOOVER

VOCABULARY = (
    "DEF run m( m) move turnRight turnLeft pickMarker putMarker r( r) "
    "R=0 R=1 R=2 R=3 R=4 R=5 R=6 R=7 R=8 R=9 R=10 R=11 R=12 R=13 R=14 R=15 R=16 R=17 R=18 R=19 "
    "REPEAT c( c) i( i) e( e) IF IFELSE ELSE "
    "frontIsClear leftIsClear rightIsClear markersPresent noMarkersPresent not w( w) WHILE <pad>"
)


def test_karels_tokens_stand_in_the_order_of_the_authors_code() -> None:
    assert " ".join(LANGUAGE.tokens) == VOCABULARY


def test_karel_has_50_tokens_and_the_padding() -> None:
    assert len(LANGUAGE.tokens) == 51


def test_the_padding_is_the_last_token() -> None:
    assert LANGUAGE.tokens[LANGUAGE.pad :] == ("<pad>",)


def test_a_tokens_id_is_its_position() -> None:
    assert [LANGUAGE.ids[token] for token in LANGUAGE.tokens] == list(range(51))


@pytest.mark.parametrize("language", [LANGUAGE, HOOVER.language])
def test_the_tokens_of_a_kind_stand_together(language: Language) -> None:
    first = language.first.tolist()
    for kind in Kind:
        of_kind = np.flatnonzero(language.kinds == kind).tolist()
        assert of_kind == list(range(first[kind], first[kind] + len(of_kind)))


def test_an_actions_argument_is_its_number() -> None:
    tokens = LANGUAGE.encode(LANGUAGE.actions)
    assert LANGUAGE.arguments[tokens].tolist() == [0, 1, 2, 3, 4]


def test_a_perceptions_argument_is_its_number() -> None:
    tokens = LANGUAGE.encode(LANGUAGE.perceptions)
    assert LANGUAGE.arguments[tokens].tolist() == [0, 1, 2, 3, 4]


def test_a_repeat_counts_argument_is_how_often() -> None:
    tokens = LANGUAGE.encode(f"R={n}" for n in range(20))
    assert LANGUAGE.arguments[tokens].tolist() == list(range(20))


def test_names_become_ids_and_ids_names() -> None:
    names = ["DEF", "run", "m(", "REPEAT", "R=7", "r(", "putMarker", "r)", "m)"]
    assert LANGUAGE.decode(LANGUAGE.encode(names)) == names


def test_decoding_leaves_out_the_padding() -> None:
    assert LANGUAGE.decode([0, 1, 2, 4, 3, 50, 50]) == ["DEF", "run", "m(", "move", "m)"]


def test_a_name_that_is_no_token_cannot_be_encoded() -> None:
    with pytest.raises(ValueError, match="'jump' is not a token of this language"):
        LANGUAGE.encode(["DEF", "jump"])


def test_a_batch_is_filled_up_with_padding() -> None:
    short, long = LANGUAGE.encode(["DEF"]), LANGUAGE.encode(["DEF", "run", "m("])
    assert LANGUAGE.batch([short, long]).tolist() == [[0, 50, 50], [0, 1, 2]]


def test_a_batch_can_be_given_its_width() -> None:
    assert LANGUAGE.batch([LANGUAGE.encode(["DEF"])], length=3).tolist() == [[0, 50, 50]]


def test_a_batch_of_nothing_is_empty() -> None:
    assert LANGUAGE.batch([]).shape == (0, 0)


def test_two_equal_languages_are_equal() -> None:
    assert Language(HOOVER.language.actions, HOOVER.language.perceptions, 3) == HOOVER.language


@pytest.mark.parametrize(
    ("actions", "perceptions", "message"),
    [
        ((), ("dirt",), "at least one action and one perception"),
        (("go",), (), "at least one action and one perception"),
        (("go", "go"), ("dirt",), "found more than once: go$"),
        (("dirt",), ("dirt",), "found more than once: dirt$"),
        (("go", "WHILE", "run"), ("dirt",), "found more than once: WHILE, run$"),
        (("go", "R=3"), ("dirt",), "found more than once: R=3$"),
        (("go", "<pad>"), ("dirt",), "found more than once: <pad>$"),
        (("go on",), ("dirt",), "'go on' can't be a token: expected a name without white space or '#'"),
        (("go\n",), ("dirt",), r"'go\\n' can't be a token"),
        (("go",), ("di\u3000rt",), "can't be a token: expected a name without white space"),
        (("go",), ("",), "'' can't be a token"),
        (("go#",), ("dirt",), "'go#' can't be a token"),
    ],
)
def test_a_bad_language_is_refused(
    actions: tuple[str, ...], perceptions: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Language(actions, perceptions)


@pytest.mark.parametrize(
    "opposites",
    [
        (("clean", "dust"),),  # no perception
        (("clean", "clean"),),
        (("clean", "dirt"), ("clean", "bump")),
        (("clean", "dirt"), ("dirt", "bump")),
    ],
)
def test_invalid_opposites_are_refused(opposites: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(ValueError, match="no opposite itself; found"):
        Language(("go",), ("dirt", "clean", "bump"), opposites=opposites)


def test_a_sense_is_a_perception_that_is_no_opposite() -> None:
    language = Language(("go",), ("clean", "bump", "dirt"), opposites=(("clean", "dirt"),))
    assert language.senses == ("bump", "dirt")
    assert language.sense_of.tolist() == [1, 0, 1]
    assert language.truth.tolist() == [
        [True, True, False, False],
        [False, True, False, True],
        [False, False, True, True],
    ]


def test_a_language_has_at_most_64_senses() -> None:
    names = tuple(f"p{i}" for i in range(66))
    assert len(Language(("go",), names, opposites=(("p0", "p1"), ("p2", "p1"))).senses) == 64
    with pytest.raises(ValueError, match="at most 64 perceptions besides opposites of others, found 65"):
        Language(("go",), names, opposites=(("p0", "p1"),))


def test_a_language_of_256_tokens_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 255 tokens, found 256"):
        Language(tuple(f"action{i}" for i in range(214)), ("dirt",))


def test_a_language_without_any_repeat_count_is_refused() -> None:
    with pytest.raises(ValueError, match="max_repeat"):
        Language(("go",), ("dirt",), max_repeat=-1)


def test_the_largest_language_has_255_tokens_with_ids_that_fit_a_byte() -> None:
    language = Language(tuple(f"action{i}" for i in range(213)), ("dirt",))
    assert language.encode(["<pad>"]).tolist() == [254]


def test_the_last_action_of_the_largest_language_compiles_to_its_number() -> None:
    language = Language(tuple(f"action{i}" for i in range(232)), ("dirt",), max_repeat=0)
    tokens = language.encode(["DEF", "run", "m(", "action231", "m)"])[None]
    compiled = compile_tokens(tokens, language)
    assert (compiled.rows(0)[compiled.entry[0]] & OPERATION).tolist() == [231, 231]


def test_another_domains_program_is_read() -> None:
    loop = "WHILE c( not c( bump c) c) w( IF c( dirt c) i( suck i) forward w)"
    assert parse(f"DEF run m( {loop} REPEAT R=3 r( turn r) m)", HOOVER.language) == Program(
        (
            While(
                Condition("bump", negated=True), (If(Condition("dirt"), (Action("suck"),)), Action("forward"))
            ),
            Repeat(3, (Action("turn"),)),
        )
    )


def test_another_domains_program_is_printed_as_it_was_read() -> None:
    text = "DEF run m( WHILE c( bump c) w( turn w) m)"
    assert to_line(parse(text, HOOVER.language)) == text


def test_another_domains_errors_name_its_own_actions() -> None:
    with pytest.raises(ProgramError, match=r"expected an action \(forward, turn, suck\)"):
        parse("DEF run m( m)", HOOVER.language)


def test_another_domain_does_not_know_karels_actions() -> None:
    with pytest.raises(ProgramError, match="'pickMarker' is not a token of this language"):
        parse("DEF run m( pickMarker m)", HOOVER.language)


def test_another_domains_repeat_has_its_own_limit() -> None:
    with pytest.raises(ProgramError, match="found 'R=4', expected R=0 to R=3"):
        parse("DEF run m( REPEAT R=4 r( turn r) m)", HOOVER.language)


def test_the_mask_offers_another_domains_actions() -> None:
    mask = SyntaxMask(HOOVER.language, batch=1, max_length=5)
    for token in HOOVER.language.encode(["DEF", "run", "m("]):
        mask.advance(np.array([token]))
    assert HOOVER.language.decode(np.flatnonzero(mask.allowed()[0])) == ["forward", "turn", "suck"]


def test_another_domains_random_programs_are_programs() -> None:
    for row in sample_programs(HOOVER.language, HOOVER.programs, 200, seed=0):
        text = HOOVER.language.text(row)
        assert to_line(parse(to_indented(parse(text, HOOVER.language)), HOOVER.language)) == text


def test_another_domains_program_compiles_with_its_own_perceptions() -> None:
    text = "DEF run m( IF c( dirt c) i( suck i) WHILE c( bump c) w( IF c( dirt c) i( turn i) w) forward m)"
    compiled = compile_tokens(HOOVER.language.encode(text.split())[None], HOOVER.language)
    nothing, dirt, bump, _both = (compiled.rows(0)[compiled.entry[0]] & OPERATION).tolist()
    assert (nothing, dirt, bump) == (
        HOOVER.language.actions.index("forward"),
        HOOVER.language.actions.index("suck"),
        STUCK,
    )


def test_another_domains_program_halts() -> None:
    compiled = compile_tokens(
        HOOVER.language.encode(["DEF", "run", "m(", "turn", "m)"])[None], HOOVER.language
    )
    after_turn = compiled.rows(0)[compiled.entry[0], 0] >> SHIFT
    assert compiled.rows(0)[after_turn].tolist() == [HALT] * 4


# From a vocabulary, as files store it


@pytest.mark.parametrize("language", [LANGUAGE, HOOVER.language, Language(("a",), ("b",), max_repeat=0)])
def test_a_language_comes_back_from_its_tokens_and_opposites(language: Language) -> None:
    assert Language.of(list(language.tokens), [list(pair) for pair in language.opposites]) == language


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        ["move"],
        LANGUAGE.tokens[:-1],
        LANGUAGE.tokens[::-1],
        [token for token in LANGUAGE.tokens if token != "R=3"],
        [token for token in LANGUAGE.tokens if token not in LANGUAGE.actions],
    ],
)
def test_tokens_of_no_language_raise(tokens: list[str]) -> None:
    with pytest.raises(ValueError, match="expected the tokens of a language"):
        Language.of(tokens)
