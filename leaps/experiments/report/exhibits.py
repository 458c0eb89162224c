"""The figures of the report: from stored values to pictures, tables of programs and their legends."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from leaps.dsl.text import parse, to_indented
from leaps.experiments.catalogue import FIGURES
from leaps.experiments.cell import Result
from leaps.experiments.explore import SpaceChart
from leaps.experiments.paper import INTERPOLATIONS, LONGEST_PROGRAM, MEAN_LENGTH, TRAJECTORIES
from leaps.experiments.report import strip
from leaps.experiments.report.contents import Exhibit
from leaps.experiments.report.figures import lengths_figure, maps_figure, render, trajectory_figure
from leaps.experiments.report.parts import Code, Heading, Listing, Part, Picture, Words
from leaps.experiments.report.wording import number
from leaps.experiments.trajectory import Trajectory
from leaps.karel.world import LANGUAGE

Shown = Mapping[tuple[str, str], Result]
"""by method and task, what is there"""


def parts_of(exhibit: Exhibit) -> list[Part]:
    """The parts of a figure's section."""
    name = exhibit.experiment.name
    try:
        return _EXHIBITS[name](exhibit.shown)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(
            f"the results of {name} are not what a figure is drawn from ({type(error).__name__}: {error}); "
            "remove them, and `leaps experiment` makes others"
        ) from error


def _figure(name: str, label: str, build: Callable[[], Any]) -> Picture:
    return Picture(name, label, lambda: render(build, "svg"))


def _latent_map(shown: Shown) -> list[Part]:
    charts = {method: SpaceChart.of_report(result.values) for (method, _), result in shown.items()}
    programs = max(int(result.values["programs"]) for result in shown.values())
    drawn = max(len(chart.training) for chart in charts.values())
    tests = list(next(iter(charts.values())).truth)
    rows = [
        (f"**{method}**", *(f"{number(chart.r_mat[test])} · {number(chart.apart[test])}" for test in tests))
        for method, chart in charts.items()
    ]
    return [
        _figure(
            "latent-map",
            f"maps of the spaces {', '.join(charts)}: training programs, normal samples, test programs and "
            "what was found for their behaviour",
            lambda: maps_figure(charts),
        ),
        Words(
            f"Each space by the two principal components of its {programs:,} training programs, of which "
            f"{drawn:,} are drawn. Normal samples are points where a search may begin. A line leads from a "
            "test program to what a search of the space finds for its behaviour.",
        ),
        Listing("latent-map, test programs", ("", *tests), tuple(rows)),
        Words(
            "R_mat of the test program and what was found · how far apart they are in the whole space, where "
            "1 is the distance of training programs from their centre, in root mean square.",
        ),
        Listing(
            "latent-map, shape",
            ("", "distance from normal", "dimensions filled", "variance on the map", "mean distance"),
            tuple(
                (
                    f"**{method}**",
                    f"{chart.from_normal:.3f}",
                    f"{chart.dimensions:.0f}",
                    f"{100 * sum(chart.shares):.0f} %",
                    number(float(np.mean(list(chart.apart.values())))),
                )
                for method, chart in charts.items()
            ),
        ),
        Words(
            "The shape of the training programs on the map: mean Kolmogorov-Smirnov distance from a normal "
            "distribution of the same covariance over all directions of the map (0 is normal) · "
            "participation ratio of the variances (N(0, I) fills 256) · fraction of the variance that the "
            "map shows · the distances of the table above, averaged. The verdict is in "
            "[the claims](claims.md).",
        ),
    ]


def _trajectory(shown: Shown) -> list[Part]:
    parts: list[Part] = []
    for (method, task), result in shown.items():
        search = Trajectory.of_summary(result.values)
        parts += [
            _figure(
                f"cem-trajectory-{method}-{task}",
                f"the search of {method} on {task}: its populations on a map of the space, and its returns",
                lambda search=search: trajectory_figure(search),  # type: ignore[misc]
            ),
            Words(_search_text(search)),
        ]
    return parts


def _search_text(search: Trajectory) -> str:
    """Describe a search."""
    count, paper = len(search.iterations), TRAJECTORIES[search.config.task]
    best = number(max(iteration.best for iteration in search.iterations))
    if search.converged:
        here = f"It converged after {count:,} iterations, of which the last ten had a perfect program each."
    else:
        here = f"It did not converge in {count:,} iterations; its best program has a return of {best}."
    first, last = (number(search.iterations[i].mean) for i in (0, -1))
    reported = f"The paper's {'converged after' if paper.converged else 'did not in'} {paper.iterations:,}."
    return (
        f"{here} {reported} The mean return of a population goes from {first} to {last}. Each map shows a "
        "population, the centre of the next, the way that it came since the map before, and a program that "
        "solves the task; it is laid through random programs. Returns are on the search's worlds; that of a "
        "centre is its program's."
    )


def _evolution(shown: Shown) -> list[Part]:
    parts: list[Part] = []
    for (method, task), result in shown.items():
        values = result.values
        rows = [
            (
                f"{row['iteration']:,}"
                + (
                    " (converged)" if values["converged"] and row["iteration"] == values["iterations"] else ""
                ),
                number(row["search_return"]),
                number(row["return"]),
                f"`{row['program']}`",
            )
            for row in values["rows"]
        ]
        parts += [
            Listing(
                f"evolution, {method} on {task}",
                ("iteration", "return", "on 1,000 held-out worlds", "best program of the population"),
                tuple(rows),
            ),
            Words(
                f"The search of `{method}` on {task} whose path is shown above; the paper's had "
                f"{TRAJECTORIES[task].iterations:,} iterations. Returns are on the search's worlds, and on "
                "1,000 held-out worlds.",
            ),
        ]
    return parts


_PAIRS = {"close": "Close to each other", "far": "Far apart"}


def _interpolation(shown: Shown) -> list[Part]:
    parts: list[Part] = []
    for (_, pair), result in shown.items():
        here, reported = list(result.values["programs"]), INTERPOLATIONS[pair]
        comparable = len(here) == len(reported)  # a quick walk has fewer steps
        rows = []
        for step, program in enumerate(here):
            name = "START" if step == 0 else "END" if step == len(here) - 1 else str(step)
            rows.append((name, f"`{program}`", *([f"`{reported[step]}`"] if comparable else [])))
        means = [number(float(np.mean(result.values[name]))) for name in ("likeness", "likeness_of_reported")]
        parts += [
            Heading(_PAIRS[pair]),
            Listing(
                f"interpolation, {pair}", ("", "here", *(["reported"] if comparable else [])), tuple(rows)
            ),
            Words(
                f"How alike one program and the next behave: R_mat is {means[0]} on average, and {means[1]} "
                "for what was reported.",
            ),
        ]
    return parts


def _histogram(shown: Shown) -> list[Part]:
    counts = {
        f"programs, {task}": np.asarray(result.values["counts"], np.int64)
        for (_, task), result in shown.items()
    }
    rows = [
        (
            task,
            f"{result.values['programs']:,}",
            f"{float(result.values['mean']):.1f}",
            str(int(result.values["longest"])),
        )
        for (_, task), result in shown.items()
    ]
    return [
        _figure(
            "data-histogram",
            f"histograms of program lengths: {', '.join(task for _, task in shown)}",
            lambda: lengths_figure(counts),
        ),
        Listing(
            "data-histogram, lengths",
            ("", "programs", "mean length", "longest"),
            (*rows, ("reported, all", "50,000", str(MEAN_LENGTH), str(LONGEST_PROGRAM))),
        ),
        Words(
            "Lengths are in tokens. Programs are drawn until there are enough different ones, in the order "
            "drawn: short ones are soon all there, so that later splits have longer ones.",
        ),
    ]


def _rollouts(shown: Shown) -> list[Part]:
    drawn = any("program" not in result.values for result in shown.values())
    parts: list[Part] = [
        Words(
            "For each task the first stored seed of each method, in the first held-out world of that seed: "
            "methods with the same seed start in the same world. Below each state are the actions so far and "
            "the return; the path is what Karel walked since the state before."
            + (" Policies draw their actions at random." if drawn else "")
        )
    ]
    for task in FIGURES["rollouts"].tasks:
        entries = {method: result for (method, column), result in shown.items() if column == task}
        if entries:
            parts.append(Heading(task))
        for method, result in entries.items():
            parts += _strip(method, task, result.values)
    return parts


def _strip(method: str, task: str, values: Mapping[str, Any]) -> list[Part]:
    """One rollout: its caption, its picture, and the program if a program acts."""
    frames = [strip.frame_of(frame, _caption(frame)) for frame in values["frames"]]
    label = f"states of a rollout of {method} on {task}"
    total, last = int(values["actions"]), int(values["frames"][-1]["actions"])
    end = f", of which those after the first {last:,} earn nothing more" if total > last else ""
    judged = f" ({values['judged']})" if "judged" in values else ""
    parts: list[Part] = [
        Words(
            f"`{method}`: return {number(float(values['rollout_return']))} in this rollout, "
            f"{_actions(total)}{end}. Mean return {number(float(values['mean_return']))}{judged}."
        ),
        Picture(f"rollouts-{method}-{task}", label, lambda: strip.draw_strip(frames, label)),
    ]
    if "program" in values:
        parts.append(Code(to_indented(parse(str(values["program"]), LANGUAGE)).rstrip()))
    return parts


def _actions(count: int) -> str:
    return f"{count:,} action{'' if count == 1 else 's'}"


def _caption(frame: Mapping[str, Any]) -> str:
    actions = int(frame["actions"])
    text = "start" if actions == 0 else _actions(actions)
    return f"{text} · {number(float(frame['value']))}"


_EXHIBITS: Mapping[str, Callable[[Shown], list[Part]]] = {
    "latent-map": _latent_map,
    "cem-trajectory": _trajectory,
    "evolution": _evolution,
    "interpolation": _interpolation,
    "data-histogram": _histogram,
    "rollouts": _rollouts,
}
