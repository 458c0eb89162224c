"""Reproducible files of tensors: the same content gives the same bytes.

All metadata is in one entry, since safetensors writes several entries in random order.
"""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

KEY = "leaps"


def metadata(about: dict[str, Any]) -> dict[str, str]:
    """Return the metadata of a file in the form that safetensors takes."""
    return {KEY: json.dumps(about)}


def read_about(file: Path) -> dict[str, Any]:
    """Read the metadata of a file; ValueError if it is damaged or not a file of LEAPS."""
    try:
        with safe_open(file, "np") as opened:
            about = json.loads((opened.metadata() or {})[KEY])
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} is damaged, or not a file of LEAPS ({error})") from None
    if not isinstance(about, dict):
        raise ValueError(f"{file} is damaged: expected an object as metadata, found {about!r}")
    return about


def check_vocabulary(file: Path, about: dict[str, Any], tokens: tuple[str, ...]) -> None:
    """Raise a ValueError if a file was made with other tokens."""
    found = about.get("vocabulary")
    stored = list(found) if isinstance(found, list | tuple) else []
    if stored != list(tokens):
        differ = [token for token in stored if token not in tokens]
        differ += [token for token in tokens if token not in stored]
        raise ValueError(
            f"{file} was made with another vocabulary: {len(stored)} tokens instead of {len(tokens)}"
            + (f"; they differ in {', '.join(map(str, differ[:5]))}" if differ else ", in another order")
        )
