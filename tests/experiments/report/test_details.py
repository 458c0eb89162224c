"""Parts of a table's section besides its numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaps import __version__
from leaps.experiments.catalogue import TABLES
from leaps.experiments.cell import Result, cell
from leaps.experiments.report.contents import gather
from leaps.experiments.report.details import details_of
from leaps.experiments.report.documents import documents_of
from leaps.experiments.report.parts import Heading, Listing, Part, SideBySide, Words, pictures_of
from leaps.experiments.store import Store
from tests.experiments.report.synthetic import LONG, SHORT, curve_values, keep, keep_entry, keep_search


def details(store: Store, name: str) -> list[Part]:
    contents = gather(store)
    (section,) = (one for one in contents.sections if one.experiment.name == name)
    return details_of(section, contents)


def listing(parts: list[Part], label: str) -> dict[str, dict[str, str]]:
    """Rows of a table by their names; a row without a name of its own follows `above/`."""
    (found,) = (part for part in parts if isinstance(part, Listing) and part.label == label)
    rows: dict[str, dict[str, str]] = {}
    last = ""
    for row in found.rows:
        last = f"{last}/reported" if row[0] == "reported" else row[0].strip("*")
        rows[last] = dict(zip(found.head[1:], row[1:], strict=True))
    return rows


def programs(parts: list[Part]) -> dict[str, list[tuple[str, str]]]:
    """Programs side by side, by their heading."""
    found, heading = {}, ""
    for part in parts:
        if isinstance(part, Heading):
            heading = part.text
        if isinstance(part, SideBySide):
            found[heading] = list(part.entries)
    return found


def keep_curve(store: Store, method: str, task: str, seed: int, perfect: int | None) -> None:
    values: dict[str, Any] = curve_values(np.random.default_rng(seed)) | {"evaluations_to_perfect": perfect}
    keep_search(store, cell("budget", method, task, seed), True, 10, 1.0, **values)


def test_budget_has_its_pictures_and_medians_beside_the_published(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed, perfect in enumerate([100, None, 300]):
        keep_curve(store, "hc", "maze", seed, perfect)
    keep_curve(store, "ladder", "maze", 0, None)
    keep_curve(store, "ladder", "snake", 0, 7)
    parts = details(store, "budget")
    assert [picture.name for picture in pictures_of(parts)] == [
        "budget-evaluations", "budget-evaluations-all", "budget-rollouts", "budget-rollouts-all",
        "budget-profiles",
    ]  # fmt: skip
    rows = listing(parts, "budget, evaluations until perfect")
    assert rows == {
        "hc": {"maze": "300 · 2/3", "snake": "–"},
        "hc, reported": {"maze": "135", "snake": "–"},
        "ladder": {"maze": "never · 0/1", "snake": "7 · 1/1"},
    }
    texts = " ".join(part.text for part in parts if isinstance(part, Words))
    assert (
        "Only rows with results on all 2 tasks of this table are shown. Results are missing for hc." in texts
    )


def test_budget_pictures_are_files_of_the_report(tmp_path: Path) -> None:
    store = Store(tmp_path / "r")
    keep_curve(store, "leaps+", "maze", 0, 5)
    documents = {one.file.name: one for one in documents_of(gather(store), tmp_path)}
    assert {"budget-evaluations.svg", "budget-profiles.svg"} <= set(documents)
    assert b"](figures/budget-rollouts-all.svg)" in documents["reproduction.md"].content


def test_unseen_changes_are_relative_to_table_3_and_to_seen_configurations(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_entry(store, "tasks", "leaps", "top-off", [0.8, 0.8])
    keep_entry(store, "tasks", "leaps", "harvester", [0.0])
    for seed, value in enumerate([0.7, 0.5]):
        keep(store, cell("unseen", "leaps", "top-off@0.75", seed), value, return_on_seen=0.75)
    keep(store, cell("unseen", "leaps", "harvester-subsets@0.1"), 0.5, return_on_seen=0.4)
    keep(store, cell("unseen", "viper", "top-off@0.75"), 0.5, return_on_seen=0.5)
    parts = details(store, "unseen")
    changes = listing(parts, "unseen, change against all configurations")
    assert changes["leaps"]["top-off@0.75"] == "−25.0 %"
    assert changes["leaps"]["harvester-subsets@0.1"] == "–"
    assert changes["leaps"]["top-off@0.05"] == changes["viper"]["top-off@0.75"] == "–"
    assert changes["leaps/reported"]["harvester-subsets@0.25"] == "+8.7 %"
    seen = listing(parts, "unseen, change against the configurations seen")
    assert (seen["leaps"]["top-off@0.75"], seen["leaps"]["harvester-subsets@0.1"]) == ("−20.0 %", "+25.0 %")
    assert seen["viper"]["top-off@0.75"] == "0.0 %"


def test_debugging_has_increases_and_edited_programs_beside_the_original(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for task, before, after in (("top-off", 0.5, 0.75), ("four-corner", 0.25, 0.5), ("harvester", 0.4, 0.4)):
        keep_entry(store, "debugging", "original", task, [before], [LONG])
        keep_entry(store, "debugging", "3-edits", task, [after, after], [SHORT, SHORT])
    parts = details(store, "debugging")
    assert listing(parts, "debugging, improvement") == {
        "3-edits": {
            "top-off": "+50.0 %", "four-corner": "+100.0 %", "harvester": "0.0 %", "average": "+50.0 %",
        },
        "3-edits/reported": {
            "top-off": "+10.5 %", "four-corner": "+200.0 %", "harvester": "+80.9 %", "average": "+97.1 %",
        },
    }  # fmt: skip
    shown = programs(parts)["top-off: original and edited"]
    assert [above.partition(":")[0] for above, _ in shown] == ["`original`", "`3-edits`"]
    assert shown[1][1] == "DEF run m(\n  move\nm)"


def test_first_seed_reconstructions_are_beside_the_test_program(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for method in ("leaps", "leaps+", "naive"):
        for seed, program in ((1, LONG), (0, SHORT)):
            values = {"r_mat": 0.25, "program": program} if method != "naive" else {"r_mat": 0.5}
            keep(store, cell("reconstruction", method, "WHILE", seed), 0.35, **values)
    shown = programs(details(store, "reconstruction"))
    assert list(shown) == ["WHILE"]
    assert [above for above, _ in shown["WHILE"]] == ["test program", "`leaps`: R_mat 0.25, seed 0"]
    assert "WHILE c( frontIsClear c) w(" in shown["WHILE"][0][1]
    assert shown["WHILE"][1][1] == "DEF run m(\n  move\nm)"


def test_lengths_have_tokens_loops_and_the_first_seeds_programs(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_entry(store, "length", "leaps-100", "maze", [1.0, 1.0], [SHORT, LONG])
    parts = details(store, "length")
    rows = listing(parts, "length, tokens and loops")
    assert rows["leaps-100"]["maze"] == "8.5 · 0.5"
    assert rows["leaps-100"]["harvester"] == "–"
    assert rows["reported program"]["harvester"] == "78 · 0"
    assert listing(parts, "length, programs") == {
        "maze, leaps-100": {"return": "1.00", "tokens": "5", "loops": "0", "program": f"`{SHORT}`"}
    }


@pytest.mark.parametrize("name", ["tasks", "karel-hard", "smoothness"])
def test_other_tables_have_no_additional_parts(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path)
    keep_entry(store, name, "leaps", TABLES[name].tasks[0], [0.5])
    assert details(store, name) == []


def test_missing_values_raise(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(Result(cell("unseen", "drl", "top-off@0.5"), {"return": 1.0}, 1.0, __version__))
    with pytest.raises(
        ValueError, match=r"the stored results of unseen lack a field .* run `leaps experiment unseen`"
    ):
        details(store, "unseen")
