"""Perceptions with a constant: `angle>0.05` holds where the number `angle` is greater than 0.05.

A task names numbers. Its language has a perception for each number and each of some constants. The initial
constants are quantiles of the values in rollouts with random actions. A search replaces the constants that
its good programs do not use by others close to those that they use (`refined`), so programs reach any
constant.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leaps.domain import Reworded
from leaps.gym.scene import GymScene

if TYPE_CHECKING:
    from leaps.gym.task import GymTask

MORE = ">"
"""separates a number's name from the constant in a perception"""
DIGITS = 9
"""significant digits of a constant in a program"""
FINER = 1
"""extra decimals of refined constants"""
NEAREST, FARTHEST = 8.0, 0.5
"""a refined constant is between 2^-NEAREST and 2^-FARTHEST of the number's range away from a used one"""
TRIES = 20
"""draws of a new constant, after which a present one is kept"""

SAMPLED = 4000
"""steps with random actions that the initial constants are chosen from"""
HELD = (1, 1, 1, 4, 16, 64)
"""steps that each action is repeated, by episode in turn: some numbers hardly change otherwise"""

Constants = Mapping[str, tuple[float, ...]]
"""constants of each number, by its name, in ascending order"""


@dataclass(frozen=True)
class Number:
    """A numeric perception: a function of the observation, or a privileged function of the environment."""

    function: Callable[[Any], Any]


def number(function: Callable[[Any], Any]) -> Number:
    """Mark a perception that returns a number, which programs compare with constants.

    function: takes the observation; it may be wrapped in `leaps.privileged`.
    """
    return Number(function)


@dataclass(frozen=True)
class Above:
    """A perception: whether a number is greater than a constant."""

    function: Callable[[Any], Any]
    constant: float

    def __call__(self, seen: Any) -> Any:
        value = self.function(seen)
        if not math.isfinite(value):
            raise ValueError(f"expected a finite number, found {value!r}")
        return value > self.constant

    @property
    def __wrapped__(self) -> Callable[[Any], Any]:
        """The user's function, for messages that name its line."""
        return self.function


@dataclass(frozen=True)
class Scale:
    """The values of a number in rollouts with random actions, and the constants that follow from them."""

    low: float
    high: float
    quantiles: tuple[float, ...]
    decimals: int
    """decimals of the constants"""


def word(name: str, constant: float) -> str:
    """Write a perception with a constant.

    >>> word("angle", 0.05)
    'angle>0.05'
    """
    return f"{name}{MORE}{constant + 0.0:.{DIGITS}g}"  # avoids -0


def split(text: str, names: Iterable[str]) -> tuple[str, float] | None:
    """Split a perception into one of these numbers and the constant; None if it is something else."""
    name, mark, constant = text.partition(MORE)
    if not mark or name not in names:
        return None
    try:
        value = float(constant)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    if word(name, value) != text:
        raise ValueError(f"expected {word(name, value)}, found {text}: a constant has only one spelling")
    return name, value


def scale(values: NDArray[np.float64], count: int) -> Scale:
    """Choose `count` constants for a number from its sampled values; fewer if many values are equal."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return Scale(low, high, (_rounded(low, DIGITS),), DIGITS)
    marks = np.quantile(values, (np.arange(count) + 0.5) / count).tolist()
    decimals = math.ceil(-math.log10((high - low) / count))
    quantiles = {_rounded(mark, decimals) for mark in marks}
    if len(quantiles) < count:  # many values are close to each other
        decimals += 1
        quantiles = {_rounded(mark, decimals) for mark in marks}
    return Scale(low, high, tuple(sorted(quantiles)), decimals)


def fitted(constants: Constants, wanted: Mapping[str, set[float]]) -> dict[str, tuple[float, ...]]:
    """Add the wanted constants; each replaces the nearest constant that is not wanted."""
    found = {}
    for name, own in constants.items():
        asked = wanted.get(name, set())
        free = [constant for constant in own if constant not in asked]
        for constant in sorted(asked - set(own)):
            if free:
                free.remove(nearest(free, constant))
        found[name] = tuple(sorted(asked.union(free)))
    return found


def nearest(constants: Sequence[float], constant: float) -> float:
    """Return the closest of some constants; of equally close ones, the smallest."""
    return min(constants, key=lambda other: (abs(other - constant), other))


def refined(
    constants: Sequence[float],
    scale: Scale,
    used: Sequence[float],
    most: int,
    generator: np.random.Generator,
) -> tuple[float, ...]:
    """Choose new constants for a number, as many as before: used ones, others close to them, and quantiles.

    used: the constants of good programs, the best first; at most `most` of them are kept.
    """
    kept = list(used[:most])
    if not kept or scale.low == scale.high:
        return tuple(constants)
    chosen = set(kept)
    missing = len(constants) - len(kept)
    spread, decimals = scale.high - scale.low, scale.decimals + FINER
    for index in range(missing - missing // 2):
        for _ in range(TRIES):
            distance = spread * 2 ** -generator.uniform(FARTHEST, NEAREST) * generator.choice((-1.0, 1.0))
            constant = _rounded(kept[index % len(kept)] + distance, decimals)
            if constant not in chosen:
                chosen.add(constant)
                break
    rest = [constant for constant in scale.quantiles if constant not in chosen]
    count = min(len(constants) - len(chosen), len(rest))
    chosen.update(rest[i] for i in sorted(generator.choice(len(rest), count, replace=False).tolist()))
    others = iter(constant for constant in constants if constant not in chosen)
    while len(chosen) < len(constants):
        chosen.add(next(others))
    return tuple(sorted(chosen))


def sample(task: "GymTask") -> dict[str, NDArray[np.float64]]:
    """Sample values [SAMPLED] of each number of a task in rollouts with random actions; deterministic."""
    bare = task.with_constants(dict.fromkeys(task.numbers, (0.0,)))
    scene, limit = GymScene(bare, bare._environment("")), task.horizon()
    senses = {name: list(bare.sensors).index(word(name, 0.0)) for name in task.numbers}
    values: dict[str, list[float]] = {name: [] for name in task.numbers}
    generator = np.random.default_rng(0)
    taken = episode = action = 0
    while taken < SAMPLED:
        scene.begin(episode)
        held = HELD[episode % len(HELD)]
        episode += 1
        for step in range(limit):
            for name, sense in senses.items():
                scene.look(sense)  # raises an error if the number is invalid
                values[name].append(float(scene.value(task.numbers[name])))
            taken += 1
            if step % held == 0:
                action = int(generator.integers(len(task.actions)))
            if taken == SAMPLED or scene.act(action) is not None:
                break
    return {name: np.array(seen) for name, seen in values.items()}


def exchange(task: "GymTask", programs: NDArray[np.uint8], generator: np.random.Generator) -> Reworded:
    """Replace constants that the first of these programs don't use by others close to those they use."""
    language = task.domain.language
    used: dict[str, list[float]] = {name: [] for name in task.numbers}
    most = {name: len(constants) // 2 for name, constants in task.compared.items()}
    for index, program in enumerate(programs):
        for token in program.tolist():
            found = split(language.tokens[token], task.numbers)
            if found is not None and found[1] not in used[found[0]]:
                used[found[0]].append(found[1])
        if index == 0:  # keep all constants of the best program
            most = {name: max(count, len(used[name])) for name, count in most.items()}
    changed = task.with_constants(
        {
            name: refined(constants, task.scales[name], used[name], most[name], generator)
            for name, constants in task.compared.items()
        }
    )
    tokens, ids = np.arange(len(language.tokens), dtype=np.uint8), changed.domain.language.ids
    same = np.ones(len(tokens), np.bool_)
    for token, text in enumerate(language.tokens):
        if text in ids:
            tokens[token] = ids[text]
        elif found := split(text, task.numbers):
            name, constant = found
            tokens[token] = ids[word(name, nearest(changed.compared[name], constant))]
            same[token] = False
    return Reworded(changed, tokens, same)


def _rounded(value: float, decimals: int) -> float:
    """Round to a number of decimals, and to at most DIGITS significant digits."""
    return float(f"{round(value, decimals) + 0.0:.{DIGITS}g}")
