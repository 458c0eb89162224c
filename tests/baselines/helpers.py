"""Helpers for tests of skills: sequences to learn, and trained and untrained skills."""

from functools import cache
from typing import Any

import numpy as np
import torch

from leaps.baselines.skill_training import SkillsTrainer
from leaps.baselines.skills import ACTIONS, END, TOKENS, Actions, Skills, SkillsConfig

LONGEST = 4
SMALL = SkillsConfig(latent=3, hidden=8, max_length=LONGEST, epochs=2, batch=16, seed=3)
LEARNING = SkillsConfig(
    latent=4, hidden=32, max_length=LONGEST, beta=0.2, warm_up=0.5, learning_rate=1e-2, batch=64, epochs=60
)


def filled(*sequences: tuple[int, ...], length: int = LONGEST) -> Actions:
    rows = np.full((len(sequences), length), END, np.uint8)
    for row, sequence in zip(rows, sequences, strict=True):
        row[: len(sequence)] = sequence
    return rows


REPEATED = filled((), *((action,) * times for action in range(ACTIONS) for times in range(1, LONGEST + 1)))
"""every action repeated one to four times, and the empty sequence"""


def fresh(config: SkillsConfig = SMALL, seed: int = 0, scale: float = 1.0) -> Skills:
    """Create an untrained network; a larger scale makes its outputs more varied."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        skills = Skills(config).eval()
    with torch.no_grad():
        for weight in skills.parameters():
            weight.mul_(scale)
    return skills


@cache
def taught() -> Skills:
    """Train skills on the repeated actions."""
    torch.set_num_threads(1)
    trainer = SkillsTrainer(LEARNING, np.repeat(REPEATED, 20, axis=0))
    while not trainer.finished:
        trainer.step()
    return trainer.skills.eval()


def latents(count: int, dimensions: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)


@torch.no_grad()
def act_out(skills: Skills, points: Any, shortest: int = 0) -> Actions:
    """Decode greedily with the network, as the reference for the compiled decoder.

    Latents [n, l] → sequences [n, max_length] of at least `shortest` actions.
    """
    decoder, length, latent = skills.decoder, skills.config.max_length, torch.from_numpy(points)
    features = decoder.features(latent).relu()
    sequences = np.full((len(latent), length), END, np.uint8)
    token = torch.full((len(latent),), END)
    ended = torch.zeros(len(latent), dtype=torch.bool)
    state = None
    for index in range(length):
        inputs = torch.cat([decoder.embedding(token), features], dim=1)[:, None]
        states, state = decoder.lstm(inputs, state)
        logits = decoder.output(states[:, 0])
        token = logits[:, : TOKENS if index >= shortest else ACTIONS].argmax(dim=1)
        ended |= token == END
        sequences[:, index] = token.masked_fill(ended, END).numpy()
    return sequences


def weights(skills: Skills) -> torch.Tensor:
    return torch.cat([tensor.flatten() for tensor in skills.state_dict().values()])
