"""HRL and HRL-abs: a policy that chooses skills, each a sequence of actions that a frozen decoder writes.

The SAC implementation is that of stable-baselines3 (`leaps.baselines.sac`). Its action is a latent of
`leaps.baselines.skills`. The decoded sequence is executed to its end, or to the end of the episode, before
the policy observes the world again.
"""

import copy
import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from safetensors.torch import load_file, save
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import set_random_seed

from leaps.base.files import write_atomically
from leaps.base.tensors import metadata
from leaps.baselines.evaluate import evaluate_policy
from leaps.baselines.networks import SMALLEST, GridEncoder, check_seen
from leaps.baselines.replay import BitReplay
from leaps.baselines.sac import BriskSAC
from leaps.baselines.settings import check_finite
from leaps.baselines.skills import Actions, SkillDecoder, Skills, SkillsConfig, lengths_of, load_skills
from leaps.baselines.train import POLICY_FILE
from leaps.baselines.vec_env import KarelVecEnv, Stepped
from leaps.evaluate import ExpectedReturn
from leaps.karel.simulation import Arrays, Observation
from leaps.karel.tasks import KarelTask
from leaps.tasks import get

OBSERVATIONS: dict[str, Observation] = {"hrl": "grid", "hrl-abs": "perceptions"}
"""the methods, and what their policies observe"""

KNOWN = 100_000
"""maximum number of observations in a policy's cache of skills"""

Latents = NDArray[np.float32]
"""[n, l]"""


@dataclass(frozen=True)
class HRLConfig:
    """Hyperparameters. The paper tuned the first ones per task."""

    updates: int = 1
    """gradient steps per iteration"""
    polyak: float = 0.95
    """fraction of the target network that an update keeps; 1 - tau of stable-baselines3"""
    worlds: int = 8
    """worlds that step together, one decision each per iteration; the paper: one world, eight decisions"""
    batch: int = 128
    """decisions per gradient step"""
    replay: int = 1_000_000
    """capacity of the replay buffer, in decisions; 2 million environment steps contain far fewer"""
    random: int = 256
    """decisions drawn uniformly from the box before learning begins"""
    learning_rate: float = 3e-4
    discount: float = 0.99
    """per decision"""
    hidden: int = 100
    """units of each of the two layers after the convolutions, if any"""
    reach: float = 3.0
    """latents lie between -reach and reach in every dimension; this box contains the latents of 99.9 % of
    the sequences that programs perform (with a reach of 2: 81 %)"""
    temperature: float = 0.01
    """initial weight of the entropy, which then adapts. The library's default of 1 suits far larger returns:
    here they are at most 1, and many trainings have too few updates for the weight to fall"""

    def __post_init__(self) -> None:
        check_finite(self)
        for name in ("updates", "worlds", "batch", "replay", "hidden"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")
        if self.random < 0:
            raise ValueError(f"random must be 0 or more, found {self.random}")
        for name in ("polyak", "discount"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be from 0 to below 1, found {getattr(self, name)}")
        if self.learning_rate <= 0 or self.reach <= 0 or self.temperature <= 0:
            raise ValueError(
                "expected learning_rate > 0, reach > 0 and temperature > 0, found "
                f"{self.learning_rate}, {self.reach} and {self.temperature}"
            )


PAPER_HRL = {
    "clean-house": HRLConfig(1, 0.9),
    "four-corner": HRLConfig(1, 0.95),
    "harvester": HRLConfig(1, 0.95),
    "maze": HRLConfig(8, 0.9),
    "stair-climber": HRLConfig(8, 0.95),
    "top-off": HRLConfig(8, 0.95),
}
"""the hyperparameters that the paper found best for HRL"""

PAPER_HRL_ABS = {
    "clean-house": HRLConfig(1, 0.95),
    "four-corner": HRLConfig(8, 0.9),
    "harvester": HRLConfig(8, 0.95),
    "maze": HRLConfig(1, 0.95),
    "stair-climber": HRLConfig(1, 0.9),
    "top-off": HRLConfig(1, 0.9),
}
"""the hyperparameters that the paper found best for HRL-abs"""


class SkillVecEnv(KarelVecEnv):
    """A vector environment of a task, in which an action is a latent.

    A skill has at least one action, since an episode without actions would never end. Where the empty
    sequence is the decoder's likeliest output, the likeliest action comes first instead.
    """

    def __init__(
        self,
        task: KarelTask,
        count: int,
        decode: Callable[[Latents, int], Actions],
        latent: int,
        reach: float,
        observation: Observation = "grid",
        size: tuple[int, int] | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(task, count, observation, size, seed)
        self.decode = decode
        """latents and the minimum length of a sequence → sequences"""
        self.action_space = spaces.Box(-reach, reach, (latent,), np.float32)
        self.steps = 0
        """actions taken so far, in all worlds"""
        self._latents = np.zeros((count, latent), np.float32)

    def step_async(self, actions: NDArray[Any]) -> None:
        self._latents = np.asarray(actions, np.float32)

    def step_wait(self) -> Stepped:
        sequences = self.decode(self._latents, 1)
        lengths = lengths_of(sequences)
        actions = np.ascontiguousarray(sequences.T, np.int64)
        rewards = np.zeros(self.num_envs)
        truncated, ended = np.zeros(self.num_envs, np.bool_), np.zeros(self.num_envs, np.bool_)
        for index in range(lengths.max()):
            active = (index < lengths) & ~ended
            if not active.any():
                break
            gained, terminated, cut = self.simulation.advance(actions[index], active)
            rewards += gained
            truncated |= cut
            ended |= terminated | cut
            self.steps += int(active.sum())
        return self._report(rewards, ended, truncated)


class SkillPolicy:
    """A policy that takes its network's mean latent, executes that skill to its end, and observes again."""

    deterministic = True

    def __init__(
        self,
        actor: Any,
        decode: Callable[[Latents, int], Actions],
        reach: float,
        observation: Observation,
        size: tuple[int, int] | None,
    ) -> None:
        self.actor, self.decode, self.reach, self.observation = actor, decode, reach, observation
        self.size = size
        """size of the worlds that the policy accepts; None: any"""
        self.begin(0)

    def check(self, task: KarelTask, size: tuple[int, int]) -> None:
        check_seen(self.size, task, size)

    def begin(self, count: int) -> None:
        self._sequences = np.zeros((count, 0), np.uint8)
        self._lengths = np.zeros(count, np.int64)
        self._next = np.zeros(count, np.int64)
        """index of each world's next action in its sequence"""
        self._known: dict[bytes, NDArray[np.uint8]] = {}
        """cache from observation to skill: many worlds have equal observations, above all perceptions"""

    def choose(self, observations: Arrays) -> Latents:
        """Choose latents [worlds, l] for observations [worlds, …]."""
        with torch.no_grad():
            chosen = self.actor(torch.from_numpy(observations).to(self.actor.device), deterministic=True)
        return np.asarray(chosen.cpu().numpy() * self.reach, np.float32)

    def act(self, observations: Arrays) -> NDArray[np.int64]:
        finished = np.flatnonzero(self._next >= self._lengths)
        if len(finished):
            sequences = self._skills(observations[finished])
            if self._sequences.shape[1] == 0:  # the first step: every world needs a skill
                self._sequences = np.empty((len(self._next), sequences.shape[1]), np.uint8)
            self._sequences[finished] = sequences
            self._lengths[finished], self._next[finished] = lengths_of(sequences), 0
        actions = self._sequences[np.arange(len(self._next)), self._next]
        self._next += 1
        return actions.astype(np.int64)

    def _skills(self, observations: Arrays) -> Actions:
        """Return a skill for each observation; network and decoder run only for new observations."""
        seen = [row.tobytes() for row in np.packbits(observations.reshape(len(observations), -1), axis=1)]
        if len(self._known) > KNOWN:
            self._known = {}
        new = {key: index for index, key in enumerate(seen) if key not in self._known}
        if new:
            some = observations[list(new.values())]
            self._known |= zip(new, self.decode(self.choose(some), 1), strict=True)
        return np.stack([self._known[key] for key in seen])


class HRLTrainer:
    """Trainer of HRL or HRL-abs.

    All randomness of an iteration follows from its number, so a resumed training gives the same results.
    """

    done = False

    def __init__(
        self,
        method: str,
        task: KarelTask,
        config: HRLConfig,
        seed: int = 0,
        size: tuple[int, int] | None = None,
        device: str = "cpu",
        skills: Skills | None = None,
    ) -> None:
        """skills: the skills in the package by default."""
        if method not in OBSERVATIONS:
            raise ValueError(f"method: expected one of {', '.join(OBSERVATIONS)}, found {method!r}")
        self.method, self.task, self.config, self.seed = method, task, config, seed
        self.skills = load_skills() if skills is None else skills
        self.iteration = 0
        height, width = task.check_size(size)
        if method == "hrl" and min(height, width) < SMALLEST:
            raise ValueError(f"hrl needs worlds of {SMALLEST}x{SMALLEST} or more, found {height}x{width}")
        self.env = SkillVecEnv(
            task,
            config.worlds,
            SkillDecoder(self.skills),
            self.skills.config.latent,
            config.reach,
            OBSERVATIONS[method],
            size,
            seed,
        )
        sees_grids = OBSERVATIONS[method] == "grid"
        encoder = {"features_extractor_class": GridEncoder} if sees_grids else {}
        self.model = BriskSAC(
            "MlpPolicy",
            self.env,
            learning_rate=config.learning_rate,
            buffer_size=max(config.replay, config.worlds),
            learning_starts=config.random,
            batch_size=config.batch,
            tau=1 - config.polyak,
            gamma=config.discount,
            train_freq=1,
            gradient_steps=config.updates,
            replay_buffer_class=BitReplay,
            ent_coef=f"auto_{config.temperature}",
            policy_kwargs={
                "net_arch": [config.hidden, config.hidden],
                "normalize_images": False,
                **encoder,
            },
            seed=seed,
            device=device,
        )
        self.model.set_logger(Logger(None, []))

    @property
    def steps(self) -> int:
        """Actions taken so far, in all worlds."""
        return self.env.steps

    @property
    def decisions(self) -> int:
        """Skills chosen so far, in all worlds."""
        return int(self.model.num_timesteps)

    def step(self) -> list[float]:
        """Decide in every world, then learn. Return the returns of the episodes that ended."""
        self.iteration += 1
        rng = np.random.default_rng([self.seed, self.iteration])
        set_random_seed(int(rng.integers(2**31)), self.model.device.type == "cuda")
        if self.decisions < self.config.random:
            self.model.action_space.seed(int(rng.integers(2**31)))
        self.model.learn(self.config.worlds, reset_num_timesteps=False)
        episodes, self.env.episodes = self.env.episodes, []
        return episodes

    @property
    def settings(self) -> dict[str, Any]:
        """The hyperparameters and a fingerprint of the skills, since a training can't resume with others."""
        return asdict(self.config) | {"skills": _fingerprint(self.skills)}

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
        """Write the network and the decoder, which is all that acting needs."""
        parts = {"actor": self.model.actor, "decoder": self.skills.decoder}
        tensors = {
            f"{part}.{name}": tensor.detach().cpu().contiguous()
            for part, module in parts.items()
            for name, tensor in module.state_dict().items()
        }
        about = about | {"size": self.env.simulation.size, "skills": asdict(self.skills.config)}
        write_atomically(folder / POLICY_FILE, save(tensors, metadata(about)))

    @property
    def policy(self) -> SkillPolicy:
        size = self.env.simulation.size if self.method == "hrl" else None
        return SkillPolicy(self.model.actor, self.env.decode, self.config.reach, self.env.observation, size)

    @property
    def _optimizers(self) -> dict[str, torch.optim.Optimizer]:
        assert self.model.ent_coef_optimizer is not None
        return {
            "actor": self.model.actor.optimizer,
            "critic": self.model.critic.optimizer,
            "temperature": self.model.ent_coef_optimizer,
        }

    @property
    def _memory(self) -> BitReplay:
        assert isinstance(self.model.replay_buffer, BitReplay)
        return self.model.replay_buffer

    def state(self) -> dict[str, Any]:
        """Return all that the next iteration depends on, in types that torch.save accepts."""
        model = self.model
        assert model.log_ent_coef is not None
        return {
            "iteration": self.iteration,
            "steps": self.steps,
            "decisions": self.decisions,
            "begun": model._last_obs is not None,
            "policy": copy.deepcopy(model.policy.state_dict()),
            "temperature": model.log_ent_coef.detach().clone(),
            "optimizers": {
                name: copy.deepcopy(optimizer.state_dict()) for name, optimizer in self._optimizers.items()
            },
            "env": {name: torch.from_numpy(array.copy()) for name, array in self.env.state().items()},
            "replay": self._memory.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from the state of another trainer."""
        model = self.model
        assert model.log_ent_coef is not None
        self.iteration, self.env.steps, model.num_timesteps = (
            state["iteration"],
            state["steps"],
            state["decisions"],
        )
        model.policy.load_state_dict(state["policy"])
        model.log_ent_coef.data.copy_(state["temperature"])
        for name, optimizer in self._optimizers.items():
            optimizer.load_state_dict(copy.deepcopy(state["optimizers"][name]))
        self.env.restore({name: tensor.numpy() for name, tensor in state["env"].items()})
        self._memory.restore(state["replay"])
        if state["begun"]:
            model._last_obs = self.env.observe()
        model.forget_recording()


def _fingerprint(skills: Skills) -> str:
    """Hash the decoder's weights."""
    digest = hashlib.sha256()
    for name, tensor in sorted(skills.decoder.state_dict().items()):
        digest.update(name.encode() + tensor.detach().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def read_skill_policy(file: Path, about: dict[str, Any]) -> SkillPolicy:
    """Read a policy for acting."""
    tensors = load_file(file)
    skills = Skills(SkillsConfig(**about["skills"])).eval()
    skills.decoder.load_state_dict(_part(tensors, "decoder."))
    settings = {name: value for name, value in about["config"]["settings"].items() if name != "skills"}
    config = replace(HRLConfig(**settings), worlds=1, replay=1)  # nothing is trained here
    size = (int(about["size"][0]), int(about["size"][1]))
    trainer = HRLTrainer(about["method"], get(about["task"]), config, size=size, skills=skills)
    trainer.model.actor.load_state_dict(_part(tensors, "actor."))
    return trainer.policy


def _part(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
