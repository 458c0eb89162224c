"""Weights as files: plain tensors with what is needed to use them, never pickles."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from leaps import __version__
from leaps.embedding.model import ModelConfig, ProgramSpace
from leaps.files import write_atomically
from leaps.karel.world import LANGUAGE
from leaps.tensors import check_vocabulary, metadata, read_about


def save_weights(
    space: ProgramSpace, file: Path, said: dict[str, Any] | None = None, *, with_policy: bool = True
) -> None:
    """Write the weights, with vocabulary, sizes and version. Searching needs no policy."""
    tensors = {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in space.state_dict().items()
        if with_policy or not name.startswith("policy.")
    }
    config = asdict(space.config) | {"policy": with_policy and space.config.policy}
    about = {**(said or {}), "vocabulary": LANGUAGE.tokens, "model": config, "version": __version__}
    write_atomically(file, save(tensors, metadata(about)))


def load_weights(file: Path, device: torch.device | str = "cpu") -> ProgramSpace:
    """Read weights, or say why they don't fit."""
    about = read_about(file)
    check_vocabulary(file, about, LANGUAGE.tokens)
    try:
        tensors = load_file(file, device=str(device))
        config = ModelConfig(**about["model"])
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file} is damaged or holds no weights ({error})") from None
    space = ProgramSpace(config)
    expected = {name: tuple(tensor.shape) for name, tensor in space.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            raise ValueError(f"{file}: {name} should be {expected.get(name)}, found {found.get(name)}")
    space.load_state_dict(tensors)
    return space.to(device).eval()
