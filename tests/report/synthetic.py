"""Results that nobody computed, in a store of their own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from leaps import __version__
from leaps.experiments.catalogue import EXPERIMENTS
from leaps.experiments.cell import Cell, Option, Result, cell
from leaps.experiments.paper import REPORTED
from leaps.experiments.store import Store

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


def small(folder: Path) -> Store:
    """Two rows of one experiment and one of another: better, worse, as reported, and missing."""
    store = Store(folder)
    keep_entry(store, "tasks", "leaps", "maze", [1.0, 1.0, 1.0, 1.0, 1.0], [LONG] * 5)
    keep_entry(
        store, "tasks", "leaps", "clean-house", [0.9, 1.0, 1.0, 0.8, 0.9], [LONG, LONG, SHORT, SHORT, LONG]
    )
    keep_entry(store, "tasks", "ours", "maze", [1.0] * 32, [LONG] * 32)
    keep_entry(store, "tasks", "hc", "maze", [0.9, 1.0])
    keep_entry(store, "karel-hard", "leaps", "snake", [0.21, 0.21], [LONG, LONG])
    return store


def everything(folder: Path, seed: int = 0) -> Store:
    """All full results of all experiments, near what was reported."""
    store, rng = Store(folder), np.random.default_rng(seed)
    for name, experiment in EXPERIMENTS.items():
        for one in experiment.cells():
            known = REPORTED.get(name, {}).get(one.method, {}).get(one.task)
            middle = known.mean if known else 0.93
            value = min(float(middle + rng.normal(0, 0.12)), 1.1 if name == "reconstruction" else 1.0)
            program: dict[str, Any] = {"program": LONG} if one.method in ("leaps", "ours") else {}
            keep(store, one, value, float(rng.uniform(10, 4000)), **program)
    return store
