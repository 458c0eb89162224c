"""Look into a program space: walk between programs, map it, measure how smooth it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from leaps.behaviour import HORIZON, match
from leaps.dataset import Dataset
from leaps.embedding.space import Space
from leaps.karel.executor import compile_karel, run
from leaps.search.cem import ROBUST
from leaps.search.reconstruct import TEST_PROGRAMS, reconstruct


def interpolate(space: Space, start: str, end: str, steps: int) -> list[str]:
    """Decode `steps` points on the line between two programs, and the two ends (the paper's two tables)."""
    if steps < 1:
        raise ValueError(f"steps must be at least 1, found {steps}")
    first, last = space.encode([start, end])
    shares = np.linspace(0, 1, steps + 2, dtype=np.float32)[:, None]
    return [space.text(tokens) for tokens in space.decode(first + shares * (last - first))]


NEIGHBOURS = 10
_CHUNK = 1000


def nearest(latents: NDArray[np.float32], count: int = NEIGHBOURS) -> NDArray[np.int64]:
    """[n, count] the nearest others of each latent, by Euclidean distance."""
    # Centred, since torch's fast distances lose digits far from the origin.
    everything = torch.from_numpy(latents - latents.mean(axis=0))
    parts = []
    for start in range(0, len(latents), _CHUNK):
        some = everything[start : start + _CHUNK]
        distances = torch.cdist(some, everything)
        distances[torch.arange(len(some)), start + torch.arange(len(some))] = torch.inf
        parts.append(distances.topk(count, largest=False).indices.numpy())
    return np.concatenate(parts)


def smoothness(space: Space, data: Dataset, split: str, progress: Callable[[int], object] = int) -> float:
    """Mean R_mat of each decoded program and those of its ten nearest neighbours (Table 2).

    They are executed from the same initial states: the program's own ten of the data set.
    """
    numbers = data.split(split)
    points = space.encode(data.tokens[numbers])
    programs = space.decode(points)
    near = nearest(space.latent(points), min(NEIGHBOURS, len(numbers) - 1))
    total = 0.0
    for start in range(0, len(numbers), _CHUNK):
        rows = np.arange(start, min(start + _CHUNK, len(numbers)))
        worlds = data.worlds(numbers[rows])
        own = run(compile_karel(programs[rows]), worlds, HORIZON, own_worlds=True, want_actions=True)
        for neighbours in near[rows].T:
            other = run(
                compile_karel(programs[neighbours]), worlds, HORIZON, own_worlds=True, want_actions=True
            )
            total += float(match(own, other).mean(axis=1).sum())
        progress(int(rows[-1]) + 1)
    return total / near.size


@dataclass(frozen=True)
class LatentMap:
    """A space in two dimensions, by principal components of the training programs' latents."""

    training: NDArray[np.float32]
    """[n, 2]"""
    normal: NDArray[np.float32]
    """[n, 2] points drawn from N(0, I)"""
    truth: dict[str, NDArray[np.float32]]
    """[2] the encoded test programs"""
    found: dict[str, NDArray[np.float32]]
    """[2] the points that a search found for their behaviour"""
    r_mat: dict[str, float]
    """how well what was found behaves as the test program"""


def latent_map(
    space: Space,
    data: Dataset,
    seed: int = 0,
    iterations: int = 1000,
    progress: Callable[[str], object] = str,
) -> LatentMap:
    """Lay out the paper's figure "Visualizations of Learned Program Embedding Space"."""
    training = space.encode(data.tokens[data.split("train")])
    latents = space.latent(training)
    centre = latents.mean(axis=0)
    _, _, components = np.linalg.svd(latents - centre, full_matrices=False)
    plane = components[:2].T

    def place(points: NDArray[Any]) -> NDArray[np.float32]:
        return np.asarray((space.latent(points) - centre) @ plane, np.float32)

    normal = np.random.default_rng(seed).standard_normal((2000, space.dimensions))
    truth, found, r_mat = {}, {}, {}
    for name, program in TEST_PROGRAMS.items():
        progress(name)
        truth[name] = place(space.encode([program]))[0]
        result = reconstruct(space, program, ROBUST, seed, iterations)
        found[name], r_mat[name] = place(result.point[None])[0], result.r_mat
    return LatentMap(place(training), place(normal), truth, found, r_mat)
