"""Figures are drawn from stored values and from nothing else."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from leaps import __version__
from leaps.experiments.catalogue import FIGURES
from leaps.experiments.cell import Result, cell
from leaps.experiments.report.contents import Exhibit, gather
from leaps.experiments.report.exhibits import parts_of
from leaps.experiments.report.parts import Code, Heading, Listing, Part, Picture, Words, pictures_of
from leaps.experiments.store import Store
from leaps.karel.tasks import PAPER_TASKS
from tests.experiments.report.synthetic import LONG, all_shown, keep_shown, shown_values


def exhibit(folder: Path, name: str) -> Exhibit:
    (found,) = (one for one in gather(all_shown(folder)).exhibits if one.experiment.name == name)
    return found


def listings(parts: list[Part]) -> list[Listing]:
    return [part for part in parts if isinstance(part, Listing)]


def text_of(parts: list[Part]) -> str:
    return " ".join(part.text for part in parts if isinstance(part, Words))


def words(svg: bytes) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg.decode())


def changed(value: Any, store: Store, name: str, *path: str) -> None:
    """Write another value into all results of a figure."""
    for file in (store.folder / name).rglob("*.json"):
        stored = json.loads(file.read_text())
        node = stored["values"]
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value
        file.write_text(json.dumps(stored))


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_parts_and_valid_svgs(tmp_path: Path, name: str) -> None:
    parts = parts_of(exhibit(tmp_path, name))
    pictures = pictures_of(parts)
    assert parts
    assert bool(pictures) == (name not in ("evolution", "interpolation"))
    for picture in pictures:
        assert picture.name.startswith(name)
        assert b"<svg" in picture.draw()
        assert picture.draw() == picture.draw()


@pytest.mark.parametrize("name", FIGURES)
def test_figure_depends_only_on_the_values_it_uses(tmp_path: Path, name: str) -> None:
    def drawn(store: Store) -> list[Any]:
        (found,) = (one for one in gather(store).exhibits if one.experiment.name == name)
        parts = parts_of(found)
        pictures = [picture.draw() for picture in pictures_of(parts)]
        return [pictures, [part for part in parts if isinstance(part, Words | Listing | Code | Heading)]]

    store = all_shown(tmp_path)
    before = drawn(store)
    changed("anything", store, name, "unheard-of")
    assert drawn(store) == before
    path, value = {
        "latent-map": (("normal", "x"), [9.0] * 20),
        "cem-trajectory": (("populations", "1", "y"), [3.0] * 8),
        "evolution": (("converged",), False),
        "interpolation": (("likeness",), [0.0] * 9),
        "data-histogram": (("counts",), [0, 0, 0, 0, 0, 2, 6, 1]),
        "rollouts": (("actions",), 99),
    }[name]
    changed(value, store, name, *path)
    assert drawn(store) != before


def test_drawing_computes_no_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = all_shown(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a report computes nothing")

    for name in ("embedding.space.Space.load", "search.run.Run.step", "evaluate.evaluate",
                  "karel.dataset.unique_programs", "karel.draw.frames.frames_of_program"):  # fmt: skip
        monkeypatch.setattr(f"leaps.{name}", refuse)
    for one in gather(store).exhibits:
        for picture in pictures_of(parts_of(one)):
            picture.draw()


def test_map_has_a_panel_per_stored_space(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for method in ("leaps", "leaps-p"):
        keep_shown(store, cell("latent-map", method, "test-programs"))
    (found,) = gather(store).exhibits
    parts = parts_of(found)
    labels = words(pictures_of(parts)[0].draw())
    assert [name for name in labels if name.startswith("leaps")] == ["leaps-p", "leaps"]
    assert labels.count("first principal component (10 %)") == 2
    tests, shapes = listings(parts)
    assert tests.rows == tuple((f"**{name}**", *["0.88 · 1.25"] * 4) for name in ("leaps-p", "leaps"))
    assert shapes.rows[0] == ("**leaps-p**", "0.125", "31", "15 %", "1.25")
    assert "35,000 training programs, of which 50 are drawn" in text_of(parts)


def test_trajectory_text_compares_the_end_with_the_papers_search(tmp_path: Path) -> None:
    text = text_of(parts_of(exhibit(tmp_path, "cem-trajectory")))
    assert "It converged after 8 iterations" in text
    assert "The paper's converged after 23." in text
    assert "The paper's did not in 1,000." in text
    store = all_shown(tmp_path)
    changed(False, store, "cem-trajectory", "converged")
    (found,) = (one for one in gather(store).exhibits if one.experiment.name == "cem-trajectory")
    assert "It did not converge in 8 iterations; its best program has a return of 1.00." in text_of(
        parts_of(found)
    )


def test_an_evolution_is_a_row_per_iteration(tmp_path: Path) -> None:
    found = listings(parts_of(exhibit(tmp_path, "evolution")))
    assert [one.label for one in found] == [
        f"evolution, {name} on stair-climber" for name in ("leaps", "leaps+")
    ]
    for listing in found:
        assert listing.rows == (
            ("1", "0.50", "0.44", "`DEF run m( move m)`"),
            ("2 (converged)", "1.00", "0.88", f"`{LONG}`"),
        )


def test_interpolation_is_listed_beside_the_reported_one(tmp_path: Path) -> None:
    parts = parts_of(exhibit(tmp_path, "interpolation"))
    close, far = listings(parts)
    assert close.head == far.head == ("", "here", "reported")
    assert [row[0] for row in close.rows] == ["START", *"12345678", "END"]
    assert close.rows[0][1] == f"`{LONG}`"
    assert close.rows[9][2].startswith("`DEF run m( turnRight move turnLeft WHILE")
    assert far.rows[0][2] == "`DEF run m( turnRight turnLeft turnLeft move turnRight putMarker move m)`"
    assert "the mean R_mat is 0.92 here and 0.50 for the reported programs" in text_of(parts)


def test_quick_interpolation_is_listed_without_the_reported_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    one = cell("interpolation", "leaps", "far", steps=2)
    values = shown_values(one) | {"programs": [LONG] * 4}
    store.write(Result(one, values, 1.0, __version__))
    (found,) = gather(store, quick=True).exhibits
    (listing,) = listings(parts_of(found))
    assert (listing.head, len(listing.rows)) == (("", "here"), 4)


def test_histogram_shows_mean_and_maximum_beside_the_papers(tmp_path: Path) -> None:
    parts = parts_of(exhibit(tmp_path, "data-histogram"))
    labels = words(pictures_of(parts)[0].draw())
    assert {"9 programs, train", "9 programs, validation", "mean here, 6.0", "the paper's mean, 17.9"} <= set(
        labels
    )
    (listing,) = listings(parts)
    assert listing.rows == (
        ("train", "9", "6.0", "7"),
        ("validation", "9", "6.0", "7"),
        ("reported, all", "50,000", "17.9", "44"),
    )


def test_every_rollout_has_its_strip_and_programs_are_shown(tmp_path: Path) -> None:
    parts = parts_of(exhibit(tmp_path, "rollouts"))
    tasks = [part.text for part in parts if isinstance(part, Heading)]
    assert tasks == list(FIGURES["rollouts"].tasks)
    assert [picture.name for picture in pictures_of(parts)] == [
        f"rollouts-{method}-{task}"
        for task in tasks
        for method in (("drl", "drl-abs", "leaps", "ladder") if task in PAPER_TASKS else ("ladder",))
    ]
    assert words(pictures_of(parts)[0].draw()) == ["start · 0.00", "2 actions · 1.00"]
    codes = [part.text for part in parts if isinstance(part, Code)]
    assert codes == ["DEF run m(\n  WHILE c( noMarkersPresent c) w(\n    turnRight\n    move\n  w)\nm)"] * 16
    assert "Policies sample their actions." in text_of(parts)


def test_rollout_captions_name_stored_methods_only(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for method, task in (("ladder", "snake"), ("ladder", "maze"), ("drl", "maze"), ("leaps", "top-off")):
        keep_shown(store, cell("rollouts", method, task))
    (found,) = gather(store).exhibits
    _, *parts = parts_of(found)
    end = "return 1.00 in this rollout, 7 actions; those after the first 2 do not increase the return."
    exact = "Mean return 0.94 (exact, all 9 states)."
    assert [(type(part), getattr(part, "text", "")) for part in parts if not isinstance(part, Code)] == [
        (Heading, "top-off"),
        (Words, f"`leaps`: {end} {exact}"),
        (Picture, ""),
        (Heading, "maze"),
        (Words, f"`drl`: {end} Mean return 0.94."),
        (Picture, ""),
        (Words, f"`ladder`: {end} {exact}"),
        (Picture, ""),
        (Heading, "snake"),
        (Words, f"`ladder`: {end} {exact}"),
        (Picture, ""),
    ]
    kinds = [type(part) for part in parts]
    assert [kinds[i + 1 : i + 2] for i, kind in enumerate(kinds) if kind is Picture] == [
        [Code], [Words], [Code], [Code],
    ]  # fmt: skip


def test_random_actions_are_mentioned_only_beside_policies(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_shown(store, cell("rollouts", "leaps", "maze"))
    (found,) = gather(store).exhibits
    assert "Policies sample" not in text_of(parts_of(found))


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("latent-map", ("tests",), {}),
        ("latent-map", ("training",), {"x": [1.0], "y": []}),
        ("cem-trajectory", ("mean_returns",), [1.0]),
        ("cem-trajectory", ("config",), {"task": "maze", "unheard": 1}),
        ("evolution", ("rows",), None),
        ("interpolation", ("programs",), 5),
        ("data-histogram", ("counts",), "many"),
        ("rollouts", ("program",), "DEF run m( mov m)"),
        ("rollouts", ("frames",), []),
    ],
)
def test_invalid_figure_values_raise(tmp_path: Path, name: str, path: tuple[str, ...], value: Any) -> None:
    store = all_shown(tmp_path)
    changed(value, store, name, *path)
    (found,) = (one for one in gather(store).exhibits if one.experiment.name == name)
    with pytest.raises(ValueError, match=f"the stored results of {name} lack a field that the figure needs"):
        parts_of(found)
