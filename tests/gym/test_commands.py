"""The commands load a task in any Gymnasium environment from its file."""

import json
import re
from pathlib import Path

import pytest
from PIL import Image

from leaps.cli.search import LiveView
from tests.cli.harness import Leaps
from tests.cli.test_search import interrupt_in_round

TASK = f"{Path(__file__).parent / 'corridor.py'}:CORRIDOR"
RIGHT = "DEF run m( WHILE c( not c( atTheEnd c) c) w( right w) m)"
LEFT = "DEF run m( left m)"
FOREVER = "DEF run m( REPEAT R=19 r( REPEAT R=19 r( left r) r) m)"
IN_LIGHT = (
    "DEF run m( WHILE c( not c( atTheEnd c) c) w( IFELSE c( lightIsOn c) i( right i) ELSE e( left e) w) m)"
)


@pytest.fixture
def leaps(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Leaps:
    monkeypatch.setenv("COLUMNS", "120")
    return Leaps(monkeypatch, capsys)


def test_a_task_is_solved_at_the_prompt(leaps: Leaps, tmp_path: Path) -> None:
    done = leaps("solve", TASK, "--budget", 1500, "--also", "long", "--out", tmp_path / "found", "--json")
    assert done.code == 0
    assert done.json["solved"]
    assert done.json["elsewhere"] == {"long": 1.0}
    assert {"program.karel", "result.json", "history.jsonl", "rollout.gif"} <= {
        file.name for file in (tmp_path / "found").iterdir()
    }
    stored = json.loads((tmp_path / "found" / "result.json").read_text())
    assert stored["program"] == done.json["program"]


def test_the_result_is_shown_in_the_words_of_the_task(leaps: Leaps, tmp_path: Path) -> None:
    done = leaps("solve", TASK, "--budget", 1500, "--out", tmp_path / "found")
    assert done.code == 0
    assert "1.000 (1,000 fresh draws): solved" in done.out
    assert "right" in done.out


def test_a_program_is_repaired_at_the_prompt(leaps: Leaps) -> None:
    broken = RIGHT.replace("right", "left")
    done = leaps("repair", "-e", broken, "--task", TASK, "--edits", 1, "--budget", 1000)
    assert done.code == 0
    assert "1 edit of 1 allowed" in done.out
    assert re.search(r"^│\s+-\s+left\b", done.out, re.M)
    assert re.search(r"^│\s+\+\s+right\b", done.out, re.M)


def test_a_program_is_run_at_the_prompt(leaps: Leaps) -> None:
    done = leaps(
        "run", "-e", RIGHT, "--task", TASK, "--episodes", 40, "--seed", 3, "--size", "long", "--json"
    )
    report = done.json
    assert (report["task"], report["size"], report["mean_return"]) == ("corridor", "long", 1.0)
    assert (report["ended"], len(report["returns"]), report["exact"]) == (40, 40, False)
    assert report["privileged"] == ["atTheEnd"]
    shown = leaps("run", "-e", RIGHT, "--task", TASK)
    assert (shown.code, shown.err) == (0, "")
    assert "corridor, seed 0" in shown.out
    assert "needs the environment for atTheEnd" in shown.out
    assert "100 were ended by the task" in shown.out
    assert leaps("run", "-e", LEFT, "--task", TASK, "--json").json["privileged"] == []
    assert "cut off after 30 steps" in leaps("run", "-e", FOREVER, "--task", TASK).out


def test_an_episode_is_saved_as_a_gif(leaps: Leaps, tmp_path: Path) -> None:
    gif = tmp_path / "new folder" / "walk.gif"
    done = leaps("run", "-e", RIGHT, "--task", TASK, "--episodes", 1, "--gif", gif, "--json")
    with Image.open(gif) as film:
        assert getattr(film, "n_frames", 1) == done.json["mean_steps"] + 1


def test_an_episode_is_watched_as_observations(leaps: Leaps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaps.cli.programs.LONGEST_SHOW", 0.0)
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    monkeypatch.setattr("leaps.cli.app.out.is_interactive", True)
    monkeypatch.setenv("TERM", "xterm")
    done = leaps("run", "-e", RIGHT, "--task", TASK, "--watch")
    assert "corridor has no text picture; shown are its observations. Use --gif for a film." in " ".join(
        done.out.split()
    )
    assert "value 1.00" in done.out


def test_a_program_is_traced_with_observations_and_reasons(leaps: Leaps) -> None:
    returns = leaps("run", "-e", IN_LIGHT, "-t", TASK, "--seed", 2, "--json").json["returns"]
    worst = returns.index(min(returns))
    traced = leaps("trace", "-e", IN_LIGHT, "-t", TASK, "--seed", 2, "--episode", worst, "--json").json
    assert traced["return"] == min(returns)
    assert (traced["task"], traced["size"], traced["privileged"]) == ("corridor", None, ["atTheEnd"])
    assert len(traced["start"]["observation"]) == 2
    assert traced["steps"][0]["tests"][0]["condition"] == "not c( atTheEnd c)"
    shown = leaps("trace", "-e", RIGHT, "-t", TASK, "--size", "long")
    assert "the task ends the rollout, return 1.000" in shown.out
    assert "perceptions that need the environment: atTheEnd" in shown.out
    assert "WHILE not c( atTheEnd c)? yes" in shown.out
    assert "stopped after 30 actions" in leaps("trace", "-e", FOREVER, "-t", TASK).out


def test_a_program_is_checked_in_the_words_of_the_task(leaps: Leaps) -> None:
    done = leaps("check", "-e", RIGHT, "--task", TASK, "--json")
    assert (done.json["valid"], done.json["privileged"]) == (True, ["atTheEnd"])
    assert "perceptions that need the environment: atTheEnd" in leaps("check", "-e", RIGHT, "-t", TASK).out
    wrong = leaps("check", "-e", "DEF run m( rihgt m)", "--task", TASK)
    assert wrong.code == 2
    assert "did you mean 'right'?" in wrong.err
    assert leaps("check", "-e", "DEF run m( move m)", "--task", "maze").code == 0


def test_a_search_of_an_edited_file_does_not_resume(
    leaps: Leaps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.py"
    file.write_text((Path(__file__).parent / "corridor.py").read_text())
    words = ["solve", f"{file}:CORRIDOR", "--budget", 1500, "--json", "--out", tmp_path / "found"]
    with monkeypatch.context() as patched:
        patched.setattr("leaps.search.checkpoint.EVERY", 0.0)
        patched.setattr(LiveView, "show", interrupt_in_round(1))
        assert leaps(*words).code == 130
    kept = list((tmp_path / "found").glob("unfinished-*"))
    assert len(kept) == 1
    source = file.read_text()
    file.write_text(source + "\n# an edit\n")
    done = leaps(*words)
    assert done.code == 2
    assert f"{file}, or a file that it imports, changed since this search was interrupted" in done.err
    assert f"or delete {kept[0]} to start again" in done.err
    file.write_text(source)
    assert "resumes after" in leaps(*words).err


def test_an_invalid_environment_raises_before_a_folder_is_made(leaps: Leaps, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    source = (Path(__file__).parent / "corridor.py").read_text()
    file.write_text(source.replace("self.np_random.random()", "np.random.random()"))
    done = leaps("solve", f"{file}:CORRIDOR", "--out", tmp_path / "found")
    assert done.code == 2
    assert "expected the same seed and actions to lead to the same episode" in done.err
    assert not (tmp_path / "found").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("solve", TASK, "--size", "wide"), "--size: corridor has no variant 'wide'; expected one of: long"),
        (("solve", TASK, "--also", "8x8"), "--also: corridor has no variant '8x8'; expected one of: long"),
        (("run", "-e", RIGHT, "-t", TASK, "--size", "8x8"), "--size: corridor has no variant '8x8'"),
        (("run", "-e", "DEF run m( move m)", "-t", TASK), "'move' is not a token of this language"),
        (
            ("run", "--policy", "out", "-t", TASK),
            "corridor: baselines act in Karel's worlds only; expected",
        ),
        (
            ("trace", "-e", RIGHT, "-t", TASK, "--state", 3),
            "--state: corridor doesn't list its initial states;",
        ),
        (
            ("baseline", "naive", "-t", TASK),
            "corridor: baselines act in Karel's worlds only; expected",
        ),
        (("solve", TASK, "--method", "leaps"), "and corridor has none; expected ladder or hc"),
        (("repair", "-e", "DEF run m( move m)", "--task", TASK), "'move' is not a token of this language"),
    ],
)
def test_invalid_input_raises(leaps: Leaps, words: tuple[str, ...], message: str) -> None:
    done = leaps(*words)
    assert done.code == 2
    assert message in done.err


def test_a_program_with_a_new_constant_is_run_traced_and_checked(leaps: Leaps) -> None:
    program = "DEF run m( WHILE c( angle>0.0123 c) w( pushRight w) pushLeft m)"
    for command in ("run", "trace", "check"):
        done = leaps(command, "-e", program, "--task", "CartPole-v1", "--json")
        assert done.code == 0
        assert "angle>0.0123" in done.out
    wrong = leaps("check", "-e", program.replace("0.0123", "0.01230"), "--task", "CartPole-v1")
    assert wrong.code == 2
    assert "expected angle>0.0123, found angle>0.01230" in wrong.err


def test_a_task_without_a_best_return_is_neither_solved_nor_not(leaps: Leaps, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    source = (Path(__file__).parent / "corridor.py").read_text()
    file.write_text(source.replace('        "best": 1.0,\n', ""))
    assert "solved" not in leaps("solve", f"{file}:CORRIDOR", "--budget", 100, "--out", tmp_path / "a").out
    assert "solved" in leaps("solve", TASK, "--budget", 1500, "--out", tmp_path / "b").out
