"""Results are written once and atomically; unreadable files are moved aside and recomputed."""

import json
from pathlib import Path
from typing import Any

import pytest

from leaps import __version__
from leaps.experiments import store
from leaps.experiments.cell import Result, cell
from leaps.experiments.store import Store
from tests.disk import full_disk

CELL = cell("tasks", "drl", "maze", 2, size="8x8")


def result(value: float = 0.5, version: str = __version__) -> Result:
    return Result(CELL, {"return": value}, 1.0, version)


def test_written_result_is_read(tmp_path: Path) -> None:
    kept = Store(tmp_path / "new")
    assert kept.read(CELL) is None
    kept.write(result())
    assert Store(tmp_path / "new").read(CELL) == result()
    assert (tmp_path / "new" / "tasks" / "drl" / "maze-size=8x8-2.json").exists()


def test_a_result_is_never_replaced(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    kept.write(result(0.5))
    kept.write(result(0.7))
    assert kept.read(CELL) == result(0.5)


def test_all_results_of_an_experiment_and_no_others(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    cells = [cell("tasks", "drl", "maze", 1), cell("tasks", "hc", "maze"), cell("other", "hc", "maze")]
    for one in cells:
        kept.write(Result(one, {}, 0.0, __version__))
    assert [found.cell for found in kept.all("tasks")] == cells[:2]
    assert list(kept.all("nothing")) == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"cell": {}}', b"null"])
def test_a_damaged_file_is_moved_aside_and_the_cell_computed_again(tmp_path: Path, content: bytes) -> None:
    kept = Store(tmp_path)
    kept.write(result())
    file = kept.file(CELL)
    file.write_bytes(content)
    assert kept.read(CELL) is None
    assert [path.read_bytes() for path in kept.aside] == [content]
    kept.write(result(0.9))
    assert kept.read(CELL) == result(0.9)
    assert [found.values["return"] for found in kept.all("tasks")] == [0.9]


def test_earlier_damaged_files_are_kept(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    for content in (b"first", b"second", b"third"):
        kept.file(CELL).parent.mkdir(parents=True, exist_ok=True)
        kept.file(CELL).write_bytes(content)
        assert kept.read(CELL) is None
    assert [path.read_bytes() for path in kept.aside] == [b"first", b"second", b"third"]
    assert [path.name.partition(".json")[2] for path in kept.aside] == [
        ".damaged",
        ".damaged-1",
        ".damaged-2",
    ]
    assert list(kept.all("tasks")) == []


def test_read_only_store_moves_no_files(tmp_path: Path) -> None:
    Store(tmp_path).write(result())
    reader = Store(tmp_path, only_read=True)
    reader.file(CELL).write_bytes(b"{")
    assert reader.read(CELL) is None
    assert list(reader.all("tasks")) == []
    assert reader.aside == [reader.file(CELL)] * 2
    assert [path.name for path in reader.file(CELL).parent.iterdir()] == [reader.file(CELL).name]


def test_truncated_file_is_not_a_result(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    kept.write(result())
    whole = kept.file(CELL).read_bytes()
    for length in range(0, len(whole) - 2, 7):
        kept.file(CELL).write_bytes(whole[:length])
        assert kept.read(CELL) is None


def test_misnamed_file_is_moved_aside(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    kept.write(result())
    other = cell("tasks", "drl", "maze", 3, size="8x8")
    kept.file(CELL).rename(kept.file(other))
    assert kept.read(other) is None
    assert len(kept.aside) == 1


def test_results_of_another_version_raise(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    kept.write(result())
    stored: dict[str, Any] = json.loads(kept.file(CELL).read_text())
    kept.file(CELL).write_text(json.dumps(stored | {"version": "0.0.1"}))
    for read in (lambda: kept.read(CELL), lambda: list(kept.all("tasks"))):
        with pytest.raises(ValueError, match=r"written by leaps 0\.0\.1, but this is .*Use another folder"):
            read()
    assert kept.file(CELL).exists()


def test_full_disk_leaves_no_truncated_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Store(tmp_path)

    def full(file: Path, content: bytes) -> None:  # noqa: ARG001
        raise OSError(28, "No space left on device", str(file))

    monkeypatch.setattr(store, "write_atomically", full)
    with pytest.raises(OSError, match="No space left"):
        kept.write(result())
    assert kept.read(CELL) is None


def test_unwritable_folder_raises_with_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    Store(folder).check_writable()
    assert list(folder.iterdir()) == []
    with full_disk(after=0), pytest.raises(OSError) as caught:
        Store(folder).check_writable()
    assert caught.value.filename == str(folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        Store(tmp_path / "file" / "results").check_writable()


def test_file_as_results_folder_raises(tmp_path: Path) -> None:
    file = tmp_path / "results"
    file.write_text("")
    with pytest.raises(ValueError, match="is a file; expected a folder for results"):
        Store(file)


def test_a_list_of_plain_values_is_one_line_whatever_is_in_it(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    values: dict[str, Any] = {
        "numbers": [1.5, -2, 0],
        "words": ["a, b", "[\n 1,\n 2\n]", "{}"],
        "nested": [[1, 2], [3]],
        "empty": [],
        "objects": [{"x": [1, 2]}],
    }
    kept.write(Result(CELL, values, 1.0, __version__))
    found = kept.read(CELL)
    assert found is not None
    assert found.values == values
    lines = [line.strip() for line in kept.file(CELL).read_text().splitlines()]
    assert '"numbers": [1.5, -2, 0],' in lines
    assert '"x": [1, 2]' in lines
    assert "[1, 2]," in lines  # of several, each has its own
