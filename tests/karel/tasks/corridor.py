"""A user-defined task for tests: the corridor, exactly as in the documentation."""

import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[3] / "docs" / "tasks.md"
SOLUTION = "DEF run m( WHILE c( frontIsClear c) w( move w) putMarker m)"


def corridor_in(folder: Path) -> Path:
    """Write the documentation's file into a folder."""
    file = folder / "corridor.py"
    file.write_text(_documented()[0])
    return file


def listed_corridor_in(folder: Path) -> Path:
    """Write the documentation's file with its list of initial states into a folder."""
    task, listing = _documented()
    file = folder / "listed_corridor.py"
    file.write_text(listing + "\n\n" + task)
    edit(file, "    value=value,\n", "    value=value,\n    listing=states,\n")
    return file


def _documented() -> list[str]:
    """Return the code of the task, and of its list of initial states."""
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert len(blocks) == 2
    return blocks


def edit(file: Path, old: str, new: str) -> None:
    """Replace the only occurrence of a text in a file."""
    source = file.read_text()
    assert source.count(old) == 1
    file.write_text(source.replace(old, new))
