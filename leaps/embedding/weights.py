"""Weights as files: plain tensors with what is needed to use them, never pickles."""

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from leaps import __version__
from leaps.embedding.model import ModelConfig, ProgramSpace
from leaps.files import write_atomically
from leaps.karel.world import LANGUAGE


def save_weights(
    space: ProgramSpace, file: Path, metadata: dict[str, str] | None = None, *, with_policy: bool = True
) -> None:
    """Write the weights, with vocabulary, sizes and version. Searching needs no policy."""
    tensors = {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in space.state_dict().items()
        if with_policy or not name.startswith("policy.")
    }
    config = asdict(space.config) | {"policy": with_policy and space.config.policy}
    about = {
        "vocabulary": " ".join(LANGUAGE.tokens),
        "model": json.dumps(config),
        "version": __version__,
        **(metadata or {}),
    }
    write_atomically(file, save(tensors, about))


def load_weights(file: Path, device: torch.device | str = "cpu") -> ProgramSpace:
    """Read weights, or say why they don't fit."""
    try:
        with safe_open(file, "pt", device=str(device)) as opened:
            metadata = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        config = ModelConfig(**json.loads(metadata["model"]))
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file} is damaged or holds no weights ({error})") from None
    theirs, ours = metadata.get("vocabulary", "").split(), list(LANGUAGE.tokens)
    if theirs != ours:
        strange = [token for token in theirs if token not in ours] + [t for t in ours if t not in theirs]
        raise ValueError(
            f"{file} was trained with another vocabulary: {len(theirs)} tokens instead of {len(ours)}"
            + (f"; they differ in {', '.join(strange[:5])}" if strange else ", in another order")
        )
    space = ProgramSpace(config)
    expected = {name: tuple(tensor.shape) for name, tensor in space.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            raise ValueError(f"{file}: {name} should be {expected.get(name)}, found {found.get(name)}")
    space.load_state_dict(tensors)
    return space.to(device).eval()


def metadata_of(file: Path) -> dict[str, str]:
    """What a file of weights says about itself."""
    with safe_open(file, "pt") as opened:
        return dict(opened.metadata() or {})
