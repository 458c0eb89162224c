"""Read, write and validate the checkpoints of trainings with torch."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from leaps import __version__
from leaps.base.files import write_atomically


def write_checkpoint(file: Path, state: dict[str, Any]) -> None:
    """Save the state of a training, with the version of LEAPS, using torch.save."""
    buffer = io.BytesIO()
    torch.save({"version": __version__, **state}, buffer)
    write_atomically(file, buffer.getvalue())


def read_checkpoint(file: Path, names: tuple[str, ...], device: torch.device | str = "cpu") -> dict[str, Any]:
    """Read the entries of these names; ValueError if the training can't resume from the file."""
    try:
        saved = torch.load(file, map_location=device, weights_only=True)
        version, found = saved["version"], {name: saved[name] for name in names}
    except Exception as error:
        raise damaged(file, type(error).__name__) from None
    if version != __version__:
        raise damaged(file, f"{version}, not {__version__}")
    return found


def damaged(file: Path, why: str) -> ValueError:
    """Make the error for an unusable checkpoint, with the last line of the reason, the most specific one."""
    last = why.strip().splitlines()[-1].strip() if why.strip() else "unknown"
    return ValueError(f"{file} is damaged or of another version ({last}); remove it to start over")


Differences = dict[str, tuple[Any, Any]]
"""by name: the stored value and the requested one"""


def differences(stored: Mapping[str, Any], requested: Mapping[str, Any]) -> Differences:
    """Compare the arguments of two trainings by name, including nested settings."""
    found: Differences = {}
    for name, value in requested.items():
        other = stored.get(name)
        if isinstance(value, dict) and isinstance(other, dict):
            found |= differences(other, dict.fromkeys(other) | value)
        elif value != other:
            found[name] = other, value
    return found


def describe(found: Differences) -> str:
    """Describe differences for a message."""
    return ", ".join(f"{name}={stored!r}, not {requested!r}" for name, (stored, requested) in found.items())
