import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from leaps.base import parallel
from leaps.dsl.mask import SHORTEST
from leaps.dsl.syntax import MOST_TOKENS
from leaps.embedding.fast_decoder import FastDecoder
from leaps.embedding.model import ModelConfig, ProgramSpace
from leaps.karel.world import KAREL, LANGUAGE
from tests.embedding.helpers import placed

SMALLEST = ModelConfig(latent=16, hidden=16, policy=False)
SMALL = ModelConfig(latent=24, hidden=24, policy=False)
PAPER = ModelConfig(policy=False)
SHORT_TOKENS = ModelConfig(policy=False, embedding=50)
LONG_TOKENS = ModelConfig(policy=False, embedding=300)


@pytest.fixture(autouse=True)
def restore() -> object:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    parallel.set_threads(None)


def untrained(config: ModelConfig, seed: int = 0) -> ProgramSpace:
    """A space of random weights: three times as large as usual, so that programs differ much."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        space = ProgramSpace(LANGUAGE, config)
        with torch.no_grad():
            for weight in space.decoder.parameters():
                weight.mul_(3.0)
    return space


def draw(count: int, config: ModelConfig, scale: float = 1.0) -> NDArray[np.float32]:
    return (scale * np.random.default_rng(1).standard_normal((count, config.latent))).astype(np.float32)


def decode_slowly(
    space: ProgramSpace, points: NDArray[np.float32], max_length: int | None = None
) -> NDArray[np.uint8]:
    """`ProgramSpace.decode`, which stops early, filled up to the full length."""
    found = space.decode(torch.from_numpy(points), max_length=max_length).numpy()
    out = np.full((len(points), max_length or space.config.max_length), LANGUAGE.pad, np.uint8)
    out[:, : found.shape[1]] = found
    return out


@pytest.mark.parametrize(
    "config",
    [SMALL, PAPER, SHORT_TOKENS, LONG_TOKENS],
    ids=["small", "paper", "short tokens", "long tokens"],
)
@pytest.mark.parametrize("scale", [0.1, 0.3, 1.0])
def test_programs_are_those_of_program_space_decode(config: ModelConfig, scale: float) -> None:
    space, points = untrained(config), draw(400, config, scale)
    expected, found = decode_slowly(space, points), FastDecoder(space).decode(points)
    assert found.shape == expected.shape
    assert len(np.unique(expected, axis=0)) > 10
    # Sums in another order may turn the balance between two tokens that are all but equally likely.
    assert (found == expected).all(axis=1).mean() >= 0.995


@pytest.mark.parametrize("config", [SMALLEST, SMALL, PAPER], ids=["smallest", "small", "paper"])
def test_points_are_read_in_the_coordinates_of_the_space(config: ModelConfig) -> None:
    space, points = untrained(config), draw(400, config)
    as_latents = FastDecoder(space).decode(points)
    expected, found = decode_slowly(placed(space), points), FastDecoder(space).decode(points)
    assert len(np.unique(expected, axis=0)) > 10
    # Not all here, either: the coordinates are another sum in a different order.
    assert (found == expected).all(axis=1).mean() >= 0.995
    assert (found == as_latents).all(axis=1).mean() < 0.5


@pytest.mark.parametrize("max_length", [SHORTEST, 6, 13, 30, 90, MOST_TOKENS])
def test_programs_are_whole_and_no_longer_than_allowed(max_length: int) -> None:
    space, points = untrained(SMALL), draw(50, SMALL)
    found = FastDecoder(space).decode(points, max_length=max_length)
    assert found.shape == (50, max_length)
    assert (KAREL.compile(found).entry >= 0).all()
    assert (found == decode_slowly(space, points, max_length)).all(axis=1).mean() >= 0.96


def test_a_program_depends_on_neither_batch_nor_threads() -> None:
    decoder, points = FastDecoder(placed(untrained(SMALL))), draw(150, SMALL)
    parallel.set_threads(1)
    together = decoder.decode(points)
    for threads, size in [(1, 1), (1, 7), (2, 33), (2, 64), (3, 150)]:
        parallel.set_threads(threads)
        parts = [decoder.decode(points[i : i + size]) for i in range(0, len(points), size)]
        assert np.array_equal(np.concatenate(parts), together), (threads, size)


def test_of_equally_likely_tokens_the_lowest_is_taken() -> None:
    space = untrained(SMALL)
    with torch.no_grad():
        for weight in space.decoder.output[-1].parameters():
            weight.zero_()
    found = FastDecoder(space).decode(draw(3, SMALL))
    assert np.array_equal(found, decode_slowly(space, draw(3, SMALL)))
    assert LANGUAGE.decode(found[0])[:5] == ["DEF", "run", "m(", "move", "m)"]


def test_nan_points_still_give_programs() -> None:
    points = draw(6, SMALL)
    points[0], points[2, 3], points[4] = np.nan, np.inf, 1e38
    decoder = FastDecoder(placed(untrained(SMALL)))
    found = decoder.decode(points)
    assert (KAREL.compile(found).entry >= 0).all()
    assert np.array_equal(found[1::2], decoder.decode(points[1::2]))


def test_later_changes_of_the_weights_have_no_effect() -> None:
    space, points = placed(untrained(SMALL)), draw(20, SMALL)
    decoder = FastDecoder(space)
    before = decoder.decode(points)
    with torch.no_grad():
        for weight in [*space.parameters(), *space.coordinates.buffers()]:
            weight.zero_()
    assert np.array_equal(decoder.decode(points), before)


def test_no_points_give_no_programs() -> None:
    assert FastDecoder(untrained(SMALL)).decode(draw(0, SMALL)).shape == (0, SMALL.max_length)


@pytest.mark.parametrize("max_length", [0, SHORTEST - 1, MOST_TOKENS + 1])
def test_impossible_lengths_raise(max_length: int) -> None:
    with pytest.raises(ValueError, match=f"max_length={max_length}: {SHORTEST} to {MOST_TOKENS} tokens"):
        FastDecoder(untrained(SMALL)).decode(draw(1, SMALL), max_length=max_length)


@pytest.mark.parametrize("shape", [(24,), (3, 23), (1, 3, 24)])
def test_points_of_another_shape_raise(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"points should be \[programs, 24\], found"):
        FastDecoder(untrained(SMALL)).decode(np.zeros(shape, np.float32))
