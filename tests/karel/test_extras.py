"""Karel's extra features are reached through its domain."""

from leaps.karel.conformance import conform
from leaps.karel.extras import EXTRAS
from leaps.karel.studio import KarelStudio
from leaps.karel.world import KAREL


def test_the_domain_finds_its_extras() -> None:
    assert KAREL.extras is EXTRAS
    assert isinstance(EXTRAS.studio, KarelStudio)
    assert EXTRAS.conform is conform
