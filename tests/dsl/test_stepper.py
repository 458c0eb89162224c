"""A stepper takes the actions of the table one by one, and tests only perceptions that matter."""

import numpy as np
import pytest

from leaps.dsl.compiler import HALT, STUCK, compile_tokens
from leaps.dsl.language import Language
from leaps.dsl.sample import ProgramDistribution, sample_programs
from leaps.dsl.stepper import Stepper
from leaps.karel.world import KAREL, LANGUAGE, PROGRAMS
from tests.dsl.helpers import MANY, few_of_many, follow


@pytest.mark.parametrize(
    ("language", "distribution"), [(LANGUAGE, PROGRAMS), (MANY, few_of_many(0, 3, 17, 63, 64, 65))]
)
def test_actions_are_those_of_the_table(language: Language, distribution: ProgramDistribution) -> None:
    rng = np.random.default_rng(0)
    compiled = compile_tokens(sample_programs(language, distribution, 300, seed=1, max_length=80), language)
    lazy = 0
    for number in range(compiled.count):
        perceived = [int(code) for code in rng.integers(0, 2**64, 40, np.uint64)]
        expected = list(follow(compiled, number, perceived))
        visits: set[tuple[int, int]] = set()
        stepper = Stepper(compiled, number, visits)
        looks = 0
        for code, (operation, _) in zip(perceived, expected, strict=False):
            seen: list[int] = []

            def look(sense: int, code: int = code, seen: list[int] = seen) -> bool:
                seen.append(sense)
                return bool(code >> sense & 1)

            assert stepper.next(look) == operation
            assert len(seen) == len(set(seen))
            looks += len(seen)
        lazy += looks < len(expected) * len(stepper.senses)
        looked_up = {entry - int(compiled.first[number]) for _, entries in expected for entry in entries}
        assert looked_up <= set(stepper.entries(visits))
    assert lazy > 50


def test_reset_restarts_the_program() -> None:
    stepper = Stepper(KAREL.compile("DEF run m( REPEAT R=2 r( move r) turnLeft m)"))
    expected = [0, 0, 2, HALT, HALT]
    for _ in range(2):
        stepper.reset()
        assert [stepper.next(lambda _: False) for _ in expected] == expected


def test_stuck_and_ended_programs_keep_their_state() -> None:
    """Whatever is perceived then."""
    stuck = Stepper(KAREL.compile("DEF run m( WHILE c( frontIsClear c) w( REPEAT R=0 r( move r) w) move m)"))
    assert [stuck.next(lambda _, holds=holds: holds) for holds in (True, False, True)] == [STUCK] * 3  # type: ignore[misc]
    ended = Stepper(KAREL.compile("DEF run m( turnLeft WHILE c( frontIsClear c) w( move w) m)"))
    assert [ended.next(lambda _, holds=holds: holds) for holds in (True, False, True)] == [2, HALT, HALT]  # type: ignore[misc]


def test_invalid_programs_and_call_limits_are_refused() -> None:
    with pytest.raises(ValueError, match="row 0 of the batch is not a program"):
        Stepper(KAREL.compile(LANGUAGE.encode(["DEF", "run"])[None]))
    with pytest.raises(ValueError, match="without a limit of calls, found 9"):
        Stepper(KAREL.compile("DEF run m( move m)", calls=9))


def test_a_program_that_repeats_starts_over_unless_it_would_not_act() -> None:
    compiled = KAREL.compile("DEF run m( IF c( frontIsClear c) i( move turnLeft i) m)")
    repeating, clear = Stepper(compiled, repeats=True), [True]
    names = [LANGUAGE.actions.index(name) for name in ("move", "turnLeft")]
    assert [repeating.next(lambda _: clear[0]) for _ in range(5)] == [*names, *names, names[0]]
    clear[0] = False
    assert [repeating.next(lambda _: clear[0]) for _ in range(2)] == [names[1], HALT]
    repeating.reset()
    assert repeating.next(lambda _: True) == names[0]


def test_programs_in_the_same_state_do_the_same() -> None:
    """However they came there."""
    rng = np.random.default_rng(3)
    compiled = compile_tokens(sample_programs(LANGUAGE, PROGRAMS, 100, seed=4, max_length=60), LANGUAGE)
    met = 0
    for number in range(compiled.count):
        stepper = Stepper(compiled, number)
        states: dict[object, object] = {}
        for _ in range(10):
            stepper.reset()
            for code in rng.choice([0, 5, 18, 31], 20).tolist():
                key = stepper.state, code
                operation = stepper.next(lambda sense, code=code: bool(code >> sense & 1))  # type: ignore[misc]
                found = operation, stepper.state
                met += key in states
                assert states.setdefault(key, found) == found
                if operation >= HALT:
                    break
    assert met > 1000
