"""The networks see what they should, and nothing else."""

import torch
from gymnasium import spaces

from leaps.baselines.networks import FullyConvolutional, GridEncoder
from leaps.env import observation_space
from leaps.simulation import Simulation
from leaps.tasks import get


def space_of(task: str) -> spaces.Box:
    space = observation_space("grid", get(task).size)
    assert isinstance(space, spaces.Box)
    return space


def test_the_encoder_is_the_papers() -> None:
    shapes = [tuple(parameter.shape) for parameter in GridEncoder(space_of("maze")).parameters()]
    assert shapes == [(32, 16, 2, 2), (32,), (32, 32, 4, 4), (32,)]


def test_features_are_as_many_as_promised_for_every_size_of_world() -> None:
    for task in ("maze", "stair-climber", "clean-house"):
        encoder = GridEncoder(space_of(task))
        grids = Simulation(get(task), 3).observe("grid")
        assert encoder(torch.from_numpy(grids).float()).shape == (3, encoder.features_dim)


def test_the_fully_convolutional_network_sees_the_same_wherever_it_is() -> None:
    network = FullyConvolutional(space_of("maze"))
    grid = torch.zeros(1, 20, 20, 16)
    grid[0, 5, 5, 1] = grid[0, 5, 6, 4] = 1
    moved = grid.roll((6, 3), dims=(1, 2))
    assert torch.allclose(network(grid), network(moved), atol=1e-6)
    other = grid.clone()
    other[0, 5, 5, 1], other[0, 5, 5, 2] = 0, 1
    assert not torch.allclose(network(grid), network(other), atol=1e-4)
    assert network(torch.zeros(2, 9, 33, 16)).shape == (2, network.features_dim)
