from collections.abc import Iterator
from pathlib import Path

import pytest

from leaps.embedding.space import Space
from leaps.studio.mapping import LatentMap
from leaps.studio.server import Start
from tests.karel.tasks.corridor import corridor_in
from tests.studio.harness import OWN, Running, running


@pytest.fixture(scope="session")
def server() -> Iterator[Running]:
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def own_server() -> Iterator[Running]:
    """A studio with a user task in a Gymnasium environment."""
    with running(start=Start.of(OWN["corridor"])) as server:
        yield server


@pytest.fixture(scope="session")
def latent_map() -> LatentMap:
    return LatentMap.of(Space.load(), count=300)


@pytest.fixture
def corridor(tmp_path: Path) -> Path:
    """The file of a user task."""
    return corridor_in(tmp_path)
