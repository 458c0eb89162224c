"""Files that are whole or not there, whatever happens while they are written."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path


def write_atomically(file: Path, content: bytes) -> None:
    """Write a file so that it is the old one or the new one, never half of it.

    Folders are made as needed. A file that was there keeps its permissions. An OSError names the file.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as stream:
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(file, temporary)  # before there is something to read
            stream.write(content)
        os.replace(temporary, file)
    except OSError as error:  # of a file that nobody has heard of, or of none at all
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(file)) from None
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time do something in a folder; others wait until it is done, or dead."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("ab") as file:
        # Not every platform has such locks, nor every file system. Where there are none, two may do the same
        # work, which is a pity and no more, since files are written whole.
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed, which the end of a process does, too
        yield
