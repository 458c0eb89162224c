"""The incremental evaluation gives the same features as the whole network."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import Tensor

from leaps.baselines.networks import FullyConvolutional
from leaps.baselines.patchwork import Patchwork
from leaps.baselines.ppo import PPOConfig, PPOTrainer
from leaps.karel.simulation import Simulation
from leaps.tasks import get


@pytest.fixture
def network() -> FullyConvolutional:
    torch.manual_seed(0)
    found = FullyConvolutional(spaces.Box(0, 1, (9, 9, 16), np.uint8))
    for layer in found.layers:  # so that features of empty cells are not zero
        if isinstance(layer, torch.nn.Conv2d):
            assert layer.bias is not None
            torch.nn.init.normal_(layer.bias, std=0.5)
    return found


def walks(task: str, size: tuple[int, int], count: int, steps: int, seed: int = 0) -> Iterator[Tensor]:
    """Grids of worlds in which Karel acts at random, also at and into all walls."""
    simulation = Simulation(get(task), count, size)
    simulation.place(get(task).worlds(count, seed, size))
    rng = np.random.default_rng(seed)
    active = np.ones(count, np.bool_)
    for _ in range(steps):
        yield torch.from_numpy(simulation.observe("grid").copy())
        actions = rng.choice(5, count, p=[0.6, 0.1, 0.1, 0.1, 0.1])
        _, terminated, truncated = simulation.advance(actions, active)
        active &= ~(terminated | truncated)


@pytest.mark.parametrize(
    ("task", "size"), [("harvester", (9, 13)), ("top-off", (20, 8)), ("snake", (12, 12)), ("maze", (8, 8))]
)
def test_patchwork_equals_the_whole_network(
    network: FullyConvolutional, task: str, size: tuple[int, int]
) -> None:
    patchwork = Patchwork(network.layers)
    with torch.no_grad():
        for grids in walks(task, size, 6, 150):
            torch.testing.assert_close(patchwork(grids), network(grids.float()), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [(7, 30), (5, 5)])
def test_worlds_smaller_than_a_patch_are_recomputed_as_a_whole(
    network: FullyConvolutional, size: tuple[int, int]
) -> None:
    patchwork = Patchwork(network.layers)
    with torch.no_grad():
        for grids in walks("harvester", size, 3, 40):
            torch.testing.assert_close(patchwork(grids), network(grids.float()), rtol=1e-4, atol=1e-5)


def test_large_changes_are_recomputed_as_a_whole(network: FullyConvolutional) -> None:
    patchwork = Patchwork(network.layers)
    generator = torch.Generator().manual_seed(1)
    grids = torch.randint(0, 2, (4, 20, 18, 16), generator=generator, dtype=torch.uint8)
    with torch.no_grad():
        patchwork(grids)
        grids = grids.clone()
        grids[0, 3, 2:6], grids[1, 0, 0], grids[3, 19, 17] = 1, 0, 0  # long, small, none, small
        torch.testing.assert_close(patchwork(grids), network(grids.float()), rtol=1e-4, atol=1e-5)
        other = grids[:2]  # another number of worlds resets the cache
        torch.testing.assert_close(patchwork(other), network(other.float()), rtol=1e-4, atol=1e-5)


def test_small_changes_recompute_no_whole_world(
    network: FullyConvolutional, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    whole = Patchwork._compute

    def count(self: Patchwork, grids: Tensor, worlds: Tensor) -> None:
        looked.append(len(worlds))
        whole(self, grids, worlds)

    monkeypatch.setattr(Patchwork, "_compute", count)
    patchwork = Patchwork(network.layers)
    with torch.no_grad():
        for grids in walks("harvester", (12, 12), 5, 60):
            patchwork(grids)
    assert looked == [5]


def test_policy_with_patchwork_acts_as_its_network() -> None:
    trainer = PPOTrainer("drl-fcn", get("harvester"), PPOConfig(worlds=4, unroll=8, batch=16, epochs=1))
    trainer.step()
    policy = trainer.policy
    policy.begin(5)
    for grids in walks("harvester", (16, 11), 5, 50, seed=3):
        with torch.no_grad():
            expected = policy.network.get_distribution(grids).distribution.logits
        found = torch.from_numpy(policy.log_probabilities(grids.numpy())).float()
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
