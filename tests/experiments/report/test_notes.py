"""Explanations belong to something that exists."""

from pathlib import Path

from leaps.experiments.catalogue import EXPERIMENTS
from leaps.experiments.paper import REPORTED
from leaps.experiments.report.contents import gather
from leaps.experiments.report.notes import NOTES, note_of
from leaps.experiments.store import Store


def test_every_note_is_about_an_entry_with_a_reported_number() -> None:
    for experiment, method, task in NOTES:
        assert method in EXPERIMENTS[experiment].methods
        assert method in REPORTED[experiment]
        assert task is None or task in EXPERIMENTS[experiment].tasks


def test_every_note_is_shown_once_there_are_results() -> None:
    """Notes are for marked entries. Fewer seeds may leave an entry unmarked, so its note is not needed."""
    store = Store(Path(__file__).parents[3] / "results", only_read=True)
    tables = {section.experiment.name: section.table for section in gather(store).sections}
    never_shown = []
    for experiment, method, task in NOTES:
        table = tables.get(experiment, {})
        own = [name for name in EXPERIMENTS[experiment].tasks if (experiment, method, name) in NOTES]
        tasks = (
            [name for name in EXPERIMENTS[experiment].tasks if name not in own] if task is None else [task]
        )
        entries = [table[method, name] for name in tasks if (method, name) in table]
        if entries and all(one.entry and not one.mark for one in entries):
            never_shown.append((experiment, method, task))
    assert never_shown == []


def test_a_note_is_a_sentence() -> None:
    assert all(note == note.strip() and note.endswith(".") for note in NOTES.values())


def test_note_of_an_entry_precedes_that_of_its_row() -> None:
    notes = {("tasks", "drl", None): "Row.", ("tasks", "drl", "maze"): "Maze."}
    assert note_of(notes, "tasks", "drl", "maze") == "Maze."
    assert note_of(notes, "tasks", "drl", "top-off") == "Row."
    assert note_of(notes, "tasks", "hc", "maze") is None
    assert note_of(notes, "length", "drl", "maze") is None
