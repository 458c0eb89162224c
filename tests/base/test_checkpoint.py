"""A checkpoint is read as it was written, or it is said why not; of two trainings it is said what differs."""

from pathlib import Path

import pytest
import torch

from leaps.base.checkpoint import damaged, describe, differences, read_checkpoint, write_checkpoint


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "c", {"update": 3, "weights": torch.ones(2)})
    found = read_checkpoint(tmp_path / "c", ("update", "weights"))
    assert (found["update"], found["weights"].tolist()) == (3, [1.0, 1.0])


def test_what_lacks_something_is_damaged(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "c", {"update": 3})
    with pytest.raises(ValueError, match=r"c is damaged or of another version \(KeyError\); remove it"):
        read_checkpoint(tmp_path / "c", ("update", "weights"))


@pytest.mark.parametrize(
    ("why", "said"), [("first\n last ", "(last)"), ("", "(unknown)"), ("\n", "(unknown)")]
)
def test_of_a_long_complaint_the_last_line_is_told(why: str, said: str) -> None:
    assert said in str(damaged(Path("file"), why))


def test_only_what_differs_is_told_within_settings_too() -> None:
    theirs = {"task": "maze", "seed": 1, "settings": {"clip": 0.2, "epochs": 4, "origin": "x"}, "more": 1}
    mine = {"task": "maze", "seed": 2, "settings": {"clip": 0.2, "epochs": 8}}
    found = differences(theirs, mine)
    assert found == {"seed": (1, 2), "epochs": (4, 8), "origin": ("x", None)}
    assert describe(found) == "seed=1, not 2, epochs=4, not 8, origin='x', not None"
    assert differences(theirs, theirs) == {}
