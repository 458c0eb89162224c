"""A file of tensors has metadata and reproducible bytes; any other file raises an error."""

import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save

from leaps.base.tensors import check_vocabulary, metadata, read_about

ABOUT: dict[str, Any] = {
    "vocabulary": ["a", "b", "c"],
    "config": {"seed": 3, "share": 0.1, "programs": None},
    "name": 'Köln "quoted"\n',
    "version": "1.0",
}
NOT_LEAPS = "is damaged, or not a file of LEAPS"


def content(about: dict[str, Any]) -> bytes:
    tensors: dict[str, NDArray[Any]] = {
        "x": np.arange(6, dtype=np.float32).reshape(2, 3),
        "y": np.zeros(2),
        "z": np.ones(1),
    }
    return save(tensors, metadata(about))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A valid file of LEAPS."""
    (tmp_path / "file.safetensors").write_bytes(content(ABOUT))
    return tmp_path / "file.safetensors"


def assert_refused(file: Path, message: str = NOT_LEAPS) -> None:
    with pytest.raises(ValueError, match=f"{re.escape(str(file))} {message}"):
        read_about(file)


# There and back


def test_the_same_tensors_are_the_same_bytes() -> None:
    assert len({content(ABOUT) for _ in range(50)}) == 1


def test_metadata_is_read_as_it_was_written(file: Path) -> None:
    assert read_about(file) == ABOUT


def test_metadata_may_be_empty(file: Path) -> None:
    file.write_bytes(content({}))
    assert read_about(file) == {}


def test_any_safetensors_reader_reads_the_tensors(file: Path) -> None:
    assert load_file(file)["x"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_metadata_that_json_cannot_express_raises() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        metadata({"device": object()})


# Files that LEAPS did not write


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "nowhere.safetensors"))):
        read_about(tmp_path / "nowhere.safetensors")


@pytest.mark.parametrize("kept", [0, 4, 8, 40, 200, -1])
def test_a_truncated_file_is_refused(file: Path, kept: int) -> None:
    file.write_bytes(file.read_bytes()[:kept])
    assert_refused(file)


@pytest.mark.parametrize("seed", range(5))
def test_a_file_of_noise_is_refused(file: Path, seed: int) -> None:
    file.write_bytes(np.random.default_rng(seed).bytes(5000))
    assert_refused(file)


@pytest.mark.parametrize("header", [b"[]", b"null", b"{", b"\xff\xff"])
def test_a_header_that_is_not_an_object_is_refused(file: Path, header: bytes) -> None:
    file.write_bytes(struct.pack("<Q", len(header)) + header)
    assert_refused(file)


@pytest.mark.parametrize("entries", [None, {}, {"format": "pt"}, {"vocabulary": "a b c"}])
def test_a_file_of_other_tensors_is_refused(file: Path, entries: dict[str, str] | None) -> None:
    file.write_bytes(save({"x": np.zeros(3)}, entries))
    assert_refused(file)


@pytest.mark.parametrize("text", ["", "{", "a b c"])
def test_metadata_that_is_not_json_is_refused(file: Path, text: str) -> None:
    file.write_bytes(save({"x": np.zeros(3)}, {"leaps": text}))
    assert_refused(file)


@pytest.mark.parametrize(("text", "shown"), [("[]", r"\[\]"), ("null", "None"), ('"a"', "'a'")])
def test_metadata_that_is_not_an_object_is_refused_and_shown(file: Path, text: str, shown: str) -> None:
    file.write_bytes(save({"x": np.zeros(3)}, {"leaps": text}))
    assert_refused(file, f"is damaged: expected an object as metadata, found {shown}")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert_refused(tmp_path)


def test_a_refused_file_is_closed_and_can_be_deleted(file: Path) -> None:
    file.write_bytes(b"noise")
    assert_refused(file)
    file.unlink()
    assert not file.exists()


# Vocabularies


def assert_other_vocabulary(vocabulary: list[str], message: str) -> None:
    """Check a file with this vocabulary where a, b, c, d, e, f, g is expected."""
    with pytest.raises(
        ValueError, match=f"^some/file was made with another vocabulary: {re.escape(message)}$"
    ):
        check_vocabulary(Path("some/file"), {"vocabulary": vocabulary}, tuple("abcdefg"))


def test_the_same_tokens_in_the_same_order_are_accepted() -> None:
    check_vocabulary(Path("some/file"), {"vocabulary": list("abcdefg")}, tuple("abcdefg"))


def test_the_vocabulary_in_a_files_metadata_is_accepted(file: Path) -> None:
    check_vocabulary(file, read_about(file), ("a", "b", "c"))


def test_a_replaced_token_is_named_with_its_replacement() -> None:
    assert_other_vocabulary(list("abXdefg"), "7 tokens instead of 7; they differ in X, c")


def test_an_extra_token_is_named() -> None:
    assert_other_vocabulary([*"abcdefg", "jump"], "8 tokens instead of 7; they differ in jump")


def test_a_missing_token_is_named() -> None:
    assert_other_vocabulary(list("abcdef"), "6 tokens instead of 7; they differ in g")


def test_only_five_tokens_are_named() -> None:
    assert_other_vocabulary([], "0 tokens instead of 7; they differ in a, b, c, d, e")


def test_the_same_tokens_in_another_order_are_refused() -> None:
    assert_other_vocabulary(list("abcdegf"), "7 tokens instead of 7, in another order")


def test_a_file_without_a_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match="some/file was made with another vocabulary: 0 tokens"):
        check_vocabulary(Path("some/file"), {}, tuple("abcdefg"))


@pytest.mark.parametrize("vocabulary", [None, 5])
def test_a_vocabulary_that_is_not_a_list_is_refused(vocabulary: object) -> None:
    with pytest.raises(ValueError, match="some/file"):
        check_vocabulary(Path("some/file"), {"vocabulary": vocabulary}, tuple("abcdefg"))
