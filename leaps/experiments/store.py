"""Store of results: one small JSON file per cell, written once and atomically."""

import json
import os
import re
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from leaps import __version__
from leaps.base.files import write_atomically
from leaps.experiments.cell import Cell, Result

SUFFIX = ".json"
ASIDE = ".damaged"
"""suffix of an unreadable file that was moved aside, followed by a number if the name is taken"""


class Store:
    """A folder of results named EXPERIMENT/METHOD/TASK-SEED.json."""

    def __init__(self, folder: Path, only_read: bool = False) -> None:
        """only_read: don't change the folder; unreadable files are not moved aside."""
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{folder} is a file; expected a folder for results, existing or new")
        self.folder, self.only_read = folder, only_read
        self.aside: list[Path] = []
        """current paths of unreadable files"""

    def file(self, cell: Cell) -> Path:
        return self.folder / (cell.name + SUFFIX)

    def read(self, cell: Cell) -> Result | None:
        """Read the result of a cell; None if it is missing or unreadable."""
        file = self.file(cell)
        found = self._read(file) if file.exists() else None
        if found is not None and found.cell != cell:
            self._move_aside(file)
            return None
        return found

    def write(self, result: Result) -> None:
        """Store a result, unless the cell has one already."""
        file = self.file(result.cell)
        if self.read(result.cell) is None:
            write_atomically(file, _text(result.as_json()).encode())

    def check_writable(self) -> None:
        """Raise OSError if the folder is not writable, before hours are spent on results."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder) as file:
                file.write(b"x")  # an empty file fits onto a full disk
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.folder)) from None

    def all(self, experiment: str) -> Iterator[Result]:
        """Yield the results of an experiment, sorted by name; ValueError for a misplaced file."""
        for file in sorted((self.folder / experiment).rglob(f"*{SUFFIX}")):
            if (found := self._read(file)) is not None:
                if file != self.file(found.cell):  # a copy would count as another seed
                    raise ValueError(
                        f"{file} holds the result of {found.cell.name}, expected in "
                        f"{self.file(found.cell)}; remove {file.name}"
                    )
                yield found

    def experiments(self) -> list[str]:
        """The names of the experiments with a folder here, sorted."""
        if not self.folder.exists():
            return []
        return sorted(
            each.name for each in self.folder.iterdir() if each.is_dir() and not each.name.startswith(".")
        )

    def _read(self, file: Path) -> Result | None:
        try:
            found = Result.of_json(json.loads(file.read_bytes()))
        except (KeyError, TypeError, ValueError):  # a truncated file, or not a result
            self._move_aside(file)
            return None
        if found.version != __version__:
            raise ValueError(
                f"{file} was written by leaps {found.version}, but this is {__version__}; results of "
                "different versions must not be mixed. Use another folder with --results, or remove the file"
            )
        return found

    def _move_aside(self, file: Path) -> None:
        """Rename an unreadable file instead of deleting it, so that it can be inspected."""
        if not self.only_read:
            names = (file.name + ASIDE + (f"-{number}" if number else "") for number in count())
            free = next(target for name in names if not (target := file.with_name(name)).exists())
            os.replace(file, free)
            file = free
        self.aside.append(file)


def _text(fields: dict[str, Any]) -> str:
    """Format JSON for readers: one field per line, and lists of plain values on one line."""
    text = json.dumps(fields, indent=2, sort_keys=True) + "\n"
    # JSON strings contain no line breaks, so the pattern matches lists only.
    return re.sub(
        r"\[\n\s*([^\[\]{}]*?)\n\s*\]", lambda found: "[" + re.sub(r",\n\s*", ", ", found[1]) + "]", text
    )
