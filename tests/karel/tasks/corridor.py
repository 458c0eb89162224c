"""A task of one's own, for whatever takes one: the corridor of the documentation, as it is written there."""

import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[3] / "docs" / "tasks.md"
SOLUTION = "DEF run m( WHILE c( frontIsClear c) w( move w) putMarker m)"


def corridor_in(folder: Path) -> Path:
    """Put the file there that the documentation shows."""
    file = folder / "corridor.py"
    file.write_text(_documented()[0])
    return file


def listed_corridor_in(folder: Path) -> Path:
    """Put the file there with the list of initial states that the documentation shows."""
    task, listing = _documented()
    file = folder / "listed_corridor.py"
    file.write_text(listing + "\n\n" + task)
    edit(file, "    value=value,\n", "    value=value,\n    listing=states,\n")
    return file


def _documented() -> list[str]:
    """The task, and its list of initial states."""
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert len(blocks) == 2
    return blocks


def edit(file: Path, old: str, new: str) -> None:
    """Change the only place of a file that says this."""
    source = file.read_text()
    assert source.count(old) == 1
    file.write_text(source.replace(old, new))
