"""Results that nobody computed, in a store of their own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from leaps import __version__
from leaps.experiments.catalogue import FIGURES, TABLES
from leaps.experiments.cell import Cell, Option, Result, cell
from leaps.experiments.explore import Plane, SpaceChart
from leaps.experiments.paper import REPORTED
from leaps.experiments.store import Store
from leaps.experiments.trajectory import Iteration, Trajectory
from leaps.search.reconstruct import TEST_PROGRAMS
from leaps.search.solve import SolveConfig

SHORT = "DEF run m( move m)"
LONG = "DEF run m( WHILE c( noMarkersPresent c) w( turnRight move w) m)"
MACHINE = {
    "processor": "Imagined(R) Thing(TM) 9000",
    "cores": 8,
    "python": "3.11.9",
    "numpy": "2.3.0",
    "torch": "2.8.0",
}


def keep(store: Store, one: Cell, value: Any, seconds: float = 60.0, **values: Any) -> None:
    """Write a result of this return."""
    store.write(
        Result(one, {"return": value, **values}, seconds, __version__, MACHINE, "2030-01-02T03:04:05+00:00")
    )


def keep_search(
    store: Store, one: Cell, solved: bool, evaluations: int, seconds: float, **values: Any
) -> None:
    """Write the result of a search."""
    found = {
        "return": float(solved),
        "solved": solved,
        "evaluations": evaluations,
        "evaluations_to_found": evaluations - 5,
        "rollouts": 16 * evaluations,
        "seconds": seconds,
        **values,
    }
    store.write(Result(one, found | values, seconds + 1, __version__, MACHINE, "2030-01-02T03:04:05+00:00"))


def keep_entry(
    store: Store,
    experiment: str,
    method: str,
    task: str,
    returns: Sequence[float],
    programs: Sequence[str] = (),
    **options: Option,
) -> None:
    """Write an entry of a table: a result per seed."""
    for seed, value in enumerate(returns):
        values: dict[str, Any] = {"program": programs[seed]} if programs else {}
        keep(store, cell(experiment, method, task, seed, **options), value, **values)


def curve_values(rng: np.random.Generator, final: float = 1.0) -> dict[str, Any]:
    """A search of the budget table that gets better in steps, and spends a random number of evaluations."""
    counts = np.sort(np.rint(10 ** rng.uniform(1.5, 5.5, 6))).astype(int).tolist()
    held_out = [round(final * (step + 1) / 6, 4) for step in range(6)]
    curve = [[count, 16 * count, value, value] for count, value in zip(counts, held_out, strict=True)]
    return {"curve": curve, "evaluations_to_perfect": counts[-1] if final >= 1 else None}


def small(folder: Path) -> Store:
    """Two rows of one experiment and one of another: better, worse, as reported, and missing."""
    store = Store(folder)
    keep_entry(store, "tasks", "leaps", "maze", [1.0, 1.0, 1.0, 1.0, 1.0], [LONG] * 5)
    keep_entry(
        store, "tasks", "leaps", "clean-house", [0.9, 1.0, 1.0, 0.8, 0.9], [LONG, LONG, SHORT, SHORT, LONG]
    )
    keep_entry(store, "tasks", "ladder", "maze", [1.0] * 32, [LONG] * 32)
    keep_entry(store, "tasks", "hc", "maze", [0.9, 1.0])
    keep_entry(store, "karel-hard", "leaps", "snake", [0.21, 0.21], [LONG, LONG])
    return store


def everything(folder: Path, seed: int = 0) -> Store:
    """All full results of all tables, near what was reported."""
    store, rng = Store(folder), np.random.default_rng(seed)
    for name, experiment in TABLES.items():
        for one in experiment.cells():
            known = REPORTED.get(name, {}).get(one.method, {}).get(one.task)
            middle = known.mean if known else 0.93
            value = min(float(middle + rng.normal(0, 0.12)), 1.1 if name == "reconstruction" else 1.0)
            more: dict[str, Any] = {"program": LONG} if one.method in ("leaps", "ladder") else {}
            if name == "budget":
                more |= curve_values(rng, value)
            if name == "unseen":
                more |= {"return_on_seen": 0.9}
            if name == "reconstruction":
                more |= {"r_mat": value - 0.1}
            if name == "as-run":
                more |= {"held_out_return": value}
            if name == "penalty":
                more |= {"return_in_training": value, "large_return": value}
            if name in ("debugging", "length"):
                more |= {"program": LONG}
            keep(store, one, value, float(rng.uniform(10, 4000)), **more)
    return store


def shown_values(one: Cell, seed: int = 0) -> dict[str, Any]:
    """What a cell of a figure might come to."""
    rng = np.random.default_rng(seed)

    def cloud(count: int) -> Any:
        return rng.standard_normal((count, 2)).astype(np.float32)

    match one.experiment:
        case "latent-map":
            places = {name: cloud(1)[0] for name in TEST_PROGRAMS}
            chart = SpaceChart(
                cloud(50),
                cloud(20),
                places,
                {name: place + 1 for name, place in places.items()},
                dict.fromkeys(TEST_PROGRAMS, 0.875),
                dict.fromkeys(TEST_PROGRAMS, 1.25),
                (0.1, 0.05),
                31.25,
                0.125,
            )
            return {"programs": 35_000, **chart.report()}
        case "cem-trajectory":
            iterations = [
                Iteration(i, cloud(8), cloud(1)[0], 0.1 * i, 0.125 * i, 0.05 * i, LONG, LONG)
                for i in range(1, 9)
            ]
            plane = Plane(np.zeros(2, np.float32), np.eye(2, dtype=np.float32), (0.1, 0.05))
            truth = cloud(1)[0]
            return Trajectory(
                SolveConfig(one.task, one.method, 0), iterations, True, plane, cloud(40), truth, LONG, 1.0
            ).summary()
        case "evolution":
            rows = [
                {"iteration": i, "search_return": 0.5 * i, "return": 0.4375 * i, "program": program}
                for i, program in ((1, SHORT), (2, LONG))
            ]
            return {"iterations": 2, "converged": True, "rows": rows}
        case "interpolation":
            return {
                "programs": [LONG] * 5 + [SHORT] * 5,
                "likeness": [1.0] * 4 + [0.25] + [1.0] * 4,
                "likeness_of_reported": [0.5] * 9,
            }
        case "data-histogram":
            return {"programs": 9, "mean": 6.0, "longest": 7, "counts": [0, 0, 0, 0, 0, 2, 5, 2]}
        case "rollouts":
            grid = ["#####", "#..1#", "#####"]
            start = {"actions": 0, "value": 0.0, "rows": grid, "karel": [1, 1, 1], "way_rows": [1]}
            end = {"actions": 2, "value": 1.0, "rows": grid, "karel": [1, 3, 1], "way_rows": [1, 1, 1]}
            frames = [start | {"way_columns": [1]}, end | {"way_columns": [1, 2, 3]}]
            values = {"mean_return": 0.9375, "rollout_return": 1.0, "actions": 7, "taken": [0] * 7}
            if one.method.startswith("drl"):
                return values | {"trained": {"steps": 9}, "frames": frames}
            return values | {"program": LONG, "judged": "exact, all 9 states", "frames": frames}
    raise ValueError(f"no figure is called {one.experiment}")


def keep_shown(store: Store, one: Cell, seed: int = 0) -> None:
    """Write a result of a figure."""
    store.write(Result(one, shown_values(one, seed), 30.0, __version__, MACHINE, "2030-01-02T03:04:05+00:00"))


def all_shown(folder: Path) -> Store:
    """All full results of all figures, and nothing else."""
    store = Store(folder)
    for experiment in FIGURES.values():
        for one in experiment.cells():
            keep_shown(store, one)
    return store
