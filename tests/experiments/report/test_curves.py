"""Learning curves: step functions, their bands, and pictures in the palette's colours."""

import re
from typing import Any

import numpy as np
import pytest

from leaps.experiments.cell import Result, cell
from leaps.experiments.paper import HC_EVALUATIONS
from leaps.experiments.report import figures
from leaps.experiments.report.curves import (
    EVALUATIONS,
    LINES,
    ROLLOUTS,
    TAUS,
    complete,
    curves_of,
    line_of,
    means_drawer,
    overall_drawer,
    profile_of,
    profiles_drawer,
    returns_at,
)
from leaps.experiments.report.statistics import interquartile_mean, interval, mean
from leaps.experiments.table import Entry
from tests.experiments.report.synthetic import curve_values

CURVE = [(150.0, 2_400.0, 0.5, 0.25), (50_000.0, 800_000.0, 1.0, 0.75)]


def entry(method: str, task: str, *curves: Any) -> Entry:
    return Entry(
        tuple(
            Result(cell("budget", method, task, seed), {"curve": curve}, 1.0, "1")
            for seed, curve in enumerate(curves)
        )
    )


def at(count: float) -> int:
    return int(np.searchsorted(EVALUATIONS.counts, count * 0.999))


def test_a_curve_is_zero_before_its_first_program_and_constant_after_its_last() -> None:
    returns = returns_at(CURVE, EVALUATIONS)
    assert returns[0] == 0.0
    assert returns[at(1_000)] == 0.25
    assert returns[at(100_000)] == returns[-1] == 0.75


def test_a_program_counts_from_the_evaluation_that_found_it() -> None:
    assert returns_at([(1_000, 1, 1.0, 1.0)], EVALUATIONS)[at(1_000)] == 1.0


def test_rollouts_are_another_axis_of_the_same_runs() -> None:
    returns = returns_at(CURVE, ROLLOUTS)
    assert returns[0] == 0.0
    assert returns[-1] == 0.75
    assert (ROLLOUTS.counts[0], ROLLOUTS.counts[-1]) == (1_000, pytest.approx(10_000_000))


def test_a_band_has_the_interval_of_each_point() -> None:
    rng = np.random.default_rng(0)
    strata = [rng.random((7, 3)), rng.random((5, 3))]
    line = line_of("leaps", strata, interquartile_mean)
    for point in range(3):
        runs = [one[:, point].tolist() for one in strata]
        assert (line.low[point], line.high[point]) == interval(runs, interquartile_mean)
        assert line.middle[point] == pytest.approx(interquartile_mean(np.concatenate(runs)))


def test_flat_runs_without_scatter_have_no_band() -> None:
    line = line_of("hc", [curves_of(entry("hc", "maze", CURVE, CURVE), EVALUATIONS)], mean)
    assert line.low.tolist() == line.middle.tolist() == line.high.tolist()


def test_a_profile_is_the_fraction_strictly_above_each_threshold() -> None:
    ends = [[(1, 1, 1, value)] for value in (-0.5, 0.0, 0.5, 1.0)]
    profile = profile_of({("hc", "maze"): entry("hc", "maze", *ends)}, "hc")
    fractions = dict(zip(np.round(TAUS, 2).tolist(), profile.middle.tolist(), strict=True))
    assert (fractions[0.0], fractions[0.49], fractions[0.5], fractions[0.99]) == (0.5, 0.5, 0.25, 0.25)


def test_means_over_tasks_are_of_methods_that_have_them_all() -> None:
    entries = {(method, "maze"): entry(method, "maze", CURVE) for method in ("ladder", "leaps")}
    entries["ladder", "snake"] = entry("ladder", "snake", CURVE)
    assert complete(entries) == (["ladder"], ["leaps"])


def words(svg: bytes) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg.decode())


def some() -> dict[tuple[str, str], Entry]:
    rng = np.random.default_rng(0)
    return {
        (method, task): entry(method, task, *(curve_values(rng)["curve"] for _ in range(3)))
        for method in LINES
        for task in ("maze", "snake")
    }


def test_pictures_have_a_panel_per_task_a_line_per_method_and_the_palettes_colours() -> None:
    entries = some()
    colours = {figures.BLUE, figures.CLOUD, *figures.COLOURS, figures.GREEN}
    colours |= {figures.GREY, figures.INK, figures.WHITE}
    picture = means_drawer(entries, EVALUATIONS)()
    assert {"maze", "snake", *LINES, "hc, published median", "evaluations"} <= set(words(picture))
    for svg in (picture, overall_drawer(entries, ROLLOUTS)(), profiles_drawer(entries)()):
        assert set(re.findall(r"#[0-9a-f]{6}\b", svg.decode())) <= colours
    assert means_drawer(entries, EVALUATIONS)() == picture
    assert picture != means_drawer(entries, ROLLOUTS)()


@pytest.mark.parametrize(("method", "axis"), [("ladder", EVALUATIONS), ("hc", ROLLOUTS)])
def test_published_medians_are_marked_on_hcs_line_against_evaluations_only(method: str, axis: Any) -> None:
    assert "maze" in HC_EVALUATIONS
    drawn = means_drawer({(method, "maze"): entry(method, "maze", CURVE)}, axis)()
    assert "hc, published median" not in words(drawn)
