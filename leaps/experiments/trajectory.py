"""The way of the cross entropy method through the space: the paper's figures and table of a search.

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
from leaps.experiments.explore import Plane as Plane  # those who place a search import it from here, too
from leaps.experiments.explore import columns_of, places_of
from leaps.experiments.paper import LONGEST_PROGRAM
from leaps.karel.world import LANGUAGE, PROGRAMS
from leaps.search.leaps import Leaps, parse_changes
from leaps.search.objective import Objective
from leaps.search.solve import Round, Run, SolveConfig
from leaps.tasks import get

CLOUD = 3000
"""random programs that the plane is laid through, none longer than those of the paper's data"""
SNAPSHOTS = 6
"""iterations whose populations are in one picture"""
KEPT_CLOUD = 600
"""random programs that a picture needs to show the shape of the space"""
ROWS = 24
"""of a search's evolution, if it is told in full"""
DIGITS = 4
"""of returns, and of coordinates in a report"""


@dataclass(frozen=True)
class Iteration:
    """One population, and where the search went from there."""

    number: int
    """from 1"""
    population: NDArray[np.float32] = field(repr=False)
    """[n, 2] in the plane"""
    centre: NDArray[np.float32] = field(repr=False)
    """[2] around which the next population is drawn"""
    mean: float
    """return of the population"""
    best: float
    """return of the best of it"""
    centre_return: float
    """of the program that the next centre stands for"""
    program: str
    """the best of the population"""
    centre_program: str


@dataclass(frozen=True)
class Trajectory:
    """A search from its first population to its last, as seen in the plane. Returns are on its own worlds."""

    config: SolveConfig
    iterations: list[Iteration] = field(repr=False)
    converged: bool
    """whether the search ended because its populations had perfect programs; else its budget was used up"""
    plane: Plane = field(repr=False)
    cloud: NDArray[np.float32] = field(repr=False)
    """[n, 2] random programs, to show the shape of the space"""
    truth: NDArray[np.float32] | None
    """[2] where a program is that solves the task, if one was given"""
    truth_program: str | None
    truth_return: float | None

    def report(self) -> dict[str, Any]:
        """All of it, as plain numbers and texts."""
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
        """What its picture and its table are made of, as plain numbers and texts: a tenth of a report."""
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
    def of_summary(said: Mapping[str, Any]) -> "Trajectory":
        """Read what `summary` wrote; populations and programs that are not in it are empty."""
        truth, nobody = said["truth"], np.zeros((0, 2), np.float32)
        populations = {int(number): places_of(said["populations"][number]) for number in said["populations"]}
        programs = {int(number): str(said["programs"][number]) for number in said["programs"]}
        returns = zip(
            said["mean_returns"], said["best_returns"], said["centre_returns"], places_of(said["centres"]),
            strict=True,
        )  # fmt: skip
        iterations = [
            Iteration(
                number,
                populations.get(number, nobody),
                centre,
                float(mean),
                float(best),
                float(centre_return),
                programs.get(number, ""),
                "",
            )
            for number, (mean, best, centre_return, centre) in enumerate(returns, 1)
        ]
        first, second = (float(share) for share in said["variance_shares"])
        return Trajectory(
            SolveConfig(**said["config"]),
            iterations,
            bool(said["converged"]),
            Plane(np.zeros(0, np.float32), np.zeros((0, 2), np.float32), (first, second)),
            places_of(said["cloud"]),
            None if truth is None else places_of(truth["place"])[0],
            None if truth is None else str(truth["program"]),
            None if truth is None else float(truth["return"]),
        )


def _plain(places: NDArray[np.float32]) -> Any:
    return places.astype(np.float64).round(DIGITS).tolist()


def search_space(config: SolveConfig) -> Space:
    """The space that a search by LEAPS is in: raw latents, as published, or whitened."""
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
    """Run a search by the cross entropy method to its end, and keep its way.

    The space is the one that the configuration names. truth: a program that solves the task. programs: so
    many random ones show the shape of the space; the plane is laid through them.
    """
    if programs < 3:
        raise ValueError(f"a plane needs at least 3 programs, found {programs}")
    tokens = None if truth is None else LANGUAGE.encode(tokens_of(parse(truth, LANGUAGE)))[None]
    run = Run(config)
    config, search = run.config, run.search
    if not isinstance(search, Leaps):
        raise ValueError(f"only leaps and leaps+ have a trajectory in the space, found {config.method!r}")
    if (search.space.file, search.space.raw) != (space.file, space.raw):
        raise ValueError(f"the search is in the space {search.space.file}, found {space.file}")
    drawn = sample_programs(LANGUAGE, PROGRAMS, programs, config.seed, min(LONGEST_PROGRAM, space.longest))
    points = space.encode(np.unique(drawn, axis=0))  # as in a data set: each program once
    plane = Plane.through(space.latent(points))

    def place(points: NDArray[Any]) -> NDArray[np.float32]:
        return plane.place(space.latent(points))

    # Another, as its rollouts are not to be counted among the search's.
    objective = Objective(run.task, run.objective.worlds, run.objective.elsewhere)
    populations, centres, scores, best = [], [], [], []
    while not run.finished:
        is_centre = search.centre_is_next
        step = run.step()
        listener(step)
        if is_centre:  # scored below, for searches that do not ask about it, too
            continue
        # A budget may end within a population; the search then stays where it is.
        populations.append(search.points[: len(step.scores)])
        centres.append(search.cem.centre)
        scores.append(step.scores)
        best.append(space.text(step.asked[int(step.scores.argmax())]))
    ends = np.cumsum([len(population) for population in populations])[:-1]
    placed = np.split(place(np.concatenate(populations)), ends)
    places = place(np.stack(centres))
    decoded = space.decode(np.stack(centres), config.max_length)
    centre_returns = objective.returns(decoded).mean(axis=1)
    iterations = [
        Iteration(
            number=i + 1,
            population=placed[i],
            centre=places[i],
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
        place(points),
        None if tokens is None else place(space.encode(tokens))[0],
        None if tokens is None else space.text(tokens[0]),
        None if tokens is None else float(objective.returns(tokens).mean()),
    )


def evolution(trajectory: Trajectory, rows: int = 8) -> list[Iteration]:
    """The iterations that tell how programs evolved: the first, those with a new best return, and the last.

    If there are more than `rows`, some of those between are left out, as evenly as possible.
    """
    if rows < 2:
        raise ValueError(f"rows must be at least 2, found {rows}")
    iterations = trajectory.iterations
    best_before = np.maximum.accumulate([-np.inf] + [iteration.best for iteration in iterations[:-1]])
    rose = [
        iteration
        for iteration, before in zip(iterations, best_before, strict=True)
        if iteration.best > before
    ]
    last = [] if rose[-1] is iterations[-1] else [iterations[-1]]
    room = rows - len(last)
    if len(rose) > room:
        rose = [rose[i] for i in spread(len(rose), room)]
    return rose + last


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
    """At most so many of the numbers from 0 to count − 1, evenly, with the first and the last."""
    return sorted({round(i) for i in np.linspace(0, count - 1, min(count, most)).tolist()})
