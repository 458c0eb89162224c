"""Films have a picture of every state of an episode."""

from pathlib import Path

from PIL import Image

from leaps.gym.film import save_film
from tests.gym.corridor import CORRIDOR

RIGHT = "DEF run m( WHILE c( not c( atTheEnd c) c) w( right w) m)"


def test_a_film_has_a_picture_of_every_state(tmp_path: Path) -> None:
    episodes, compiled = CORRIDOR.worlds(1, seed=2), CORRIDOR.compile(RIGHT)
    save_film(CORRIDOR, compiled, episodes, tmp_path / "film.gif")
    steps = int(CORRIDOR.run(compiled, episodes).steps[0, 0])
    assert steps > 0
    with Image.open(tmp_path / "film.gif") as film:
        assert getattr(film, "n_frames", 1) == steps + 1
        assert film.size == (48, 8)
