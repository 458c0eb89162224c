"""Train a program space with the paper's schedule, resumable after every epoch.

Each epoch trains L^P and L^L together on all training programs, then L^R alone with as many updates (appendix
"Training"). The variants leave losses out: P, P+R, P+L, and all three, LEAPS.
"""

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from leaps.base.checkpoint import damaged, describe, read_checkpoint, write_checkpoint
from leaps.base.files import write_atomically
from leaps.base.memory import keep_what_is_freed
from leaps.base.tensors import read_about
from leaps.embedding.batches import ProgramTable, RolloutTable
from leaps.embedding.dataset import Data
from leaps.embedding.judge import BATCH, Judge
from leaps.embedding.losses import (
    embed,
    kl_divergence,
    latent_behaviour_reconstruction,
    likeness_to,
    program_behaviour_reconstruction,
    program_reconstruction,
)
from leaps.embedding.model import ModelConfig, ProgramSpace, make_orthogonal
from leaps.embedding.sampler import ProgramSampler
from leaps.embedding.weights import load_weights, round_weights, save_weights

VARIANTS = {"leaps": "PRL", "p": "P", "pr": "PR", "pl": "PL"}
WEIGHTS_FILE, METRICS_FILE, CHECKPOINT_FILE, CONFIG_FILE = (
    "weights.safetensors",
    "metrics.jsonl",
    "checkpoint.pt",
    "config.json",
)

CHOICES = {
    "kl": ("mean", "sum"),
    "schedule": ("linear", "step"),
    "initial": ("torch", "orthogonal"),
    "select": ("behaviour", "search"),
    "precision": ("single", "bfloat16"),
}


@dataclass(frozen=True)
class TrainConfig:
    """Hyperparameters of a training. The defaults are those of the paper and its authors' code, but with 40
    epochs instead of 150 and learning rates that fall to 0.
    """

    variant: str = "leaps"
    """leaps (all three losses), p, pr or pl"""
    seed: int = 0
    epochs: int = 40
    batch: int = 256
    """programs per update"""
    rollouts: int = 10
    """rollouts of each program per update of L^L, out of its ten; if fewer, each update draws a new subset"""
    learning_rate: float = 0.001
    """learning rate of the supervised losses"""
    rl_learning_rate: float = 0.0005
    """learning rate of L^R"""
    beta: float = 0.1
    """weight of the KL divergence in L^P"""
    kl: str = "mean"
    """mean or sum of the KL divergence over the latent's dimensions: the authors' code has the mean, equation
    (1) the sum"""
    schedule: str = "linear"
    """linear: learning rates fall linearly over the last quarter of the epochs. step: they fall by 5 % every
    ten epochs, as in the authors' code"""
    initial: str = "orthogonal"
    """initial weights: orthogonal for GRUs and output layers (authors' code), or torch (its defaults)"""
    rl_beta: float = 0.1
    """weight of the KL divergence in L^R"""
    rl_entropy: float = 0.1
    """weight of the entropy bonus in L^R"""
    rl_clip: float | None = 0.5
    """maximum norm of the gradients of L^R; None: unlimited"""
    rl_from: float = 0.8
    """L^R is trained once the previous epoch decoded this fraction of validation programs exactly; the
    authors' code uses the same epoch"""
    samples: int = 4
    """programs sampled from each latent for L^R"""
    programs: int | None = None
    """number of training programs to use; None: all"""
    validation_programs: int = 2000
    """number of validation programs that an epoch is judged on"""
    select: str = "behaviour"
    """rule for the epoch whose weights are kept. behaviour: the highest R_mat of decoded validation programs.
    search: the highest R_mat that the published search reaches on validation programs in its latents"""
    search_every: int = 5
    """epochs between searches, with select=search; the last epoch is always searched"""
    search_programs: int = 32
    """validation programs that are searched for, with select=search"""
    search_iterations: int = 200
    """iterations of each of these searches"""
    precision: str = "single"
    """precision of matrix products in training: single, or bfloat16, which some processors compute faster.
    Weights stay in single precision"""
    model: ModelConfig = field(default_factory=ModelConfig)

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise ValueError(f"variant: expected one of {', '.join(VARIANTS)}, found {self.variant!r}")
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name}: expected {' or '.join(known)}, found {getattr(self, name)!r}")
        least = {
            "epochs": 1,
            "batch": 1,
            "rollouts": 1,
            "validation_programs": 1,
            "samples": 2,
            "search_every": 1,
            "search_programs": 1,
            "search_iterations": 1,
        }
        for name, lowest in least.items():
            if getattr(self, name) < lowest:
                raise ValueError(f"{name} must be at least {lowest}, found {getattr(self, name)}")
        if self.programs is not None and self.programs < 1:
            raise ValueError(f"programs must be at least 1, found {self.programs}")
        for name in ("rl_beta", "rl_entropy"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be a finite number from 0, found {getattr(self, name)}")
        if self.rl_clip is not None and not 0 < self.rl_clip < math.inf:
            raise ValueError(f"rl_clip must be a finite number above 0, found {self.rl_clip}")
        if not 0 <= self.rl_from <= 1:
            raise ValueError(f"rl_from must be a fraction from 0 to 1, found {self.rl_from}")

    @property
    def losses(self) -> str:
        return VARIANTS[self.variant]


PRESETS: dict[str, dict[str, Any]] = {
    "paper": {},
    "quick": {
        "epochs": 8,
        "programs": 8_000,
        "batch": 64,
        "rollouts": 1,
        "samples": 2,
        "rl_from": 0.0,
        "validation_programs": 500,
    },
    "authors": {"epochs": 150, "schedule": "step"},
}
"""paper: for a GPU. quick: some minutes on two CPU cores; the space solves the easier tasks. authors: as many
epochs as the authors' code (docs/methods/embedding.md)"""


@dataclass(frozen=True)
class Progress:
    """The progress of a training, passed to its listener."""

    epoch: int
    update: int
    """number of the update within the epoch, from 1"""
    updates: int
    metrics: dict[str, float]
    """means over the epoch so far"""


Listener = Callable[[Progress], object]
Measured = dict[str, Tensor | float]
SearchJudge = Callable[[ProgramSpace], float]
"""Scores a space in training by searching it. The same space must always have the same score"""


class Means:
    """Running means of the updates' metrics. Values are read from a GPU rarely, since reading blocks."""

    def __init__(self) -> None:
        self._waiting: list[Measured] = []
        self._sums: dict[str, float] = {}
        self._counts: dict[str, int] = {}

    def add(self, measured: Measured) -> None:
        self._waiting.append(measured)

    def read(self) -> dict[str, float]:
        for measured in self._waiting:
            for name, value in measured.items():
                self._sums[name] = self._sums.get(name, 0.0) + float(value)
                self._counts[name] = self._counts.get(name, 0) + 1
        self._waiting.clear()
        return {name: total / self._counts[name] for name, total in self._sums.items()}


class Trainer:
    """A training, run epoch by epoch, that can be saved and resumed."""

    def __init__(self, config: TrainConfig, data: Data, device: torch.device) -> None:
        self.config, self.data, self.device = config, data, device
        if device.type == "cpu":
            keep_what_is_freed()
        torch.manual_seed(config.seed)
        with_policy = "L" in config.losses
        model = replace(config.model, policy=with_policy)
        self.space = ProgramSpace(data.language, model, data.observation)
        if config.initial == "orthogonal":
            make_orthogonal(self.space)
        self.space.to(device)
        numbers = data.split("train")
        self.train = numbers[: config.programs] if config.programs else numbers
        tokens = data.tokens[self.train]
        self.programs = ProgramTable(data.language, tokens, config.model.max_length, device)
        self.rollouts = RolloutTable(data, self.train, device) if with_policy else None
        self.judge = Judge(data, data.split("validation")[: config.validation_programs], self.space)
        self.sampler = ProgramSampler(self.space)
        coders = [*self.space.encoder.parameters(), *self.space.decoder.parameters()]
        self.optimizer = torch.optim.Adam(self.space.parameters(), config.learning_rate)
        self.rl_optimizer = torch.optim.Adam(coders, config.rl_learning_rate)
        self.epoch = 0
        self.exact = 0.0
        """fraction of the validation programs that the last epoch decoded exactly"""
        self.best_score = -math.inf
        self.best_epoch = 0

    @property
    def updates(self) -> int:
        """Number of updates per epoch and phase."""
        return math.ceil(len(self.train) / self.config.batch)

    def run_epoch(self, listener: Listener = id) -> dict[str, float]:
        """Train one epoch, judge it on the validation split, and return its metrics."""
        self.epoch += 1
        self._set_learning_rates()
        begin = time.perf_counter()
        # All randomness of an epoch depends on its number alone, so a resumed training has the same result.
        rng = np.random.default_rng([self.config.seed, self.epoch])
        generator = torch.Generator(self.device).manual_seed(int(rng.integers(2**62)))
        phases = [self._supervised]
        if "R" in self.config.losses and self.exact >= self.config.rl_from:
            phases.append(self._reinforced)
        means, done, updates = Means(), 0, len(phases) * self.updates
        lowered = torch.autocast(
            self.device.type,
            torch.bfloat16,
            enabled=self.config.precision == "bfloat16",
            cache_enabled=False,  # a recorded CUDA graph would keep reading outdated cached weights
        )
        for phase in phases:
            for batch in self._batches(rng):
                with lowered:
                    means.add(phase(batch, rng, generator))
                done += 1
                if done % 10 == 0:
                    listener(Progress(self.epoch, done, updates, means.read()))
        metrics = means.read() | {
            f"validation_{name}": value for name, value in self.judge(self.space).items()
        }
        self.exact = metrics["validation_exact"]
        listener(Progress(self.epoch, updates, updates, metrics))
        return {"epoch": self.epoch, **metrics, "seconds": time.perf_counter() - begin}

    def _set_learning_rates(self) -> None:
        """Set the learning rates of this epoch by the schedule."""
        if self.config.schedule == "step":
            scale = 0.95 ** ((self.epoch - 1) // 10)
        else:
            left = (self.config.epochs - self.epoch + 1) / max(self.config.epochs / 4, 1)
            scale = min(1.0, left)
        for optimizer, rate in (
            (self.optimizer, self.config.learning_rate),
            (self.rl_optimizer, self.config.rl_learning_rate),
        ):
            for group in optimizer.param_groups:
                group["lr"] = scale * rate

    def _batches(self, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        order = rng.permutation(len(self.train))
        for start in range(0, len(order), self.config.batch):
            yield order[start : start + self.config.batch]

    def _supervised(
        self, batch: NDArray[np.int64], rng: np.random.Generator, generator: torch.Generator
    ) -> Measured:
        """Run one update of L^P and, if the variant has it, L^L."""
        programs = self.programs.batch(torch.from_numpy(batch).to(self.device))
        latent = embed(self.space, programs, generator)
        loss, divergence = program_reconstruction(
            self.space, programs, latent, self.config.beta, self.config.kl
        )
        measured: Measured = {"loss_p": loss.detach(), "kl": divergence.detach()}
        if self.rollouts is not None:
            every = np.tile(np.arange(self.data.rollouts), (len(batch), 1))
            some = rng.permuted(every, axis=1)[:, : self.config.rollouts]
            steps = self.rollouts.batch(batch, some)
            loss_l, right = latent_behaviour_reconstruction(self.space, self.rollouts, steps, latent.sample)
            measured |= {"loss_l": loss_l.detach(), "action_accuracy": right.float().mean()}
            loss = loss + loss_l
        _update(self.optimizer, loss)
        return measured

    def _reinforced(
        self,
        batch: NDArray[np.int64],
        rng: np.random.Generator,  # noqa: ARG002  both phases have the same signature
        generator: torch.Generator,
    ) -> Measured:
        """Run one update of L^R."""
        programs = self.programs.batch(torch.from_numpy(batch).to(self.device))
        latent = embed(self.space, programs, generator)
        loss, reward = program_behaviour_reconstruction(
            self.space,
            self.sampler,
            latent.sample,
            likeness_to(self.data, self.train[batch]),
            self.config.samples,
            generator,
            self.config.rl_entropy,
        )
        if self.config.rl_beta:
            loss = loss + self.config.rl_beta * kl_divergence(latent, self.config.kl)
        _update(self.rl_optimizer, loss, self.config.rl_clip)
        return {"reward": reward}

    @property
    def _settings(self) -> dict[str, Any]:
        """The settings that a training must have in common with the checkpoint it resumes."""
        return asdict(self.config) | {"data": self.data.settings}

    def save(self, folder: Path) -> None:
        """Write all that the next epoch depends on."""
        state = {
            "config": self._settings,
            "epoch": self.epoch,
            "exact": self.exact,
            "best": (self.best_score, self.best_epoch),
            "space": self.space.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "rl_optimizer": self.rl_optimizer.state_dict(),
        }
        write_checkpoint(folder / CHECKPOINT_FILE, state)

    def resume(self, folder: Path) -> None:
        """Resume from the checkpoint of a training with the same configuration."""
        file = folder / CHECKPOINT_FILE
        names = ("config", "epoch", "exact", "best", "space", "optimizer", "rl_optimizer")
        state = read_checkpoint(file, names, self.device)
        stored = state["config"]
        # Compare top-level names only: the data's settings have a seed of their own.
        different = {
            name: (stored.get(name), expected)
            for name, expected in self._settings.items()
            if expected != stored.get(name)
        }
        if different:
            raise ValueError(f"{folder} holds a training with {describe(different)}; use another folder")
        try:
            self.space.load_state_dict(state["space"])
        except RuntimeError as error:
            raise damaged(file, str(error)) from None
        self.epoch, self.exact = state["epoch"], state["exact"]
        self.best_score, self.best_epoch = state["best"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.rl_optimizer.load_state_dict(state["rl_optimizer"])


def _update(optimizer: torch.optim.Optimizer, loss: Tensor, clip: float | None = None) -> None:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    if clip is not None:
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        torch.nn.utils.clip_grad_norm_(parameters, clip)
    optimizer.step()


def train(
    config: TrainConfig,
    data: Data,
    folder: Path,
    device: torch.device,
    listener: Listener = id,
    epoch_done: Callable[[dict[str, float]], object] = id,
    judge_search: SearchJudge | None = None,
) -> dict[str, float]:
    """Train to the end in a folder; resume an interrupted training of the same configuration.

    The weights of the best epoch on the validation split are kept (`config.select`). Returns that epoch's
    metrics, and those of the test split. judge_search: needed for select="search". The caller provides it,
    since the search depends on this package and not the other way round
    (`leaps.experiments.explore.SearchJudge`).
    """
    if (judge_search is not None) != (config.select == "search"):
        found = "no judge_search" if judge_search is None else "a judge_search"
        raise ValueError(f"select={config.select!r}, but there is {found}; expected both or neither")
    trainer = Trainer(config, data, device)
    lines: list[str] = []
    if (folder / CHECKPOINT_FILE).exists():
        trainer.resume(folder)
        # Metrics are written before the checkpoint. An epoch that isn't in the checkpoint is run again.
        lines = (folder / METRICS_FILE).read_text().splitlines()[: trainer.epoch]
    write_atomically(folder / CONFIG_FILE, (json.dumps(asdict(config), indent=2) + "\n").encode())
    while trainer.epoch < config.epochs:
        metrics = trainer.run_epoch(listener)
        score = metrics["validation_behaviour"]
        if judge_search is not None:
            due = trainer.epoch % config.search_every == 0 or trainer.epoch == config.epochs
            score = _search_score(judge_search, trainer.space, metrics) if due else -math.inf
        lines.append(json.dumps(metrics))
        if score > trainer.best_score:
            trainer.best_score, trainer.best_epoch = score, trainer.epoch
            about = {"training": asdict(config), "data": data.settings, "metrics": metrics}
            save_weights(trainer.space, folder / WEIGHTS_FILE, about)
        write_atomically(folder / METRICS_FILE, ("\n".join(lines) + "\n").encode())
        trainer.save(folder)
        epoch_done(metrics)
    best: dict[str, float] = json.loads(lines[trainer.best_epoch - 1])
    seconds = sum(json.loads(line)["seconds"] for line in lines)
    return best | {f"test_{name}": value for name, value in _finish(trainer, folder, seconds).items()}


def _search_score(judge: SearchJudge, space: ProgramSpace, metrics: dict[str, float]) -> float:
    """Judge a space by searching it, and add the score and the time to the epoch's metrics."""
    begin = time.perf_counter()
    with torch.no_grad():
        score = judge(space)
    if not math.isfinite(score):
        raise ValueError(f"judge_search must return a finite number, got {score}")
    metrics["search_score"] = score
    metrics["seconds"] += time.perf_counter() - begin
    return score


def _finish(trainer: Trainer, folder: Path, seconds: float) -> dict[str, float]:
    """Fit the coordinates of the kept weights, judge them on the test split, and write the final file."""
    file = folder / WEIGHTS_FILE
    about = read_about(file)
    if "test" not in about:
        space = load_weights(file, trainer.device)
        round_weights(space)
        numbers = torch.arange(len(trainer.programs), device=trainer.device)
        with torch.no_grad():
            latents = [
                space.encoder(programs.tokens, programs.lengths)[0]
                for programs in map(trainer.programs.batch, torch.split(numbers, BATCH))
            ]
        space.coordinates.fit(torch.cat(latents))
        about["test"] = Judge(trainer.data, trainer.data.split("test"), space)(space)
        about["seconds"] = seconds
        cuda = trainer.device.type == "cuda"
        about["device"] = torch.cuda.get_device_name() if cuda else "cpu"
        # Leave out π: the checkpoint has it, and searching doesn't need it.
        save_weights(space, file, about, for_search=True)
    test: dict[str, float] = about["test"]
    return test
