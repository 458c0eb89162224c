"""DRL, DRL-FCN, DRL-abs, DRL-abs-t and ppo-last-action: policies trained by PPO.

DRL and DRL-FCN observe the grid. DRL-abs and DRL-abs-t observe the perceptions, with a recurrent network.
ppo-last-action observes the perceptions and its own last action, with a feed-forward network.

The algorithms are those of stable-baselines3 and sb3-contrib. This module adds the paper's networks and
settings, and code to train iteration by iteration, write checkpoints and resume.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save
from sb3_contrib import RecurrentPPO
from sb3_contrib.common.recurrent.type_aliases import RNNStates
from stable_baselines3 import PPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.utils import set_random_seed

from leaps.base.files import write_atomically
from leaps.base.tensors import metadata
from leaps.baselines.device_buffer import DeviceBuffer
from leaps.baselines.evaluate import evaluate_policy
from leaps.baselines.last_action import NO_ACTION, LastActionVecEnv, every_input, input_number
from leaps.baselines.networks import (
    SMALLEST,
    FullyConvolutional,
    GridPolicy,
    LoweredGridEncoder,
    Remembering,
    check_seen,
    fast_products,
)
from leaps.baselines.patchwork import Patchwork
from leaps.baselines.sequences import SequenceBuffer
from leaps.baselines.settings import check_finite
from leaps.baselines.train import POLICY_FILE, named
from leaps.baselines.vec_env import KarelVecEnv
from leaps.evaluate import ExpectedReturn
from leaps.karel.simulation import Arrays, Observation
from leaps.karel.tasks import KarelTask
from leaps.tasks import get

ALIASES = ("pi_features_extractor.", "vf_features_extractor.")
"""the library's other names for the encoder that policy and value share"""


@dataclass(frozen=True)
class PPOConfig:
    """Hyperparameters. The paper tuned the first ones per task."""

    clip: float = 0.2
    """PPO's clip range: how far the ratio of new to old probability may go from 1"""
    entropy: float = 0.01
    """weight of the entropy in the loss"""
    epochs: int = 4
    """passes over the steps of an iteration: the paper's "updates per train iteration" """
    normalize_advantage: bool = True
    unroll: int = 32
    """steps of each world per iteration"""
    worlds: int = 256
    """worlds that step together; the paper uses ten"""
    batch: int = 2048
    """steps per gradient, a quarter of an iteration; the paper uses 128, a little over a third"""
    learning_rate: float = 1e-3
    hidden: int = 64
    """units of the layer after the convolutions, or of each of the two layers of ppo-last-action"""
    memory: int = 100
    """units of each layer of a recurrent policy: its LSTM and two further layers"""

    def __post_init__(self) -> None:
        check_finite(self)
        for name in ("epochs", "unroll", "worlds", "batch", "hidden", "memory"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")
        if min(self.batch, self.worlds * self.unroll) < 2:  # the library's own limit
            raise ValueError(
                f"batch and worlds * unroll must be at least 2, found batch={self.batch}, "
                f"worlds={self.worlds} and unroll={self.unroll}"
            )
        if self.clip <= 0 or self.entropy < 0 or self.learning_rate <= 0:
            raise ValueError(
                "expected clip > 0, entropy ≥ 0 and learning_rate > 0, found "
                f"{self.clip}, {self.entropy} and {self.learning_rate}"
            )


PAPER_PPO = {
    "clean-house": PPOConfig(0.1, 0.01, 4),
    "four-corner": PPOConfig(0.2, 0.01, 16),
    "harvester": PPOConfig(0.05, 0.01, 8),
    "maze": PPOConfig(0.05, 0.001, 8),
    "stair-climber": PPOConfig(0.1, 0.1, 4),
    "top-off": PPOConfig(0.05, 0.001, 4),
}
"""the hyperparameters that the paper found best for DRL"""

PAPER_PPO_ABS = {
    "clean-house": PPOConfig(0.2, 0.01, 8),
    "four-corner": PPOConfig(0.05, 0.01, 4),
    "harvester": PPOConfig(0.2, 0.01, 4),
    "maze": PPOConfig(0.2, 0.001, 4),
    "stair-climber": PPOConfig(0.05, 0.1, 16),
    "top-off": PPOConfig(0.2, 0.001, 8),
}
"""the hyperparameters that the paper found best for DRL-abs"""

LAST_ACTION = "ppo-last-action"


@dataclass(frozen=True)
class LastActionConfig(PPOConfig):
    """Hyperparameters of ppo-last-action, one setting for all tasks."""

    episode: int = 100
    """actions per training episode at most; evaluation uses the task's own limit"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.episode < 1:
            raise ValueError(f"episode must be at least 1, found {self.episode}")


TRANSFER = {
    "clean-house": "harvester",
    "four-corner": "top-off",
    "harvester": "maze",
    "maze": "stair-climber",
    "stair-climber": "harvester",
    "top-off": "harvester",
}
"""DRL-abs-t: the best source task for each task"""

OBSERVATIONS: dict[str, Observation] = {
    "drl": "grid",
    "drl-fcn": "grid",
    "drl-abs": "perceptions",
    "drl-abs-t": "perceptions",
    LAST_ACTION: "perceptions",
}
"""the methods, and what their policies observe"""


class NeuralPolicy:
    """A network that acts: it draws its actions, as in training, or takes the likeliest (`greedy`)."""

    def __init__(
        self,
        network: Any,
        observation: Observation,
        size: tuple[int, int] | None,
        greedy: bool = False,
        seed: int = 0,
    ) -> None:
        self.network, self.observation = network, observation
        self.size = size
        """size of the worlds that the policy accepts; None: any"""
        self.greedy, self.seed = greedy, seed
        self._recurrent = isinstance(network, Remembering)
        self.begin(0)

    @property
    def deterministic(self) -> bool:
        return self.greedy

    def check(self, task: KarelTask, size: tuple[int, int]) -> None:
        check_seen(self.size, task, size)

    def begin(self, count: int) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._patchwork = None
        if isinstance(self.network.features_extractor, FullyConvolutional):
            self._patchwork = Patchwork(self.network.features_extractor.layers)
        if self._recurrent:
            layers, _, units = self.network.lstm_hidden_state_shape
            blank = torch.zeros(layers, count, units, device=self.network.device)
            self._memory = (blank, blank)
            self._begins = torch.zeros(count, device=self.network.device)  # the memory is zero already

    def log_probabilities(self, observations: Arrays) -> NDArray[np.float64]:
        """Log-probabilities [worlds, actions] for the next observations [worlds, …]; advances the memory."""
        with torch.no_grad():
            seen = torch.from_numpy(observations).to(self.network.device)
            if self._patchwork is not None:
                latent = self.network.mlp_extractor.forward_actor(self._patchwork(seen))
                chosen = self.network._get_action_dist_from_latent(latent)
            elif self._recurrent:
                chosen, self._memory = self.network.get_distribution(seen, self._memory, self._begins)
            else:
                chosen = self.network.get_distribution(seen)
        return np.array(chosen.distribution.logits.cpu().numpy(), np.float64)

    def act(self, observations: Arrays) -> NDArray[np.int64]:
        scores = self.log_probabilities(observations)
        if not self.greedy:  # the argmax of log-probabilities plus Gumbel noise is a draw
            scores += self._rng.gumbel(size=scores.shape)
        return np.asarray(scores.argmax(axis=1), np.int64)


class LastActionPolicy(NeuralPolicy):
    """A policy on the perceptions and its own last action that takes its likeliest action by default.

    There are 192 different inputs, so the network is evaluated once for all of them.
    """

    def __init__(self, network: Any, greedy: bool = True, seed: int = 0) -> None:
        super().__init__(network, "perceptions", None, greedy, seed)

    def begin(self, count: int) -> None:
        super().begin(count)
        self._last = np.full(count, NO_ACTION, np.int64)
        self._table = super().log_probabilities(every_input())

    def log_probabilities(self, observations: Arrays) -> NDArray[np.float64]:
        return self._table[input_number(observations, self._last)]

    def act(self, observations: Arrays) -> NDArray[np.int64]:
        self._last = super().act(observations)
        return self._last


class PPOTrainer:
    """Trainer of one of these methods.

    All randomness of an iteration follows from its number, so a resumed training gives the same results.
    """

    def __init__(
        self,
        method: str,
        task: KarelTask,
        config: PPOConfig,
        seed: int = 0,
        size: tuple[int, int] | None = None,
        device: str = "cpu",
        origin: "Origin | None" = None,
    ) -> None:
        """origin: the policy to start from, for a transfer."""
        if method not in OBSERVATIONS:
            raise ValueError(f"method: expected one of {', '.join(OBSERVATIONS)}, found {method!r}")
        self.method, self.task, self.config, self.seed = method, task, config, seed
        self.origin = origin
        self.iteration = 0
        observation = OBSERVATIONS[method]
        height, width = task.check_size(size)
        if method == "drl" and min(height, width) < SMALLEST:
            raise ValueError(f"drl needs worlds of {SMALLEST}x{SMALLEST} or more, found {height}x{width}")
        if method == LAST_ACTION:
            horizon = task.horizon((height, width))
            if isinstance(config, LastActionConfig):
                horizon = min(config.episode, horizon)
            self.env: KarelVecEnv = LastActionVecEnv(task, config.worlds, size, seed, horizon)
        else:
            self.env = KarelVecEnv(task, config.worlds, observation, size, seed)
        common: dict[str, Any] = {
            "learning_rate": config.learning_rate,
            "n_steps": config.unroll,
            "batch_size": min(config.batch, config.worlds * config.unroll),
            "n_epochs": config.epochs,
            "clip_range": config.clip,
            "ent_coef": config.entropy,
            "normalize_advantage": config.normalize_advantage,
            "seed": seed,
            "device": device,
        }
        if method == LAST_ACTION:
            layers = [config.hidden, config.hidden]
            self.model: PPO | RecurrentPPO = PPO(
                ActorCriticPolicy,
                self.env,
                policy_kwargs={"net_arch": {"pi": layers, "vf": layers}},
                **common,
            )
        elif observation == "perceptions":
            layers = [config.memory, config.memory]
            self.model = RecurrentPPO(
                Remembering,
                self.env,
                policy_kwargs={"lstm_hidden_size": config.memory, "net_arch": {"pi": layers, "vf": layers}},
                **common,
            )
            self.model.rollout_buffer = SequenceBuffer.in_place_of(self.model.rollout_buffer)
        else:
            encoder = LoweredGridEncoder if method == "drl" else FullyConvolutional
            self.model = PPO(
                GridPolicy,
                self.env,
                policy_kwargs={
                    "features_extractor_class": encoder,
                    "net_arch": [config.hidden],
                    "normalize_images": False,
                },
                **common,
            )
            if self.model.device.type != "cpu":
                self.model.rollout_buffer = DeviceBuffer.in_place_of(self.model.rollout_buffer)
        self.model.set_logger(Logger(None, []))
        if origin is not None:
            self.model.policy.load_state_dict(origin.weights)

    done = False
    """training ends only when its steps are used up"""

    @property
    def steps(self) -> int:
        """Actions taken so far, in all worlds."""
        return int(self.model.num_timesteps)

    def step(self) -> list[float]:
        """Act in all worlds, then learn. Return the returns of the episodes that ended."""
        self.iteration += 1
        rng = np.random.default_rng([self.seed, self.iteration])
        set_random_seed(int(rng.integers(2**31)), self.model.device.type == "cuda")
        with fast_products():
            self.model.learn(self.config.worlds * self.config.unroll, reset_num_timesteps=False)
        episodes, self.env.episodes = self.env.episodes, []
        return episodes

    @property
    def settings(self) -> dict[str, Any]:
        return asdict(self.config) | ({} if self.origin is None else {"origin": self.origin.name})

    @property
    def readable(self) -> dict[str, Any]:
        return {}

    def judge(self, episodes: int, seed: int, prefer_exact: bool = False) -> ExpectedReturn:
        found = evaluate_policy(
            self.policy,
            self.task,
            episodes=episodes,
            seed=seed,
            size=self.env.simulation.size,
            prefer_exact=prefer_exact,
        )
        return found.expected()

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        tensors = {
            name: tensor.detach().cpu().contiguous()
            for name, tensor in self.model.policy.state_dict().items()
            if not name.startswith(ALIASES)
        }
        about = about | {"size": self.env.simulation.size}
        write_atomically(folder / POLICY_FILE, save(tensors, metadata(about)))

    @property
    def policy(self) -> NeuralPolicy:
        if self.method == LAST_ACTION:
            return LastActionPolicy(self.model.policy)
        size = self.env.simulation.size if self.method == "drl" else None
        return NeuralPolicy(self.model.policy, self.env.observation, size)

    def state(self) -> dict[str, Any]:
        """Return all that the next iteration depends on, in types that torch.save accepts."""
        model = self.model
        starts, memory = model._last_episode_starts, getattr(model, "_last_lstm_states", None)
        return {
            "iteration": self.iteration,
            "steps": self.steps,
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "env": {name: torch.from_numpy(array.copy()) for name, array in self.env.state().items()},
            "starts": None if starts is None else torch.from_numpy(np.array(starts, np.bool_)),
            "memory": None if memory is None else [[part.clone() for part in pair] for pair in memory],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from the state of another trainer."""
        model = self.model
        self.iteration, model.num_timesteps = state["iteration"], state["steps"]
        model.policy.load_state_dict(state["policy"])
        model.policy.optimizer.load_state_dict(state["optimizer"])
        self.env.restore({name: tensor.numpy() for name, tensor in state["env"].items()})
        if state["starts"] is not None:  # None before the first iteration
            model._last_obs = self.env.observe()
            model._last_episode_starts = state["starts"].numpy()
        if state["memory"] is not None:
            actor, critic = (tuple(part.to(model.device) for part in pair) for pair in state["memory"])
            model._last_lstm_states = RNNStates(actor, critic)  # type: ignore[union-attr]


@dataclass(frozen=True)
class Origin:
    """A policy to start from, with the name of its training."""

    name: str
    config: PPOConfig
    weights: dict[str, torch.Tensor]


def read_origin(file: Path, about: dict[str, Any]) -> Origin:
    """Read a policy to continue training."""
    settings = {name: value for name, value in about["config"]["settings"].items() if name != "origin"}
    tensors = load_file(file)
    for alias in ALIASES:
        tensors |= {
            alias + name.split(".", 1)[1]: tensor
            for name, tensor in tensors.items()
            if name.startswith("features_extractor.")
        }
    config = LastActionConfig if about["method"] == LAST_ACTION else PPOConfig
    return Origin(named(about), config(**settings), tensors)


def read_neural_policy(file: Path, about: dict[str, Any]) -> NeuralPolicy:
    """Read a policy for acting."""
    origin = read_origin(file, about)
    config = replace(origin.config, worlds=2)  # nothing is trained here
    size = (int(about["size"][0]), int(about["size"][1]))
    return PPOTrainer(about["method"], get(about["task"]), config, size=size, origin=origin).policy
