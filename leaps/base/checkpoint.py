"""Read, write and validate the checkpoints of trainings with torch."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from leaps import __version__
from leaps.base.files import write_atomically


def write_checkpoint(file: Path, state: dict[str, Any]) -> None:
    """Keep what a training depends on, as torch.save takes it."""
    buffer = io.BytesIO()
    torch.save({"version": __version__, **state}, buffer)
    write_atomically(file, buffer.getvalue())


def read_checkpoint(file: Path, names: tuple[str, ...], device: torch.device | str = "cpu") -> dict[str, Any]:
    """Read what a training kept under these names, or say why nothing can go on from it."""
    try:
        saved = torch.load(file, map_location=device, weights_only=True)
        version, found = saved["version"], {name: saved[name] for name in names}
    except Exception as error:
        raise damaged(file, type(error).__name__) from None
    if version != __version__:
        raise damaged(file, f"{version}, not {__version__}")
    return found


def damaged(file: Path, why: str) -> ValueError:
    """Say that a checkpoint is no use; of a long complaint, its last line says most."""
    last = why.strip().splitlines()[-1].strip() if why.strip() else "unknown"
    return ValueError(f"{file} is damaged or of another version ({last}); remove it to begin anew")


Differences = dict[str, tuple[Any, Any]]
"""by name: theirs and mine"""


def differences(theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> Differences:
    """Compare name by name what two trainings were asked for, also within settings."""
    found: Differences = {}
    for name, value in mine.items():
        other = theirs.get(name)
        if isinstance(value, dict) and isinstance(other, dict):
            found |= differences(other, dict.fromkeys(other) | value)
        elif value != other:
            found[name] = other, value
    return found


def describe(found: Differences) -> str:
    """Say what differs."""
    return ", ".join(f"{name}={theirs!r}, not {mine!r}" for name, (theirs, mine) in found.items())
