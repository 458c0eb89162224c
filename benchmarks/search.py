"""Compare searches: `python -m benchmarks.search --tasks maze,snake --methods climbs,hc --seeds 32`.

Each search runs in a process of its own on one core, so seconds are those of one core. Prints a table in
Markdown: mean return on unseen worlds (and on the search's own), the lowest, how many are solved, median
evaluations, mean seconds.
"""

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import mean, median
from typing import Any

from leaps import parallel
from leaps.search.methods import METHODS
from leaps.search.solve import SolveConfig, solve
from leaps.tasks import TASKS


def one(config: SolveConfig) -> dict[str, Any]:
    """Search, on one core."""
    import torch

    parallel.set_threads(1)
    torch.set_num_threads(1)
    return solve(config).summary()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", default=",".join(TASKS))
    arguments.add_argument("--methods", default=",".join(METHODS))
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("--budget", type=int)
    arguments.add_argument("--spaces", default="leaps")
    arguments.add_argument("--jobs", type=int, default=parallel.available_cores())
    arguments.add_argument("--out", type=Path, help="also write each result as a line of JSON")
    given = arguments.parse_args()
    print("| task | method | space | unseen (own) | lowest | solved | median evaluations | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    lines: list[str] = []
    with ProcessPoolExecutor(given.jobs) as pool:
        for task in given.tasks.split(","):
            for method in given.methods.split(","):
                for space in given.spaces.split(","):
                    configs = [
                        SolveConfig(task, method, seed, given.budget, space=space)
                        for seed in range(given.seeds)
                    ]
                    runs = []
                    for run in pool.map(one, configs):
                        runs.append(run)
                        print(
                            f"{task} {method} {run['seed']}: {run['return']:.3f}", file=sys.stderr, flush=True
                        )
                    returns = [run["return"] for run in runs]
                    print(
                        f"| {task} | {method} | {space} | {mean(returns):.3f} "
                        f"({mean(run['search_return'] for run in runs):.3f}) | {min(returns):.3f} | "
                        f"{sum(run['solved'] for run in runs)}/{len(runs)} | "
                        f"{median(run['evaluations'] for run in runs):,.0f} | "
                        f"{mean(run['seconds'] for run in runs):.2f} |",
                        flush=True,
                    )
                    lines += [json.dumps(run) for run in runs]
                    if given.out:
                        given.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
