"""Charts show stored results reproducibly."""

import io
import re
from pathlib import Path

import pytest
from matplotlib.backend_bases import RendererBase
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from PIL import Image

from leaps.experiments.catalogue import TABLES
from leaps.experiments.cell import cell
from leaps.experiments.report.charts import BAND, HERE, REPORTED, chart_of, draw
from leaps.experiments.report.contents import Contents, gather
from leaps.experiments.report.figures import CLOUD, COLOURS, GREY, INK, WHITE, render
from leaps.experiments.store import Store
from tests.experiments.report.synthetic import everything, keep, keep_entry, small


def words(svg: bytes) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg.decode())


def test_panels_are_tasks_and_lines_are_methods_with_results(tmp_path: Path) -> None:
    labels = words(draw(gather(small(tmp_path)).sections[0]))
    for shown in ("maze", "clean-house", "leaps", "hc", "ladder"):
        assert labels.count(shown) == 1
    for missing in ("drl", "top-off", "cebs"):
        assert missing not in labels


def test_legend_lists_only_shown_marks(tmp_path: Path) -> None:
    here, reported = "here: mean, 95 % interval", "reported: mean, standard deviation"
    assert {here, reported} <= set(words(draw(gather(small(tmp_path)).sections[0])))
    store = Store(tmp_path / "other")
    keep_entry(store, "length", "leaps-45", "maze", [1.0, 1.0])
    labels = words(draw(gather(store).sections[0]))
    assert here in labels
    assert reported not in labels


def test_svg_bytes_depend_only_on_results(tmp_path: Path) -> None:
    section = gather(small(tmp_path)).sections[0]
    assert draw(section) == draw(section)
    store = Store(tmp_path)
    keep(store, cell("tasks", "hc", "maze", 2), 0.5)
    assert draw(gather(store).sections[0]) != draw(section)


def test_an_svg_has_no_date_and_only_the_palettes_colours(tmp_path: Path) -> None:
    svg = draw(gather(small(tmp_path)).sections[0]).decode()
    assert "date" not in svg.lower()
    assert set(re.findall(r"#[0-9a-f]{6}\b", svg)) <= {HERE, REPORTED, BAND, CLOUD, GREY, INK, WHITE}


def test_panels_share_a_scale_unless_it_leaves_one_of_them_little_room(tmp_path: Path) -> None:
    def scales(folder: str, **returns: list[float]) -> list[set[str]]:
        """The numbers below the first panel, and below the second."""
        store = Store(tmp_path / folder)
        for task, each in returns.items():
            keep_entry(store, "karel-hard", "ladder", task, each)
        labels = words(draw(gather(store).sections[0]))
        first, second = (labels.index(task) for task in returns)
        assert first < second
        return [
            {one for one in part if re.fullmatch(r"[−0-9.]+", one)}
            for part in (labels[:first], labels[first:second])
        ]

    one, other = scales("near", seeder=[0.0, 1.0], snake=[-0.2, 1.0])
    assert one == other
    one, other = scales("far", seeder=[0.0, 1.0], snake=[-0.9, 1.0])
    assert one != other


def test_intervals_are_drawn_where_there_are_some(tmp_path: Path) -> None:
    def bars(folder: str, *returns: float) -> int:
        store = Store(tmp_path / folder)
        keep_entry(store, "karel-hard", "ladder", "snake", returns)
        svg = draw(gather(store).sections[0]).decode()
        return len(re.findall(rf"<path [^>]*stroke: {HERE}", svg))

    assert bars("some", 0.2, 0.6) == bars("none", 0.5) + 1


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    return gather(everything(tmp_path_factory.mktemp("results")))


@pytest.mark.parametrize("name", TABLES)
def test_no_labels_overlap_or_stick_out(full: Contents, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (section,) = (one for one in full.sections if one.experiment.name == name)
    boxes: dict[Text, Bbox] = {}
    original = Text.draw

    def watched(self: Text, renderer: RendererBase) -> None:
        if self.get_visible() and self.get_text():
            boxes[self] = self.get_window_extent(renderer)
        original(self, renderer)

    monkeypatch.setattr(Text, "draw", watched)
    with Image.open(io.BytesIO(render(lambda: chart_of(section), "png"))) as picture:
        width, height = picture.size
    places = list(boxes.values())
    assert len(places) > len(section.experiment.methods) + len(section.experiment.tasks)
    for number, place in enumerate(places):
        assert 0 <= place.x0 < place.x1 <= width
        assert 0 <= place.y0 < place.y1 <= height
        assert not any(place.overlaps(other) for other in places[number + 1 :])


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_colours_have_enough_contrast() -> None:
    """WCAG wants 4.5 for words and 3 for marks."""
    least = dict.fromkeys((INK, GREY, HERE), 4.5) | dict.fromkeys(COLOURS, 3.0)
    for back in (WHITE, BAND):
        for front, wanted in least.items():
            high, low = sorted((luminance(front), luminance(back)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= wanted, (front, back)
