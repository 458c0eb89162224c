"""Read and write weight files: plain tensors with metadata, never pickles."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from leaps import __version__
from leaps.base.files import write_atomically
from leaps.base.tensors import metadata, read_about
from leaps.dsl.language import Language
from leaps.embedding.model import ModelConfig, ProgramSpace

NETWORKS = ("encoder.", "decoder.")
"""name prefixes of the tensors that are stored in half precision for searching"""
EARLIER = (8, 8, 16)
"""π's observation in files of earlier versions, which do not name it: Karel's grid"""
SHOWN = 5
"""maximum number of words named in an error"""


def save_weights(
    space: ProgramSpace, file: Path, about: dict[str, Any] | None = None, *, for_search: bool = False
) -> None:
    """Write the weights, with the language, sizes and version.

    for_search: leave out the policy, and store encoder and decoder in half precision, to save space.
    """
    tensors = {
        name: _stored(name, tensor, for_search)
        for name, tensor in space.state_dict().items()
        if not (for_search and name.startswith("policy."))
    }
    config = asdict(space.config) | {"policy": space.config.policy and not for_search}
    stored = {
        **(about or {}),
        "vocabulary": space.language.tokens,
        "opposites": space.language.opposites,
        "observation": space.observation,
        "model": config,
        "version": __version__,
    }
    write_atomically(file, save(tensors, metadata(stored)))


def _stored(name: str, tensor: Tensor, for_search: bool) -> Tensor:
    tensor = tensor.detach().cpu().contiguous()
    return tensor.half() if for_search and name.startswith(NETWORKS) else tensor


def round_weights(space: ProgramSpace) -> None:
    """Round encoder and decoder to the precision of files for searching."""
    with torch.no_grad():
        for name, parameter in space.named_parameters():
            if name.startswith(NETWORKS):
                parameter.copy_(parameter.half())


def language_of(file: Path) -> Language:
    """Return the language of the programs that a file's weights encode and decode.

    Files of earlier versions name no opposites. Their language has none then.
    """
    about = read_about(file)
    try:
        return Language.of(about["vocabulary"], about.get("opposites", ()))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file} is damaged or holds no weights ({error})") from None


def check_language(file: Path, expected: Language) -> None:
    """Raise a ValueError if a file's weights are for programs of another language."""
    found = language_of(file)
    if found.tokens != expected.tokens:
        more = [word for word in found.tokens if word not in expected.tokens]
        fewer = [word for word in expected.tokens if word not in found.tokens]
        differences = [f"{what} {_some(words)}" for what, words in (("has", more), ("lacks", fewer)) if words]
        what = " and ".join(differences) or "has the same words in another order"
        raise ValueError(f"{file} is a program space of another language: it {what}")
    if "opposites" in read_about(file) and found.opposites != expected.opposites:
        raise ValueError(
            f"{file} is a program space of another language: its opposites are {list(found.opposites)}, "
            f"expected {list(expected.opposites)}"
        )


def _some(words: list[str]) -> str:
    return ", ".join(words[:SHOWN]) + (f" and {len(words) - SHOWN} more" if len(words) > SHOWN else "")


def load_weights(
    file: Path, device: torch.device | str = "cpu", *, language: Language | None = None
) -> ProgramSpace:
    """Read weights; ValueError with the reason if they can't be used.

    language: the language that the caller expects, if any.
    """
    about = read_about(file)
    own = language_of(file)
    if language is not None:
        check_language(file, language)
    try:
        tensors = load_file(file, device=str(device))
        config = ModelConfig(**about["model"])
        observation = tuple(int(size) for size in about.get("observation", EARLIER))
        space = ProgramSpace(own, config, observation)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file} is damaged or holds no weights ({error})") from None
    expected = {name: tuple(tensor.shape) for name, tensor in space.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            raise ValueError(f"{file}: {name} should be {expected.get(name)}, found {found.get(name)}")
    space.load_state_dict(tensors)
    return space.to(device).eval()
