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
    """A studio with a task in an environment of one's own."""
    with running(start=Start.of(OWN["corridor"])) as server:
        yield server


@pytest.fixture(scope="session")
def latent_map() -> LatentMap:
    return LatentMap.of(Space.load(), count=300)


@pytest.fixture
def corridor(tmp_path: Path) -> Path:
    """The file of a task of one's own."""
    return corridor_in(tmp_path)
