"""Brisk updates are the library's updates."""

from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import SAC
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import set_random_seed

from leaps.baselines.hrl import SkillVecEnv
from leaps.baselines.networks import GridEncoder
from leaps.baselines.replay import BitReplay
from leaps.baselines.sac import BriskSAC
from leaps.baselines.skills import END, Actions
from leaps.simulation import Observation
from leaps.tasks import get


def one_action(points: np.ndarray[Any, Any], shortest: int) -> Actions:  # noqa: ARG001
    """Skills of a single action."""
    actions = np.full((len(points), 2), END, np.uint8)
    actions[:, 0] = np.abs(points[:, 0] * 4).astype(np.uint8) % 5
    return actions


def model(kind: type[SAC], observation: Observation, device: str = "cpu") -> SAC:
    encoder = {"features_extractor_class": GridEncoder} if observation == "grid" else {}
    made = kind(
        "MlpPolicy",
        SkillVecEnv(get("maze"), 4, one_action, 3, 1.0, observation),
        buffer_size=400,
        learning_starts=8,
        batch_size=16,
        train_freq=1,
        gradient_steps=3,
        tau=0.1,
        gamma=0.9,
        replay_buffer_class=BitReplay,
        ent_coef="auto_0.1",
        policy_kwargs={"net_arch": [16, 16], "normalize_images": False, **encoder},
        seed=1,
        device=device,
    )
    made.set_logger(Logger(None, []))
    return made


def weights(model: SAC) -> torch.Tensor:
    assert model.log_ent_coef is not None
    tensors = [*model.policy.state_dict().values(), model.log_ent_coef.detach()]
    return torch.cat([tensor.flatten().cpu() for tensor in tensors])


def learned(model: SAC, decisions: int) -> torch.Tensor:
    set_random_seed(5, model.device.type == "cuda")
    model.learn(decisions, reset_num_timesteps=False)
    return weights(model)


@pytest.mark.parametrize("observation", ["grid", "perceptions"])
def test_what_is_learned_is_what_the_library_learns(observation: Observation) -> None:
    theirs, ours = model(SAC, observation), model(BriskSAC, observation)
    begin = weights(ours)
    torch.testing.assert_close(begin, weights(theirs), rtol=0, atol=0)
    for _ in range(3):
        expected, found = learned(theirs, 60), learned(ours, 60)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)
    assert (found - begin).abs().max() > 1e-3
    assert ours._n_updates == theirs._n_updates > 100


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("observation", ["grid", "perceptions"])
def test_what_is_played_on_a_gpu_is_what_is_done_there_step_by_step(
    observation: Observation, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = model(BriskSAC, observation, "cuda")
    found = learned(played, 100)
    assert played._recording is not None  # type: ignore[attr-defined]
    monkeypatch.setattr("leaps.baselines.sac.BEFORE_RECORDING", -1)
    expected = learned(model(BriskSAC, observation, "cuda"), 100)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)
