"""`BriskSAC` makes the same updates as the library's SAC."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import SAC
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import set_random_seed
from torch._dynamo.backends.registry import lookup_backend

from leaps.baselines.hrl import SkillVecEnv
from leaps.baselines.networks import GridEncoder, by_product, compiling
from leaps.baselines.replay import BitReplay
from leaps.baselines.sac import BriskSAC, as_it_is
from leaps.baselines.skills import END, Actions
from leaps.karel.simulation import Observation
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
    # With some seeds, such as 5, an activation is so close to 0 that it is positive in only one network.
    set_random_seed(11, model.device.type == "cuda")
    model.learn(decisions, reset_num_timesteps=False)
    return weights(model)


@pytest.mark.parametrize("observation", ["grid", "perceptions"])
def test_updates_equal_the_librarys(observation: Observation) -> None:
    library, brisk = model(SAC, observation), model(BriskSAC, observation)
    begin = weights(brisk)
    torch.testing.assert_close(begin, weights(library), rtol=0, atol=0)
    for _ in range(3):
        expected, found = learned(library, 60), learned(brisk, 60)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)
    assert (found - begin).abs().max() > 1e-2
    assert brisk._n_updates == library._n_updates > 100


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # raised inside the compiler
def test_fused_updates_equal_the_librarys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path for GPUs, on a CPU: the compiler runs except for its code generation.

    The fourth model in a process is compiled in the same way as the first.
    """
    graphs: list[int] = []

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        graphs[-1] += 1
        return lookup_backend("aot_eager")(graph, inputs)

    torch._dynamo.reset()
    found = []
    with compiling(backend) as fuse:
        monkeypatch.setattr("leaps.baselines.sac.as_it_is", fuse)
        monkeypatch.setattr("leaps.baselines.networks.GridEncoder.forward", as_on_a_gpu)
        for _ in range(4):
            graphs.append(0)
            brisk = model(BriskSAC, "grid")
            for optimizer in brisk._optimizers:  # type: ignore[attr-defined]
                optimizer.param_groups[0]["foreach"] = True  # as on a GPU
            found.append(learned(brisk, 60))
    assert graphs == [7, 3, 3, 3]  # three optimizers each; the other graphs are shared
    monkeypatch.undo()
    torch.testing.assert_close(found[0], learned(model(SAC, "grid"), 60), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(found[3], found[0], rtol=0, atol=0)


def as_on_a_gpu(encoder: GridEncoder, grids: torch.Tensor) -> torch.Tensor:
    return encoder.layers[1:](by_product(grids, encoder.layers[0]))  # type: ignore[arg-type, no-any-return]


def test_cpu_resumes_a_training_of_a_gpu() -> None:
    straight, other = (model(BriskSAC, "grid") for _ in range(2))
    learned(straight, 40)
    for target, source in zip(other._optimizers, straight._optimizers, strict=True):  # type: ignore[attr-defined]
        kept = copy.deepcopy(source.state_dict())
        kept["param_groups"][0] |= {"capturable": True, "foreach": True}  # the settings after _play
        target.load_state_dict(kept)
    other.policy.load_state_dict(straight.policy.state_dict())
    other.log_ent_coef.data.copy_(straight.log_ent_coef.data)  # type: ignore[union-attr]
    other.forget_recording()  # type: ignore[attr-defined]
    batch = straight.replay_buffer.batches(1, 16)[0]  # type: ignore[union-attr]
    for each in (straight, other):
        set_random_seed(6)
        each._update(batch, as_it_is)  # type: ignore[attr-defined]
    torch.testing.assert_close(weights(other), weights(straight), rtol=0, atol=0)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("observation", ["grid", "perceptions"])
def test_replayed_updates_equal_unrecorded_ones_on_a_gpu(
    observation: Observation, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = model(BriskSAC, observation, "cuda")
    found = learned(played, 100)
    assert played._recording is not None  # type: ignore[attr-defined]
    monkeypatch.setattr("leaps.baselines.sac.BEFORE_RECORDING", -1)
    expected = learned(model(BriskSAC, observation, "cuda"), 100)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)
