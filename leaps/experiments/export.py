"""Stored results as columns, one row per cell and seed, for pandas, polars and CSV files."""

import csv
import io
import json
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import leaps
from leaps.experiments.catalogue import EXPERIMENTS
from leaps.experiments.cell import Cell, Result
from leaps.experiments.store import SUFFIX, Store

Columns = dict[str, list[Any]]
"""lists of equal length by name; all values of a column have one type, or None if missing"""

FIRST = ("experiment", "method", "task", "seed", "options", "quick", "return")
LAST = ("cell_seconds", "commit", "version", "finished", "processor", "gpu", "file")
"""columns of every table, before and after those from `values`"""

_SOURCE = Path(leaps.__file__).parent.parent


def results(folder: str | Path | None = None, experiment: str | None = None) -> Columns:
    """Read all stored results as columns. Files that can't be read are left out, with a warning.

    folder: by default `results` in the working directory, or else in the package's source tree. experiment:
    the name of a single experiment; None for all.
    """
    store = Store(find_results(None if folder is None else Path(folder)), only_read=True)
    found = columns_of(read_results(store, experiment))
    for file in store.aside:
        warnings.warn(f"left out, as it can't be read: {file}", stacklevel=2)
    return found


def find_results(folder: Path | None) -> Path:
    """Return the given folder of results, or the default one."""
    candidates = [folder] if folder is not None else [Path("results")]
    if folder is None and (_SOURCE / "pyproject.toml").exists():  # not an installed copy
        candidates.append(_SOURCE / "results")
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    raise ValueError(
        f"no folder of results at {' or '.join(map(str, candidates))}. The stored results come with the "
        "repository, not with the installed package: clone it and give its folder `results` with --results "
        "DIR or leaps.results(DIR), or compute results with `leaps experiment NAME`"
    )


def read_results(store: Store, experiment: str | None = None) -> list[Result]:
    """Read the results of one experiment or of all, sorted by experiment, method, task, options and seed."""
    names = store.experiments()
    if experiment is not None and experiment not in names:
        there = f"it has {', '.join(names)}" if names else "it is empty"
        raise ValueError(f"no results of {experiment!r} in {store.folder}; {there}")
    chosen = names if experiment is None else [experiment]
    found = [result for name in chosen for result in store.all(name)]
    if not found:
        raise ValueError(f"no results in {store.folder}; `leaps experiment NAME` computes some")
    return sorted(found, key=lambda result: _order(result.cell))


def _order(cell: Cell) -> tuple[str, str, str, str, int]:
    return cell.experiment, cell.method, cell.task, options_text(cell), cell.seed


def options_text(cell: Cell) -> str:
    """Write a cell's options as JSON; {} if it has none."""
    return json.dumps(dict(cell.options))


def columns_of(found: Sequence[Result]) -> Columns:
    """Arrange results as columns, including every number, string or boolean in `values`.

    Lists and objects in `values`, such as curves and configurations, are left out.
    """
    rows = [_row(result) for result in found]
    own = sorted({name for row in rows for name in row} - {*FIRST, *LAST})
    return {name: _of_one_type([row.get(name) for row in rows]) for name in (*FIRST, *own, *LAST)}


def _row(result: Result) -> dict[str, Any]:
    cell, machine = result.cell, result.machine
    scalars = {
        name: value for name, value in result.values.items() if isinstance(value, str | int | float | bool)
    }
    # Fields of `values`, such as `method`, must not replace those of the cell.
    row = scalars | {
        "experiment": cell.experiment,
        "method": cell.method,
        "task": cell.task,
        "seed": cell.seed,
        "options": options_text(cell),
        "quick": is_quick(cell),
        "cell_seconds": result.all_seconds,
        "commit": result.commit,
        "version": result.version,
        "finished": result.finished,
        "processor": machine.get("processor"),
        "gpu": machine.get("gpu"),
        "file": cell.name + SUFFIX,
    }
    return {name: None if value == "" else value for name, value in row.items()}


def _of_one_type(column: list[Any]) -> list[Any]:
    """Convert a column to one type: mixed numbers to float, other mixtures to strings."""
    kinds = {type(value) for value in column if value is not None}
    if len(kinds) < 2:
        return column
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in column]
    return [value if value is None or isinstance(value, str) else json.dumps(value) for value in column]


def is_quick(cell: Cell) -> bool:
    """Whether only `--quick` computes this cell."""
    experiment = EXPERIMENTS.get(cell.experiment)
    if experiment is None or cell.task not in experiment.tasks:
        return False
    if (
        cell.method not in experiment.methods and not experiment.takes_searches
    ):  # otherwise it may be user-defined
        return False
    quick, full = (experiment.entries(cell.method, cell.task, cell.seed, wanted) for wanted in (True, False))
    return cell in quick and cell not in full


def rows_of(columns: Columns) -> list[dict[str, Any]]:
    """Turn columns into rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def as_csv(columns: Columns) -> str:
    """Write columns as CSV: missing values are empty, booleans `true` and `false`, floats exact."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(_csv_row(row) for row in zip(*columns.values(), strict=True))
    return text.getvalue()


def _csv_row(row: Iterable[Any]) -> list[Any]:
    # polars accepts no other spelling of booleans.
    return [str(value).lower() if isinstance(value, bool) else value for value in row]
