"""Training of skills: the VAE of `leaps.baselines.skills` learns the action sequences of programs.

Appendix "HRL", "Pretraining stage". The data are the action sequences, of up to 100 actions, of the rollouts
from which the program space is learned, without programs and states.
"""

import hashlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from leaps.base.checkpoint import damaged, describe, differences, read_checkpoint, write_checkpoint
from leaps.baselines.skills import (
    ACTIONS,
    END,
    Actions,
    SkillDecoder,
    Skills,
    SkillsConfig,
    lengths_of,
    save_skills,
)
from leaps.karel.dataset import Dataset

SKILLS_FILE, CHECKPOINT_FILE = "skills.safetensors", "checkpoint.pt"
SAVE_EVERY = 10.0
"""seconds between checkpoints"""
REPORT_EVERY = 50
"""updates between two reports, since reading a number from a GPU waits for all of its work"""
_BATCH = 1000  # sequences per batch of an evaluation


def action_sequences(data: Dataset, split: str) -> Actions:
    """Return the action sequences of a split's programs in their worlds."""
    traces = data.traces(data.split(split))
    assert traces.actions is not None
    taken = traces.actions.reshape(-1, data.config.horizon)
    return np.where(np.arange(taken.shape[1]) < traces.steps.reshape(-1, 1), taken, END).astype(np.uint8)


def judge(skills: Skills, sequences: Actions) -> dict[str, float]:
    """Measure how well sequences are reconstructed from the means of their latents, and the loss in nats."""
    device = next(skills.parameters()).device
    generator = torch.Generator(device).manual_seed(0)
    order = np.argsort(lengths_of(sequences), kind="stable")  # so that batches need little padding
    decode = SkillDecoder(skills)
    sums = dict.fromkeys(("exact", "reconstruction", "kl"), 0.0)
    same = longer = 0
    for first in range(0, len(order), _BATCH):
        some = sequences[order[first : first + _BATCH]]
        longest = int(lengths_of(some).max())
        batch = torch.from_numpy(some[:, :longest]).to(device)
        with torch.no_grad():
            mean, _ = skills.encode(batch)
            noise = torch.randn(mean.shape, generator=generator, device=device)
            reconstruction, divergence = skills.loss(batch, noise)
        decoded = decode(mean.cpu().numpy())
        sums["exact"] += int((decoded == some).all(axis=1).sum())
        sums["reconstruction"] += float(reconstruction) * len(some)
        sums["kl"] += float(divergence) * len(some)
        same += int(((decoded == some) & (some != END)).sum())
        longer += int(np.maximum(lengths_of(some), lengths_of(decoded)).sum())
    return {name: total / len(sequences) for name, total in sums.items()} | {"actions": same / max(longer, 1)}


@dataclass(frozen=True)
class Progress:
    """A progress report of a training."""

    epoch: int
    update: int
    """number of the update within the epoch"""
    updates: int
    """updates per epoch"""
    metrics: dict[str, float]
    """means since the last report: reconstruction (nats per sequence) and kl. At the end of an epoch also
    metrics on held-out sequences, with exact (fraction of sequences that are reconstructed exactly) and
    actions (fraction of actions)"""


class SkillsTrainer:
    """A training that runs one update per call, and can be saved and resumed."""

    def __init__(self, config: SkillsConfig, sequences: Actions, device: torch.device | str = "cpu") -> None:
        if sequences.ndim != 2 or sequences.dtype != np.uint8 or not len(sequences):
            raise ValueError(
                f"expected sequences [n, t] of uint8, found {list(sequences.shape)} of {sequences.dtype}"
            )
        if int(sequences.max()) > END:
            raise ValueError(
                f"expected actions from 0 to {ACTIONS - 1}, padded with {END}; found {sequences.max()}"
            )
        if int((lengths := lengths_of(sequences)).max()) > config.max_length:
            raise ValueError(
                f"expected sequences of at most max_length={config.max_length} actions, found {lengths.max()}"
            )
        self.config, self.device = config, torch.device(device)
        self.update = 0
        with torch.random.fork_rng(devices=[]):  # layers draw their initial weights from torch's global state
            torch.manual_seed(config.seed)
            self.skills = Skills(config).to(self.device)
        self.optimizer = torch.optim.Adam(self.skills.parameters(), config.learning_rate)
        self._lengths = lengths
        self._sequences = torch.from_numpy(sequences).to(self.device)
        self._data_hash = hashlib.sha256(sequences.tobytes()).hexdigest()[:16]
        self._batches: Iterator[NDArray[np.int64]] = iter(())

    @property
    def updates(self) -> int:
        """Updates per epoch."""
        return math.ceil(len(self._lengths) / self.config.batch)

    @property
    def epoch(self) -> int:
        """Number of complete epochs."""
        return self.update // self.updates

    @property
    def finished(self) -> bool:
        return self.epoch >= self.config.epochs

    def _epoch_batches(self) -> list[NDArray[np.int64]]:
        """Return the batches of all sequences in random order.

        Batches of similar length would be faster, but the model does not learn from them. A sixth of the
        sequences is empty and a sixth has the maximum length. After a batch of one kind, the decoder
        predicts that kind for every sequence.
        """
        rng = np.random.default_rng([self.config.seed, 0, self.epoch])
        order = rng.permutation(len(self._lengths))
        return [order[first : first + self.config.batch] for first in range(0, len(order), self.config.batch)]

    def step(self) -> tuple[Tensor, Tensor]:
        """Do one update. Return reconstruction loss and KL divergence, means over the batch.

        All randomness of an update follows from its number, so a resumed training gives the same results.
        """
        batch = next(self._batches, None)
        if batch is None:
            self._batches = iter(self._epoch_batches()[self.update % self.updates :])
            batch = next(self._batches)
        drawn = int(np.random.default_rng([self.config.seed, 1, self.update]).integers(2**62))
        generator = torch.Generator(self.device).manual_seed(drawn)
        noise = torch.randn(len(batch), self.config.latent, generator=generator, device=self.device)
        lengths = torch.from_numpy(self._lengths[batch])
        sequences = self._sequences[torch.from_numpy(batch).to(self.device), : int(lengths.max())]
        reconstruction, divergence = self.skills.loss(sequences, noise, lengths)
        done = self.update / (self.updates * self.config.epochs)
        beta = self.config.beta * (min(1.0, done / self.config.warm_up) if self.config.warm_up else 1.0)
        loss = reconstruction + beta * divergence / self.config.latent
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.learning_rate * min(1.0, 4 * (1 - done))
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.update += 1
        return reconstruction.detach(), divergence.detach()

    def save(self, file: Path) -> None:
        """Write a checkpoint with all that the next update depends on."""
        state = {
            "config": asdict(self.config) | {"data": self._data_hash},
            "update": self.update,
            "skills": self.skills.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        write_checkpoint(file, state)

    def resume(self, file: Path) -> None:
        """Resume from the checkpoint of a training with the same configuration and data."""
        state = read_checkpoint(file, ("config", "update", "skills", "optimizer"), self.device)
        if different := differences(state["config"], asdict(self.config) | {"data": self._data_hash}):
            raise ValueError(f"{file} is of a training with {describe(different)}; use another folder")
        try:
            self.skills.load_state_dict(state["skills"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.update = state["update"]
        except (RuntimeError, KeyError, ValueError) as error:
            raise damaged(file, str(error)) from None
        self._batches = iter(())


def train_skills(
    config: SkillsConfig,
    sequences: Actions,
    held_out: Actions,
    folder: Path,
    device: torch.device | str = "cpu",
    listener: Callable[[Progress], object] = id,
    seconds: float = math.inf,
) -> dict[str, float]:
    """Train skills in a folder, resuming an interrupted training with the same configuration and data.

    Writes skills.safetensors and returns metrics on held-out sequences. After `seconds` it stops early and
    writes the skills learned so far; the next call resumes the training.
    """
    if held_out.ndim != 2 or not len(held_out):
        raise ValueError(f"expected held-out sequences [n, t], found {list(held_out.shape)}")
    trainer = SkillsTrainer(config, sequences, device)
    if (folder / CHECKPOINT_FILE).exists():
        trainer.resume(folder / CHECKPOINT_FILE)
    judged = held_out[:: math.ceil(len(held_out) / config.judged)]
    if judged.shape[1] != config.max_length:  # the length of decoded sequences
        kept = np.full((len(judged), config.max_length), END, np.uint8)
        kept[:, : judged.shape[1]] = judged[:, : config.max_length]
        judged = kept
    begin = saved = time.perf_counter()
    parts: list[tuple[Tensor, Tensor]] = []
    while not trainer.finished and time.perf_counter() - begin < seconds:
        parts.append(trainer.step())
        update = trainer.update % trainer.updates or trainer.updates
        if update == trainer.updates or len(parts) == REPORT_EVERY:
            means = torch.stack([torch.stack(part) for part in parts]).mean(dim=0).tolist()
            metrics = dict(zip(("reconstruction", "kl"), means, strict=True))
            if update == trainer.updates:
                metrics |= {
                    f"held_out_{name}": value for name, value in judge(trainer.skills, judged).items()
                }
            epoch = trainer.epoch + (update < trainer.updates)
            listener(Progress(epoch, update, trainer.updates, metrics))
            parts = []
        if time.perf_counter() - saved > SAVE_EVERY:
            trainer.save(folder / CHECKPOINT_FILE)
            saved = time.perf_counter()
    trainer.save(folder / CHECKPOINT_FILE)
    metrics = judge(trainer.skills, judged)
    on = torch.cuda.get_device_name() if trainer.device.type == "cuda" else trainer.device.type
    about = {"metrics": metrics, "updates": trainer.update, "device": on}
    save_skills(trainer.skills, folder / SKILLS_FILE, about)
    return metrics
