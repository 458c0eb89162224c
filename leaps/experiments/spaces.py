"""The program spaces of experiments: those in the package, and others trained on demand."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from leaps.base.files import locked
from leaps.base.tensors import read_about
from leaps.embedding.model import ModelConfig
from leaps.embedding.space import SHIPPED
from leaps.embedding.train import VARIANTS, WEIGHTS_FILE, TrainConfig

REPEATED = Path(__file__).parents[2] / "spaces"
"""the second and third training of each of the package's variants; only in a checkout, since only stored
results need them"""
TRAINED_SPACES = "spaces"
"""folder of spaces trained on demand, within the folder of trainings"""
SEEDS = 5
"""searches in each trained space: seeds 0 to 4 search in the first, 5 to 9 in the second, and so on"""


@dataclass(frozen=True)
class Recipe:
    """Settings for training a program space.

    The first training of `p24` and its variants has seed 1, since the package's spaces use seed 0.
    """

    summary: str
    training: Mapping[str, Any] = field(default_factory=dict)
    """settings of TrainConfig"""
    data: Mapping[str, Any] = field(default_factory=dict)
    """settings of DataConfig"""


_SHORT: Mapping[str, Any] = {"variant": "p", "epochs": 24}
"""a training of 10 to 15 minutes on one core"""
RECIPES = {
    **{
        variant: Recipe(f"the training of the package's {variant}", {"variant": variant})
        for variant in VARIANTS
    },
    "p24": Recipe("losses P, 24 epochs instead of 40", _SHORT),
    "p24-every": Recipe(
        "all programs, with rollouts cut off after 100 actions",
        _SHORT,
        {"keep": "every", "pool": 256, "more": 1024},
    ),
    "p24-complete": Recipe("data whose actions may fail", _SHORT, {"keep": "complete"}),
    "p24-200k": Recipe(
        "200,000 programs instead of 50,000, with the same number of updates",
        {**_SHORT, "epochs": 6},
        {"programs": 200_000},
    ),
    "p24-beta-0.01": Recipe("KL weight 0.01 instead of 0.1", {**_SHORT, "beta": 0.01}),
    "p24-beta-1": Recipe("KL weight 1", {**_SHORT, "beta": 1.0}),
    "p24-kl-sum": Recipe(
        "KL divergence summed, as in equation (1): 256 times the weight", {**_SHORT, "kl": "sum"}
    ),
    "p24-embedding-256": Recipe(
        "token embedding of 256 dimensions instead of 51", {**_SHORT, "model": ModelConfig(embedding=256)}
    ),
    "p24-initial-torch": Recipe("initial weights by torch's defaults", {**_SHORT, "initial": "torch"}),
    "p24-by-search": Recipe(
        "the epoch with the best search results on validation programs",
        {**_SHORT, "select": "search", "search_every": 6},
    ),
    "p150": Recipe(
        "150 epochs, learning rates as in the authors' code",
        {"variant": "p", "epochs": 150, "schedule": "step"},
    ),
}
"""recipes by name; `p24-…` differs from `p24` as its summary says"""


@dataclass(frozen=True)
class Trained:
    """A trained space."""

    name: str
    """the recipe's name, followed by the seed unless it is 0, as in leaps-1"""
    file: Path

    @property
    def path(self) -> str:
        """The argument of `Space.load`."""
        return self.name if self.file.parent == SHIPPED else str(self.file)

    @property
    def about(self) -> dict[str, Any]:
        """Name, digest and test metrics, as stored in cells."""
        judged = {key: round(float(value), 4) for key, value in read_about(self.file)["test"].items()}
        return {"name": self.name, "digest": digest_of_weights(self.file), **judged}


def open_space(recipe: str, training: int, work: Path, device: str) -> Trained:
    """Open the space of a recipe's training, and train it first if it is missing.

    The package contains the first training of each variant, a checkout two more. Training another takes
    minutes on a GPU and up to hours on a CPU.
    """
    seed = training if recipe in VARIANTS else training + 1
    name = f"{recipe}-{seed}" if seed else recipe
    for known in (SHIPPED, REPEATED):
        if (file := known / f"{name}.safetensors").exists():
            return Trained(name, file)
    folder = work / TRAINED_SPACES / name
    _train(RECIPES[recipe], seed, folder, device)
    return Trained(name, folder / WEIGHTS_FILE)


def _train(recipe: Recipe, seed: int, folder: Path, device: str) -> None:
    import torch

    from leaps.embedding.train import train
    from leaps.experiments.explore import SearchJudge
    from leaps.karel.dataset import DataConfig, make_dataset

    config = TrainConfig(**recipe.training, seed=seed)
    with locked(folder):  # several cells may need it at once
        data_config = DataConfig(**recipe.data)
        about = read_about(folder / WEIGHTS_FILE) if (folder / WEIGHTS_FILE).exists() else {}
        asked = json.loads(json.dumps({"training": asdict(config), "data": asdict(data_config)}))
        if about and {name: about.get(name) for name in asked} != asked:
            raise ValueError(
                f"{folder} holds a training with different settings; remove it, or use another --work"
            )
        if "test" not in about:
            data = make_dataset(data_config)
            judge = SearchJudge(data, config) if config.select == "search" else None
            train(config, data, folder, torch.device(device), judge_search=judge)


def digest_of_weights(file: Path) -> str:
    """Digest of the weights in a file, independent of the file's metadata."""
    from safetensors.numpy import load_file

    digest = hashlib.sha256()
    for name, tensor in sorted(load_file(file).items()):
        digest.update(f"{name} {tensor.dtype} {tensor.shape}".encode())
        digest.update(tensor.tobytes())
    return digest.hexdigest()[:16]
