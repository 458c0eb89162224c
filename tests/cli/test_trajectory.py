"""`leaps trajectory`, in an untrained space and with a budget of three populations."""

import json
from pathlib import Path

import pytest
from PIL import Image

from leaps.embedding.weights import save_weights
from tests.cli.harness import Leaps, assert_refused
from tests.embedding.helpers import untrained

STAIRS = "DEF run m( WHILE c( noMarkersPresent c) w( turnLeft move turnRight move w) m)"
BUDGET = 150


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("space") / "weights.safetensors"
    save_weights(untrained(16), file)
    return file


def test_trajectory_is_a_picture_a_film_a_table_and_numbers(
    leaps: Leaps, space: Path, tmp_path: Path
) -> None:
    (tmp_path / "truth.karel").write_text(f"# it works\n{STAIRS}")
    folder = tmp_path / "new" / "folder"
    words = ("stair-climber", "--method", "leaps+", "--seed", 3, "--budget", BUDGET, "--space", space)
    done = leaps("trajectory", *words, "--out", folder, "--truth", tmp_path / "truth.karel", "--json")
    assert (done.code, done.err) == (0, "")
    names = ["evolution.md", "trajectory.gif", "trajectory.json", "trajectory.png"]
    assert sorted(file.name for file in folder.iterdir()) == names

    report = done.json
    assert (report["task"], report["method"], report["seed"]) == ("stair-climber", "leaps+", 3)
    assert (report["iterations"], report["converged"], report["out"]) == (3, False, str(folder))

    kept = json.loads((folder / "trajectory.json").read_text())
    assert [len(row["population"]) for row in kept["iterations"]] == [64, 64, 22]
    assert (kept["truth"]["program"], kept["truth"]["return"]) == (STAIRS, 1.0)
    table = (folder / "evolution.md").read_text()
    for row in report["evolution"]:
        same = kept["iterations"][row["iteration"] - 1]
        assert (row["return"], row["program"]) == (same["best_return"], same["best_program"])
        assert f"| {row['iteration']} | {row['return']:.2f} | `{row['program']}` |" in table
    assert [row["iteration"] for row in report["evolution"]][:: len(report["evolution"]) - 1] == [1, 3]
    with Image.open(folder / "trajectory.gif") as film:
        assert film.n_frames == 3  # type: ignore[attr-defined]
    with Image.open(folder / "trajectory.png") as picture:
        assert picture.format == "PNG"


def test_evolution_of_programs_is_printed(
    leaps: Leaps, space: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = leaps("trajectory", "maze", "--method", "leaps", "--budget", 20, "--space", space)
    assert done.code == 0
    flat = " ".join(done.out.split())
    folder = Path("out/maze-leaps-0-trajectory")
    assert f"not converged after 2 iterations; see {folder / 'trajectory.png'}" in flat  # the paper's has 16
    kept = json.loads((folder / "trajectory.json").read_text())
    assert kept["config"]["method"] == "leaps"
    assert kept["truth"] is None
    assert f"│ 1 │ {kept['iterations'][0]['best_return']:.2f} │ DEF run m(" in flat


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("stair-climbr",), "unknown task 'stair-climbr'; did you mean 'stair-climber'?"),
        (("maze", "--method", "ladder"), "--method: expected leaps or leaps+, found 'ladder'"),
        (("maze", "--method", "sem"), "unknown method 'sem'"),
        (("maze", "--budget", 0), "budget must be at least 1, found 0"),
        (("maze", "--seed", -1), "--seed"),
        (("maze", "--space", "nowhere"), "no weights at 'nowhere'"),
        (("maze", "--truth", "missing.karel"), "missing.karel: No such file or directory"),
    ],
)
def test_misuse_is_an_error_and_writes_nothing(
    leaps: Leaps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[object, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(leaps("trajectory", *words), message)
    assert list(tmp_path.iterdir()) == []


def test_syntax_error_in_the_target_program_is_shown(leaps: Leaps, space: Path, tmp_path: Path) -> None:
    file = tmp_path / "truth.karel"
    file.write_text("DEF run m( mov m)")
    done = leaps("trajectory", "maze", "--space", space, "--truth", file, "--out", tmp_path / "new")
    assert_refused(done, "'mov'")
    assert list(tmp_path.iterdir()) == [file]


def test_file_instead_of_a_folder_is_refused(leaps: Leaps, space: Path, tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("dear")
    assert_refused(
        leaps("trajectory", "maze", "--space", space, "--budget", 64, "--out", file),
        "letter.txt: File exists",
    )
    assert file.read_text() == "dear"
