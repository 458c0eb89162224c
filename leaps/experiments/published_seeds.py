"""Programs and PPO on the held-out seeds of a published benchmark, beside the returns published there.

The benchmark is EvoPolicyGym, in which coding agents write policies; published_seeds.json names the source.
Programs are those of the experiment `environments`. PPO's policies are not stored, so each cell of PPO trains
its policy before the evaluation; the same seed gives the same policy.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING

import numpy as np

from leaps.experiments import environments
from leaps.experiments.cell import Cell, Result, cell
from leaps.experiments.environments import EFFORTS, GOALS, PPO, ROWS, Playing, by_entry, play, train
from leaps.gym.known import TASKS

if TYPE_CHECKING:
    from leaps.experiments.computing import Job, Values

NAME = "published-seeds"
NORMAL = 1.96
"""half the 95 % interval of a normal distribution, in standard deviations"""


@dataclass(frozen=True)
class Benchmark:
    """Published data of a benchmark."""

    seeds: tuple[int, ...]
    """held-out seeds, the same in all environments"""
    returns: Mapping[str, Mapping[str, float]]
    """mean return by environment and agent"""
    episodes: int
    """training episodes per agent"""


def read() -> Benchmark:
    """Read published_seeds.json."""
    found = json.loads(Path(__file__).with_suffix(".json").read_text())
    return Benchmark(tuple(found["seeds"]), found["returns"], found["episodes"])


BENCHMARK = read()
COLUMNS = tuple(task for task in EFFORTS if task in BENCHMARK.returns)


def entries(method: str, task: str, seed: int, quick: bool) -> list[Cell]:
    """The single cell of a table entry."""
    return [
        cell(NAME, method, task, seed, **dict(one.options))
        for one in environments.entries(method, task, seed, quick)
    ]


def needs(one: Cell) -> tuple[Cell, ...]:
    """The search whose program is evaluated."""
    if one.method == PPO:
        return ()
    return (cell(environments.NAME, one.method, one.task, one.seed, **dict(one.options)),)


def compute(job: "Job") -> "Values":
    """Evaluate a search's program, or train PPO and evaluate its policy."""
    from leaps.gym.policy import ProgramPolicy

    one = job.cell
    task, seeds = TASKS[one.task], BENCHMARK.seeds[: one.option("judged")]
    if one.method == PPO:
        found = train(one.task, one.seed, one.option("steps", EFFORTS[one.task].steps))
        return judge(*play(task, found.act, seeds)) | found.values | {"episodes": found.episodes}
    search = job.needed[0].values
    policy = ProgramPolicy(search["program"], task)
    return judge(*play(task, Playing(policy), seeds)) | {
        "program": search["program"],
        "evaluations": search["evaluations"],
        "episodes": search["rollouts"],
        "steps": search["steps"],
    }


def judge(returns: Sequence[float], successes: Sequence[bool]) -> "Values":
    """Mean return with its 95 % confidence interval, and success rate."""
    middle, half = mean(returns), half_width(returns)
    return {
        "return": middle,
        "interval": [middle - half, middle + half],
        "lowest": min(returns),
        "success": float(np.mean(successes)),
        "judged": f"{len(returns)} published seeds",
    }


def half_width(returns: Sequence[float]) -> float:
    """Half the 95 % confidence interval of the mean of independent returns: 1.96 s / √n."""
    return NORMAL * stdev(returns) / math.sqrt(len(returns))


def exact(value: float, half: float | None = None) -> str:
    """Format a return with two decimals, or three between -1 and 1, and with half its interval."""
    decimals = 3 if abs(value) <= 1 else 2
    text = f"{value:.{decimals}f}".replace("-", "−")
    return text if half is None else f"{text} ± {half:.{decimals}f}"


def markdown(results: Iterable[Result]) -> str:
    """A table of stored results and published returns, sorted by return within each environment."""
    groups = by_entry(results)
    lines = [
        "| environment | policy from | language model | training episodes "
        "| mean return on the published seeds | goal: seeds that reach it |",
        "| --- | --- | --- | --: | --: | --- |",
    ]
    for task in COLUMNS:
        goal = GOALS.get(task)
        rows = []
        for method in ROWS:
            if not (found := groups.get((task, method))):
                continue
            returns = ", ".join(
                exact(one["return"], (one["interval"][1] - one["interval"][0]) / 2)
                for one in sorted(found, key=lambda one: -one["return"])
            )
            episodes = f"{mean(one['episodes'] for one in found):,.0f}"
            row = (task, method, "no", episodes, returns, goal.met(found) if goal else "–")
            rows.append((mean(one["return"] for one in found), row))
        if not rows:
            continue
        for agent, published in BENCHMARK.returns[task].items():
            row = (task, agent, "yes", str(BENCHMARK.episodes), exact(published), "published")
            rows.append((published, row))
        lines += [f"| {' | '.join(row)} |" for _, row in sorted(rows, key=lambda row: -row[0])]
    return "\n".join([*lines, ""])
