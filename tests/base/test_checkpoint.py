"""Checkpoints are read as written or raise an error; differences of two trainings are listed."""

from pathlib import Path

import pytest
import torch

from leaps.base.checkpoint import damaged, describe, differences, read_checkpoint, write_checkpoint


def test_a_checkpoint_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "c", {"update": 3, "weights": torch.ones(2)})
    found = read_checkpoint(tmp_path / "c", ("update", "weights"))
    assert (found["update"], found["weights"].tolist()) == (3, [1.0, 1.0])


def test_a_checkpoint_without_an_expected_entry_is_damaged(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "c", {"update": 3})
    with pytest.raises(ValueError, match=r"c is damaged or of another version \(KeyError\); remove it"):
        read_checkpoint(tmp_path / "c", ("update", "weights"))


@pytest.mark.parametrize(
    ("why", "shown"), [("first\n last ", "(last)"), ("", "(unknown)"), ("\n", "(unknown)")]
)
def test_only_the_last_line_of_a_long_reason_is_shown(why: str, shown: str) -> None:
    assert shown in str(damaged(Path("file"), why))


def test_only_differences_are_listed_also_within_settings() -> None:
    stored = {"task": "maze", "seed": 1, "settings": {"clip": 0.2, "epochs": 4, "origin": "x"}, "more": 1}
    requested = {"task": "maze", "seed": 2, "settings": {"clip": 0.2, "epochs": 8}}
    found = differences(stored, requested)
    assert found == {"seed": (1, 2), "epochs": (4, 8), "origin": ("x", None)}
    assert describe(found) == "seed=1, not 2, epochs=4, not 8, origin='x', not None"
    assert differences(stored, stored) == {}
