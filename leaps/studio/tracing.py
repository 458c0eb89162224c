"""Record one rollout of any task step by step: statements, tested conditions, perceptions, states, values.

The interpreter runs the program on the task's own stage. A stage may be slow, so the number of recorded steps
and the time are bounded.
"""

import io
import math
import time
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from leaps.domain import Episodes, Outcome, Scene, Size, Task
from leaps.dsl.interpreter import Course
from leaps.dsl.language import Language
from leaps.dsl.syntax import Block, Condition, blocks, head_tokens, walk
from leaps.studio.spans import Reading, kind_of

if TYPE_CHECKING:
    from PIL.Image import Image

SHOWN = 2_000
"""maximum number of recorded steps"""
TESTS = 200_000
"""maximum number of recorded tests of conditions; the rest of the rollout is not recorded"""
SECONDS = 10.0
"""maximum time of a rollout; one that is not over by then has no return"""
FRAMES, FRAME_MILLISECONDS = 400, 50
"""maximum number of pictures in a film, and the time that each is shown"""
FILM_PIXELS, PICTURE_PIXELS = 400, 640
"""pixels along the longer side of a film and of a picture; larger ones are scaled down"""
DIGITS = 6
"""decimals of the value after each step"""
STATE, LISTED = 240, 12
"""maximum characters of a state as text, and maximum items of a list in it; longer lists show their length"""
OUTCOMES = {outcome: outcome.name.lower().replace("_", "-") for outcome in Outcome}


@dataclass(frozen=True)
class Trace:
    """A program in one numbered initial state of a task."""

    reading: Reading
    task: Task
    size: Size
    seed: int
    index: int

    @property
    def horizon(self) -> int:
        return self.task.horizon(self.size)

    @property
    def length(self) -> int:
        """Maximum number of recorded steps."""
        return min(self.horizon, SHOWN)

    def episodes(self) -> Episodes:
        return self.task.worlds(1, self.seed, self.size, first=self.index)

    def course(self) -> Course:
        return self.task.course(self.reading.program, self.episodes())

    def answer(self) -> dict[str, Any]:
        """Record the rollout."""
        latest = time.monotonic() + SECONDS
        numbers = {id(statement): number for number, statement in enumerate(walk(self.reading.program))}
        statements: list[int] = []
        tests: list[tuple[int, int, int]] = []
        values: list[float] = []
        course = self.course()
        scene: Scene = course.stage
        perceived, states = [perceptions_of(scene, self.reading.language)], [state_text(scene)]
        steps = iter(course)
        recording, over = True, False
        for step in steps:
            if recording:
                number = len(statements)
                statements.append(numbers[id(step.statement)])
                tests += [(number, numbers[id(test)], int(held)) for test, held in step.tests]
                values.append(round(self.worth(scene), DIGITS))
                perceived.append(perceptions_of(scene, self.reading.language))
                states.append(state_text(scene))
                recording = len(statements) < SHOWN and len(tests) < TESTS
            if time.monotonic() > latest:
                break
        else:
            over = True
        whole = over and course.steps == len(statements)
        outcome = OUTCOMES[course.outcome] if over else None
        final = [(numbers[id(test)], int(held)) for test, held in course.tests] if whole else []
        earned = self.worth(scene) if over else None
        total = course.steps
        return {
            "perceptions": list(self.reading.language.perceptions),
            "states": states,
            "statements": describe(self.reading),
            "steps": {
                "statement": statements,
                "value": values,
                "tests": tests,
                "perceived": perceived[:-1],
            },
            "final_tests": final,
            "final_perceived": perceived[-1],
            "outcome": outcome,
            "return": earned,
            "shown": len(statements),
            "total": total,
            "horizon": self.horizon,
        }

    def worth(self, scene: Scene) -> float:
        worth = float(scene.worth())
        if not math.isfinite(worth):
            raise ValueError(f"{self.task.name}: a rollout's return must be a finite number, found {worth}")
        return worth

    def images(self, first: int, count: int) -> Iterator["Image"]:
        """Yield pictures of states; state 0 is before any step. Stops at the end or after SECONDS."""
        latest = time.monotonic() + SECONDS
        course = self.course()
        steps = iter(course)
        for done in range(first + count):
            if done >= first:
                yield course.stage.image().convert("RGB")
            if next(steps, None) is None or time.monotonic() > latest:
                return

    def pictures(self, first: int, count: int) -> dict[str, Any]:
        """Return pictures as PNG files in base64."""
        taken = [b64encode(_png(image)).decode() for image in self.images(first, count)]
        return {"first": first, "pictures": taken}

    def check_film(self) -> None:
        """Do nothing: every rollout can be filmed from its start."""

    def film(self) -> bytes:
        """Film the beginning of the rollout as a GIF."""
        frames = []
        for image in self.images(0, FRAMES):
            image.thumbnail((FILM_PIXELS, FILM_PIXELS))
            frames.append(
                image.quantize()
            )  # one by one, since a whole film in full colour takes too much memory
        with TemporaryDirectory(prefix="leaps-studio-") as folder:
            file = Path(folder) / "rollout.gif"
            frames[0].save(file, save_all=True, append_images=frames[1:], duration=FRAME_MILLISECONDS, loop=0)
            return file.read_bytes()


def _png(image: "Image") -> bytes:
    image.thumbnail((PICTURE_PIXELS, PICTURE_PIXELS))
    content = io.BytesIO()
    image.save(content, "PNG", compress_level=3)
    return content.getvalue()


def perceptions_of(scene: Scene, language: Language) -> str:
    """Evaluate all perceptions: 1 or 0 for each, in the language's order."""
    senses = [scene.holds(Condition(name)) for name in language.senses]
    bits = (
        senses[sense] != bool(inverted)
        for sense, inverted in zip(language.sense_of.tolist(), language.inverted.tolist(), strict=True)
    )
    return "".join("1" if bit else "0" for bit in bits)


def state_text(scene: Scene) -> str:
    """Write a state in one line, cut off at STATE characters."""
    plain = scene.plain()
    if len(plain) == 1:  # the name of the only field is not needed
        (plain,) = plain.values()
    text = _text(plain)
    return text if len(text) <= STATE else text[:STATE] + "…"


def _text(value: Any) -> str:
    """Write plain data; an image or a long list as its shape."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        shape = _shape(value)
        if len(shape) > 1 or len(value) > LISTED:
            return f"{'×'.join(map(str, shape))} numbers"
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".") if abs(value) < 1e4 else f"{value:.3g}"
    return str(value)


def _shape(value: Any) -> list[int]:
    """Return the lengths of nested lists, from the first item of each."""
    lengths = []
    while isinstance(value, list | tuple):
        lengths.append(len(value))
        value = value[0] if value else None
    return lengths


def describe(reading: Reading) -> list[dict[str, Any]]:
    """List the statements in the order of the text, each with its span and the statements around it."""
    around: dict[int, list[int]] = {}
    numbers = {id(statement): number for number, statement in enumerate(walk(reading.program))}

    def visit(block: Block, path: list[int]) -> None:
        for statement in block:
            around[id(statement)] = path
            for _, body, _ in blocks(statement):
                visit(body, [*path, numbers[id(statement)]])

    visit(reading.program.body, [])
    return [
        {
            "span": span,
            "kind": kind_of(statement),
            "text": " ".join(head_tokens(statement)),
            "path": around[id(statement)],
        }
        for span, statement in zip(reading.heads(), walk(reading.program), strict=True)
    ]
