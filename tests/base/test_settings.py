"""Settings given as text get the type of the setting."""

from dataclasses import dataclass, field

import pytest

from leaps.base.settings import changed


@dataclass(frozen=True)
class Inner:
    size: int = 8
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size must be at least 1, found {self.size}")


@dataclass(frozen=True)
class Outer:
    rate: float = 0.5
    name: str = "plain"
    loud: bool = False
    clip: float | None = 0.1
    inner: Inner = field(default_factory=Inner)


def test_text_is_converted_to_numbers_words_and_flags() -> None:
    found = changed(Outer(), {"rate": "1e-3", "name": "other", "loud": "True"})
    assert found == Outer(0.001, "other", True)


def test_other_settings_keep_their_values() -> None:
    assert changed(Outer(rate=3.0), {}) == Outer(rate=3.0)


@pytest.mark.parametrize(("text", "value"), [("none", None), ("0.2", 0.2)])
def test_an_optional_setting_can_be_set_to_none(text: str, value: float | None) -> None:
    assert changed(Outer(), {"clip": text}) == Outer(clip=value)


def test_an_optional_setting_without_a_value_has_the_declared_type() -> None:
    assert changed(Inner(), {"limit": "7"}) == Inner(limit=7)


def test_a_dot_leads_to_a_setting_of_a_nested_configuration() -> None:
    found = changed(Outer(), {"inner.size": "3", "inner.limit": "4", "name": "x"})
    assert found == Outer(name="x", inner=Inner(3, 4))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"speed": "1"}, "unknown setting 'speed'; expected one of rate, name, loud, clip"),
        ({"inner": "1"}, "unknown setting 'inner'"),
        ({"inner.depth": "1"}, "unknown setting 'depth'; expected one of size, limit"),
        ({"name.size": "1"}, "unknown setting 'name.size'"),
        ({"rate": "fast"}, "rate: expected a value like 0.5, found 'fast'"),
        ({"loud": "yes"}, "loud: expected a value like False, found 'yes'"),
        ({"inner.size": "0"}, "size must be at least 1, found 0"),
    ],
)
def test_changes_that_make_no_sense_are_refused(changes: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        changed(Outer(), changes)
