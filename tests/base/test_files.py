import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from leaps.base.files import locked, write_atomically
from tests.disk import full_disk


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def permissions(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("content", [b"", b"new", bytes(range(256)) * 10_000])
def test_a_file_has_the_written_content_and_no_temporary_file_remains(tmp_path: Path, content: bytes) -> None:
    write_atomically(tmp_path / "file", content)
    assert contents(tmp_path) == {"file": content}


def test_a_new_file_replaces_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old and longer")
    write_atomically(file, b"new")
    assert contents(tmp_path) == {"file": b"new"}


def test_missing_folders_are_created(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "down" / "file"
    write_atomically(file, b"new")
    assert file.read_bytes() == b"new"


def test_a_path_without_a_folder_is_written_to_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_atomically(Path("file"), b"new")
    assert contents(tmp_path) == {"file": b"new"}


def test_an_open_reader_keeps_reading_the_old_content(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    with file.open("rb") as stream:
        write_atomically(file, b"new")
        assert stream.read() == b"old"


@pytest.mark.parametrize("before", [{}, {"file": b"old"}])
def test_a_full_disk_leaves_the_old_file_unchanged(tmp_path: Path, before: dict[str, bytes]) -> None:
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    with full_disk(after=1000), pytest.raises(OSError, match="File too large") as caught:
        write_atomically(tmp_path / "file", bytes(100_000))
    assert caught.value.filename == str(tmp_path / "file")
    assert contents(tmp_path) == before


@pytest.mark.parametrize("error", [OSError("not allowed"), KeyboardInterrupt()])
def test_a_failed_replacement_leaves_the_old_file_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(*_: object) -> None:
        raise error

    (tmp_path / "file").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(type(error)):
        write_atomically(tmp_path / "file", b"new")
    assert contents(tmp_path) == {"file": b"old"}


def test_writing_to_a_folder_raises(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OSError, match="folder") as caught:
        write_atomically(folder, b"new")
    assert caught.value.filename == str(folder)  # not the temporary file
    assert list(tmp_path.iterdir()) == [folder]


def test_concurrent_writers_do_not_mix_their_content(tmp_path: Path) -> None:
    file = tmp_path / "file"
    whole = {bytes([letter]) * 100_000 for letter in b"abcd"}
    together = threading.Barrier(len(whole))

    def write_and_read(content: bytes) -> set[bytes]:
        together.wait()
        seen = set()
        for _ in range(25):
            write_atomically(file, content)
            seen.add(file.read_bytes())
        return seen

    with ThreadPoolExecutor(len(whole)) as pool:
        seen = set[bytes]().union(*pool.map(write_and_read, whole))
    assert seen <= whole
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_has_the_default_permissions(tmp_path: Path, mask: int) -> None:
    with umask(mask):
        write_atomically(tmp_path / "file", b"new")
    assert permissions(tmp_path / "file") == 0o666 & ~mask


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_an_existing_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    file.chmod(mode)
    write_atomically(file, b"new")
    assert (permissions(file), file.read_bytes()) == (mode, b"new")


def test_a_folder_is_locked_for_one_thread_at_a_time(tmp_path: Path) -> None:
    inside, most, together = 0, 0, threading.Barrier(4)

    def enter(_: int) -> None:
        nonlocal inside, most
        together.wait()
        for _ in range(10):
            with locked(tmp_path / "new"):
                inside += 1
                most = max(most, inside)
                time.sleep(0.001)
                inside -= 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(enter, range(4)))
    assert most == 1


def test_a_lock_is_released_when_its_process_exits(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from leaps.base.files import locked\n"
        "with locked(Path(sys.argv[1])): os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    with locked(tmp_path):
        pass


def test_a_platform_without_locks_runs_without_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with locked(tmp_path), locked(tmp_path):
        pass
