"""Weights as files: plain tensors with what is needed to use them, never pickles."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from leaps import __version__
from leaps.base.files import write_atomically
from leaps.base.tensors import check_vocabulary, metadata, read_about
from leaps.embedding.model import ModelConfig, ProgramSpace
from leaps.karel.world import LANGUAGE

NETWORKS = ("encoder.", "decoder.")
"""begin the names of the tensors that are stored in half precision for searching"""


def save_weights(
    space: ProgramSpace, file: Path, about: dict[str, Any] | None = None, *, for_search: bool = False
) -> None:
    """Write the weights, with vocabulary, sizes and version.

    for_search: leave out the policy, and store encoder and decoder in half precision, in half as many bytes.
    """
    tensors = {
        name: _stored(name, tensor, for_search)
        for name, tensor in space.state_dict().items()
        if not (for_search and name.startswith("policy."))
    }
    config = asdict(space.config) | {"policy": space.config.policy and not for_search}
    stored = {**(about or {}), "vocabulary": LANGUAGE.tokens, "model": config, "version": __version__}
    write_atomically(file, save(tensors, metadata(stored)))


def _stored(name: str, tensor: Tensor, for_search: bool) -> Tensor:
    tensor = tensor.detach().cpu().contiguous()
    return tensor.half() if for_search and name.startswith(NETWORKS) else tensor


def round_weights(space: ProgramSpace) -> None:
    """Round encoder and decoder to what is stored for searching."""
    with torch.no_grad():
        for name, parameter in space.named_parameters():
            if name.startswith(NETWORKS):
                parameter.copy_(parameter.half())


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
