"""Explanations belong to something that exists."""

from leaps.experiments.catalogue import EXPERIMENTS
from leaps.experiments.paper import REPORTED
from leaps.report.notes import NOTES, note_of


def test_every_note_is_about_an_entry_with_a_reported_number() -> None:
    for experiment, method, task in NOTES:
        assert method in EXPERIMENTS[experiment].methods
        assert method in REPORTED[experiment]
        assert task is None or task in EXPERIMENTS[experiment].tasks


def test_a_note_is_a_sentence() -> None:
    assert all(note == note.strip() and note.endswith(".") for note in NOTES.values())


def test_an_entrys_own_note_goes_before_its_rows() -> None:
    notes = {("tasks", "drl", None): "Row.", ("tasks", "drl", "maze"): "Maze."}
    assert note_of(notes, "tasks", "drl", "maze") == "Maze."
    assert note_of(notes, "tasks", "drl", "top-off") == "Row."
    assert note_of(notes, "tasks", "hc", "maze") is None
    assert note_of(notes, "length", "drl", "maze") is None
