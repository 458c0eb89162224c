"""`leaps experiment NAME --check N`: comparisons, output, errors and exit codes."""

import json
from pathlib import Path

import pytest

from tests.cli.harness import Leaps, assert_refused

RANDOM = ("experiment", "tasks", "--methods", "leaps-rand-8", "--tasks", "maze", "--jobs", 1)
FILE = Path("results/tasks/leaps-rand-8/maze-1.json")


@pytest.fixture(autouse=True)
def stored(leaps: Leaps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three stored seeds."""
    monkeypatch.chdir(tmp_path)
    assert leaps(*RANDOM, "--seeds", 3).code == 0


def test_good_cells_pass_and_the_seed_of_the_draw_is_printed(leaps: Leaps) -> None:
    before = {file: file.read_bytes() for file in Path("results").rglob("*.json")}
    done = leaps(*RANDOM, "--check", 2)
    assert done.code == 0
    assert "checked 2 of 3 stored cells, drawn with --check-seed " in done.out
    assert ": 2 equal bit for bit, 0 with another value" in done.out
    assert done.out.count(": equal\n") == 2
    assert {file: file.read_bytes() for file in Path("results").rglob("*.json")} == before
    seed = done.out.partition("--check-seed ")[2].partition(":")[0]
    again = leaps(*RANDOM, "--check", 2, "--check-seed", seed, "--json").json
    assert again["check_seed"] == int(seed)
    assert all(f"{name}: equal" in done.out for name in again["checked"])


def test_one_altered_digit_is_reported_with_its_path(leaps: Leaps) -> None:
    kept = json.loads(FILE.read_text())
    evaluations = kept["values"]["evaluations"]
    kept["values"]["evaluations"] = evaluations + 1
    del kept["values"]["solved"]
    kept["machine"]["numpy"] = "1.0.0"
    FILE.write_text(json.dumps(kept))
    done = leaps(*RANDOM, "--check", 100)
    assert done.code == 1
    assert "tasks/leaps-rand-8/maze-1: 2 fields differ" in done.out
    assert f"  values.evaluations: expected {evaluations + 1}, found {evaluations}\n" in done.out
    assert "  values.solved: not stored, found " in done.out
    assert "numpy 1.0.0 when stored, " in done.out
    assert "may differ in the last bits" in done.out
    assert ": 2 equal bit for bit, 1 with another value than stored, 0 that only lack new" in done.out
    done = leaps(*RANDOM, "--check", 100, "--json")
    assert (done.code, done.json["equal"], done.json["stored"]) == (1, 2, 3)
    (different,) = done.json["different"]
    assert (different["cell"], different["file"]) == ("tasks/leaps-rand-8/maze-1", str(FILE))
    assert different["differences"][0] == {
        "path": "values.evaluations",
        "stored": True,
        "expected": evaluations + 1,
        "found": evaluations,
    }


def test_damaged_file_is_named_and_not_changed(leaps: Leaps) -> None:
    FILE.write_text("{")
    done = leaps(*RANDOM, "--check", 5, "--json")
    assert (done.code, done.json["equal"], done.json["damaged"]) == (1, 2, [str(FILE)])
    assert f"damaged file, not checked: {FILE}" in leaps(*RANDOM, "--check", 5).out
    assert FILE.read_text() == "{"


def test_misuse_is_an_error(leaps: Leaps) -> None:
    words = ("experiment", "tasks", "--tasks", "maze")
    assert_refused(
        leaps(*words, "--methods", "hc", "--check", 1), "no such cells of tasks are stored in results"
    )
    assert_refused(leaps(*words, "--check-seed", 1), "--check-seed: expected --check N as well")
    assert_refused(leaps("experiment", "--check", 1), "--check: expected the NAME of an experiment")
    assert_refused(leaps(*RANDOM, "--quick", "--check", 1), "no such cells of tasks are stored")
