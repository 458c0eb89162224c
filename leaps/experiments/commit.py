"""The git commit of the package's source, which every result records."""

import os
import subprocess
from functools import cache
from pathlib import Path

import leaps

PACKAGE = Path(leaps.__file__).parent
CHANGED = "+changed"
"""suffix of the hash if files of the package differ from the commit"""
PATIENCE = 10.0
"""timeout of git in seconds; a network file system may be slow"""


@cache
def commit() -> str:
    """Return the commit of the source that this process runs, or "" where it is unknown.

    git is asked once per process. Every worker of a cluster asks for its own source.
    """
    return commit_of(PACKAGE)


def commit_of(package: Path) -> str:
    """Return the commit of a package's folder, or "" if git does not track that folder or can't be run."""
    try:
        # An installed package may lie within some other project's repository, which does not track it.
        _git(package, "ls-files", "--error-unmatch", "__init__.py")
        found = _git(package, "rev-parse", "--verify", "HEAD")
        changes = _git(package, "status", "--porcelain", "--untracked-files=normal", "--", ".")
    except (OSError, subprocess.SubprocessError):
        return ""
    return found + (CHANGED if changes else "")


def _git(folder: Path, *words: str) -> str:
    # Within a git hook, GIT_DIR and others name the repository of the hook.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env=environment | {"GIT_OPTIONAL_LOCKS": "0"},  # other processes may use the repository now
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    return done.stdout.decode(errors="replace").strip()
