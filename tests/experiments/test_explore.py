"""What is seen in a space is there: walks, neighbours, smoothness and maps, by hand where possible."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray

from leaps.embedding.model import Coordinates
from leaps.embedding.space import Space
from leaps.embedding.train import TrainConfig
from leaps.embedding.weights import save_weights
from leaps.experiments import explore
from leaps.experiments.explore import (
    SearchJudge,
    SpaceChart,
    chart_of_space,
    dimensions_filled,
    distance_from_normal,
    interpolate,
    nearest,
    r_mat,
    smoothness,
)
from leaps.experiments.report.figures import draw_map
from leaps.karel.dataset import DataConfig, Dataset, in_worlds, make_dataset, worlds_for
from leaps.karel.executor import run
from leaps.karel.world import KAREL, LANGUAGE, random_worlds
from leaps.search.reconstruct import PLUS, TEST_PROGRAMS, reconstruct
from tests.embedding.helpers import long_programs, needs_shipped_weights, shipped, short_programs, untrained

Latents = NDArray[np.float32]


def rows_of(programs: Sequence[str], length: int | None = None) -> NDArray[np.uint8]:
    return LANGUAGE.batch([LANGUAGE.encode(text.split()) for text in programs], length)


def training_of(data: Dataset) -> NDArray[np.uint8]:
    return np.asarray(data.tokens[data.split("train")])


class Atlas:
    """A space of known programs: each has its place, and every point belongs to the nearest of them."""

    text, language = staticmethod(LANGUAGE.text), LANGUAGE
    raw = False

    def __init__(self, programs: NDArray[np.uint8], places: NDArray[Any]) -> None:
        self.programs, self.places = programs, places.astype(np.float32)
        self.dimensions = places.shape[1]

    def encode(self, programs: Sequence[str] | NDArray[np.uint8]) -> Latents:
        length = self.programs.shape[1]
        rows = programs if isinstance(programs, np.ndarray) else rows_of(programs, length)
        known = {row.tobytes(): place for row, place in zip(self.programs, self.places, strict=True)}
        return np.stack([known[row.tobytes()] for row in rows])

    def latent(self, points: NDArray[Any]) -> Latents:
        return points.astype(np.float32)

    def decode(self, latents: Latents) -> NDArray[np.uint8]:
        away = ((latents[:, None] - self.places) ** 2).sum(axis=2)
        return np.asarray(self.programs[away.argmin(axis=1)])


def atlas(programs: NDArray[np.uint8], places: NDArray[Any] | list[Any]) -> Space:
    return cast("Space", Atlas(programs, np.asarray(places)))


# Walks

A, B, C, D = (f"DEF run m( {action} m)" for action in ("move", "turnLeft", "turnRight", "putMarker"))


def test_interpolation_decodes_points_on_the_line() -> None:
    space = atlas(rows_of([A, B, C, D]), [[0, 0], [1, 2], [2, 4], [3, 6]])
    assert interpolate(space, A, D, steps=2) == [A, B, C, D]


def test_reversed_interpolation() -> None:
    space = atlas(rows_of([A, B, C, D]), [[0, 0], [1, 2], [2, 4], [3, 6]])
    assert interpolate(space, D, A, steps=2) == [D, C, B, A]


def test_interpolation_misses_programs_off_the_line() -> None:
    space = atlas(rows_of([A, B, C, D]), [[0, 0], [1, 9], [2, 9], [3, 0]])
    assert interpolate(space, A, D, steps=2) == [A, A, D, D]


@needs_shipped_weights
@pytest.mark.parametrize("steps", [1, 2, 8])
def test_interpolation_includes_both_ends(steps: int) -> None:
    start, end = TEST_PROGRAMS["WHILE"], TEST_PROGRAMS["2IF+IFELSE"]
    walk = interpolate(shipped(), start, end, steps)
    assert len(walk) == steps + 2
    assert (walk[0], walk[-1]) == (start, end)


@needs_shipped_weights
def test_interpolation_from_a_program_to_itself_is_constant() -> None:
    assert interpolate(shipped(), A, A, steps=3) == [A] * 5


@pytest.mark.parametrize("steps", [0, -1])
def test_interpolation_without_steps_raises(steps: int) -> None:
    with pytest.raises(ValueError, match=f"steps must be at least 1, found {steps}"):
        interpolate(atlas(rows_of([A, B]), [[0], [1]]), A, B, steps)


# Neighbours


def points(count: int, dimensions: int = 2, offset: float = 0.0) -> Latents:
    drawn = np.random.default_rng(0).standard_normal((count, dimensions))
    return np.asarray(drawn + offset, np.float32)


def by_hand(latents: Latents, count: int) -> list[list[int]]:
    """The nearest others, in double precision."""
    exact = latents.astype(np.float64)
    away = ((exact[:, None] - exact) ** 2).sum(axis=2)
    np.fill_diagonal(away, np.inf)
    return cast("list[list[int]]", away.argsort(axis=1, kind="stable")[:, :count].tolist())


def test_nearest_neighbours_are_sorted_by_distance() -> None:
    latents = np.array([[0, 0], [1, 0], [0, 3], [5, 0], [5, 1]], np.float32)
    assert nearest(latents, 2).tolist() == [[1, 2], [0, 2], [0, 1], [4, 1], [3, 1]]


def test_a_point_is_not_its_own_neighbour() -> None:
    near = nearest(points(50), 49)
    assert all(sorted([row, *others]) == list(range(50)) for row, others in enumerate(near.tolist()))


def test_a_point_in_the_same_place_is_a_neighbour() -> None:
    latents = np.array([[0, 0], [9, 9], [0, 0], [8, 9]], np.float32)
    assert nearest(latents, 1)[:, 0].tolist() == [2, 3, 0, 1]


@pytest.mark.parametrize("dimensions", [1, 2, 20])
def test_the_nearest_are_those_found_by_hand(dimensions: int) -> None:
    latents = points(200, dimensions)
    assert nearest(latents, 5).tolist() == by_hand(latents, 5)


def test_points_are_compared_with_all_others_whatever_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = nearest(points(23), 4)
    monkeypatch.setattr(explore, "_CHUNK", 7)
    assert nearest(points(23), 4).tolist() == expected.tolist()


def test_the_nearest_are_the_same_far_from_the_origin() -> None:
    latents = points(60, offset=1000.0)
    assert nearest(latents, 1).tolist() == by_hand(latents, 1)


# Smoothness


def of_three(tokens: NDArray[np.uint8]) -> Dataset:
    """A data set whose three test programs are these."""
    data = make_dataset(DataConfig(programs=20, keep="every", pool=16, more=0, max_length=12))
    replaced = data.tokens.copy()
    replaced[data.split("test")] = tokens
    return replace(data, tokens=replaced)


def behaviours(tokens: NDArray[np.uint8]) -> NDArray[np.float64]:
    """[n, features] the actions that programs take in the same worlds, one-hot; early ones count more."""
    traces = run(KAREL.compile(tokens), random_worlds(20, 7), 10, want_actions=True)
    assert traces.actions is not None
    one_hot = traces.actions[..., None] == np.arange(len(LANGUAGE.actions))
    weights = 0.5 ** np.arange(10)
    return np.asarray((one_hot * weights[:, None]).reshape(len(tokens), -1))


def test_the_smoothness_of_three_programs_is_that_found_by_hand() -> None:
    programs = ["turnLeft", "turnLeft turnRight", "turnRight"]  # the first two share half of their actions
    tokens = rows_of([f"DEF run m( {text} m)" for text in programs], 12)
    space = atlas(tokens, [[0], [1], [2]])
    assert smoothness(space, of_three(tokens), "test") == pytest.approx((0.5 + 0.5) / 6)


def test_only_the_ten_nearest_count() -> None:
    data = short_programs()  # 30 test programs
    tokens = data.tokens.copy()
    numbers = data.split("test")
    left, right = (f"DEF run m( turn{side} m)" for side in ("Left", "Right"))
    tokens[numbers] = rows_of([left] * 15 + [right] * 15, tokens.shape[1])
    space = atlas(rows_of([left, right], tokens.shape[1]), [[0], [100]])
    assert smoothness(space, replace(data, tokens=tokens), "test") == 1.0


def test_a_space_in_which_all_programs_are_one_is_smooth() -> None:
    data = short_programs()
    space = atlas(data.tokens, np.random.default_rng(0).standard_normal((data.count, 3)))
    one = data.tokens[:1]
    cast("Any", space).decode = lambda latents: np.repeat(one, len(latents), axis=0)
    assert smoothness(space, data, "test") == 1.0


@pytest.mark.parametrize("split", ["validation", "test"])
def test_smoothness_is_the_mean_r_mat_on_the_programs_own_worlds(split: str) -> None:
    data = short_programs()
    places = np.random.default_rng(1).standard_normal((data.count, 3)).astype(np.float32)
    numbers = data.split(split)
    near = np.array(by_hand(places[numbers], 10))
    first, second = np.repeat(numbers, 10), numbers[near.reshape(-1)]
    compiled = [KAREL.compile(data.tokens[rows]) for rows in (first, second)]
    expected = r_mat(compiled[0], compiled[1], data.worlds(first), own_worlds=True).mean()
    assert smoothness(atlas(data.tokens, places), data, split) == pytest.approx(expected)


def test_smoothness_is_the_same_whatever_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    data = short_programs()
    space = atlas(data.tokens, np.random.default_rng(1).standard_normal((data.count, 3)))
    whole = smoothness(space, data, "test")
    monkeypatch.setattr(explore, "_CHUNK", 7)
    assert smoothness(space, data, "test") == pytest.approx(whole)


def test_a_space_whose_neighbours_behave_alike_is_smoother_than_a_shuffled_one() -> None:
    data = short_programs()
    places = behaviours(data.tokens)
    shuffled = np.random.default_rng(0).permutation(places)
    orderly, chaotic = (smoothness(atlas(data.tokens, x), data, "train") for x in (places, shuffled))
    assert orderly > chaotic + 0.1


@needs_shipped_weights
def test_a_trained_space_is_smoother_than_a_shuffled_one() -> None:
    data, space = long_programs(), shipped()
    places = np.random.default_rng(0).permutation(space.encode(data.tokens.copy()))
    assert smoothness(space, data, "train") > smoothness(atlas(data.tokens, places), data, "train")


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Space, Space]:
    """The same network twice: with points that are its latents, and with coordinates fitted to programs."""
    network, data = untrained(16), short_programs()
    save_weights(network, tmp_path / "latents")
    latents = Space(tmp_path / "latents")
    network.coordinates.fit(torch.from_numpy(latents.encode(data.tokens[data.split("train")].copy())))
    save_weights(network, tmp_path / "points")
    return latents, Space(tmp_path / "points")


def test_smoothness_is_the_same_in_any_coordinates(twins: tuple[Space, Space]) -> None:
    one, other = (smoothness(space, short_programs(), "train") for space in twins)
    # A program or a neighbour more or less may come of rounding; coordinates that count change 0.05.
    assert one == pytest.approx(other, abs=5e-3)


def test_a_map_is_the_same_in_any_coordinates(twins: tuple[Space, Space]) -> None:
    maps = [chart_of_space(space, training_of(short_programs()), iterations=1) for space in twins]
    one, other = (distances(np.concatenate([m.training, np.stack(list(m.truth.values()))])) for m in maps)
    assert one == pytest.approx(other, abs=1e-4)
    assert one.max() > 0.1  # or there would be little to compare


def test_a_map_shows_random_points_where_the_search_would_find_them(twins: tuple[Space, Space]) -> None:
    latents, points = (chart_of_space(space, training_of(short_programs()), iterations=1) for space in twins)
    assert latents.normal.std(axis=0) == pytest.approx(1, rel=0.1)
    # A unit is UNIT deviations of the training programs, in every direction.
    expected = Coordinates.UNIT * latents.training.std(axis=0)
    assert points.normal.std(axis=0) == pytest.approx(expected, rel=0.1)


def test_progress_reaches_the_last_program(monkeypatch: pytest.MonkeyPatch) -> None:
    data = short_programs()
    space = atlas(data.tokens, behaviours(data.tokens))
    monkeypatch.setattr(explore, "_CHUNK", 12)
    progress: list[int] = []
    smoothness(space, data, "test", progress.append)
    assert progress == [12, 24, 30]


def test_unknown_split_raises() -> None:
    data = short_programs()
    with pytest.raises(ValueError, match="found 'valid'"):
        smoothness(atlas(data.tokens, behaviours(data.tokens)), data, "valid")


# Maps


def mapped(places: NDArray[np.float64] | None = None) -> tuple[Space, Dataset, SpaceChart]:
    """A space of 60 programs and the four test programs, and its map."""
    data = long_programs()
    length = 60
    width = np.full((data.count, length - data.tokens.shape[1]), LANGUAGE.pad, np.uint8)
    data = replace(data, tokens=np.concatenate([data.tokens, width], axis=1))
    programs = np.concatenate([data.tokens, rows_of(list(TEST_PROGRAMS.values()), length)])
    if places is None:
        places = np.random.default_rng(0).standard_normal((len(programs), 2)) * [1, 5]
    space = atlas(programs, places)
    return space, data, chart_of_space(space, training_of(data), seed=3, iterations=2)


def distances(places: NDArray[Any]) -> NDArray[np.float64]:
    exact = places.astype(np.float64)
    return np.asarray(np.sqrt(((exact[:, None] - exact) ** 2).sum(axis=2)))


def test_the_map_of_a_plane_keeps_all_distances() -> None:
    space, data, chart = mapped()
    numbers = data.split("train")
    truth = space.encode(list(TEST_PROGRAMS.values()))
    before = np.concatenate([space.encode(data.tokens[numbers]), truth])
    after = np.concatenate([chart.training, np.stack(list(chart.truth.values()))])
    assert distances(after) == pytest.approx(distances(before), abs=1e-4)


def test_the_first_axis_of_a_map_is_that_of_most_variance() -> None:
    _, _, chart = mapped()
    across, up = chart.training.std(axis=0)
    assert across > 3 * up


def test_map_omits_the_least_variance() -> None:
    plane = np.random.default_rng(0).standard_normal((64, 2)) * [5, 3]
    flat, _, _ = np.linalg.svd(np.random.default_rng(1).standard_normal((6, 6)))
    _, data, chart = mapped(plane @ flat[:2])
    assert distances(chart.training) == pytest.approx(distances(plane[data.split("train")]), abs=1e-4)


def test_the_training_programs_are_in_the_middle_of_a_map() -> None:
    _, data, chart = mapped(np.random.default_rng(0).standard_normal((64, 3)) + 100)
    assert len(chart.training) == len(data.split("train"))
    assert chart.training.mean(axis=0) == pytest.approx([0, 0], abs=1e-3)


def test_map_shows_the_programs_that_the_search_found() -> None:
    space, _, chart = mapped()
    for name, program in TEST_PROGRAMS.items():
        execute = in_worlds(worlds_for(program, 3))
        assert chart.r_mat[name] == reconstruct(space, program, execute, PLUS, seed=3, iterations=2).r_mat


def test_every_test_program_is_on_the_map_twice() -> None:
    _, _, chart = mapped()
    assert list(chart.truth) == list(chart.found) == list(chart.r_mat) == list(TEST_PROGRAMS)
    assert all(place.shape == (2,) for place in [*chart.truth.values(), *chart.found.values()])


def test_the_same_seed_is_the_same_map() -> None:
    one, other = mapped()[2], mapped()[2]
    assert np.array_equal(one.normal, other.normal)
    assert all(np.array_equal(one.found[name], other.found[name]) for name in TEST_PROGRAMS)


def test_map_reports_progress_by_program_name() -> None:
    space, data, _ = mapped()
    progress: list[str] = []
    chart_of_space(space, training_of(data), iterations=1, progress=progress.append)
    assert progress == list(TEST_PROGRAMS)


def test_distance_of_programs_is_in_units_of_the_space() -> None:
    space, data, chart = mapped()
    places = space.encode(training_of(data)).astype(np.float64)
    unit = np.sqrt(((places - places.mean(axis=0)) ** 2).sum(axis=1).mean())
    for name, program in TEST_PROGRAMS.items():
        execute = in_worlds(worlds_for(program, 3))
        found = reconstruct(space, program, execute, PLUS, seed=3, iterations=2).point
        expected = float(np.linalg.norm(found - space.encode([program])[0])) / unit
        assert chart.apart[name] == pytest.approx(expected, rel=1e-4)
    assert max(chart.apart.values()) > 0.01


def test_a_maps_report_is_plain_and_short_and_can_be_read() -> None:
    _, _, chart = mapped()
    long = replace(chart, training=points(5000), normal=points(3000))
    stored = json.loads(json.dumps(long.report()))
    read = SpaceChart.of_report(stored)
    assert read.training == pytest.approx(long.training[:1200], abs=6e-4)
    assert read.normal == pytest.approx(long.normal[:400], abs=6e-4)
    assert read.shares == pytest.approx(long.shares, abs=1e-4)
    assert read.dimensions == pytest.approx(long.dimensions, abs=1e-2)
    assert read.from_normal == pytest.approx(long.from_normal, abs=1e-4)
    for name in TEST_PROGRAMS:
        assert read.truth[name] == pytest.approx(long.truth[name], abs=6e-4)
        assert read.found[name] == pytest.approx(long.found[name], abs=6e-4)
        assert (read.r_mat[name], read.apart[name]) == pytest.approx(
            (long.r_mat[name], long.apart[name]), abs=1e-4
        )
    assert read.report() == stored
    assert len(json.dumps(stored)) < 40_000


# The shape of a cloud


def normal_cloud(count: int = 20_000) -> NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal((count, 2)).astype(np.float32)


def test_a_normal_cloud_is_normal_however_it_lies() -> None:
    cloud = normal_cloud()
    assert distance_from_normal(cloud) < 0.01
    turned = cloud @ np.array([[3, 1], [-1, 0.2]], np.float32) + 7
    assert distance_from_normal(turned) == pytest.approx(distance_from_normal(cloud), abs=0.002)


def test_a_uniform_square_is_as_far_from_normal_along_its_sides_as_by_hand() -> None:
    sides = np.linspace(-1, 1, 401)
    square = np.stack(np.meshgrid(sides, sides), -1).reshape(-1, 2).astype(np.float32)
    x = np.linspace(-np.sqrt(3), np.sqrt(3), 100_001)  # of unit variance
    by_hand = np.abs(
        torch.special.ndtr(torch.from_numpy(x)).numpy() - (x + np.sqrt(3)) / (2 * np.sqrt(3))
    ).max()
    # Along the diagonals it is nearer to normal, so the mean is between half of it and it.
    assert by_hand / 2 < distance_from_normal(square) < by_hand


def test_a_bent_cloud_is_farther_from_normal_than_a_straight_one() -> None:
    cloud = normal_cloud()
    bent = cloud + np.stack([np.zeros(len(cloud)), cloud[:, 0] ** 2], 1).astype(np.float32)
    assert distance_from_normal(bent) > 0.05


def test_points_on_a_line_raise() -> None:
    with pytest.raises(ValueError, match="found points on a line"):
        distance_from_normal(np.stack([np.arange(9), np.arange(9)], 1).astype(np.float32))


def test_a_round_cloud_fills_its_dimensions_and_a_flat_one_fewer() -> None:
    cloud = np.random.default_rng(0).standard_normal((50_000, 8)).astype(np.float32)
    assert dimensions_filled(cloud) == pytest.approx(8, abs=0.05)
    cloud[:, 2:] *= 0.001
    assert dimensions_filled(cloud) == pytest.approx(2, abs=0.05)


# Pictures of maps

CHART = SpaceChart(
    points(30),
    points(20),
    {name: np.array([i, 1], np.float32) for i, name in enumerate(TEST_PROGRAMS)},
    {name: np.array([i, 2], np.float32) for i, name in enumerate(TEST_PROGRAMS)},
    dict.fromkeys(TEST_PROGRAMS, 0.75),
    dict.fromkeys(TEST_PROGRAMS, 0.5),
    (0.25, 0.125),
    12.0,
    0.25,
)


@pytest.fixture
def _figures_closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.mark.parametrize("name", ["map.png", "MAP.PNG", "new/folder/map.png"])
def test_a_map_is_drawn_as_png(tmp_path: Path, name: str) -> None:
    draw_map(CHART, tmp_path / name, "A space")
    height, width, _ = plt.imread(tmp_path / name, "png").shape
    assert (width, height) == (1024, 1104)


def test_a_map_is_drawn_as_svg(tmp_path: Path) -> None:
    draw_map(CHART, tmp_path / "map.svg", "A space")
    assert ElementTree.parse(tmp_path / "map.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_a_drawn_map_is_alone_in_its_folder(tmp_path: Path) -> None:
    draw_map(CHART, tmp_path / "map.png", "A space")
    assert [file.name for file in tmp_path.iterdir()] == ["map.png"]


def test_a_drawn_map_is_no_longer_in_memory(tmp_path: Path) -> None:
    before = plt.get_fignums()
    draw_map(CHART, tmp_path / "map.png", "A space")
    assert plt.get_fignums() == before


@pytest.mark.parametrize(
    "suffix",
    [
        "png",
        pytest.param("svg"),
    ],
)
def test_the_same_map_is_the_same_file(tmp_path: Path, suffix: str) -> None:
    for name in ("one", "other"):
        draw_map(CHART, tmp_path / f"{name}.{suffix}", "A space")
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"other.{suffix}").read_bytes()


@pytest.mark.usefixtures("_figures_closed")
@pytest.mark.parametrize("name", ["map.pdf", "map", "map.png.txt"])
def test_unknown_suffix_raises_and_keeps_the_old_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"old")
    message = re.escape(f"a figure is saved as .png or .svg, found '{tmp_path / name}'")
    with pytest.raises(ValueError, match=message):
        draw_map(CHART, tmp_path / name, "A space")
    assert (tmp_path / name).read_bytes() == b"old"


@pytest.mark.usefixtures("_figures_closed")
def test_a_refused_map_is_not_left_in_memory(tmp_path: Path) -> None:
    before = plt.get_fignums()
    with pytest.raises(ValueError, match="saved as"):
        draw_map(CHART, tmp_path / "map.pdf", "A space")
    assert plt.get_fignums() == before


def fail(_: Figure, stream: Any, **__: object) -> None:
    stream.write(b"half a map")
    raise MemoryError


@pytest.mark.usefixtures("_figures_closed")
def test_a_map_that_could_not_be_drawn_is_not_left_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Figure, "savefig", fail)
    before = plt.get_fignums()
    with pytest.raises(MemoryError):
        draw_map(CHART, tmp_path / "map.png", "A space")
    assert plt.get_fignums() == before


@pytest.mark.usefixtures("_figures_closed")
def test_failed_drawing_keeps_the_old_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "map.png").write_bytes(b"old")
    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(MemoryError):
        draw_map(CHART, tmp_path / "map.png", "A space")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"map.png": b"old"}


# Judging a space by searching it


def judged_data() -> Dataset:
    return make_dataset(DataConfig(programs=60, seed=2, keep="every", pool=16, more=0, max_length=15))


def test_a_search_judge_gives_the_same_space_the_same_score() -> None:
    config = TrainConfig(search_programs=2, search_iterations=3)
    judge, network = SearchJudge(judged_data(), config), untrained(max_length=15)
    score = judge(network)
    assert 0 <= score <= 1
    assert SearchJudge(judged_data(), config)(network) == score


def test_a_search_judge_looks_for_validation_programs_with_a_loop_or_conditional() -> None:
    data = judged_data()
    judge = SearchJudge(data, TrainConfig(search_programs=3))
    validation = [LANGUAGE.text(row) for row in data.tokens[data.split("validation")]]
    branching = [text for text in validation if "WHILE" in text or "IF" in text]
    assert judge.programs == branching[:3]
    assert judge.programs != validation[:3]


def test_a_longer_search_scores_no_less() -> None:
    data, network = judged_data(), untrained(max_length=15)
    scores = [
        SearchJudge(data, TrainConfig(search_programs=3, search_iterations=iterations))(network)
        for iterations in (1, 20)
    ]
    assert scores[0] < scores[1]


def test_too_many_search_programs_raise() -> None:
    with pytest.raises(ValueError, match="search_programs=32, but the validation split has only"):
        SearchJudge(judged_data(), TrainConfig())
