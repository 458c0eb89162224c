"""Results on disk: one small file per cell, written once and whole."""

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
"""follows the name of a file that can't be read, once it is moved aside; then a number, if that is taken"""


class Store:
    """A folder of results: EXPERIMENT/METHOD/TASK-SEED.json"""

    def __init__(self, folder: Path, only_read: bool = False) -> None:
        """only_read: leave the folder as it is; files that can't be read stay where they are."""
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{folder} is a file; expected a folder for results, which may be new")
        self.folder, self.only_read = folder, only_read
        self.aside: list[Path] = []
        """files that could not be read, where they are now"""

    def file(self, cell: Cell) -> Path:
        return self.folder / (cell.name + SUFFIX)

    def read(self, cell: Cell) -> Result | None:
        """The result of a cell; None if there is none, or none that can be read."""
        file = self.file(cell)
        found = self._read(file) if file.exists() else None
        if found is not None and found.cell != cell:
            self._move_aside(file)
            return None
        return found

    def write(self, result: Result) -> None:
        """Keep a result; what is there already stays."""
        file = self.file(result.cell)
        if self.read(result.cell) is None:
            write_atomically(file, _text(result.as_json()).encode())

    def check_writable(self) -> None:
        """Say that nothing can be kept here, before hours are spent on what is to be kept."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder) as file:
                file.write(b"x")  # an empty file fits onto a full disk
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.folder)) from None

    def all(self, experiment: str) -> Iterator[Result]:
        """The results of an experiment, in the order of their names; ValueError for a misplaced file."""
        for file in sorted((self.folder / experiment).rglob(f"*{SUFFIX}")):
            if (found := self._read(file)) is not None:
                if file != self.file(found.cell):  # a copy would count as another seed
                    raise ValueError(
                        f"{file} holds the result of {found.cell.name} in another file than "
                        f"{self.file(found.cell)}; remove it"
                    )
                yield found

    def experiments(self) -> list[str]:
        """The names of the experiments that have a folder here, sorted."""
        if not self.folder.exists():
            return []
        return sorted(
            each.name for each in self.folder.iterdir() if each.is_dir() and not each.name.startswith(".")
        )

    def _read(self, file: Path) -> Result | None:
        try:
            found = Result.of_json(json.loads(file.read_bytes()))
        except (KeyError, TypeError, ValueError):  # half a file, or another one's
            self._move_aside(file)
            return None
        if found.version != __version__:
            raise ValueError(
                f"{file} was made by leaps {found.version}, and this is {__version__}: their numbers must "
                "not be mixed; use another folder with --results, or remove it"
            )
        return found

    def _move_aside(self, file: Path) -> None:
        """Out of the way, but not lost: someone may want to know what it was."""
        if not self.only_read:
            names = (file.name + ASIDE + (f"-{number}" if number else "") for number in count())
            free = next(target for name in names if not (target := file.with_name(name)).exists())
            os.replace(file, free)
            file = free
        self.aside.append(file)


def _text(said: dict[str, Any]) -> str:
    """JSON for people: a field a line, and a list of plain values in one."""
    text = json.dumps(said, indent=2, sort_keys=True) + "\n"
    # A string has no line break in it, so only lists are met.
    return re.sub(
        r"\[\n\s*([^\[\]{}]*?)\n\s*\]", lambda found: "[" + re.sub(r",\n\s*", ", ", found[1]) + "]", text
    )
