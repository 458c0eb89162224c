"""`leaps baseline`: output, files and errors."""

import json
import sys
from pathlib import Path

import pytest
from PIL import Image

from leaps.baselines import naive, ppo, train, viper
from leaps.baselines.naive import NaiveConfig
from leaps.baselines.ppo import PPOConfig
from leaps.baselines.viper import VIPERConfig
from tests.cli.harness import Leaps, assert_refused


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = PPOConfig(worlds=8, unroll=16, batch=64, epochs=1, hidden=16, memory=16)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(train, "UNSEEN", 5)
    monkeypatch.setattr(ppo, "PAPER_PPO", {"maze": settings})
    monkeypatch.setattr(ppo, "PAPER_PPO_ABS", {"maze": settings})
    monkeypatch.setattr(naive, "PAPER_NAIVE", {"maze": NaiveConfig(batch=8, hidden=8)})
    monkeypatch.setattr(viper, "PAPER_VIPER", {"maze": VIPERConfig(iterations=2, worlds=4, validation=4)})


def test_json_is_one_object_and_is_also_in_the_folder(leaps: Leaps, tmp_path: Path) -> None:
    done = leaps("baseline", "drl-abs", "--task", "maze", "--steps", 500, "--json")
    assert (done.code, done.err) == (0, "")
    folder = tmp_path / "out" / "drl-abs-maze-0"
    assert done.json == json.loads((folder / "result.json").read_text())
    assert {file.name for file in folder.iterdir()} == {
        "config.json", "curve.jsonl", "curve.png", "checkpoint.pt", "policy.safetensors", "result.json",
    }  # fmt: skip
    with Image.open(folder / "curve.png") as picture:
        assert picture.size[0] > 400


def test_naive_baseline_writes_a_program_that_runs(leaps: Leaps) -> None:
    done = leaps("baseline", "naive", "--task", "maze", "--steps", 500, "--out", "n")
    assert done.code == 0
    assert "(exact, all 23,936 states)" in done.out
    assert leaps("run", "n/program.karel", "--task", "maze").code == 0


def test_same_command_resumes_the_training(leaps: Leaps) -> None:
    words = ("baseline", "drl-abs", "--task", "maze", "--out", "d", "--steps")
    leaps(*words, 256)
    done = leaps(*words, 512)
    assert "resuming after 256 steps" in done.out
    assert "after 512 steps" in done.out


def test_policy_runs_at_allowed_sizes_and_is_filmed(leaps: Leaps, tmp_path: Path) -> None:
    leaps("baseline", "drl-abs", "--task", "maze", "--steps", 100, "--out", "d")
    words = ("run", "--policy", "d", "--task", "maze", "--size", "10x12", "--episodes", 5)
    report = leaps(*words, "--json").json
    assert (report["episodes"], report["size"], report["program"]) == (5, [10, 12], None)
    done = leaps(*words, "--gif", "film.gif")
    assert "a policy that sees perceptions" in done.out
    with Image.open(tmp_path / "film.gif") as film:
        assert getattr(film, "n_frames", 1) > 1


def test_tree_imitates_a_policy_and_runs(leaps: Leaps, tmp_path: Path) -> None:
    leaps("baseline", "drl", "--task", "maze", "--steps", 100, "--out", "d")
    done = leaps("baseline", "viper", "--task", "maze", "--from", "d", "--out", "v", "--json")
    assert done.json["config"]["settings"]["teacher"] == "drl on maze, seed 0, 128 steps"
    assert (tmp_path / "v" / "tree.txt").read_text().strip()
    with Image.open(tmp_path / "v" / "tree.png") as picture:
        assert picture.size[0] > 200
    assert leaps("run", "--policy", "v", "--task", "maze", "--size", "20x20", "--episodes", 3).code == 0
    assert_refused(leaps("run", "--policy", "v", "--task", "maze", "--greedy"), "doesn't draw its actions")


def test_policy_can_be_deterministic(leaps: Leaps) -> None:
    leaps("baseline", "drl-abs", "--task", "stair-climber", "--steps", 100, "--out", "d")
    words = ("run", "--policy", "d", "--task", "stair-climber", "--json")
    drawn, best = leaps(*words).json, leaps(*words, "--greedy").json
    assert drawn == leaps(*words).json
    assert drawn["returns"] != best["returns"]
    assert_refused(
        leaps("run", "-e", "DEF run m( move m)", "--task", "maze", "--greedy"), "expected a --policy"
    )


def test_policy_on_its_last_action_is_deterministic(leaps: Leaps) -> None:
    done = leaps("baseline", "ppo-last-action", "--task", "maze", "--steps", 100, "--out", "d", "--json")
    assert done.json["config"]["settings"]["episode"] == 100
    words = ("run", "--policy", "d", "--task", "maze", "--size", "12x12", "--json")
    assert leaps(*words).json == leaps(*words).json
    assert_refused(leaps(*words, "--greedy"), "doesn't draw its actions")


def test_training_does_not_resume_at_another_size(leaps: Leaps) -> None:
    words = ("baseline", "drl", "--task", "maze", "--steps", 100, "--out", "d")
    assert leaps(*words, "--size", "9x11", "--json").json["config"]["size"] == [9, 11]
    assert_refused(leaps(*words), "holds a training with size=[9, 11], not None; use another folder")


def test_skills_are_learned_from_a_data_set_and_used_by_hrl(leaps: Leaps) -> None:
    leaps("data", "--programs", 40, "--out", "data")
    done = leaps("skills", "--data", "data", "--out", "s", "--epochs", 1, "--json")
    assert (done.code, done.json["out"]) == (0, "s")
    assert 0 <= done.json["exact"] <= 1
    words = ("baseline", "hrl-abs", "--task", "maze", "--steps", 50, "--json")
    own, shipped = leaps(*words, "--from", "s", "--out", "a").json, leaps(*words, "--out", "b").json
    assert own["config"]["settings"]["skills"] != shipped["config"]["settings"]["skills"]
    assert leaps("run", "--policy", "a", "--task", "maze", "--episodes", 3).code == 0


def test_hyperparameters_can_be_set(leaps: Leaps) -> None:
    done = leaps("baseline", "drl-abs", "--task", "maze", "--steps", 100, "--set", "memory=7", "--set",
                 "clip=0.3", "--json")  # fmt: skip
    settings = done.json["config"]["settings"]
    assert (settings["memory"], settings["clip"]) == (7, 0.3)


def test_policy_on_grids_is_refused_at_another_size(leaps: Leaps) -> None:
    leaps("baseline", "drl", "--task", "maze", "--steps", 100, "--out", "d")
    assert leaps("run", "--policy", "d", "--task", "maze", "--episodes", 3).code == 0
    assert_refused(
        leaps("run", "--policy", "d", "--task", "maze", "--size", "100x100"),
        "accepts only grids of 8x8",
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["dqn", "--task", "maze"], "unknown baseline 'dqn'"),
        (["drl", "--task", "amaze"], "unknown task 'amaze'"),
        (["drl", "--task", "maze", "--steps", "0"], "--steps"),
        (["drl", "--task", "maze", "--size", "2x2"], "maze needs at least 5x5 cells"),
        (["drl"], "--task"),
        (
            ["drl", "--task", "maze", "--set", "epochs"],
            "expected NAME=VALUE such as epochs=8, found 'epochs'",
        ),
        (["drl", "--task", "maze", "--set", "epoch=3"], "unknown setting 'epoch'; expected one of clip,"),
        (["viper", "--task", "maze"], "give its folder with --from"),
        (["viper", "--task", "maze", "--from", "nowhere"], "no policy in 'nowhere'"),
        (["hrl", "--task", "maze", "--from", "nowhere"], "no skills: "),
        (["drl-abs-t", "--task", "maze"], "give its folder with --from"),
        (["drl", "--task", "maze", "--from", "x"], "drl trains from scratch; expected drl-abs-t, viper"),
        (["naive", "--task", "maze", "--device", "abacus"], "expected cpu or cuda, found 'abacus'"),
    ],
)
def test_misuse_is_an_error_and_writes_nothing(
    leaps: Leaps, tmp_path: Path, words: list[str], message: str
) -> None:
    assert_refused(leaps("baseline", *words), message)
    assert list(tmp_path.iterdir()) == []


def test_program_with_a_policy_is_refused(leaps: Leaps) -> None:
    words = ("run", "-e", "DEF run m( move m)", "--policy", "d", "--task", "maze")
    assert_refused(leaps(*words), "expected a program or a --policy, and not both")


def test_missing_extra_is_named(leaps: Leaps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    for words in (("baseline", "drl", "--task", "maze"), ("run", "--policy", "d", "--task", "maze")):
        assert_refused(leaps(*words), "pip install 'leaps[baselines]'")
