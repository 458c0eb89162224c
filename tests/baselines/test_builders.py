"""Builders of the baselines: each method trains and saves a policy, which acts the same when it is loaded."""

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
"""number of worlds on which these trainings are judged"""
SMALL = PPOConfig(worlds=8, unroll=16, batch=64, epochs=1, hidden=16, memory=16)
ORIGINS = {"drl-abs-t": "drl-abs", "viper": "drl"}
"""methods that start from another training, with the method of that training"""


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
def test_saved_policy_is_the_judged_one(method: str, tmp_path: Path) -> None:
    result = trained(method, tmp_path / "new")
    kept = load_policy(tmp_path / "new")
    again = evaluate_policy(kept, "maze", episodes=FEW, seed=UNSEEN_SEEDS + 1, prefer_exact=True)
    assert again.mean_return[0] == result["return"]
    assert result["judged"] == ("exact, all 23,936 states" if kept.deterministic else "5 fresh draws")


def test_saved_program_is_the_judged_one(tmp_path: Path) -> None:
    result = trained("naive", tmp_path)
    program = parse((tmp_path / PROGRAM_FILE).read_text(), LANGUAGE)
    again = evaluate(program, "maze", prefer_exact=True)
    assert again.mean_return[0] == result["return"]
    assert result["judged"] == "exact, all 23,936 states"


@pytest.mark.parametrize("steps", [200, 400])
def test_changed_steps_raise_if_the_schedule_depends_on_them(steps: int, tmp_path: Path) -> None:
    trained("naive", tmp_path)
    config = BaselineConfig("naive", "maze", 1, steps=steps)
    training = Training(config, build_trainer(config, Options()), tmp_path)
    message = f"holds a training of 300 steps, and its schedule depends on that number; found {steps};"
    with pytest.raises(ValueError, match=message):
        training.resume()


def test_reconstruction_is_judged_by_behaviour_in_unseen_worlds(tmp_path: Path) -> None:
    result = trained("naive", tmp_path, task="WHILE")
    program = to_line(parse((tmp_path / PROGRAM_FILE).read_text(), LANGUAGE))
    worlds = worlds_for(TEST_PROGRAMS["WHILE"], UNSEEN_SEEDS + 1, FEW)
    tokens = LANGUAGE.batch([LANGUAGE.encode(program.split())])
    assert result["return"] == behaviour_score(TEST_PROGRAMS["WHILE"], worlds)(tokens)[0][0]


@pytest.mark.parametrize("method", BASELINES)
def test_same_seed_gives_the_same_training(method: str, tmp_path: Path) -> None:
    results = [trained(method, tmp_path / str(number)) for number in range(2)]
    assert {**results[0], "seconds": 0} == {**results[1], "seconds": 0}


def test_training_at_another_size_is_judged_at_that_size(tmp_path: Path) -> None:
    trained("drl", tmp_path, size=(9, 11))
    policy = load_policy(tmp_path)
    with pytest.raises(ValueError, match="accepts only grids of 9x11"):
        evaluate_policy(policy, "maze")
    assert json.loads((tmp_path / train.RESULT_FILE).read_text())["config"]["size"] == [9, 11]


def test_transfer_starts_with_the_source_tasks_policy_and_settings(tmp_path: Path) -> None:
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


def test_overrides_are_parsed_by_the_type_of_their_field() -> None:
    found = changed(PPOConfig(), {"clip": "0.3", "epochs": "7", "normalize_advantage": "False"})
    assert found == PPOConfig(clip=0.3, epochs=7, normalize_advantage=False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"clap": "1"}, "unknown setting 'clap'; expected one of clip, entropy, epochs"),
        ({"epochs": "many"}, "epochs: expected a value like 4, found 'many'"),
        ({"normalize_advantage": "yes"}, "normalize_advantage: expected a value like True, found 'yes'"),
        ({"epochs": "0"}, "epochs must be at least 1, found 0"),
    ],
)
def test_invalid_overrides_raise(changes: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        changed(PPOConfig(), changes)


@pytest.mark.parametrize("method", BASELINES)
def test_overrides_reach_every_method(method: str, tmp_path: Path) -> None:
    name = {"viper": "depth", "naive": "hidden", "hrl": "hidden", "hrl-abs": "hidden"}.get(method, "unroll")
    origin = None
    if method in ORIGINS:
        origin = tmp_path / "origin"
        trained(ORIGINS[method], origin)
    config = BaselineConfig(method, "maze", 1, steps=300)
    trainer = build_trainer(config, Options(origin=origin, changes={name: "3"}))
    assert trainer.settings[name] == 3


@pytest.mark.parametrize(
    ("method", "message"), [("drl-abs-t", "drl-abs --task stair-climber"), ("viper", "drl ")]
)
def test_missing_origin_raises_with_the_command_that_creates_one(method: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"leaps baseline {message}.*give its folder with --from"):
        build_trainer(BaselineConfig(method, "maze"), Options())


def test_wrong_origin_raises(tmp_path: Path) -> None:
    trained("drl", tmp_path / "drl")
    trained("viper", tmp_path / "viper")
    for method, origin, message in (
        ("drl-abs-t", "drl", "expected a policy of drl-abs, found one of 'drl'"),
        ("viper", "viper", "viper imitates drl, drl-fcn or drl-abs"),
        ("drl", "drl", "drl trains from scratch; expected drl-abs-t, viper"),
    ):
        with pytest.raises(ValueError, match=message):
            build_trainer(BaselineConfig(method, "maze"), Options(origin=tmp_path / origin))


def test_training_is_named_after_its_task_or_test() -> None:
    assert plain_name("maze~100") == "maze~100"
    assert plain_name("WHILE") == "WHILE"
    corridor = Path(__file__).parents[1] / "gym" / "corridor.py"
    with pytest.raises(ValueError, match="expected a task of karel, found one of corridor"):
        plain_name(f"{corridor}:CORRIDOR")
