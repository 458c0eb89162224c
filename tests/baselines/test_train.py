"""Trainings in folders: interrupted ones resume, files are complete, other configurations raise errors."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch

from leaps.baselines import train
from leaps.baselines.train import CHECKPOINT_FILE, CURVE_FILE, RESULT_FILE, BaselineConfig, Point, Training
from leaps.evaluate import ExpectedReturn, evaluate

WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"


class Counter:
    """A trainer that learns nothing and only counts its steps."""

    readable: ClassVar[dict[str, Any]] = {}

    def __init__(self, settings: dict[str, Any] | None = None) -> None:
        self.steps, self.settings = 0, settings or {"rate": 1}
        self.done = False
        self.fail_at: int | None = None
        self.done_at: int | None = None

    def step(self) -> list[float]:
        if self.steps == self.fail_at:
            raise KeyboardInterrupt
        self.steps += 100
        self.done = self.steps == self.done_at
        return [self.steps / 1000] if self.steps % 200 == 0 else []

    def state(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def restore(self, state: dict[str, Any]) -> None:
        self.steps = state["steps"]

    def judge(self, episodes: int, seed: int, prefer_exact: bool = False) -> ExpectedReturn:
        return evaluate(WALK, "maze", episodes=episodes, seed=seed, prefer_exact=prefer_exact).expected()

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        (folder / "learned").write_text(str(about["return"]))


CONFIG = BaselineConfig("counter", "maze", seed=7, steps=1000)
SETTINGS = {"rate": 1, "clip": 0.2}


@pytest.fixture(autouse=True)
def always_save(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "SAVE_EVERY", 0.0)
    monkeypatch.setattr(train, "SAVING_SHARE", float("inf"))


def test_result_is_the_return_on_the_worlds_for_judging_programs(tmp_path: Path) -> None:
    trainer = Counter()
    result = Training(CONFIG, trainer, tmp_path).run()
    assert trainer.steps == 1000
    expected = evaluate(WALK, "maze", prefer_exact=True).mean_return[0]
    assert result["return"] == expected
    assert result["judged"] == "exact, all 23,936 states"
    assert (result["task"], result["method"], result["seed"], result["steps"]) == ("maze", "counter", 7, 1000)
    assert json.loads((tmp_path / RESULT_FILE).read_text()) == result
    assert (tmp_path / "learned").read_text() == str(expected)


def test_given_number_of_worlds_means_fresh_worlds(tmp_path: Path) -> None:
    result = Training(replace(CONFIG, judged=30), Counter(), tmp_path).run()
    assert result["return"] == evaluate(WALK, "maze", episodes=30, seed=3 * 2**40 + 7).mean_return[0]
    assert result["judged"] == "30 fresh draws"


def test_training_ends_early_when_the_trainer_is_done(tmp_path: Path) -> None:
    trainer = Counter()
    trainer.done_at = 300
    assert Training(CONFIG, trainer, tmp_path).run()["steps"] == 300


def test_curve_has_the_mean_return_of_episodes_since_the_last_point(tmp_path: Path) -> None:
    reports: list[Point] = []
    Training(CONFIG, Counter(), tmp_path).run(reports.append)
    assert [(point.steps, point.mean_return) for point in reports] == [
        (100, None), (200, 0.2), (300, None), (400, 0.4), (500, None),
        (600, 0.6), (700, None), (800, 0.8), (900, None), (1000, 1.0),
    ]  # fmt: skip
    lines = [json.loads(line) for line in (tmp_path / CURVE_FILE).read_text().splitlines()]
    assert [(line["steps"], line["mean_return"]) for line in lines] == [
        (p.steps, p.mean_return) for p in reports
    ]


def test_curve_of_a_long_training_is_short(tmp_path: Path) -> None:
    training = Training(BaselineConfig("counter", "maze", steps=100_000), Counter(), tmp_path)
    training.run()
    assert len(training.curve) == train.POINTS


@pytest.mark.parametrize(("steps", "points"), [(1000, 5), (20_000, 100), (100_000, 100)])
def test_compact_curve_has_at_most_100_points_with_the_last(tmp_path: Path, steps: int, points: int) -> None:
    training = Training(BaselineConfig("counter", "maze", steps=steps), Counter(), tmp_path)
    training.run()
    curve = training.compact_curve()
    whole = [[point.steps, point.mean_return] for point in training.curve if point.mean_return is not None]
    assert len(curve) == points
    assert all(point in whole for point in curve)
    assert curve[-1] == whole[-1]
    assert curve == sorted(curve)


def test_training_without_an_ended_episode_has_an_empty_compact_curve(tmp_path: Path) -> None:
    training = Training(BaselineConfig("counter", "maze", steps=100), Counter(), tmp_path)
    training.run()
    assert training.compact_curve() == []


def test_interrupted_training_resumes_at_its_checkpoint(tmp_path: Path) -> None:
    first = Counter()
    first.fail_at = 500
    with pytest.raises(KeyboardInterrupt):
        Training(CONFIG, first, tmp_path / "a").run()
    assert not (tmp_path / "a" / RESULT_FILE).exists()
    second = Counter()
    again = Training(CONFIG, second, tmp_path / "a")
    assert again.resume()
    assert second.steps == 500
    result = again.run()
    straight = Training(CONFIG, Counter(), tmp_path / "b")
    assert not straight.resume()
    straight_result = straight.run()
    assert {**result, "seconds": 0} == {**straight_result, "seconds": 0}
    assert [(p.steps, p.mean_return) for p in again.curve] == [
        (p.steps, p.mean_return) for p in straight.curve
    ]


def test_slow_checkpoints_are_written_rarely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "SAVING_SHARE", 0.1)
    now, saves = 0.0, []

    class Slow(Counter):
        def step(self) -> list[float]:
            nonlocal now
            now += 1.0
            return super().step()

        def state(self) -> dict[str, Any]:
            nonlocal now
            now += 3.0
            saves.append(self.steps)
            return super().state()

    monkeypatch.setattr("time.perf_counter", lambda: now)
    Training(BaselineConfig("counter", "maze", steps=10_000), Slow(), tmp_path).run()
    # The first comes at once. Each later one waits 10 times as long as the last one took. The end is saved.
    assert saves == [100, 3200, 6300, 9400, 10_000]


def test_training_can_be_extended(tmp_path: Path) -> None:
    Training(CONFIG, Counter(), tmp_path).run()
    longer = Training(BaselineConfig("counter", "maze", seed=7, steps=1500), Counter(), tmp_path)
    assert longer.resume()
    assert longer.run()["steps"] == 1500


def test_extended_training_continues_its_curve(tmp_path: Path) -> None:
    short, long = (BaselineConfig("counter", "maze", steps=steps) for steps in (20_000, 40_000))
    Training(short, Counter(), tmp_path).run()
    reports: list[Point] = []
    longer = Training(long, Counter(), tmp_path)
    longer.resume()
    longer.run(reports.append)
    assert len(reports) == train.POINTS // 2
    assert [point.steps for point in longer.curve] == sorted(point.steps for point in longer.curve)
    assert longer.curve[-1].steps == 40_000


def test_shortened_training_raises(tmp_path: Path) -> None:
    Training(CONFIG, Counter(), tmp_path).run()
    with pytest.raises(
        ValueError, match="a training of 1,000 steps, which can be extended but not shortened; found 500"
    ):
        Training(BaselineConfig("counter", "maze", seed=7, steps=500), Counter(), tmp_path).resume()


@pytest.mark.parametrize(
    ("config", "settings", "message"),
    [
        (BaselineConfig("counter", "top-off", 7, 1000), SETTINGS, "task='maze', not 'top-off'"),
        (BaselineConfig("other", "maze", 7, 1000), SETTINGS, "method='counter', not 'other'"),
        (BaselineConfig("counter", "maze", 8, 1000), SETTINGS, "seed=7, not 8"),
        (BaselineConfig("counter", "maze", 7, 1000, (9, 11)), SETTINGS, r"size=None, not \[9, 11\]"),
        (CONFIG, {"rate": 2, "clip": 0.2}, "rate=1, not 2"),
        (
            BaselineConfig("counter", "maze", 8, 1000),
            {"rate": 1, "clip": 0.3},
            "seed=7, not 8, clip=0.2, not 0.3",
        ),
    ],
)
def test_folder_of_another_training_raises(
    tmp_path: Path, config: BaselineConfig, settings: dict[str, Any], message: str
) -> None:
    Training(CONFIG, Counter(SETTINGS), tmp_path).run()
    with pytest.raises(ValueError, match=f"holds a training with {message}; use another folder"):
        Training(config, Counter(settings), tmp_path).resume()


def test_damaged_checkpoint_raises(tmp_path: Path) -> None:
    Training(CONFIG, Counter(), tmp_path).run()
    file = tmp_path / CHECKPOINT_FILE
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(ValueError, match="damaged or of another version"):
        Training(CONFIG, Counter(), tmp_path).resume()


def test_checkpoint_of_another_version_raises(tmp_path: Path) -> None:
    Training(CONFIG, Counter(), tmp_path).run()
    saved = torch.load(tmp_path / CHECKPOINT_FILE, weights_only=True)
    torch.save({**saved, "version": "0.0.0"}, tmp_path / CHECKPOINT_FILE)
    with pytest.raises(ValueError, match=r"of another version \(0\.0\.0, not"):
        Training(CONFIG, Counter(), tmp_path).resume()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "steps must be at least 1, found 0"),
        ({"judged": 0}, "judged must be at least 1, found 0"),
        ({"seed": -1}, "seed must be from 0"),
        ({"seed": 2**31}, "seed"),
    ],
)
def test_invalid_configurations_raise(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BaselineConfig("counter", "maze", **settings)
