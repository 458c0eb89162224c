"""The map: coordinates of programs, and walks between two programs."""

import numpy as np

from leaps.dsl.text import parse, to_indented
from leaps.karel.dataset import DataConfig, unique_programs
from leaps.karel.world import LANGUAGE
from leaps.studio.mapping import LatentMap

WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"
TURN = "DEF run m( turnLeft turnLeft m)"


def test_the_map_shows_training_programs(latent_map: LatentMap) -> None:
    result = latent_map.answer
    assert len(result["points"]) == 300
    config = DataConfig(**latent_map.space.about["data"])
    training = {" ".join(LANGUAGE.decode(row)) for row in unique_programs(config)[: config.bounds[0]]}
    assert all(line in training for *_, line in result["points"])
    assert len({line for *_, line in result["points"]}) == 300
    first, second = result["explained"]
    assert 0 < second <= first < 1


def test_place_returns_the_coordinates_on_the_map(latent_map: LatentMap) -> None:
    shown = latent_map.answer["points"][:16]
    result = latent_map.place([parse(line, LANGUAGE) for *_, line in shown])
    assert np.allclose(result["points"], [[x, y] for x, y, _ in shown], atol=2e-3)


def test_walk_begins_and_ends_at_the_two_programs(latent_map: LatentMap) -> None:
    start, end = parse(WALK, LANGUAGE), parse(TURN, LANGUAGE)
    result = latent_map.walk(start, end, 3)
    assert result["programs"][0] == to_indented(start)
    assert result["programs"][-1] == to_indented(end)
    assert result["shares"] == [0, 0.25, 0.5, 0.75, 1]
    assert len(result["programs"]) == len(result["points"]) == 5
    assert np.allclose(
        [result["points"][0], result["points"][-1]], latent_map.place([start, end])["points"], atol=2e-3
    )
    for program in result["programs"]:
        parse(program, LANGUAGE)


def test_long_programs_have_coordinates(latent_map: LatentMap) -> None:
    long = parse("DEF run m( " + "move " * 396 + "m)", LANGUAGE)
    assert np.isfinite(latent_map.place([long])["points"]).all()
