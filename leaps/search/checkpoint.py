"""Searches under way, as files: one that was interrupted, or killed, goes on where it was.

Each search has a file of its own, so that one with other settings in the same folder takes nothing from it.
"""

import hashlib
import json
import time
from pathlib import Path

from leaps import __version__
from leaps.base.files import write_atomically
from leaps.search.solve import Run, Step

FORMAT = 6
"""of a state: one of another format is not resumed"""
EVERY = 1.0
"""seconds between two checkpoints, at least"""
SHARE = 0.02
"""of the time that may go into them: some milliseconds each, and more where worlds are large"""


class Checkpoints:
    """Keep a search's state in its folder while it runs; a listener of its steps."""

    def __init__(self, run: Run, folder: Path) -> None:
        settings = json.dumps(run.config.plain(), sort_keys=True)
        name = hashlib.sha256(settings.encode()).hexdigest()[:8]
        self.run, self.file = run, folder / f"unfinished-{name}.json"
        self._due = time.monotonic()

    def resume(self) -> bool:
        """Go on from the folder's checkpoint; False if there is none of this very search."""
        try:
            said = json.loads(self.file.read_bytes())
            expected = (FORMAT, __version__, self.run.config.plain())
            if (said["format"], said["version"], said["config"]) != expected:
                return False
            state = said["state"]
        except (OSError, ValueError, KeyError, TypeError):  # none, or half of one: it was of no use anyway
            return False
        self.run.restore(state)
        return True

    def __call__(self, step: Step) -> None:  # noqa: ARG002
        if time.monotonic() >= self._due and self.run.can_be_saved:
            self.write()

    def write(self) -> None:
        begin = time.monotonic()
        said = {
            "format": FORMAT,
            "version": __version__,
            "config": self.run.config.plain(),
            "state": self.run.state(),
        }
        write_atomically(self.file, json.dumps(said, default=lambda array: array.tolist()).encode())
        end = time.monotonic()
        self._due = end + max(EVERY, (end - begin) / SHARE)

    def remove(self) -> None:
        """It is finished: there is nothing to go on with."""
        self.file.unlink(missing_ok=True)
