"""Measure speeds and print a table with each measurement and its goal.

Rates are the best of several runs, on one core unless noted otherwise. Use an idle machine: on a busy one
absolute figures are too low, and ratios are affected much less.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import leaps
from benchmarks.timing import best
from leaps.base import parallel
from leaps.compiled.kernels import Hooks
from leaps.dsl.sample import sample_programs
from leaps.dsl.text import build, parse
from leaps.embedding.fast_decoder import FastDecoder
from leaps.embedding.model import ModelConfig, ProgramSpace
from leaps.karel.env import KarelVectorEnv
from leaps.karel.executor import run
from leaps.karel.interpreter import play
from leaps.karel.tasks import TASKS
from leaps.karel.world import KAREL, LANGUAGE, PROGRAMS, Worlds, random_worlds
from leaps.search.solve import Run, SolveConfig
from leaps.tasks import get

ROOT = Path(leaps.__file__).parents[1]
PUBLIC_STEPS = (10_000, 56_000)  # steps per second and core of the two public implementations

console = Console()
table = Table("what", "measured", "goal", "", title=f"LEAPS {leaps.__version__}", title_justify="left")


def report(what: str, measured: str, goal: str, reached: bool | None) -> None:
    mark = "" if reached is None else "[green]✓[/green]" if reached else "[red]✗[/red]"
    table.add_row(what, measured, goal, mark)
    console.print(f"[dim]… {what}: {measured}[/dim]")


def executor_rate(compiled: object, worlds: Worlds, horizon: int, hooks: Hooks | None) -> float:
    """Measure actions per second."""
    steps = run(compiled, worlds, horizon, hooks).steps.sum()  # type: ignore[arg-type]
    return float(steps / best(lambda: run(compiled, worlds, horizon, hooks)))  # type: ignore[arg-type]


def bench_execution() -> None:
    for name in ("maze", "clean-house"):
        task = TASKS[name]
        text = (ROOT / "examples" / f"{name}.karel").read_text()
        worlds = task.worlds(2000, seed=0)
        rate = executor_rate(KAREL.compile(text), worlds, task.horizon(), task.hooks)
        report(f"executor, {name}'s reference program", f"{rate / 1e6:.0f} M steps/s", "≥ 60 M", rate >= 60e6)

        program = parse(text, LANGUAGE)
        starts = [worlds.world(i) for i in range(20)]

        def interpret(
            program: object = program, starts: object = starts, horizon: int = task.horizon()
        ) -> int:
            return sum(len(list(play(program, start.clone(), horizon))) for start in starts)  # type: ignore

        slow = interpret() / best(interpret)
        report(
            f"… ÷ own interpreter ({slow:,.0f} steps/s)",
            f"{rate / slow:.0f}",
            "≥ 150",
            rate / slow >= 150,
        )
        low, high = rate / PUBLIC_STEPS[1], rate / PUBLIC_STEPS[0]
        report("… ÷ public implementations", f"{low:,.0f} to {high:,.0f}", "≥ 1,000", low >= 1000)

    tokens = sample_programs(LANGUAGE, PROGRAMS, 5000, seed=0)
    compiled, worlds = KAREL.compile(tokens), random_worlds(16, seed=1)
    rate = executor_rate(compiled, worlds, 100, None)
    rollouts = 5000 * 16 / best(lambda: run(compiled, worlds, 100))
    report("executor, 5,000 random programs", f"{rate / 1e6:.0f} M steps/s", "≥ 40 M", rate >= 40e6)
    report("… program executions", f"{rollouts / 1e6:.2f} M/s", "", None)


def bench_cores() -> None:
    cores = parallel.available_cores()
    compiled = KAREL.compile(sample_programs(LANGUAGE, PROGRAMS, 1000, seed=0))
    worlds = random_worlds(16, seed=1)
    # One and two threads alternate, so that a machine that slows down slows both.
    ratios = []
    for _ in range(5):
        parallel.set_threads(1)
        alone = best(lambda: run(compiled, worlds, 100), 0.4)
        parallel.set_threads(2)
        together = best(lambda: run(compiled, worlds, 100), 0.4)
        ratios.append(alone / together)
    parallel.set_threads(1)
    ratio = float(np.median(ratios))
    report(
        "two cores ÷ one core, 1,000 programs", f"{ratio:.2f}", "≥ 1.8", ratio >= 1.8 if cores > 1 else None
    )


def bench_compilation() -> None:
    tokens = sample_programs(LANGUAGE, PROGRAMS, 20_000, seed=0, max_length=44)
    rate = len(tokens) / best(lambda: KAREL.compile(tokens))
    report("token arrays to compiled programs", f"{rate:,.0f}/s", "≥ 500,000/s", rate >= 500_000)
    texts = [LANGUAGE.text(ids) for ids in tokens[:5000]]
    rate = len(texts) / best(lambda: [KAREL.compile(text) for text in texts[:500]] and None) / 10
    report("text to compiled program, one at a time", f"{rate:,.0f}/s", "≥ 20,000/s", rate >= 20_000)
    rate = len(texts) / best(lambda: KAREL.compile(texts))
    report("… as a batch", f"{rate:,.0f}/s", "≥ 20,000/s", rate >= 20_000)
    rate = len(texts) / best(lambda: [parse(text, LANGUAGE) for text in texts])
    report("text to tree", f"{rate:,.0f}/s", "", None)
    rate = len(texts) / best(lambda: [build(text.split()) for text in texts])
    report("token list to tree", f"{rate:,.0f}/s", "", None)
    rate = 50_000 / best(lambda: sample_programs(LANGUAGE, PROGRAMS, 50_000, seed=0))
    report("random programs drawn", f"{rate:,.0f}/s", "", None)


def bench_environment() -> None:
    worlds, steps = 1024, 200
    actions = np.random.default_rng(0).integers(0, 5, (steps, worlds))
    for name in ("maze", "harvester", "stair-climber"):
        for observation in ("perceptions", "grid"):
            env = KarelVectorEnv(name, worlds, observation)
            env.reset(seed=0)

            def play(env: KarelVectorEnv = env) -> None:
                for row in actions:
                    env.step(row)

            rate = worlds * steps / best(play)
            goal = 5e6 if observation == "perceptions" else None
            report(
                f"vector environment, {name}, 1,024 worlds, {observation}",
                f"{rate / 1e6:.1f} M steps/s",
                "≥ 5 M" if goal else "",
                rate >= goal if goal else None,
            )


def bench_own_domain() -> None:
    """Time the example of a user-defined domain, whose functions are compiled with bounds checks."""
    task = get(f"{ROOT / 'examples' / 'a_domain_of_your_own.py'}:EVERYBODY_DOWN")
    tokens = sample_programs(task.domain.language, task.domain.programs, 1000, seed=0)
    compiled, worlds = task.compile(tokens), task.worlds(16, seed=0)
    with parallel.alone():
        steps = task.run(compiled, worlds).steps.sum()
        rate = float(steps / best(lambda: task.run(compiled, worlds)))
    report(
        "example of a user-defined domain, 1,000 random programs",
        f"{rate / 1e6:.0f} M steps/s with skipped ones",
        "",
        None,
    )


def bench_policies() -> None:
    """Time a step of a program as a policy in plain Python, without the time of its perceptions."""
    perceptions: dict[str, Callable[[Any], bool]] = {"up": lambda _: True, "down": lambda _: False}
    task = leaps.GymTask("steps", "CartPole-v1", {"left": 0, "right": 1}, perceptions, repeats=True)
    steps, looks = 10_000, list(perceptions.values())
    for text, evaluated in (
        ("DEF run m( left m)", 0),
        ("DEF run m( WHILE c( up c) w( IF c( down c) i( left i) right w) m)", 2),
    ):
        policy = leaps.ProgramPolicy(text, task)

        def act(policy: leaps.ProgramPolicy = policy) -> None:
            for _ in range(steps):
                policy.act(None)

        def look(evaluated: int = evaluated) -> None:
            for _ in range(steps):
                for perception in looks[:evaluated]:
                    perception(None)

        taken = (best(act) - best(look)) / steps * 1e6
        what = f"a step of ProgramPolicy, without its {evaluated} perceptions"
        report(what, f"{taken:.2f} µs", "≤ 2 µs", taken <= 2)


def bench_decoding() -> None:
    """Time decoding a search's generation. The space is untrained, whose long programs are the worst case."""
    population = 64
    torch.manual_seed(0)
    space = ProgramSpace(LANGUAGE, ModelConfig(policy=False))
    latents = np.random.default_rng(0).standard_normal((population, space.config.latent), np.float32)
    decoder = FastDecoder(space)
    tokens = (decoder.decode(latents) != LANGUAGE.pad).sum(axis=1).mean()
    what = f"programs decoded, {population} latents, untrained ({tokens:.0f} tokens)"
    alone = population / best(lambda: decoder.decode(latents))
    if parallel.available_cores() > 1:
        parallel.set_threads(2)
        together = population / best(lambda: decoder.decode(latents))
        parallel.set_threads(1)
        report(f"{what}, two cores", f"{together:,.0f}/s", "≥ 4,000/s", together >= 4000)
    report(f"{what}, one core", f"{alone:,.0f}/s", "", None)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    slow = population / best(lambda: space.decode(torch.from_numpy(latents)))
    torch.set_num_threads(threads)
    report(f"… ÷ ProgramSpace.decode ({slow:,.0f}/s)", f"{alone / slow:.1f}", "", None)


def bench_first_use() -> None:
    """Time `leaps run` with an empty kernel cache and with a full one."""
    command = [
        sys.executable,
        "-m",
        "leaps.cli",
        "run",
        str(ROOT / "examples" / "maze.karel"),
        "--task",
        "maze",
    ]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        times = []
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run(command, env=environment, check=True, capture_output=True)
            times.append(time.perf_counter() - start)
    report("leaps run, first use after install", f"{times[0]:.1f} s", "< 20 s", times[0] < 20)
    report("leaps run, after that", f"{min(times[1:]):.2f} s", "< 2 s", min(times[1:]) < 2)


def bench_searches() -> None:
    """Measure evaluations of hill climbing on one core, and iterations of CEM on all cores."""
    rates = []
    for name in ("stair-climber", "four-corner", "top-off", "maze", "clean-house", "harvester"):
        evaluations, seconds, seed = 0, 0.0, 0
        while seconds < 1.0:
            search = Run(SolveConfig(name, "hc", seed, budget=5_000))
            search.method = replace(search.method, until_perfect=False)  # so that it continues when solved
            search.step()  # compiles
            begin = time.perf_counter()
            while not search.finished:
                search.step()
            seconds += time.perf_counter() - begin
            evaluations += search.objective.evaluations
            seed += 1
        rates.append(evaluations / seconds)
    mean = float(np.mean(rates))
    spread = f"{min(rates):,.0f} to {max(rates):,.0f}"
    report(
        "hill climbing, 16 worlds, six tasks",
        f"{mean:,.0f} evaluations/s ({spread})",
        "≥ 30,000",
        mean >= 3e4,
    )
    parallel.set_threads(None)
    cem = Run(SolveConfig("four-corner", "leaps+"))
    cem.step()
    begin = time.perf_counter()
    for _ in range(100):
        cem.step()
    rate = 100 / (time.perf_counter() - begin)
    report("CEM, population 64, all cores", f"{rate:.0f} iterations/s", "≥ 30", rate >= 30)
    parallel.set_threads(1)


def bench_baselines() -> None:
    """Estimate the time of a training of 2 million steps on one core."""
    from benchmarks.baselines import minutes, one_core, step_by_step

    with one_core():
        for task, most in (("maze", 15), ("stair-climber", 25)):
            taken = minutes("drl", task)
            report(f"drl on {task}, 2M steps", f"{taken:.1f} min", f"≤ {most} min", taken <= most)
        quick = minutes("drl-abs", "maze")
        with step_by_step():
            slow = minutes("drl-abs", "maze")
        report("drl-abs on maze, 2M steps", f"{quick:.1f} min", "≤ 15 min", quick <= 15)
        report("… a call per sequence ÷ the library's per step", f"{slow / quick:.1f}", "", None)


def bench_updates() -> None:
    """Time updates of HRL on a GPU, and those of stable-baselines3."""
    from benchmarks.baselines import updates

    quick, slow = updates("cuda")
    report("hrl on top-off, an update on a GPU", f"{quick * 1e3:.2f} ms", "", None)
    report("… stable-baselines3's time ÷ this", f"{slow / quick:.1f}", "", None)


def bench_experiments() -> None:
    """Compare two Dask workers with one, and time the local runner's overhead per cell."""
    from distributed import LocalCluster

    from leaps.experiments.backends import Backend, connect
    from leaps.experiments.cell import Cell, cell
    from leaps.experiments.run import run as run_cells
    from leaps.experiments.store import Store

    def seconds(cells: list[Cell], backend: Backend) -> float:
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            outcome = run_cells(cells, Store(Path(folder)), backend)
            assert outcome.computed == len(cells)
            return time.perf_counter() - begin

    equal = [cell("karel-hard", "hc", "one-stroke", seed, budget=60_000) for seed in range(64)]
    taken = []
    for workers in (1, 2):
        with LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster:
            backend = connect("dask", cluster.scheduler_address)
            seconds(equal[: 2 * workers], backend)  # compiles
            taken.append(seconds(equal, backend))
            backend.close()
    ratio = taken[0] / taken[1]
    report("64 equal cells, two Dask workers ÷ one", f"{ratio:.2f}", "≥ 1.7", ratio >= 1.7)

    trivial = [cell("tasks", "leaps-rand-8", "top-off", seed) for seed in range(100)]
    backend = connect("local", jobs=1)
    few, many = seconds(trivial[:1], backend), seconds(trivial, backend)
    added = 1000 * (many - few) / (len(trivial) - 1)
    report("a search of 8 programs as a cell, local, one process", f"{added:.0f} ms", "< 50 ms", added < 50)


def bench_studio() -> None:
    """Measure the studio's server in a separate process, over the loopback interface."""
    from benchmarks.studio import USERS, latencies, load, on_screen, started

    with started() as server:
        if seen := on_screen(server):
            slowest = max(seen.edits, key=lambda task: seen.edits[task])
            most = seen.edits[slowest]
            report(
                f"studio, from an edit to its return on screen, slowest of six tasks ({slowest})",
                f"{most:.0f} ms",
                "≤ 100 ms",
                most <= 100,
            )
            for worlds, rate in seen.frames.items():
                what = f"studio, {worlds} × 100 × 100 cells played"
                report(
                    what,
                    f"{rate:.0f} frames/s",
                    "≥ 60" if worlds == 1 else "",
                    rate >= 59.5 if worlds == 1 else None,
                )
            report("studio, opened", f"{seen.opening:.0f} ms", "≤ 1 s", seen.opening <= 1000)
            report("… its files, compressed", f"{seen.kilobytes:.0f} kB", "≤ 400 kB", seen.kilobytes <= 400)
        for task, milliseconds in latencies(server.address).items():
            report(f"studio, 100 worlds of {task}", f"{milliseconds:.1f} ms", "≤ 100 ms", milliseconds <= 100)
        under = load(server)
    report(
        f"studio, {USERS} users, 5 evaluations/s each: median",
        f"{under.median:.0f} ms ({under.answers:,} answers, worst {under.worst:.0f} ms)",
        "≤ 200 ms",
        under.median <= 200,
    )
    report("… errors", str(under.errors), "0", under.errors == 0)


if __name__ == "__main__":
    parallel.set_threads(1)
    bench_execution()
    bench_cores()
    bench_compilation()
    bench_environment()
    bench_own_domain()
    bench_policies()
    bench_decoding()
    bench_searches()
    bench_baselines()
    if torch.cuda.is_available():
        bench_updates()
    bench_experiments()
    bench_studio()
    bench_first_use()
    console.print(table)
