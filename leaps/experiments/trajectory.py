"""Record the path of the cross entropy method through the space, for the paper's figures and table.

(Appendix "Cross Entropy Method Trajectory Visualization" and "Program Evolution".)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.sample import sample_programs
from leaps.dsl.syntax import tokens_of
from leaps.dsl.text import parse
from leaps.embedding.space import Space
from leaps.experiments.explore import Plane as Plane  # re-exported
from leaps.experiments.explore import columns_of, places_of
from leaps.experiments.paper import LONGEST_PROGRAM
from leaps.karel.world import LANGUAGE, PROGRAMS
from leaps.search.leaps import Leaps, parse_changes
from leaps.search.objective import Objective
from leaps.search.solve import Round, Run, SolveConfig
from leaps.tasks import get

CLOUD = 3000
"""random programs to which the plane is fitted, at most as long as those in the paper's data"""
SNAPSHOTS = 6
"""populations shown in one picture"""
KEPT_CLOUD = 600
"""stored random programs, enough for a picture to show the shape of the space"""
ROWS = 24
"""most rows in a full table of a search's evolution"""
DIGITS = 4
"""decimals of returns, and of coordinates in a report"""


@dataclass(frozen=True)
class Iteration:
    """One population and the centre of the next one."""

    number: int
    """from 1"""
    population: NDArray[np.float32] = field(repr=False)
    """[n, 2] points in the plane"""
    centre: NDArray[np.float32] = field(repr=False)
    """[2] point around which the next population is drawn"""
    mean: float
    """mean return of the population"""
    best: float
    """best return of the population"""
    centre_return: float
    """return of the program that the next centre decodes to"""
    program: str
    """best program of the population"""
    centre_program: str


@dataclass(frozen=True)
class Trajectory:
    """A recorded search, projected onto a plane. Returns are on the search's own worlds."""

    config: SolveConfig
    iterations: list[Iteration] = field(repr=False)
    converged: bool
    """whether the search ended with perfect programs in its populations, not because its budget ran out"""
    plane: Plane = field(repr=False)
    cloud: NDArray[np.float32] = field(repr=False)
    """[n, 2] random programs, which show the shape of the space"""
    truth: NDArray[np.float32] | None
    """[2] point of a program that solves the task, if one was given"""
    truth_program: str | None
    truth_return: float | None

    def report(self) -> dict[str, Any]:
        """All fields as JSON numbers and strings."""
        return {
            "config": self.config.plain(),
            "converged": self.converged,
            "variance_shares": list(self.plane.shares),
            "truth": None
            if self.truth is None
            else {
                "place": _plain(self.truth),
                "program": self.truth_program,
                "return": self.truth_return,
            },
            "iterations": [
                {
                    "iteration": iteration.number,
                    "mean_return": iteration.mean,
                    "best_return": iteration.best,
                    "centre_return": iteration.centre_return,
                    "best_program": iteration.program,
                    "centre_program": iteration.centre_program,
                    "centre": _plain(iteration.centre),
                    "population": _plain(iteration.population),
                }
                for iteration in self.iterations
            ],
            "cloud": _plain(self.cloud),
        }

    def summary(self) -> dict[str, Any]:
        """The data of its picture and table as JSON values, a tenth of the size of `report`."""
        iterations = self.iterations
        return {
            "config": self.config.plain(),
            "converged": self.converged,
            "variance_shares": [round(share, 4) for share in self.plane.shares],
            "truth": None
            if self.truth is None
            else {
                "place": columns_of(self.truth[None]),
                "program": self.truth_program,
                "return": self.truth_return,
            },
            "mean_returns": [round(iteration.mean, DIGITS) for iteration in iterations],
            "best_returns": [round(iteration.best, DIGITS) for iteration in iterations],
            "centre_returns": [round(iteration.centre_return, DIGITS) for iteration in iterations],
            "centres": columns_of(np.stack([iteration.centre for iteration in iterations])),
            "populations": {
                str(iterations[i].number): columns_of(iterations[i].population)
                for i in spread(len(iterations), SNAPSHOTS)
            },
            "programs": {
                str(iteration.number): iteration.program
                for iteration in (iterations if len(iterations) <= ROWS else evolution(self, ROWS))
            },
            "cloud": columns_of(self.cloud[:KEPT_CLOUD]),
        }

    @staticmethod
    def of_summary(stored: Mapping[str, Any]) -> "Trajectory":
        """Read the output of `summary`; populations and programs missing there are empty."""
        truth, empty = stored["truth"], np.zeros((0, 2), np.float32)
        populations = {
            int(number): places_of(stored["populations"][number]) for number in stored["populations"]
        }
        programs = {int(number): str(stored["programs"][number]) for number in stored["programs"]}
        returns = zip(
            stored["mean_returns"],
            stored["best_returns"],
            stored["centre_returns"],
            places_of(stored["centres"]),
            strict=True,
        )
        iterations = [
            Iteration(
                number,
                populations.get(number, empty),
                centre,
                float(mean),
                float(best),
                float(centre_return),
                programs.get(number, ""),
                "",
            )
            for number, (mean, best, centre_return, centre) in enumerate(returns, 1)
        ]
        first, second = (float(share) for share in stored["variance_shares"])
        return Trajectory(
            SolveConfig(**stored["config"]),
            iterations,
            bool(stored["converged"]),
            Plane(np.zeros(0, np.float32), np.zeros((0, 2), np.float32), (first, second)),
            places_of(stored["cloud"]),
            None if truth is None else places_of(truth["place"])[0],
            None if truth is None else str(truth["program"]),
            None if truth is None else float(truth["return"]),
        )


def _plain(points: NDArray[np.float32]) -> Any:
    return points.astype(np.float64).round(DIGITS).tolist()


def search_space(config: SolveConfig) -> Space:
    """The space that a LEAPS search works in: raw latents as published, or whitened ones."""
    changes = parse_changes(config.method)
    domain = get(config.task).domain
    space = config.space or domain.space
    assert space is not None
    raw = changes is not None and "whitened" not in changes
    return Space.load(space, raw=raw, language=domain.language)


def record(
    config: SolveConfig,
    space: Space,
    truth: str | None = None,
    *,
    programs: int = CLOUD,
    listener: Callable[[Round], object] = id,
) -> Trajectory:
    """Run a search by the cross entropy method to its end, and record its path.

    space: the one that the configuration names. truth: a program that solves the task. programs: number of
    random programs to which the plane is fitted, and which show the shape of the space.
    """
    if programs < 3:
        raise ValueError(f"programs must be at least 3 to fit a plane, found {programs}")
    tokens = None if truth is None else LANGUAGE.encode(tokens_of(parse(truth, LANGUAGE)))[None]
    run = Run(config)
    config, search = run.config, run.search
    if not isinstance(search, Leaps):
        raise ValueError(f"only leaps and leaps+ have a trajectory in the space, found {config.method!r}")
    if (search.space.file, search.space.raw) != (space.file, space.raw):
        raise ValueError(f"expected the space of the search, {search.space.file}, found {space.file}")
    drawn = sample_programs(LANGUAGE, PROGRAMS, programs, config.seed, min(LONGEST_PROGRAM, space.longest))
    points = space.encode(np.unique(drawn, axis=0))  # each program once, as in a data set
    plane = Plane.through(space.latent(points))

    def project(points: NDArray[Any]) -> NDArray[np.float32]:
        return plane.place(space.latent(points))

    # A separate objective, so that its rollouts do not count as the search's.
    objective = Objective(run.task, run.objective.worlds, run.objective.elsewhere)
    populations, centres, scores, best = [], [], [], []
    while not run.finished:
        is_centre = search.centre_is_next
        step = run.step()
        listener(step)
        if is_centre:  # all centres are scored below, since not every search evaluates its centre
            continue
        # A budget may end within a population; the centre then does not move.
        populations.append(search.points[: len(step.scores)])
        centres.append(search.cem.centre)
        scores.append(step.scores)
        best.append(space.text(step.asked[int(step.scores.argmax())]))
    ends = np.cumsum([len(population) for population in populations])[:-1]
    projected = np.split(project(np.concatenate(populations)), ends)
    centre_points = project(np.stack(centres))
    decoded = space.decode(np.stack(centres), config.max_length)
    centre_returns = objective.returns(decoded).mean(axis=1)
    iterations = [
        Iteration(
            number=i + 1,
            population=projected[i],
            centre=centre_points[i],
            mean=float(scores[i].mean()),
            best=float(scores[i].max()),
            centre_return=float(centre_returns[i]),
            program=best[i],
            centre_program=space.text(decoded[i]),
        )
        for i in range(len(scores))
    ]
    return Trajectory(
        config,
        iterations,
        run.converged,
        plane,
        project(points),
        None if tokens is None else project(space.encode(tokens))[0],
        None if tokens is None else space.text(tokens[0]),
        None if tokens is None else float(objective.returns(tokens).mean()),
    )


def evolution(trajectory: Trajectory, rows: int = 8) -> list[Iteration]:
    """The first iteration, those with a new best return, and the last.

    If there are more than `rows`, some of those in between are left out, as evenly as possible.
    """
    if rows < 2:
        raise ValueError(f"rows must be at least 2, found {rows}")
    iterations = trajectory.iterations
    best_before = np.maximum.accumulate([-np.inf] + [iteration.best for iteration in iterations[:-1]])
    improved = [
        iteration
        for iteration, before in zip(iterations, best_before, strict=True)
        if iteration.best > before
    ]
    last = [] if improved[-1] is iterations[-1] else [iterations[-1]]
    room = rows - len(last)
    if len(improved) > room:
        improved = [improved[i] for i in spread(len(improved), room)]
    return improved + last


def evolution_table(trajectory: Trajectory, rows: int = 8) -> str:
    """The evolution as a table in Markdown."""
    config, last = trajectory.config, trajectory.iterations[-1].number
    lines = [
        f"How programs evolved: {config.task}, {config.method}, seed {config.seed}",
        "",
        "| iteration | best return | best program |",
        "|---:|---:|---|",
    ]
    for iteration in evolution(trajectory, rows):
        end = " (converged)" if trajectory.converged and iteration.number == last else ""
        lines.append(f"| {iteration.number}{end} | {iteration.best:.2f} | `{iteration.program}` |")
    return "\n".join(lines) + "\n"


def spread(count: int, most: int) -> list[int]:
    """Up to `most` evenly spaced numbers from 0 to count − 1, including both ends."""
    return sorted({round(i) for i in np.linspace(0, count - 1, min(count, most)).tolist()})
