"""Programs and PPO in unmodified Gymnasium and MiniGrid environments.

Every policy is evaluated in the environment itself, with its full step limit, on the same 1,000 held-out
seeds. A program acts through `ProgramPolicy`, so a program that has ended repeats its last action.
"""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

from leaps.experiments.cell import Cell, Option, Result, cell
from leaps.gym.known import TASKS
from leaps.gym.scene import Episode
from leaps.gym.seeds import SEEDS

if TYPE_CHECKING:
    from leaps.experiments.computing import Job, Values
    from leaps.gym.task import GymTask

NAME = "environments"
JUDGED = 1000
"""evaluation episodes per return, with seeds from SEEDS on, which no search uses"""
PPO = "ppo"
ROWS = ("ladder", "hc", PPO)
SEARCH_SEEDS, PPO_SEEDS = 3, 1


@dataclass(frozen=True)
class Effort:
    """Search and training settings of an environment."""

    budget: int
    """evaluations per search"""
    worlds: int
    """episodes on which programs are scored"""
    steps: int
    """environment steps of PPO, as in rl-baselines3-zoo"""
    environments: int = 8
    """environments that PPO runs in parallel"""
    ppo: Mapping[str, Any] = field(default_factory=dict)
    """arguments of stable-baselines3's PPO"""
    normalize: bool = False
    """whether PPO's observations and rewards are normalized"""


def linear(start: float) -> Callable[[float], float]:
    """A schedule that falls linearly to 0 during training."""
    return lambda left: left * start


MINIGRID_PPO: dict[str, Any] = {
    "n_steps": 128,
    "batch_size": 64,
    "gae_lambda": 0.95,
    "gamma": 0.99,
    "n_epochs": 10,
    "ent_coef": 0.0,
    "learning_rate": 2.5e-4,
    "clip_range": 0.2,
}
"""settings of the zoo for MiniGrid-DoorKey-5x5; other MiniGrid environments use them for more steps"""

# PPO settings are from rl-baselines3-zoo, hyperparams/ppo.yml.
EFFORTS = {
    "CartPole-v1": Effort(
        10_000,
        64,
        100_000,
        8,
        {
            "n_steps": 32,
            "batch_size": 256,
            "gae_lambda": 0.8,
            "gamma": 0.98,
            "n_epochs": 20,
            "ent_coef": 0.0,
            "learning_rate": linear(0.001),
            "clip_range": linear(0.2),
        },
    ),
    "Acrobot-v1": Effort(
        4_000,
        128,
        1_000_000,
        16,
        {"n_steps": 256, "gae_lambda": 0.94, "gamma": 0.99, "n_epochs": 4, "ent_coef": 0.0},
        True,
    ),
    "MountainCar-v0": Effort(
        4_000,
        128,
        1_000_000,
        16,
        {"n_steps": 16, "gae_lambda": 0.98, "gamma": 0.99, "n_epochs": 4, "ent_coef": 0.0},
        True,
    ),
    "MountainCarContinuous-v0": Effort(
        4_000,
        16,
        20_000,
        1,
        {
            "batch_size": 256,
            "n_steps": 8,
            "gamma": 0.9999,
            "learning_rate": 7.77e-05,
            "ent_coef": 0.00429,
            "clip_range": 0.1,
            "n_epochs": 10,
            "gae_lambda": 0.9,
            "max_grad_norm": 5,
            "vf_coef": 0.19,
            "use_sde": True,
            "policy_kwargs": {"log_std_init": -3.29, "ortho_init": False},
        },
        True,
    ),
    "MiniGrid-DoorKey-5x5-v0": Effort(20_000, 64, 100_000, 8, MINIGRID_PPO, True),
    "MiniGrid-Unlock-v0": Effort(20_000, 64, 500_000, 8, MINIGRID_PPO, True),
    "MiniGrid-LavaGapS7-v0": Effort(20_000, 64, 500_000, 8, MINIGRID_PPO, True),
    "MiniGrid-LavaCrossingS9N1-v0": Effort(20_000, 64, 500_000, 8, MINIGRID_PPO, True),
    "MiniGrid-SimpleCrossingS9N1-v0": Effort(20_000, 64, 500_000, 8, MINIGRID_PPO, True),
}


@dataclass(frozen=True)
class Goal:
    """The least mean return or success rate that counts as reaching the goal."""

    least: float
    of: str = "return"
    """or "success\""""
    on_published_seeds: bool = False
    """whether the goal is for the published seeds instead of the 1,000 seeds of this experiment"""

    @property
    def text(self) -> str:
        if self.of == "success":
            return f"success {rate(self.least)}"
        return f"≥ {self.least:g}".replace("-", "−")

    def met(self, values: Sequence[Mapping[str, Any]]) -> str:
        """The goal as text, with the number of results that reach it."""
        return f"{self.text}: {sum(one[self.of] >= self.least for one in values)} of {len(values)}"


GOALS = {
    "CartPole-v1": Goal(500.0),
    "Acrobot-v1": Goal(-84.7, on_published_seeds=True),
    "MountainCar-v0": Goal(-110.8),  # DiPRL's; pi-PRL's is -171.8
    "MountainCarContinuous-v0": Goal(95.2),
    **{task: Goal(1.0, "success") for task in EFFORTS if task.startswith("MiniGrid-")},
}

QUICK: dict[str, Option] = {"budget": 500, "judged": 50}
QUICK_PPO: dict[str, Option] = {"judged": 50, "steps": 4096}


def entries(method: str, task: str, seed: int, quick: bool) -> list[Cell]:
    """The single cell of a table entry."""
    return [cell(NAME, method, task, seed, **((QUICK_PPO if method == PPO else QUICK) if quick else {}))]


def seeds(method: str) -> int:
    """The number of searches or trainings per row."""
    return PPO_SEEDS if method == PPO else SEARCH_SEEDS


def compute(job: "Job") -> "Values":
    """Search or train, and evaluate the program or policy in the environment."""
    return trained(job) if job.cell.method == PPO else searched(job)


def searched(job: "Job") -> "Values":
    """Search for a program, and evaluate it in the environment."""
    from leaps.base import parallel
    from leaps.gym.policy import ProgramPolicy
    from leaps.search.solve import Run, SolveConfig, work

    one, effort = job.cell, EFFORTS[job.cell.task]
    config = SolveConfig(
        one.task, one.method, one.seed, one.option("budget", effort.budget), worlds=effort.worlds
    )
    begin = time.process_time()
    with parallel.alone():  # cells already run in parallel
        run = Run(config, TASKS[one.task])
        found = work(run)
    busy = time.process_time() - begin
    policy = ProgramPolicy(found.program, TASKS[one.task])
    judged = judge(TASKS[one.task], Playing(policy), one.option("judged", JUDGED))
    return judged | {
        "program": found.program,
        "evaluations": found.evaluations,
        "evaluations_to_found": found.evaluations_to_found,
        "rollouts": found.rollouts,
        "steps": run.objective.steps,
        "seconds": found.seconds,
        "core_seconds": busy,
        "score": found.search_return,
        "worlds": found.worlds,
        "config": config.plain(),
    }


def trained(job: "Job") -> "Values":
    """Train PPO, and evaluate its policy in the environment."""
    one = job.cell
    found = train(one.task, one.seed, one.option("steps", EFFORTS[one.task].steps))
    return judge(TASKS[one.task], found.act, one.option("judged", JUDGED)) | found.values


@dataclass(frozen=True)
class Trained:
    """A trained policy of PPO, kept in memory only, and the training's effort."""

    act: Callable[[Any], Any]
    """observation → action"""
    values: "Values"
    episodes: int
    """episodes completed in training"""


def train(name: str, seed: int, steps: int) -> Trained:
    """Train PPO in an environment with the settings in EFFORTS."""
    import stable_baselines3
    import torch
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    task, effort = TASKS[name], EFFORTS[name]
    torch.set_num_threads(1)
    begin, busy = time.perf_counter(), time.process_time()
    monitors: list[Any] = []

    def make() -> Any:
        monitors.append(Monitor(as_trained(task)))
        return monitors[-1]

    venv: Any = DummyVecEnv([make] * effort.environments)
    if effort.normalize:
        venv = VecNormalize(venv, gamma=effort.ppo["gamma"])
    model = stable_baselines3.PPO("MlpPolicy", venv, seed=seed, device="cpu", **effort.ppo)
    model.learn(steps)
    seconds, busy = time.perf_counter() - begin, time.process_time() - busy
    venv.close()
    scaled = venv.normalize_obs if effort.normalize else np.asarray

    def act(observation: Any) -> Any:
        return model.predict(scaled(observed(observation)), deterministic=True)[0]

    return Trained(
        act,
        {
            "steps": int(model.num_timesteps),
            "seconds": seconds,
            "core_seconds": busy,
            "parameters": sum(weights.numel() for weights in model.policy.parameters()),
        },
        sum(len(monitor.get_episode_rewards()) for monitor in monitors),
    )


def as_trained(task: "GymTask") -> Any:
    """The environment with observations for a network; for MiniGrid the flattened image."""
    import gymnasium

    environment = task.environment()
    if not isinstance(environment.observation_space, gymnasium.spaces.Dict):
        return environment
    image = environment.observation_space["image"]
    numbers = gymnasium.spaces.Box(0, 255, (int(np.prod(image.shape or ())),), np.float32)
    return gymnasium.wrappers.TransformObservation(environment, observed, numbers)


def observed(observation: Any) -> Any:
    """Convert an observation to a network's input."""
    if not isinstance(observation, dict):
        return observation
    return observation["image"].astype(np.float32).ravel()


class Playing:
    """A program as a function of observations, reset before each episode."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy
        self.begin()

    def begin(self) -> None:
        self.state: Any = None

    def __call__(self, observation: Any) -> Any:
        action, self.state = self.policy.predict(observation, self.state)
        return action


def play(task: "GymTask", act: Callable[[Any], Any], seeds: Iterable[int]) -> tuple[list[float], list[bool]]:
    """Returns and successes of a policy in the environment itself, one episode per seed."""
    environment = task.environment()
    returns, successes = [], []
    for seed in seeds:
        observation, info = environment.reset(seed=seed)
        if isinstance(act, Playing):
            act.begin()
        rewards: list[float] = []
        terminated = truncated = False
        while not (terminated or truncated):
            observation, reward, terminated, truncated, info = environment.step(act(observation))
            rewards.append(float(reward))
        returns.append(sum(rewards))
        value = returns[-1]
        if task.value is not None:
            value = task.value(Episode(rewards, observation, info, terminated, truncated))
        successes.append(value >= task.best if np.isfinite(task.best) else terminated)
    environment.close()
    return returns, successes


def judge(task: "GymTask", act: Callable[[Any], Any], episodes: int = JUDGED) -> "Values":
    """Mean return and success rate of a policy on the held-out seeds."""
    returns, successes = play(task, act, range(SEEDS, SEEDS + episodes))
    return {
        "return": float(np.mean(returns)),
        "lowest": float(np.min(returns)),
        "success": float(np.mean(successes)),
        "judged": f"{episodes:,} episodes",
    }


def rounded(value: float) -> str:
    """Format a return with one decimal, or three between -1 and 1 as in MiniGrid."""
    return f"{value:.{3 if abs(value) <= 1 else 1}f}".replace("-", "−")


def rate(value: float) -> str:
    """Format a rate with three decimals, rounded down, so that 1.000 means no failure."""
    return f"{math.floor(value * 1000 + 1e-9) / 1000:.3f}"


def spread(values: Sequence[float], text: Callable[[float], str]) -> str:
    """The mean, with the lowest and highest value if they differ."""
    low, high = text(min(values)), text(max(values))
    return text(mean(values)) + (f" ({low} to {high})" if low != high else "")


def by_entry(results: Iterable[Result]) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """Sort the values of full cells by environment and method."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for result in results:
        if not result.cell.options:
            groups.setdefault((result.cell.task, result.cell.method), []).append(result.values)
    return groups


def markdown(results: Iterable[Result]) -> str:
    """A table of stored results, and the best program of each environment."""
    groups = by_entry(results)
    lines = [
        "| environment | method | seeds | mean return | success | evaluations | episodes | steps "
        "| core seconds | goal: seeds that reach it |",
        "| --- | --- | --: | --: | --: | --: | --: | --: | --: | --- |",
    ]
    programs = []
    for task in EFFORTS:
        for method in ROWS:
            if not (found := groups.get((task, method))):
                continue
            # Only searches store evaluations and episodes.
            evaluations, episodes = (
                f"{mean(one[name] for one in found):,.0f}" if all(name in one for one in found) else "–"
                for name in ("evaluations", "rollouts")
            )
            goal = GOALS[task]
            entries = (
                task,
                method,
                str(len(found)),
                spread([one["return"] for one in found], rounded),
                spread([one["success"] for one in found], rate),
                evaluations,
                episodes,
                f"{mean(one['steps'] for one in found):,.0f}",
                f"{mean(one['core_seconds'] for one in found):,.0f}",
                f"{goal.text} on the published seeds" if goal.on_published_seeds else goal.met(found),
            )
            lines.append(f"| {' | '.join(entries)} |")
        written = [one for method in ROWS for one in groups.get((task, method), ()) if "program" in one]
        if written:
            best = max(written, key=lambda one: (one["success"], one["return"]))
            programs += [f"{task}: {rounded(best['return'])}", "", "```", best["program"], "```", ""]
    return "\n".join([*lines, "", *programs])
