"""Atomic writes and folder locks: a file is complete or absent, even if the writing process is killed."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path


def write_atomically(file: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part.

    Missing folders are created. An existing file keeps its permissions. An OSError names the file.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as stream:
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(file, temporary)  # before there is content to read
            stream.write(content)
        os.replace(temporary, file)
    except OSError as error:  # it names the temporary file, or no file
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(file)) from None
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder for one process at a time; others wait until the lock is released or its owner exits."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("ab") as file:
        # Some platforms and file systems have no such locks. Two processes may then do the same work, which
        # wastes time but harms nothing, since writes are atomic.
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)  # released when the file is closed or the process exits
        yield
