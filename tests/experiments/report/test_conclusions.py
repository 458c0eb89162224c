"""Conclusions: the sentences above a table follow from its numbers."""

from pathlib import Path

from leaps.experiments.computing import CUMULATIVE, STEPS
from leaps.experiments.report.conclusions import conclusion_of, mean_of
from leaps.experiments.report.contents import Section, gather
from leaps.experiments.store import Store
from tests.experiments.report.synthetic import everything, keep_entry, small


def section_of(store: Store, name: str) -> Section:
    (found,) = (one for one in gather(store).sections if one.experiment.name == name)
    return found


def test_reported_numbers_are_counted(tmp_path: Path) -> None:
    text = conclusion_of(section_of(small(tmp_path), "tasks"))
    assert text.endswith(
        "Of 3 reported numbers, 1 agree within the reported deviation; higher here: 1, lower: 1."
    )


def test_a_row_without_all_columns_has_no_mean(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_entry(store, "smoothness", "leaps", "train", [0.3])
    keep_entry(store, "smoothness", "leaps-p", "train", [0.2])
    keep_entry(store, "smoothness", "leaps-p", "validation", [0.2])
    keep_entry(store, "smoothness", "leaps-p", "test", [0.5])
    section = section_of(store, "smoothness")
    assert mean_of(section, "leaps") is None
    assert conclusion_of(section).startswith(
        "Means over the three columns: `leaps-p` 0.30 (`leaps`: results missing in some columns)."
    )


def test_rows_are_listed_from_the_highest_mean_down(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for method, value in (("leaps-45", 0.25), ("leaps-100", 0.75)):
        for task in section_of(everything(tmp_path / "all"), "length").experiment.tasks:
            keep_entry(store, "length", method, task, [value])
    assert "`leaps-100` 0.75, `leaps-45` 0.25" in conclusion_of(section_of(store, "length"))


def test_the_largest_step_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    chain = ["leaps", *(name for name in STEPS if name.startswith("leaps+setting")), "leaps+"]
    assert len(chain) == len(CUMULATIVE) + 1
    for row, value in zip(chain, (0.5, 0.5, 0.6, 0.9, 0.95, 1.0), strict=True):
        for task in ("stair-climber", "four-corner", "top-off", "maze", "clean-house", "harvester"):
            keep_entry(store, "steps", row, task, [value])
    assert conclusion_of(section_of(store, "steps")).startswith(
        "The changes raise the mean return from 0.50 (`leaps`) to 1.00 (`leaps+`). "
        f"The largest step is `{CUMULATIVE[2]}`, with 0.30."
    )


def test_row_with_the_largest_effect_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for row, value in (("leaps", 0.8), ("in-p", 0.7), ("in-p24-kl-sum", 0.1)):
        for task in ("stair-climber", "four-corner", "top-off", "maze", "clean-house", "harvester"):
            keep_entry(store, "depends", row, task, [value])
    text = conclusion_of(section_of(store, "depends"))
    assert text.startswith(
        "`in-p24-kl-sum` has the lowest mean over the six columns, 0.10. All other rows have 0.70 to 0.80."
    )


def test_every_experiment_has_a_conclusion(tmp_path: Path) -> None:
    for section in gather(everything(tmp_path)).sections:
        text = conclusion_of(section)
        assert text.endswith("."), section.experiment.name
        assert "  " not in text
