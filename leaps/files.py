"""Files that are whole or not there, whatever happens while they are written."""

import contextlib
import os
import secrets
import shutil
from pathlib import Path


def write_atomically(file: Path, content: bytes) -> None:
    """Write a file so that it is the old one or the new one, never half of it.

    Folders are made as needed. A file that was there keeps its permissions.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as stream:
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(file, temporary)  # before there is something to read
            stream.write(content)
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)
