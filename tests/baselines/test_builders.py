"""The baselines by name: each trains, keeps what it learned, and what is kept acts the same."""

import json
from pathlib import Path

import pytest

from leaps.base.settings import changed
from leaps.baselines import hrl, naive, ppo, train, viper
from leaps.baselines.builders import PROGRAM_FILE, plain_name
from leaps.baselines.evaluate import evaluate_policy
from leaps.baselines.hrl import HRLConfig
from leaps.baselines.methods import BASELINES, Options, build_trainer
from leaps.baselines.naive import NaiveConfig, behaviour_score
from leaps.baselines.policies import load_policy
from leaps.baselines.ppo import PPOConfig, PPOTrainer
from leaps.baselines.train import BaselineConfig, Training
from leaps.baselines.viper import VIPERConfig
from leaps.dsl.text import parse, to_line
from leaps.evaluate import UNSEEN_SEEDS, evaluate
from leaps.karel.dataset import worlds_for
from leaps.karel.world import LANGUAGE
from leaps.search.reconstruct import TEST_PROGRAMS

FEW = 5
"""worlds that these trainings are judged on"""
SMALL = PPOConfig(worlds=8, unroll=16, batch=64, epochs=1, hidden=16, memory=16)
ORIGINS = {"drl-abs-t": "drl-abs", "viper": "drl"}
"""what begins from something else, and from what"""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "UNSEEN", FEW)
    for name in ("PAPER_PPO", "PAPER_PPO_ABS"):
        monkeypatch.setattr(ppo, name, {"maze": SMALL, "harvester": SMALL})
    for name in ("PAPER_HRL", "PAPER_HRL_ABS"):
        monkeypatch.setattr(hrl, name, {"maze": HRLConfig(random=16, batch=8, hidden=8)})
    monkeypatch.setattr(naive, "PAPER_NAIVE", {"maze": NaiveConfig(batch=8, hidden=8)})
    monkeypatch.setattr(naive, "PAPER_NAIVE_TESTS", {"WHILE": NaiveConfig(batch=8, hidden=8)})
    monkeypatch.setattr(viper, "PAPER_VIPER", {"maze": VIPERConfig(iterations=2, worlds=4, validation=4)})


def trained(
    method: str,
    folder: Path,
    seed: int = 1,
    size: tuple[int, int] | None = None,
    task: str = "maze",
) -> dict[str, object]:
    config = BaselineConfig(method, task, seed, steps=300, size=size)
    origin = None
    if method in ORIGINS:
        origin = folder.with_name(folder.name + "-origin")
        trained(ORIGINS[method], origin, task="harvester" if method == "drl-abs-t" else task)
    return Training(config, build_trainer(config, Options(origin=origin)), folder).run()


@pytest.mark.parametrize("method", [name for name in BASELINES if name != "naive"])
def test_a_policy_that_was_kept_is_the_one_that_was_judged(method: str, tmp_path: Path) -> None:
    result = trained(method, tmp_path / "new")
    kept = load_policy(tmp_path / "new")
    again = evaluate_policy(kept, "maze", episodes=FEW, seed=UNSEEN_SEEDS + 1, prefer_exact=True)
    assert again.mean_return[0] == result["return"]
    assert result["judged"] == ("exact, all 23,936 states" if kept.deterministic else "5 fresh draws")


def test_a_program_that_was_kept_is_the_one_that_was_judged(tmp_path: Path) -> None:
    result = trained("naive", tmp_path)
    program = parse((tmp_path / PROGRAM_FILE).read_text(), LANGUAGE)
    again = evaluate(program, "maze", prefer_exact=True)
    assert again.mean_return[0] == result["return"]
    assert result["judged"] == "exact, all 23,936 states"


@pytest.mark.parametrize("steps", [200, 400])
def test_another_number_of_steps_raises_if_the_schedule_depends_on_it(steps: int, tmp_path: Path) -> None:
    trained("naive", tmp_path)
    config = BaselineConfig("naive", "maze", 1, steps=steps)
    training = Training(config, build_trainer(config, Options()), tmp_path)
    message = f"holds a training of 300 steps, and its schedule depends on that number; found {steps};"
    with pytest.raises(ValueError, match=message):
        training.resume()


def test_a_reconstruction_is_judged_by_behaviour_in_unseen_worlds(tmp_path: Path) -> None:
    result = trained("naive", tmp_path, task="WHILE")
    program = to_line(parse((tmp_path / PROGRAM_FILE).read_text(), LANGUAGE))
    worlds = worlds_for(TEST_PROGRAMS["WHILE"], UNSEEN_SEEDS + 1, FEW)
    tokens = LANGUAGE.batch([LANGUAGE.encode(program.split())])
    assert result["return"] == behaviour_score(TEST_PROGRAMS["WHILE"], worlds)(tokens)[0][0]


@pytest.mark.parametrize("method", BASELINES)
def test_the_same_seed_is_the_same_training(method: str, tmp_path: Path) -> None:
    results = [trained(method, tmp_path / str(number)) for number in range(2)]
    assert {**results[0], "seconds": 0} == {**results[1], "seconds": 0}


def test_a_training_in_worlds_of_another_size_is_judged_in_those(tmp_path: Path) -> None:
    trained("drl", tmp_path, size=(9, 11))
    policy = load_policy(tmp_path)
    with pytest.raises(ValueError, match="accepts only grids of 9x11"):
        evaluate_policy(policy, "maze")
    assert json.loads((tmp_path / train.RESULT_FILE).read_text())["config"]["size"] == [9, 11]


def test_a_transfer_begins_with_the_other_tasks_policy_and_settings(tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    trained("drl-abs", origin, task="harvester")
    config = BaselineConfig("drl-abs-t", "maze", 1, steps=300)
    trainer = build_trainer(config, Options(origin=origin))
    assert isinstance(trainer, PPOTrainer)
    before, after = load_policy(origin), trainer.policy
    worlds = {"episodes": 20, "seed": 3}
    assert (
        evaluate_policy(before, "maze", **worlds).returns == evaluate_policy(after, "maze", **worlds).returns  # type: ignore[arg-type]
    ).all()
    assert trainer.config == SMALL
    assert trainer.settings["origin"] == "drl-abs on harvester, seed 1, 384 steps"


def test_changes_are_read_as_what_they_change() -> None:
    found = changed(PPOConfig(), {"clip": "0.3", "epochs": "7", "normalize_advantage": "False"})
    assert found == PPOConfig(clip=0.3, epochs=7, normalize_advantage=False)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"clap": "1"}, "unknown setting 'clap'; expected one of clip, entropy, epochs"),
        ({"epochs": "many"}, "epochs: expected a value like 4, found 'many'"),
        ({"normalize_advantage": "yes"}, "normalize_advantage: expected a value like True, found 'yes'"),
        ({"epochs": "0"}, "epochs must be at least 1, found 0"),
    ],
)
def test_changes_that_make_no_sense_are_refused(changes: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        changed(PPOConfig(), changes)


@pytest.mark.parametrize("method", BASELINES)
def test_changes_reach_every_method(method: str, tmp_path: Path) -> None:
    name = {"viper": "depth", "naive": "hidden", "hrl": "hidden", "hrl-abs": "hidden"}.get(method, "unroll")
    origin = None
    if method in ORIGINS:
        origin = tmp_path / "origin"
        trained(ORIGINS[method], origin)
    config = BaselineConfig(method, "maze", 1, steps=300)
    trainer = build_trainer(config, Options(origin=origin, changes={name: "3"}))
    assert trainer.settings[name] == 3


@pytest.mark.parametrize(
    ("method", "said"), [("drl-abs-t", "drl-abs --task stair-climber"), ("viper", "drl ")]
)
def test_what_begins_from_another_training_says_how_to_get_one(method: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"leaps baseline {said}.*give its folder with --from"):
        build_trainer(BaselineConfig(method, "maze"), Options())


def test_the_wrong_origin_is_refused(tmp_path: Path) -> None:
    trained("drl", tmp_path / "drl")
    trained("viper", tmp_path / "viper")
    for method, origin, said in (
        ("drl-abs-t", "drl", "expected a policy of drl-abs, found one of 'drl'"),
        ("viper", "viper", "viper imitates drl, drl-fcn or drl-abs"),
        ("drl", "drl", "drl trains from scratch; expected drl-abs-t, viper"),
    ):
        with pytest.raises(ValueError, match=said):
            build_trainer(BaselineConfig(method, "maze"), Options(origin=tmp_path / origin))


def test_a_training_is_named_after_its_task_or_test() -> None:
    assert plain_name("maze~100") == "maze~100"
    assert plain_name("WHILE") == "WHILE"
    corridor = Path(__file__).parents[1] / "gym" / "corridor.py"
    with pytest.raises(ValueError, match="expected a task of karel, found one of corridor"):
        plain_name(f"{corridor}:CORRIDOR")
