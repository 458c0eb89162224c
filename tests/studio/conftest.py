from collections.abc import Iterator

import pytest

from leaps.embedding.space import Space
from leaps.studio.mapping import LatentMap
from tests.studio.harness import Running, running


@pytest.fixture(scope="session")
def server() -> Iterator[Running]:
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def latent_map() -> LatentMap:
    return LatentMap.of(Space.load(), count=300)
