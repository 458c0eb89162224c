"""How good a space is at what it was trained for: programs that it never saw, encoded and decoded again."""

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
    """Some programs of a data set, kept ready on a device to be asked about again and again."""

    def __init__(self, data: Data, numbers: NDArray[np.int64], space: ProgramSpace) -> None:
        self.data, self.numbers = data, numbers
        self.programs = ProgramTable(
            data.language, data.tokens[numbers], space.config.max_length, space.device
        )
        self.rollouts = RolloutTable(data, numbers, space.device) if space.policy is not None else None

    @torch.no_grad()
    def __call__(self, space: ProgramSpace) -> dict[str, float]:
        """What becomes of the programs when they are decoded from their mean latents.

        exact: the very same program. behaviour: R_mat of the decoded one. action_accuracy: the actions that
        π gets right, the true ones being fed back. sequence_accuracy: the rollouts that it gets all right.
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
    """[b] which programs are equal, however long their padding is."""
    width = max(tokens.shape[1], others.shape[1])

    def wide(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=pad)

    return np.asarray((wide(tokens) == wide(others)).all(axis=1))
