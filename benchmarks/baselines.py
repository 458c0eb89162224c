"""Measure the training speed of baselines on one core: `python -m benchmarks.baselines [TASK ...]`."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from rich.console import Console
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from stable_baselines3 import SAC

from benchmarks.timing import best
from leaps.base.memory import keep_what_is_freed
from leaps.baselines import hrl, networks, ppo
from leaps.karel.tasks import PAPER_TASKS
from leaps.tasks import get

STEPS = 2_000_000
SECONDS = 8.0
"""seconds of training from which the total time is extrapolated"""


@contextmanager
def one_core() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    keep_what_is_freed()
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def step_by_step() -> Iterator[None]:
    """Call the LSTM step by step, as sb3-contrib does."""
    original = networks.Remembering._process_sequence
    library = staticmethod(RecurrentActorCriticPolicy._process_sequence)
    networks.Remembering._process_sequence = library  # type: ignore[method-assign]
    try:
        yield
    finally:
        networks.Remembering._process_sequence = staticmethod(original)  # type: ignore[method-assign]


def minutes(method: str, task: str) -> float:
    """Extrapolate the minutes of 2 million training steps from early iterations, without the very first."""
    config = (ppo.PAPER_PPO_ABS if method == "drl-abs" else ppo.PAPER_PPO)[task]
    trainer = ppo.PPOTrainer(method, get(task), config)
    trainer.step()
    begin, before = time.perf_counter(), trainer.steps
    while time.perf_counter() - begin < SECONDS:
        trainer.step()
    return STEPS / (trainer.steps - before) * (time.perf_counter() - begin) / 60


class Batch(NamedTuple):
    """Times of a batch of drl, forward and backward."""

    encoder: float
    """seconds for the convolutions"""
    layer: float
    """seconds for the layer after them"""
    flops: float
    """floating-point operations per second in that layer"""


def batch(task: str) -> Batch:
    """Time a batch of the twelfth iteration, with one epoch per iteration to reach it sooner."""
    trainer = ppo.PPOTrainer("drl", get(task), ppo.PPOConfig(epochs=1))
    for _ in range(12):
        trainer.step()
    buffer, policy = trainer.model.rollout_buffer, trainer.model.policy
    shown = buffer.observations.reshape(-1, *buffer.observations.shape[-3:])
    grids = torch.from_numpy(shown[:: len(shown) // trainer.config.batch])
    encoder, layer = policy.features_extractor, policy.mlp_extractor
    features = encoder(grids).detach().requires_grad_()

    def encode() -> None:
        encoder(grids).sum().backward()

    def apply_layer() -> None:
        torch.cat(layer(features), dim=1).sum().backward()  # type: ignore[no-untyped-call]

    encoder_seconds, layer_seconds = best(encode), best(apply_layer)
    operations = 3 * 2 * features.numel() * 2 * trainer.config.hidden
    return Batch(encoder_seconds, layer_seconds, operations / layer_seconds)


def updates(device: str) -> tuple[float, float]:
    """Return the seconds per update of HRL on TopOff, and of the library's SAC on the same data."""
    trainer = hrl.HRLTrainer("hrl", get("top-off"), hrl.PAPER_HRL["top-off"], device=device)
    while trainer.decisions < 2 * trainer.config.random:
        trainer.step()

    def seconds(kind: type[SAC]) -> float:
        def some() -> None:
            kind.train(trainer.model, 8, trainer.config.batch)
            if device == "cuda":
                torch.cuda.synchronize()

        return best(some) / 8

    return seconds(type(trainer.model)), seconds(SAC)


def main() -> None:
    show = Console().print
    with one_core():
        for task in sys.argv[1:] or PAPER_TASKS:
            show(f"{task}: drl {minutes('drl', task):.1f} min, ", end="")
            show(f"drl-abs {minutes('drl-abs', task):.1f} min")
            one = batch(task)
            show(f"  a batch of drl: convolutions {one.encoder * 1e3:.0f} ms; ", end="")
            show(f"the layer after them {one.layer * 1e3:.0f} ms, {one.flops / 1e9:.0f} GFLOP/s")
        seconds, _ = updates("cpu")
        show(f"an update of hrl on top-off: {seconds * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
