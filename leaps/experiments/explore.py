"""Analyse a program space: interpolation, two-dimensional maps and smoothness."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from leaps.dsl.compiler import Compiled
from leaps.embedding.behaviour import match
from leaps.embedding.model import ProgramSpace
from leaps.embedding.space import Space
from leaps.embedding.train import TrainConfig
from leaps.embedding.weights import save_weights
from leaps.karel.dataset import (
    CONDITIONS,
    HORIZON,
    DataConfig,
    Dataset,
    in_worlds,
    unique_programs,
    worlds_for,
)
from leaps.karel.executor import run
from leaps.karel.world import KAREL, LANGUAGE, Worlds
from leaps.search.cem import CEMConfig
from leaps.search.reconstruct import PAPER_RECONSTRUCTION, PLUS, TEST_PROGRAMS, reconstruct


def training_programs(space: Space) -> NDArray[np.uint8]:
    """Generate the programs [n, length] that a space was trained on."""
    config = DataConfig(**space.about["data"])
    return unique_programs(config)[: config.bounds[0]]


def r_mat(
    programs: Compiled, others: Compiled, worlds: Worlds, *, own_worlds: bool = False
) -> NDArray[np.float64]:
    """[programs] behavioural similarity of each program and its counterpart, mean over the worlds."""
    first, second = (
        run(compiled, worlds, HORIZON, own_worlds=own_worlds, want_actions=True)
        for compiled in (programs, others)
    )
    return np.asarray(match(first, second).mean(axis=1))


def line_between(space: Space, start: str, end: str, steps: int) -> NDArray[np.float32]:
    """[steps + 2, dimensions] points on the line between two programs, including both ends."""
    if steps < 1:
        raise ValueError(f"steps must be at least 1, found {steps}")
    first, last = space.encode([start, end])
    fractions = np.linspace(0, 1, steps + 2, dtype=np.float32)[:, None]
    return np.asarray(first + fractions * (last - first))


def interpolate(space: Space, start: str, end: str, steps: int) -> list[str]:
    """Decode `steps` points between two programs, and both ends (the paper's interpolation tables)."""
    return [space.text(tokens) for tokens in space.decode(line_between(space, start, end, steps))]


NEIGHBOURS = 10
_CHUNK = 1000


def nearest(latents: NDArray[np.float32], count: int = NEIGHBOURS) -> NDArray[np.int64]:
    """[n, count] indices of the nearest neighbours of each latent, by Euclidean distance."""
    # Centred, since torch's fast distances lose precision far from the origin.
    everything = torch.from_numpy(latents - latents.mean(axis=0))
    parts = []
    for start in range(0, len(latents), _CHUNK):
        some = everything[start : start + _CHUNK]
        distances = torch.cdist(some, everything)
        distances[torch.arange(len(some)), start + torch.arange(len(some))] = torch.inf
        parts.append(distances.topk(count, largest=False).indices.numpy())
    return np.concatenate(parts)


def smoothness(space: Space, data: Dataset, split: str, progress: Callable[[int], object] = int) -> float:
    """Mean R_mat between each decoded program and its ten nearest neighbours (Table 2).

    The neighbours run from the program's own ten initial states in the data set.
    """
    numbers = data.split(split)
    points = space.encode(data.tokens[numbers])
    programs = space.decode(points)
    near = nearest(space.latent(points), min(NEIGHBOURS, len(numbers) - 1))
    total = 0.0
    for start in range(0, len(numbers), _CHUNK):
        rows = np.arange(start, min(start + _CHUNK, len(numbers)))
        worlds = data.worlds(numbers[rows])
        own = run(KAREL.compile(programs[rows]), worlds, HORIZON, own_worlds=True, want_actions=True)
        for neighbours in near[rows].T:
            other = run(
                KAREL.compile(programs[neighbours]), worlds, HORIZON, own_worlds=True, want_actions=True
            )
            total += float(match(own, other).mean(axis=1).sum())
        progress(int(rows[-1]) + 1)
    return total / near.size


@dataclass(frozen=True)
class Plane:
    """The plane of the first two principal components of latents."""

    centre: NDArray[np.float32]
    axes: NDArray[np.float32]
    """[dimensions, 2]"""
    shares: tuple[float, float]
    """fraction of the latents' variance along each axis"""

    @staticmethod
    def through(latents: NDArray[np.float32]) -> "Plane":
        """Fit the plane to latents [n, dimensions]."""
        exact = latents.astype(np.float64)
        centre = exact.mean(axis=0)
        variances, directions = np.linalg.eigh(np.cov(exact - centre, rowvar=False))
        axes = directions[:, :-3:-1]  # eigenvalues ascend
        # The sign of an axis is arbitrary. A positive largest component makes it equal on all machines.
        axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
        second, first = (float(variance / (variances.sum() or 1.0)) for variance in variances[-2:])
        return Plane(centre.astype(np.float32), axes.astype(np.float32), (first, second))

    def place(self, latents: NDArray[np.float32]) -> NDArray[np.float32]:
        """[n, 2] projection of latents [n, dimensions] onto the plane."""
        return np.asarray((latents - self.centre) @ self.axes, np.float32)


def dimensions_filled(latents: NDArray[np.float32]) -> float:
    """Effective number of dimensions of latents [n, dimensions]: participation ratio of the variances."""
    covariance = np.cov(latents.astype(np.float64), rowvar=False)
    return float(np.trace(covariance) ** 2 / (covariance**2).sum())


DIRECTIONS = 36
"""directions in which a cloud is compared with a normal distribution, 5 degrees apart"""


def distance_from_normal(points: NDArray[np.float32]) -> float:
    """Distance of a cloud [n, 2] from a normal distribution with the same covariance, from 0 to 1.

    Mean Kolmogorov-Smirnov distance over directions, after scaling the cloud to unit covariance. So size and
    elongation do not count, and a twisted cloud has a large distance in some directions.
    """
    centred = points.astype(np.float64) - points.mean(axis=0, dtype=np.float64)
    variances, axes = np.linalg.eigh(np.cov(centred, rowvar=False))
    if variances[0] <= 1e-12 * variances[1]:
        raise ValueError("expected points that span a plane, found points on a line")
    angles = np.linspace(0, np.pi, DIRECTIONS, endpoint=False)
    along = np.sort(centred @ (axes / np.sqrt(variances)) @ [np.cos(angles), np.sin(angles)], axis=0)
    normal = torch.special.ndtr(torch.from_numpy(along)).numpy()
    below = np.arange(len(along))[:, None] / len(along)  # fraction of the cloud before each point
    gaps = np.maximum(np.abs(normal - below), np.abs(below + 1 / len(along) - normal))
    return float(gaps.max(axis=0).mean())


DIGITS = 3
"""decimals of stored coordinates, enough for a picture"""


def columns_of(points: NDArray[np.float32]) -> dict[str, list[float]]:
    """Points [n, 2] as JSON numbers, x and y in separate lists."""
    across, up = points.astype(np.float64).round(DIGITS).T.tolist()
    return {"x": across, "y": up}


def places_of(columns: Mapping[str, Any]) -> NDArray[np.float32]:
    """[n, 2] points read from the output of `columns_of`."""
    return np.asarray([columns["x"], columns["y"]], np.float32).T


@dataclass(frozen=True)
class SpaceChart:
    """A map of a space in two dimensions: principal components of the training programs' latents."""

    training: NDArray[np.float32]
    """[n, 2]"""
    normal: NDArray[np.float32]
    """[n, 2] points drawn from N(0, I)"""
    truth: dict[str, NDArray[np.float32]]
    """[2] the encoded test programs"""
    found: dict[str, NDArray[np.float32]]
    """[2] the points that a search found for their behaviour"""
    r_mat: dict[str, float]
    """R_mat of the test program and the program found for it"""
    apart: dict[str, float]
    """distance of the program found from the test program in the whole space; the unit is the root mean
    square distance of training programs from their centre"""
    shares: tuple[float, float]
    """fraction of the training programs' variance along each axis"""
    dimensions: float
    """effective dimensions of the training programs (`dimensions_filled`)"""
    from_normal: float
    """distance of the training programs on the map from a normal distribution (`distance_from_normal`)"""

    KEPT_TRAINING, KEPT_NORMAL = 1_200, 400
    """stored points per cloud, enough for a picture to show its shape"""

    def report(self) -> dict[str, Any]:
        """The data of a picture as JSON numbers, with the first points of each cloud only."""
        return {
            "training": columns_of(self.training[: self.KEPT_TRAINING]),
            "normal": columns_of(self.normal[: self.KEPT_NORMAL]),
            "variance_shares": [round(share, 4) for share in self.shares],
            "dimensions": round(self.dimensions, 2),
            "from_normal": round(self.from_normal, 4),
            "tests": {
                name: {
                    "truth": columns_of(self.truth[name][None]),
                    "found": columns_of(self.found[name][None]),
                    "r_mat": round(self.r_mat[name], 4),
                    "apart": round(self.apart[name], 4),
                }
                for name in self.truth
            },
        }

    @staticmethod
    def of_report(stored: Mapping[str, Any]) -> "SpaceChart":
        """Read the output of `report`."""
        tests = {name: stored["tests"][name] for name in TEST_PROGRAMS}
        first, second = (float(share) for share in stored["variance_shares"])
        return SpaceChart(
            places_of(stored["training"]),
            places_of(stored["normal"]),
            {name: places_of(test["truth"])[0] for name, test in tests.items()},
            {name: places_of(test["found"])[0] for name, test in tests.items()},
            {name: float(test["r_mat"]) for name, test in tests.items()},
            {name: float(test["apart"]) for name, test in tests.items()},
            (first, second),
            float(stored["dimensions"]),
            float(stored["from_normal"]),
        )


def chart_of_space(
    space: Space,
    programs: NDArray[np.uint8],
    seed: int = 0,
    iterations: int = 1000,
    progress: Callable[[str], object] = str,
) -> SpaceChart:
    """Compute the paper's figure "Visualizations of Learned Program Embedding Space".

    programs: [n, length] programs of the training set.
    """
    latents = space.latent(space.encode(programs))
    plane = Plane.through(latents)
    unit = float(np.sqrt(((latents - plane.centre) ** 2).sum(axis=1).mean()))

    def project(points: NDArray[Any]) -> NDArray[np.float32]:
        return plane.place(space.latent(points))

    normal = np.random.default_rng(seed).standard_normal((2000, space.dimensions))
    truth, found, r_mat, apart = {}, {}, {}, {}
    for name, program in TEST_PROGRAMS.items():
        progress(name)
        given = space.encode([program])
        # Raw latents are searched as published, whitened ones as in leaps+.
        setting = PAPER_RECONSTRUCTION[name] if space.raw else PLUS
        execute = in_worlds(worlds_for(program, seed))
        result = reconstruct(space, program, execute, setting, seed, iterations, best_answers=not space.raw)
        truth[name], found[name] = project(given)[0], project(result.point[None])[0]
        r_mat[name] = result.r_mat
        apart[name] = float(np.linalg.norm(space.latent(result.point[None]) - space.latent(given))) / unit
    training = plane.place(latents)
    return SpaceChart(
        training,
        project(normal),
        truth,
        found,
        r_mat,
        apart,
        plane.shares,
        dimensions_filled(latents),
        distance_from_normal(training),
    )


SELECTION = CEMConfig(32, 0.25, 0.1, True, "narrow")
"""the paper's search setting for a program with a loop and a conditional"""


class SearchJudge:
    """Evaluate a space in training: mean R_mat of the published search for validation programs.

    Selecting an epoch by reported tasks or by the paper's four test programs would tune on reported results.
    That includes Seeder and DoorKey of the harder tasks. Validation programs are unseen in training, and no
    result is reported for them. Only programs with a loop or conditional are used, since the tasks need
    control flow, too. R_mat is a graded measure, so a few programs are enough to compare epochs.
    """

    def __init__(self, data: Dataset, config: TrainConfig) -> None:
        rows = data.tokens[data.split("validation")]
        branching = np.isin(LANGUAGE.kinds[rows], CONDITIONS).any(axis=1)
        self.programs = [LANGUAGE.text(row) for row in rows[branching][: config.search_programs]]
        if len(self.programs) < config.search_programs:
            raise ValueError(
                f"search_programs={config.search_programs}, but the validation split has only "
                f"{len(self.programs)} programs with a loop or conditional; use fewer or a larger data set"
            )
        self.iterations = config.search_iterations

    def __call__(self, network: ProgramSpace) -> float:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "weights.safetensors"
            save_weights(network, file, for_search=True)
            space = Space(file)
        found = [
            reconstruct(
                space,
                program,
                in_worlds(worlds_for(program, seed)),
                SELECTION,
                seed,
                self.iterations,
                best_answers=False,
            ).r_mat
            for seed, program in enumerate(self.programs)
        ]
        return float(np.mean(found))
