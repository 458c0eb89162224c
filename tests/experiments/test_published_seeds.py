"""Policies are judged on exactly the published seeds, and stand beside the published returns."""

import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaps.experiments import environments, published_seeds
from leaps.experiments.catalogue import EXPERIMENTS, TABLES
from leaps.experiments.cell import Cell, Result, cell
from leaps.experiments.computing import Job, do
from leaps.experiments.environments import Playing, Trained, play
from leaps.experiments.published_seeds import BENCHMARK, COLUMNS, NAME, exact, half_width, judge, markdown
from leaps.experiments.store import Store
from leaps.gym import GymTask, ProgramPolicy
from leaps.gym.known import TASKS

EXPERIMENT = EXPERIMENTS[NAME]
SWING = "DEF run m( IFELSE c( speed>0 c) i( pushRight i) ELSE e( pushLeft e) m)"


class Recorded:
    """An environment whose episodes last two steps and that records how it was reset."""

    def __init__(self) -> None:
        self.resets: list[Any] = []
        self.steps = 0

    def reset(self, *, seed: int) -> tuple[int, dict[str, Any]]:
        self.resets.append(seed)
        self.steps = 0
        return seed, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return self.steps, float(action), self.steps == 2, False, {}

    def close(self) -> None:
        pass


def stored(one: Cell, **values: Any) -> Result:
    return Result(one, values, 1.0, "0.1.0")


def test_256_different_seeds_are_published_for_known_environments() -> None:
    assert len(set(BENCHMARK.seeds)) == len(BENCHMARK.seeds) == 256
    assert all(0 <= seed < 2**31 for seed in BENCHMARK.seeds)
    assert {"Acrobot-v1", "MountainCarContinuous-v0"} <= set(COLUMNS) <= set(environments.EFFORTS)
    assert NAME not in TABLES


def test_each_given_seed_is_reset_once_and_no_other() -> None:
    environment = Recorded()
    task = GymTask("recorded", make=lambda: environment, actions={"wait": 0}, perceptions={"x": bool})
    returns, _ = play(task, lambda observation: 1 if observation == 7 else 0, [7, 3, 2**31 - 1])
    assert environment.resets == [7, 3, 2**31 - 1]
    assert returns == [1.0, 0.0, 0.0]


def test_a_cell_is_judged_on_the_published_seeds_with_its_searchs_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def record(task: GymTask, act: Playing, seeds: tuple[int, ...]) -> tuple[list[float], list[bool]]:
        assert (task.name, act.policy.task.name) == ("MountainCarContinuous-v0",) * 2
        asked.extend(seeds)
        return [float(number % 2) for number in range(len(seeds))], [True] * len(seeds)

    monkeypatch.setattr(published_seeds, "play", record)
    one = cell(NAME, "ladder", "MountainCarContinuous-v0", 2)
    (needed,) = EXPERIMENT.needs(one)
    assert needed == cell("environments", "ladder", "MountainCarContinuous-v0", 2)
    search = stored(needed, program=SWING, evaluations=100, rollouts=1000, steps=5000)
    values = do(Job(one, EXPERIMENT.compute, (Job(needed, EXPERIMENT.compute, result=search),))).values
    assert tuple(asked) == BENCHMARK.seeds
    assert (values["return"], values["program"], values["episodes"]) == (0.5, SWING, 1000)


def test_ppo_is_trained_and_judged_in_one_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int, int]] = []

    def train(task: str, seed: int, steps: int) -> Trained:
        asked.append((task, seed, steps))
        return Trained(lambda observation: np.ones_like(observation[:1]), {"steps": steps}, 20)

    monkeypatch.setattr(published_seeds, "train", train)
    one = cell(NAME, "ppo", "MountainCarContinuous-v0", 4, judged=3)
    assert EXPERIMENT.needs(one) == ()
    values = do(Job(one, EXPERIMENT.compute)).values
    assert asked == [("MountainCarContinuous-v0", 4, 20_000)]
    assert (values["judged"], values["steps"], values["episodes"]) == ("3 published seeds", 20_000, 20)
    assert values["return"] == pytest.approx(-99.9)  # full force to the right never gets there


def test_a_quick_search_is_judged_by_a_quick_cell() -> None:
    (one,) = EXPERIMENT.cells(["hc"], ["Acrobot-v1"], 1, quick=True)
    assert EXPERIMENT.needs(one) == tuple(
        EXPERIMENTS["environments"].cells(["hc"], ["Acrobot-v1"], 1, quick=True)
    )


def test_the_interval_is_the_mean_with_196_standard_errors_on_either_side() -> None:
    returns = [-70.0, -80.0, -75.0, -95.0]
    half = 1.96 * statistics.stdev(returns) / 2
    assert half_width(returns) == pytest.approx(half)
    found = judge(returns, [True, True, True, False])
    assert found["return"] == -80.0
    assert found["interval"] == [pytest.approx(-80 - half), pytest.approx(-80 + half)]
    assert (found["success"], found["lowest"]) == (0.75, -95.0)


def test_equal_returns_have_an_interval_of_width_0() -> None:
    assert judge([3.0] * 5, [True] * 5)["interval"] == [3.0, 3.0]


def test_the_interval_covers_the_true_mean_in_19_of_20_samples() -> None:
    rng = np.random.default_rng(0)
    covered = [
        abs(sample.mean() - 5) <= half_width(sample.tolist()) for sample in rng.normal(5, 3, (2000, 256))
    ]
    assert math.isclose(sum(covered) / 2000, 0.95, abs_tol=0.015)


def test_rows_are_sorted_by_return_among_the_published_ones() -> None:
    results = [
        stored(
            cell(NAME, "ladder", "Acrobot-v1", seed),
            **{"return": value, "interval": [value - 1.26, value + 1.26], "episodes": 1000 * (1 + seed)},
        )
        for seed, value in enumerate([-90.04, -80.0])
    ]
    lines = markdown(results).splitlines()[2:]
    assert lines == [
        "| Acrobot-v1 | GPT-5.5 | yes | 128 | −84.69 | published |",
        "| Acrobot-v1 | ladder | no | 1,500 | −80.00 ± 1.26, −90.04 ± 1.26 | ≥ −84.7: 1 of 2 |",
        "| Acrobot-v1 | Claude Opus 4.7 | yes | 128 | −88.59 | published |",
        "| Acrobot-v1 | DeepSeek-V4-Pro | yes | 128 | −91.16 | published |",
        "| Acrobot-v1 | MiniMax-M3 | yes | 128 | −136.41 | published |",
    ]


def test_an_interval_has_as_many_decimals_as_its_mean() -> None:
    assert exact(98.9326, 0.0156) == "98.93 ± 0.02"
    assert exact(-0.91234, 0.0156) == "−0.912 ± 0.016"


def test_quick_cells_and_environments_without_results_have_no_rows() -> None:
    quick = cell(NAME, "ladder", "Acrobot-v1", budget=500, judged=50)
    assert len(markdown([stored(quick, **{"return": 0.0})]).splitlines()) == 2


def test_an_episode_depends_on_its_seed_alone() -> None:
    task = TASKS["MountainCarContinuous-v0"]
    act = Playing(ProgramPolicy(SWING, task))
    few = BENCHMARK.seeds[:3]
    assert play(task, act, few)[0] == [play(task, act, [seed])[0][0] for seed in few]


def test_the_table_of_the_page_is_that_of_the_stored_results() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "your-own-environment.md").read_text()
    assert markdown(Store(root / "results", only_read=True).all(NAME)) in page
