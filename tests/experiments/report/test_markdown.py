"""The report as Markdown: results here above the reported, marks, notes, commands, programs."""

import re
from pathlib import Path

from leaps.experiments.catalogue import TABLES
from leaps.experiments.cell import cell
from leaps.experiments.report.contents import gather
from leaps.experiments.report.costs import cost_of
from leaps.experiments.report.markdown import results_table, to_markdown, to_readme
from leaps.experiments.report.notes import Notes
from leaps.experiments.store import Store
from tests.experiments.report.synthetic import all_shown, everything, keep_entry, keep_search, small

NOTES: Notes = {("tasks", "hc", None): "Other worlds."}


def test_results_stand_above_the_reported(tmp_path: Path) -> None:
    lines = results_table(gather(small(tmp_path), NOTES).sections[0]).splitlines()
    assert lines[0] == "|  | stair-climber | four-corner | top-off | maze | clean-house | harvester |"
    place = next(i for i, line in enumerate(lines) if line.startswith("| **leaps** "))
    assert lines[place] == "| **leaps** | – | – | – | 1.00 (0.00) · 5 | ▲ 0.92 (0.08) · 5 | – |"
    assert lines[place + 1].startswith("| reported | 1.00 (0.00) | 0.45 (0.40) | 0.81 (0.07) | 1.00 (0.00) |")
    assert "| **hc** | – | – | – | ▼<sup>1</sup> 0.95 (0.07) · 2 | – | – |" in lines
    assert lines[-1] == "| **ladder** | – | – | – | 1.00 (0.00) · 32 | – | – |"  # nothing was reported


def test_all_lines_of_a_table_are_as_wide(tmp_path: Path) -> None:
    text = to_markdown(gather(everything(tmp_path)))
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_notes_are_below_the_table_and_unexplained_entries_at_the_end(tmp_path: Path) -> None:
    text = to_markdown(gather(small(tmp_path), NOTES))
    assert "\n\n1. Other worlds.\n\n" in text
    last = text[text.index("## Not explained yet") :]
    assert "- tasks: leaps on clean-house, ▲ 0.92 (0.08) · 5, reported 0.18 (0.14)\n" in last
    assert "hc" not in last
    explained: Notes = {**NOTES, ("tasks", "leaps", None): "Luck."}
    assert "Not explained yet" not in to_markdown(gather(small(tmp_path), explained))


def test_report_omits_experiments_without_results(tmp_path: Path) -> None:
    text = to_markdown(gather(small(tmp_path), NOTES))
    assert "smoothness" not in text
    assert "## length" not in text
    store = Store(tmp_path / "other")
    keep_entry(store, "smoothness", "leaps", "train", [0.31])
    assert "Programs found" not in to_markdown(gather(store))


def test_summaries_and_origin_are_below_the_table(tmp_path: Path) -> None:
    text = to_markdown(gather(small(tmp_path), NOTES))
    assert "| hc | 0.95 | 0.90 to 1.00 | 2 | 0.95 | 1.00 | 1 ▼ worse |" in text
    assert "\nleaps experiment tasks --methods hc --tasks maze --seeds 2\n" in text
    assert "- Machines: Imagined Thing 9000, 8 cores\n- Computing: 44.0 minutes in all" in text
    assert "(figures/tasks.svg)" in text


def test_programs_are_indented(tmp_path: Path) -> None:
    text = to_markdown(gather(small(tmp_path), NOTES))
    assert (
        "### clean-house\n\n`leaps`: return 1.00, 5 tokens, seed 2\n\n```\nDEF run m(\n  move\nm)\n```\n"
        in text
    )
    assert text.count("### maze") == 1


def test_a_report_with_quick_runs_says_so_first(tmp_path: Path) -> None:
    store = small(tmp_path)
    assert "quick runs" not in to_markdown(gather(store))
    text = to_markdown(gather(store, quick=True))
    assert text.index("quick runs") < text.index("## tasks")


def test_a_readme_has_a_small_table_without_footnotes_and_a_link(tmp_path: Path) -> None:
    lines = to_readme(gather(small(tmp_path), NOTES).sections, "docs/reproduction.md").splitlines()
    assert not any("<sup>" in line for line in lines)
    assert lines[2:-2] == [
        "| Hill climbing (HC), reported | 1.00 | 1.00 | 1.00 | 1.00 | 1.00 | 1.00 |",
        "| Hill climbing (HC), here | – | – | – | 0.95 (0.07) · 2 | – | – |",
        "| Ladder, here | – | – | – | 1.00 (0.00) · 32 | – | – |",
    ]
    assert lines[-1].endswith("(docs/reproduction.md).")


def test_marks_are_explained_once(tmp_path: Path) -> None:
    text = to_markdown(gather(everything(tmp_path)))
    assert text.count("▲ is better and ▼ worse than reported") == 1
    assert text.index("How to read the tables") < text.index("## reconstruction")


def test_details_are_folded_below_the_table_and_the_chart(tmp_path: Path) -> None:
    text = to_markdown(gather(small(tmp_path), NOTES))
    section = text[text.index("## tasks") : text.index("## karel-hard")]
    folded = section.index('<details markdown="1">\n<summary>Details: tasks</summary>\n\n')
    assert section.index("Of 3 reported") < section.index("| **hc** |") < section.index("![tasks") < folded
    assert folded < section.index("| hc | 0.95 | 0.90 to 1.00 |") < section.index("\n\n</details>")
    assert text.count("<details") == text.count("</details>")


def test_figures_have_pictures_tables_of_programs_and_commands(tmp_path: Path) -> None:
    text = to_markdown(gather(all_shown(tmp_path)))
    assert text.index("## latent-map") < text.index("## cem-trajectory") < text.index("## rollouts")
    assert "](figures/cem-trajectory-leaps+-stair-climber.svg)\n" in text
    head = "| iteration | return | on 1,000 held-out worlds | best program of the population |"
    assert f"{head}\n| --- | ---: | ---: | --- |\n" in text
    assert "| 2 (converged) | 1.00 | 0.88 | `DEF run m( WHILE" in text
    assert "\n### snake\n\n`ladder`: return 1.00 in this rollout" in text
    assert "```\nleaps experiment interpolation\n```" in text
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1


def cost_cells(name: str) -> int:
    return cost_of(TABLES[name], {}).cells


def test_report_shows_effort_and_cost(tmp_path: Path) -> None:
    store = small(tmp_path)
    keep_search(store, cell("tasks", "cebs", "maze", 0), True, 77, 2.0)
    text = to_markdown(gather(store, NOTES))
    tasks = text[text.index("## tasks") : text.index("## karel-hard")]
    assert "### Searches\n\n|  | stair-climber |" in tasks
    assert "| cebs | – | – | – | 1/1 · 72 · 77 · 1.2k · 2.0 s | – | – |" in tasks
    assert "### Searches" not in text[text.index("## karel-hard") :]
    costs = text[text.index("## Computing cost") :]
    for name, measured in (("tasks", 45), ("karel-hard", 2)):
        assert f"| {name} | {cost_cells(name):,} | {measured} |" in costs
    assert "## Computing cost" not in to_markdown(gather(store, NOTES, quick=True))
