"""Evaluate a space on held-out programs: encode and decode them, and compare."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from leaps.embedding.batches import ProgramTable, RolloutTable
from leaps.embedding.dataset import Data
from leaps.embedding.losses import latent_behaviour_reconstruction, likeness_to
from leaps.embedding.model import ProgramSpace, with_prefix

BATCH = 500


class Judge:
    """An evaluation on some programs of a data set, which are kept on a device for repeated use."""

    def __init__(self, data: Data, numbers: NDArray[np.int64], space: ProgramSpace) -> None:
        self.data, self.numbers = data, numbers
        self.programs = ProgramTable(
            data.language, data.tokens[numbers], space.config.max_length, space.device
        )
        self.rollouts = RolloutTable(data, numbers, space.device) if space.policy is not None else None

    @torch.no_grad()
    def __call__(self, space: ProgramSpace) -> dict[str, float]:
        """Decode the programs from their mean latents, and measure how well they are reconstructed.

        exact: fraction of programs decoded exactly. behaviour: mean R_mat of the decoded programs.
        action_accuracy: fraction of actions that π predicts, given the true previous actions.
        sequence_accuracy: fraction of rollouts with all actions predicted.
        """
        names = ("exact", "behaviour", "action_accuracy", "sequence_accuracy")
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
        for start in range(0, len(self.numbers), BATCH):
            batch = np.arange(start, min(start + BATCH, len(self.numbers)))
            programs = self.programs.batch(torch.from_numpy(batch).to(space.device))
            mean, _ = space.encoder(programs.tokens, programs.lengths)
            tokens, _ = space.write(mean)
            whole = with_prefix(tokens).to(torch.uint8).cpu().numpy()
            numbers = self.numbers[batch]
            parts["exact"].append(same_programs(whole, self.data.tokens[numbers], space.language.pad))
            parts["behaviour"].append(likeness_to(self.data, numbers)(whole))
            if self.rollouts is not None:
                every = np.tile(np.arange(self.data.rollouts), (len(batch), 1))
                packed = self.rollouts.batch(batch, every)
                _, right = latent_behaviour_reconstruction(space, self.rollouts, packed, mean)
                flags = right.cpu().numpy()
                failed = np.zeros(int(packed.batch_sizes[0]), np.bool_)
                failed[packed.sequence.cpu().numpy()[~flags]] = True
                parts["action_accuracy"].append(flags)
                parts["sequence_accuracy"].append(~failed)
        return {name: float(np.concatenate(found).mean()) for name, found in parts.items() if found}


def same_programs(tokens: NDArray[np.uint8], others: NDArray[np.uint8], pad: int) -> NDArray[np.bool_]:
    """Compare programs [b], ignoring the length of their padding."""
    width = max(tokens.shape[1], others.shape[1])

    def wide(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=pad)

    return np.asarray((wide(tokens) == wide(others)).all(axis=1))
