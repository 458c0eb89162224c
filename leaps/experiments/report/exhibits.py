"""Figure sections of the report: pictures, tables of programs and legends from stored values."""

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
"""stored results by method and task"""


def parts_of(exhibit: Exhibit) -> list[Part]:
    """The parts of a figure's section."""
    name = exhibit.experiment.name
    try:
        return _EXHIBITS[name](exhibit.shown)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(
            f"the stored results of {name} lack a field that the figure needs ({type(error).__name__}: "
            f"{error}); remove them and run `leaps experiment {name}`"
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
            "programs found for their behaviour",
            lambda: maps_figure(charts),
        ),
        Words(
            f"Each space by the two principal components of its {programs:,} training programs, of which "
            f"{drawn:,} are drawn. Normal samples are possible starting points of a search. A line connects "
            "a test program with the program that a search of the space finds for its behaviour.",
        ),
        Listing("latent-map, test programs", ("", *tests), tuple(rows)),
        Words(
            "R_mat of the test program and the program found · their distance in the whole space. The unit "
            "is the root mean square distance of training programs from their centre.",
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
            "map shows · mean of the distances in the table above. The verdict is on the page of "
            "[claims](claims.md).",
        ),
    ]


def _trajectory(shown: Shown) -> list[Part]:
    parts: list[Part] = []
    for (method, task), result in shown.items():
        search = Trajectory.of_summary(result.values)
        parts += [
            _figure(
                f"cem-trajectory-{method}-{task}",
                f"search of {method} on {task}: populations on a map of the space, and returns",
                lambda search=search: trajectory_figure(search),  # type: ignore[misc]
            ),
            Words(_search_text(search)),
        ]
    return parts


def _search_text(search: Trajectory) -> str:
    """Describe a search in a paragraph."""
    count, paper = len(search.iterations), TRAJECTORIES[search.config.task]
    best = number(max(iteration.best for iteration in search.iterations))
    if search.converged:
        here = f"It converged after {count:,} iterations; each of the last ten had a perfect program."
    else:
        here = f"It did not converge in {count:,} iterations; its best program has a return of {best}."
    first, last = (number(search.iterations[i].mean) for i in (0, -1))
    reported = f"The paper's {'converged after' if paper.converged else 'did not in'} {paper.iterations:,}."
    return (
        f"{here} {reported} The mean return of a population changes from {first} to {last}. Each map shows a "
        "population, the centre of the next one, the path of the centre since the previous map, and a "
        "program that solves the task. The axes of the map are principal components of random programs. "
        "Returns are on the search's worlds; the return of a centre is that of its decoded program."
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
                f"The search of `{method}` on {task} whose path is shown above. The paper's search had "
                f"{TRAJECTORIES[task].iterations:,} iterations. The first return is on the search's worlds, "
                "the second on 1,000 held-out worlds.",
            ),
        ]
    return parts


_PAIRS = {"close": "Close pair", "far": "Distant pair"}


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
                f"Behavioural similarity of consecutive programs: the mean R_mat is {means[0]} here and "
                f"{means[1]} for the reported programs.",
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
            "Lengths are in tokens. Programs are sampled until there are enough different ones, and splits "
            "follow the order of sampling. Short programs are soon exhausted, so later splits have longer "
            "ones.",
        ),
    ]


def _rollouts(shown: Shown) -> list[Part]:
    drawn = any("program" not in result.values for result in shown.values())
    parts: list[Part] = [
        Words(
            "For each task and method, the first stored seed in its first held-out world. Methods with the "
            "same seed start in the same world. Below each state are the number of actions so far and the "
            "return. The path is Karel's walk since the previous state."
            + (" Policies sample their actions." if drawn else "")
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
    """The parts of one rollout: caption, picture and, for a program, its code."""
    frames = [strip.frame_of(frame, _caption(frame)) for frame in values["frames"]]
    label = f"states of a rollout of {method} on {task}"
    total, last = int(values["actions"]), int(values["frames"][-1]["actions"])
    end = f"; those after the first {last:,} do not increase the return" if total > last else ""
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
