"""The coordinates of a space: principal axes of latents, and conversion in both directions."""

import pytest
import torch
from torch import Tensor

from leaps.dsl.text import PREFIX
from leaps.embedding.model import Coordinates, with_prefix
from leaps.karel.world import LANGUAGE
from tests.embedding.helpers import cloud, drawn, placed, tokens_of, untrained

SIZES = [2, 8, 256]


def fitted(latents: Tensor) -> Coordinates:
    coordinates = Coordinates(latents.shape[1])
    coordinates.fit(latents)
    return coordinates


def off_diagonal(matrix: Tensor) -> Tensor:
    return matrix[~torch.eye(len(matrix), dtype=torch.bool)]


# Fitting


def test_before_a_fit_points_are_latents() -> None:
    coordinates = Coordinates(8)
    assert torch.equal(coordinates.latent(cloud(50, 8)), cloud(50, 8))
    assert torch.equal(coordinates.point(cloud(50, 8)), cloud(50, 8))


@pytest.mark.parametrize("dimensions", SIZES)
def test_fitted_points_have_mean_0_and_equal_standard_deviations(dimensions: int) -> None:
    latents = cloud(1000, dimensions)
    points = fitted(latents).point(latents)
    assert torch.allclose(points.mean(dim=0), torch.zeros(dimensions), atol=1e-4)
    assert torch.allclose(points.std(dim=0), torch.full((dimensions,), 1 / Coordinates.UNIT), atol=1e-4)


@pytest.mark.parametrize("dimensions", SIZES)
def test_fitted_points_are_uncorrelated(dimensions: int) -> None:
    latents = cloud(1000, dimensions)
    assert off_diagonal(torch.corrcoef(latents.T)).abs().max() > 0.1
    assert off_diagonal(torch.corrcoef(fitted(latents).point(latents).T)).abs().max() < 1e-3


@pytest.mark.parametrize("dimensions", SIZES)
def test_axes_are_orthogonal(dimensions: int) -> None:
    axes = fitted(cloud(1000, dimensions)).axes
    directions = axes / axes.norm(dim=1, keepdim=True)
    assert torch.allclose(directions @ directions.T, torch.eye(dimensions), atol=1e-5)


@pytest.mark.parametrize("dimensions", SIZES)
def test_the_longest_axis_comes_first(dimensions: int) -> None:
    lengths = fitted(cloud(1000, dimensions)).axes.norm(dim=1)
    assert (lengths.diff() < 0).all()


def test_axes_are_those_along_which_the_latents_were_spread() -> None:
    latents = drawn(100_000, 3) * torch.tensor([0.1, 5.0, 1.0]) + torch.tensor([7.0, 0.0, -2.0])
    coordinates = fitted(latents)
    expected = Coordinates.UNIT * torch.tensor([[0.0, 5.0, 0.0], [0.0, 0.0, 1.0], [0.1, 0.0, 0.0]])
    assert torch.allclose(coordinates.axes, expected, atol=0.1)
    assert torch.allclose(coordinates.centre, torch.tensor([7.0, 0.0, -2.0]), atol=0.05)


def test_a_fit_replaces_the_one_before() -> None:
    coordinates = fitted(cloud(100, 8, seed=1))
    coordinates.fit(cloud(100, 8, seed=2))
    assert torch.equal(coordinates.axes, fitted(cloud(100, 8, seed=2)).axes)
    assert torch.equal(coordinates.centre, fitted(cloud(100, 8, seed=2)).centre)


# The same everywhere


@pytest.mark.parametrize("order", [torch.arange(299, -1, -1), drawn(300).argsort()], ids=["reverse", "any"])
def test_axes_do_not_depend_on_the_order_of_the_latents(order: Tensor) -> None:
    latents = cloud(300, 8)
    one, other = fitted(latents), fitted(latents[order])
    assert torch.allclose(one.axes, other.axes, atol=1e-5)
    assert torch.allclose(one.centre, other.centre, atol=1e-6)


def test_axes_do_not_depend_on_which_way_the_machines_eigenvectors_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected, decompose = fitted(cloud(300, 8)), torch.linalg.eigh

    def turned(matrix: Tensor) -> tuple[Tensor, Tensor]:
        variances, directions = decompose(matrix)
        return variances, directions * torch.tensor([1.0, -1.0]).repeat(4)

    for eigh in (turned, lambda matrix: (decompose(matrix)[0], -decompose(matrix)[1])):
        monkeypatch.setattr(torch.linalg, "eigh", eigh)
        assert torch.equal(fitted(cloud(300, 8)).axes, expected.axes)


# Round trips


@pytest.mark.parametrize("dimensions", SIZES)
def test_points_survive_a_round_trip_through_latents(dimensions: int) -> None:
    coordinates, points = fitted(cloud(1000, dimensions)), drawn(100, dimensions, seed=5)
    latents = coordinates.latent(points)
    assert not torch.allclose(latents, points, atol=0.1)
    assert torch.allclose(coordinates.point(latents), points, atol=1e-4)


@pytest.mark.parametrize("dimensions", SIZES)
def test_latents_survive_a_round_trip_through_points(dimensions: int) -> None:
    coordinates, latents = fitted(cloud(1000, dimensions)), cloud(100, dimensions, seed=5)
    assert torch.allclose(coordinates.latent(coordinates.point(latents)), latents, atol=1e-4)


@pytest.mark.parametrize("count", [2, 3, 8])
def test_fewer_latents_than_dimensions_can_be_fitted(count: int) -> None:
    coordinates = fitted(cloud(count, 8))
    lengths = coordinates.axes.norm(dim=1)
    assert torch.isfinite(coordinates.axes).all()
    # n latents vary in n - 1 directions; the other axes have the minimum length.
    assert torch.allclose(lengths[count - 1 :], Coordinates.FLATTEST * lengths[0], rtol=1e-3)
    assert torch.linalg.matrix_rank(coordinates.axes) == 8
    points = drawn(100, 8)
    assert torch.allclose(coordinates.point(coordinates.latent(points)), points, atol=1e-2)


def test_latents_in_a_plane_have_no_points_outside_of_it() -> None:
    latents = cloud(300, 2) @ drawn(2, 8, seed=1)
    points = fitted(latents).point(latents)
    assert torch.allclose(points[:, :2].std(dim=0), torch.tensor(1 / Coordinates.UNIT), atol=1e-4)
    assert points[:, 2:].abs().max() < 1e-2


# In a space


def test_a_program_is_encoded_as_the_point_of_its_mean_latent() -> None:
    space, tokens = placed(untrained()), tokens_of("move", "turnLeft move", "REPEAT R=5 r( putMarker r)")
    body = tokens[:, len(PREFIX) :]
    mean, _ = space.encoder(body, (body != LANGUAGE.pad).sum(dim=1))
    assert torch.equal(space.encode(tokens), space.coordinates.point(mean))
    assert not torch.allclose(space.encode(tokens), mean, atol=0.1)


def test_a_point_is_decoded_like_its_latent() -> None:
    space, points = placed(untrained()), drawn(50, 8)
    tokens, _ = space.write(space.coordinates.latent(points))
    assert torch.equal(space.decode(points), with_prefix(tokens))
    assert not torch.equal(space.decode(points), untrained().decode(points))


def test_training_leaves_coordinates_alone() -> None:
    assert list(untrained().coordinates.parameters()) == []


def test_equal_latents_leave_the_space_usable() -> None:
    coordinates = Coordinates(4)
    coordinates.fit(torch.full((3, 4), 0.5))
    points = torch.randn(5, 4)
    assert torch.allclose(coordinates.point(coordinates.latent(points)), points, atol=1e-4)
