"""An exported program acts like the original, without dependencies."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaps.dsl.sample import sample_programs
from leaps.gym import GymTask, ProgramPolicy, privileged
from leaps.gym.export import to_python
from tests.gym.corridor import CORRIDOR


def bright(seen: Any) -> bool:
    return bool(seen[0] > 0.5)


def warm(seen: Any) -> bool:
    """Uses only its argument and Python's built-ins."""
    return any(value > 0.5 for value in seen[1:])


def far(seen: Any) -> bool:
    return bool(np.abs(seen[0]) > 0.5)


ROOMS = GymTask(
    "rooms",
    make="CartPole-v1",
    actions={"wait": 0, "go": np.int64(1), "push": [0.5, -1.0]},
    perceptions={
        "bright": bright,
        "warm": warm,
        "far": far,
        "hot": lambda seen: seen[1] > 1,
        "cold": lambda seen: seen[1] < 1,
        "found": eval("lambda seen: seen[0] > 0"),
        "here": privileged(bright),
    },
    opposites={"dark": "bright"},
)
WARM = "DEF run m( WHILE c( not c( dark c) c) w( IF c( warm c) i( go i) wait w) m)"


def imported(text: str) -> Any:
    module: dict[str, Any] = {}
    exec(compile(text, "policy.py", "exec"), module)
    return module["Policy"]


def test_the_exported_policy_acts_like_the_program() -> None:
    language = ROOMS.domain.language
    rng = np.random.default_rng(0)
    shares = [1 / 3 if name in ("bright", "warm", "dark") else 0.0 for name in language.perceptions]
    distribution = ROOMS.domain.programs.__class__(actions=(0.3, 0.3, 0.4), perceptions=tuple(shares))
    ended = acted = 0
    for tokens in sample_programs(language, distribution, 300, seed=1, max_length=70):
        text = ROOMS.domain.text(tokens)
        exported = imported(to_python(ROOMS.domain.parse(text), ROOMS))()
        policy = ProgramPolicy(text, ROOMS)
        for _ in range(2):
            policy.reset()
            exported.reset()
            for seen in rng.random((25, 3)).round(1):
                expected, found = policy.act(seen), exported.act(seen)
                assert expected == found or expected is found
                if found is None:
                    ended += 1
                    break
                acted += 1
    assert ended > 100
    assert acted > 2000


def test_loops_without_actions_end() -> None:
    silent = "DEF run m( " + "REPEAT R=19 r( " * 15 + "IF c( warm c) i( go i) " + "r) " * 15 + "wait m)"
    policy = imported(to_python(ROOMS.domain.parse(silent), ROOMS))()
    assert [policy.act((0.0, 0.0)), policy.act((0.0, 0.0))] == [0, None]
    stuck = "DEF run m( go WHILE c( bright c) w( IF c( warm c) i( go i) w) wait m)"
    policy = imported(to_python(ROOMS.domain.parse(stuck), ROOMS))()
    assert [policy.act((1.0, 0.0)) for _ in range(3)] == [1, None, None]


def test_the_file_has_no_dependencies(tmp_path: Path) -> None:
    ProgramPolicy(WARM, ROOMS).export(tmp_path / "policy.py")
    code = "from policy import Policy; import sys; p = Policy(); "
    code += "print(p.act((1, 1)), p.act((1, 0)), p.act((0, 0)))"
    code += "; print([name for name in ('numpy', 'leaps', 'gymnasium') if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["1 0 None", "[]"]
    assert '    while not perceives("dark"):\n' in (tmp_path / "policy.py").read_text()


def test_lambdas_are_written_as_definitions() -> None:
    program = ROOMS.domain.parse("DEF run m( IF c( hot c) i( go i) IF c( cold c) i( wait i) m)")
    text = to_python(program, ROOMS)
    assert "def perceive_hot(seen):\n    return seen[1] > 1\n" in text
    assert [imported(text)().act((0.0, heat)) for heat in (2.0, 0.0, 1.0)] == [1, 0, None]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            "DEF run m( IF c( far c) i( go i) m)",
            "rooms: perception far: .* uses nothing but its argument.*np$",
        ),
        (
            "DEF run m( IF c( found c) i( go i) m)",
            "rooms: perception found: expected a function .* with def, found a lambda whose source",
        ),
        ("DEF run m( " + "IF c( warm c) i( " * 25 + "go " + "i) " * 25 + "m)", None),
        (
            "DEF run m( " + "WHILE c( warm c) w( " * 25 + "go " + "w) " * 25 + "m)",
            "can't be written as Python",
        ),
    ],
)
def test_a_function_that_can_not_stand_alone_raises(program: str, message: str | None) -> None:
    if message is None:
        assert imported(to_python(ROOMS.domain.parse(program), ROOMS))().act((0.0, 1.0)) == 1
        return
    with pytest.raises(ValueError, match=message):
        to_python(ROOMS.domain.parse(program), ROOMS)


def test_a_program_with_privileged_perceptions_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="corridor: perception atTheEnd looks into the environment"):
        to_python(CORRIDOR.domain.parse("DEF run m( IF c( atTheEnd c) i( left i) m)"), CORRIDOR)
    assert not list(tmp_path.iterdir())


def test_an_exported_program_repeats() -> None:
    again = replace(ROOMS, repeats=True)
    for program, seen, done in (
        ("DEF run m( go IF c( warm c) i( push i) m)", (0.0, 1.0), [1, [0.5, -1.0], 1, [0.5, -1.0]]),
        ("DEF run m( IF c( warm c) i( go i) m)", (0.0, 0.0), [None] * 4),
        ("DEF run m( IF c( warm c) i( go i) m)", (0.0, 1.0), [1] * 4),
    ):
        exported = imported(to_python(again.domain.parse(program), again))()
        policy = ProgramPolicy(program, again)
        assert [exported.act(seen) for _ in range(4)] == done
        assert [policy.act(seen) for _ in range(4)] == done
