"""Shared by the tests: a small data set, small untrained spaces, and the shipped ones."""

from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor

from leaps.embedding.model import ModelConfig, ProgramSpace
from leaps.embedding.space import SHIPPED, Space
from leaps.karel.dataset import DataConfig, Dataset, make_dataset
from leaps.karel.world import KAREL, LANGUAGE

CPU = torch.device("cpu")
GRID = (8, 8, 16)
"""shape of what π observes of Karel's worlds"""
END = len(LANGUAGE.actions)

needs_shipped_weights = pytest.mark.skipif(not SHIPPED.is_dir(), reason="no trained weights in this checkout")


@cache
def shipped(variant: str = "leaps") -> Space:
    """A trained space that comes with the package."""
    return Space.load(variant)


@cache
def short_programs() -> Dataset:
    """200 programs of at most 12 tokens, with two rollouts each."""
    return make_dataset(
        DataConfig(programs=200, seed=3, keep="every", pool=64, more=64, max_length=12, rollouts=2)
    )


@cache
def long_programs() -> Dataset:
    """60 programs as the paper's, with three rollouts each."""
    return make_dataset(DataConfig(programs=60, seed=1, keep="every", pool=64, more=64, rollouts=3))


def untrained(size: int = 8, max_length: int = 45, *, seed: int = 0, policy: bool = True) -> ProgramSpace:
    """An untrained space with large differences between logits."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        space = ProgramSpace(LANGUAGE, ModelConfig(size, size, max_length, policy), GRID)
    with torch.no_grad():
        for parameter in space.parameters():
            parameter.mul_(2)
    return space


def cloud(count: int, dimensions: int, seed: int = 0) -> Tensor:
    """Latents like those of a VAE: off the origin, and 30 times longer in one direction than in another."""
    turned: Tensor = torch.linalg.qr(drawn(dimensions, dimensions, seed=seed + 1))[0]
    return 0.5 + drawn(count, dimensions, seed=seed) * torch.logspace(0.3, -1.2, dimensions) @ turned


def placed(space: ProgramSpace) -> ProgramSpace:
    """The space with fitted coordinates, as after training, so that points differ from latents."""
    space.coordinates.fit(cloud(200, space.config.latent))
    return space


def tokens_of(*programs: str, length: int | None = None) -> Tensor:
    """A batch of whole programs, padded with `<pad>`."""
    rows = LANGUAGE.batch([KAREL.read(f"DEF run m( {text} m)") for text in programs], length)
    return torch.from_numpy(rows.astype(np.int64))


def drawn(*shape: int, seed: int = 0) -> Tensor:
    """Numbers from N(0, 1)."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
