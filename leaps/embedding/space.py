"""A trained program space: encode programs as points and decode points to programs."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from leaps.base.tensors import read_about
from leaps.dsl.compiler import TOO_MUCH, compile_tokens
from leaps.dsl.language import Language
from leaps.dsl.syntax import Program
from leaps.dsl.text import read
from leaps.embedding.fast_decoder import FastDecoder
from leaps.embedding.model import Coordinates
from leaps.embedding.train import VARIANTS
from leaps.embedding.weights import check_language, load_weights

SHIPPED = Path(__file__).parent / "trained"
"""the weights that come with the package, one file per variant"""
BATCH = 2048


def shipped_spaces() -> list[str]:
    """Return the names of the package's spaces."""
    return [name for name in VARIANTS if (SHIPPED / f"{name}.safetensors").exists()]


def find_weights(name: str | Path) -> Path:
    """Return the weights file of a shipped space (leaps, p, pr, pl), of a path, or of a training's folder."""
    file = Path(name)
    if str(name) in shipped_spaces():
        file = SHIPPED / f"{name}.safetensors"
    elif str(name) in VARIANTS:
        raise ValueError(
            f"the weights of {str(name)!r} don't come with this version; make them with `leaps data` "
            "and `leaps train`, and give the training's folder"
        )
    if file.is_dir():
        file = file / "weights.safetensors"
    if not file.exists():
        raise ValueError(
            f"no weights at {str(name)!r}; expected {', '.join(shipped_spaces())}, a file of weights, "
            "or a folder of `leaps train`"
        )
    return file


class Space:
    """A learned program space on the CPU: encode programs as points, and decode points to programs.

    A space is immutable, so several searches can use it at once. With `raw`, points are the network's own
    latents, as in the paper, instead of whitened coordinates (`Coordinates`).

    >>> space = Space.load("leaps")
    >>> points = space.encode(["DEF run m( move turnLeft m)"])
    >>> points.shape
    (1, 256)
    >>> space.text(space.decode(points)[0])
    'DEF run m( move turnLeft m)'
    """

    def __init__(self, file: Path, raw: bool = False) -> None:
        self.file, self.raw = file, raw
        self.network = load_weights(file)
        if raw:
            self.network.coordinates = Coordinates(self.network.config.latent)
        self.about = read_about(file)
        self._decoder = FastDecoder(self.network)

    @staticmethod
    def load(name: str | Path = "leaps", raw: bool = False, *, language: Language | None = None) -> "Space":
        """Load a space of the package (leaps, p, pr, pl) or a file of weights.

        language: the expected language; if it differs, a ValueError names the words that differ.
        """
        file = find_weights(name)
        if language is not None:
            check_language(file, language)
        return _loaded(file.resolve(), file.stat().st_mtime_ns, raw)

    @property
    def language(self) -> Language:
        """The language of the programs."""
        return self.network.language

    @property
    def dimensions(self) -> int:
        return self.network.config.latent

    @property
    def longest(self) -> int:
        """Maximum program length in tokens that the encoder was trained for."""
        return self.network.config.max_length

    def encode(self, programs: Sequence[str | Program] | NDArray[np.uint8]) -> NDArray[np.float32]:
        """Encode programs as points [n, dimensions]."""
        if isinstance(programs, str):
            raise ValueError("expected a list of programs, found one text")
        if not isinstance(programs, np.ndarray):
            programs = self.language.batch([read(item, self.language) for item in programs])
        entry = compile_tokens(programs, self.language).entry
        wrong = (entry < 0) & (entry != TOO_MUCH)
        if wrong.any():
            raise ValueError(f"row {int(wrong.argmax())} is not a program")
        points = np.empty((len(programs), self.dimensions), np.float32)
        with torch.no_grad():
            for start in range(0, len(programs), BATCH):
                some = torch.from_numpy(programs[start : start + BATCH].astype(np.int64))
                points[start : start + BATCH] = self.network.encode(some).numpy()
        return points

    def latent(self, points: NDArray[Any]) -> NDArray[np.float32]:
        """Convert points to the network's latents [n, dimensions], in which distances are measured."""
        with torch.no_grad():
            return self.network.coordinates.latent(torch.from_numpy(self._checked(points).copy())).numpy()

    def _checked(self, points: NDArray[Any]) -> NDArray[np.float32]:
        points = np.ascontiguousarray(points, np.float32)
        if points.ndim != 2 or points.shape[1] != self.dimensions:
            raise ValueError(f"expected points [n, {self.dimensions}], found {list(points.shape)}")
        return points

    def decode(self, points: NDArray[Any], max_length: int | None = None) -> NDArray[np.uint8]:
        """Decode points [n, dimensions] to their most likely programs [n, length], padded with `<pad>`."""
        return self._decoder.decode(self._checked(points), max_length=max_length)

    def text(self, tokens: NDArray[np.uint8]) -> str:
        """Return the text of one decoded program."""
        return self.language.text(tokens)


@lru_cache(maxsize=8)
def _loaded(file: Path, changed: int, raw: bool) -> Space:  # noqa: ARG001
    """Load each file once, unless it has changed."""
    return Space(file, raw)
