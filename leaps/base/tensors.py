"""Files of tensors that are the same bytes every time: all that is said about them is in one entry.

(safetensors writes the entries of its metadata in any order.)
"""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

KEY = "leaps"


def metadata(about: dict[str, Any]) -> dict[str, str]:
    """What safetensors is to write about the tensors."""
    return {KEY: json.dumps(about)}


def read_about(file: Path) -> dict[str, Any]:
    """What a file says about its tensors, or a ValueError if it is none of ours."""
    try:
        with safe_open(file, "np") as opened:
            about = json.loads((opened.metadata() or {})[KEY])
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} is damaged, or not a file of LEAPS ({error})") from None
    if not isinstance(about, dict):
        raise ValueError(f"{file} is damaged: it says {about!r} about itself")
    return about


def check_vocabulary(file: Path, about: dict[str, Any], tokens: tuple[str, ...]) -> None:
    """Refuse a file that was made with other tokens."""
    found = about.get("vocabulary")
    theirs = list(found) if isinstance(found, list | tuple) else []
    if theirs != list(tokens):
        strange = [token for token in theirs if token not in tokens] + [t for t in tokens if t not in theirs]
        raise ValueError(
            f"{file} was made with another vocabulary: {len(theirs)} tokens instead of {len(tokens)}"
            + (f"; they differ in {', '.join(map(str, strange[:5]))}" if strange else ", in another order")
        )
