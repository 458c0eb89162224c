"""Protocols of domains, tasks and rollouts: all that the modules to the right know of a domain.

A domain has a language of actions and perceptions. A task defines initial states and returns, and runs
programs. Evaluation and search take both from the task that they are given, and work for any task.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.compiler import MOST_ASKED, TOO_MUCH, Compiled, compile_tokens
from leaps.dsl.interpreter import Course, Stage
from leaps.dsl.interpreter import Outcome as Outcome
from leaps.dsl.language import Language
from leaps.dsl.sample import ProgramDistribution
from leaps.dsl.syntax import If, IfElse, Program, While, tokens_of, walk
from leaps.dsl.text import parse, read, words

if TYPE_CHECKING:
    from PIL.Image import Image
    from rich.text import Text

Programs = str | Program | Sequence[str | Program] | NDArray[np.uint8]
"""a text, a tree, several of them, or token ids [programs, length]"""
Size = Any
"""(height, width) of a task's worlds, or what a variant of it is called: what its `check_size` takes"""

SHARE = "@"
"""stands between a task's name and the share of its initial states that are drawn from"""
LIMIT = "~"
"""stands between a task's name and what limits a rollout"""


@dataclass(frozen=True)
class Domain:
    """A language and its distribution of random programs, with the features that only some domains have."""

    name: str
    language: Language
    programs: ProgramDistribution
    space: str | None = None
    """the learned program space that comes with the package, if there is one"""
    privileged: tuple[str, ...] = ()
    """perceptions that need more than a policy observes"""
    compiled: bool = False
    """whether rollouts run in compiled code, hundreds of times as fast as an environment in Python"""
    extras_module: str | None = None
    """name of the module whose `EXTRAS` are the features that only this domain has; imported when needed"""

    @property
    def extras(self) -> "Extras":
        """The features that only this domain has; empty for most domains."""
        found: Extras = import_module(self.extras_module).EXTRAS if self.extras_module else Extras()
        return found

    def privileged_in(self, program: Program) -> list[str]:
        """List the privileged perceptions that a program uses, directly or through their opposites."""
        conditions = [each.condition for each in walk(program) if isinstance(each, While | If | IfElse)]
        opposites = dict(self.language.opposites)
        asked = {opposites.get(condition.perception, condition.perception) for condition in conditions}
        return [name for name in self.privileged if name in asked]

    def read(self, program: str | Program) -> NDArray[np.uint8]:
        """Return the token ids [length] of a text or a tree; see `leaps.dsl.text.read`."""
        return read(program, self.language)

    def parse(self, text: str) -> Program:
        """Parse a text into a tree; the error points at what is wrong."""
        return parse(text, self.language)

    def text(self, tokens: NDArray[np.uint8]) -> str:
        """Write the token ids of a program [length] as a text of one line."""
        return self.language.text(tokens)

    def compile(self, programs: Programs, *, branches: bool = False, calls: int | None = None) -> Compiled:
        """Compile programs in whatever form they come; see `compile_tokens`.

        Of token ids, rows that are no programs have entry -1, and those that ask about too many perceptions
        TOO_MUCH; of texts, all have to be programs that can be compiled.
        """
        if isinstance(programs, np.ndarray):
            return compile_tokens(programs, self.language, branches=branches, calls=calls)
        listed = [programs] if isinstance(programs, str | Program) else list(programs)
        if not listed:
            raise ValueError("expected at least one program, found none")
        tokens = self.language.batch([self.read(item) for item in listed])
        compiled = compile_tokens(tokens, self.language, branches=branches, calls=calls)
        if (compiled.entry == TOO_MUCH).any():
            raise ValueError(
                f"program {int((compiled.entry == TOO_MUCH).argmax())} asks about too many perceptions; "
                f"expected at most {MOST_ASKED} in a program"
            )
        if (compiled.entry < 0).any():
            wrong = listed[int((compiled.entry < 0).argmax())]
            self.parse(wrong if isinstance(wrong, str) else " ".join(tokens_of(wrong)))  # says what is wrong
            raise AssertionError("the parser takes what the compiler doesn't")
        return compiled


def words_of(programs: Programs) -> set[str]:
    """The words of texts or trees; token ids have none."""
    if isinstance(programs, np.ndarray):
        return set()
    listed = [programs] if isinstance(programs, str | Program) else programs
    return {
        word
        for item in listed
        for word in (tokens_of(item) if isinstance(item, Program) else (found.text for found in words(item)))
    }


NO_ACTION = 255
"""fills up `Rollouts.actions`"""


@dataclass(frozen=True)
class Rollouts:
    """What happened: an element per program and episode."""

    outcome: NDArray[np.uint8]
    """[programs, episodes] an `Outcome` each"""
    steps: NDArray[np.int32]
    """[programs, episodes] actions taken"""
    returns: NDArray[np.float64] | None = None
    """[programs, episodes] what the task pays for them"""
    actions: NDArray[np.uint8] | None = None
    """[programs, episodes, horizon] what was done; filled up with NO_ACTION"""
    covered: NDArray[np.uint64] | None = None
    """[programs, episodes] the conditions looked at; see `Compiled.branches`"""
    used: NDArray[np.bool_] | None = None
    """[entries] which of `Compiled.table` were looked up, in any episode"""
    tried: NDArray[np.int64] | None = None
    """[programs] how many episodes a program was run in: all, unless it was given up"""
    final: Any = None
    """the worlds as the programs left them: those of program 0 first"""


Episodes = Any
"""Initial states of one size, to run programs from: a named tuple of arrays, with the states along the first
axis. They have a `count` and a `size`; `take(indices)` is some of them, in the order given; `join([…])` puts
batches of one size one after the other."""


class States(NamedTuple):
    """All initial states of a size, with their probabilities."""

    worlds: Episodes
    weights: NDArray[np.float64]
    """[states] positive, with a sum of 1"""


class Scene(Stage, Protocol):
    """An initial state that is acted in an action at a time, and shown."""

    def worth(self) -> float:
        """What the rollout returns if it ends now."""

    def plain(self) -> dict[str, Any]:
        """The state as JSON."""

    def text(self) -> "str | Text":
        """The state in a few lines, for a terminal."""

    def image(self) -> "Image":
        """The state as a picture."""


class Reworded(NamedTuple):
    """A task after some words of its language were exchanged, and what becomes of programs."""

    task: "Task"
    tokens: NDArray[np.uint8]
    """[tokens] the id that each token of the language before has now, or that of the nearest in meaning"""
    same: NDArray[np.bool_]
    """[tokens] whether it means the same"""


@runtime_checkable
class Task(Protocol):
    """What is wanted: initial states, what comes of running programs from them, and what that is worth."""

    @property
    def name(self) -> str: ...

    @property
    def variant_of(self) -> str | None:
        """The task that this one is a variant of, if any: a setting for that one fits it, too."""

    @property
    def domain(self) -> Domain: ...

    def changed(self, changes: Sequence[tuple[str, str]]) -> "Task":
        """Return the variant that stands behind a name: pairs of SHARE or LIMIT and a value."""

    def fitting(self, words: Iterable[str]) -> "Task":
        """Return the task whose language has these words, where a language can have others.

        Words that no language of the task has are left to the parser.
        """

    def refined(self, programs: NDArray[np.uint8], generator: np.random.Generator) -> Reworded | None:
        """Exchange words that the first of these programs [n, length] do not use for finer ones.

        None if the language is what it is.
        """

    @property
    def best(self) -> float:
        """The return that counts as solved, with which no search has to go on."""

    @property
    def highest(self) -> float:
        """The most that one episode can be worth; infinity if that is not known."""

    @property
    def checked(self) -> int:
        """How many fresh initial states a good program is checked on at a time."""

    def horizon(self, size: Size | None = None) -> int:
        """How many actions a rollout may take."""

    def check_size(self, size: Size | None) -> Size:
        """Return the size to use, or say what is wrong with the one asked for."""

    def worlds(self, count: int, seed: int, size: Size | None = None, *, first: int = 0) -> Episodes:
        """Draw initial states. State `i` depends on the seed and on `first + i` alone."""

    def states(self, size: Size | None = None) -> States | None:
        """List all initial states of a size; None if they can't be listed."""

    def compile(self, programs: Programs) -> Compiled:
        """Compile programs for this task."""

    def run(
        self,
        compiled: Compiled,
        episodes: Episodes,
        *,
        horizon: int | None = None,
        needed: NDArray[np.float64] | None = None,
        want_actions: bool = False,
        want_used: bool = False,
        grain: int = 256,
    ) -> Rollouts:
        """Run every program from every initial state, and judge it; ValueError for returns that can't be.

        needed: [episodes] what a program must have earned by the end of each episode, all in all; one that
        hasn't is given up. grain: rollouts that are worth a thread of their own.
        """

    def course(self, program: Program, episodes: Episodes, *, horizon: int | None = None) -> Course:
        """Run a program from the first of these states, an action at a time; its stage is a `Scene`."""

    def film(self, compiled: Compiled, episodes: Episodes, file: Path) -> None:
        """Save the first program's rollout from the first initial state as a GIF."""


class Replay(Protocol):
    """One rollout of a program, recorded for the studio by code of the domain instead of the interpreter."""

    @property
    def horizon(self) -> int:
        """Maximum number of actions of the rollout."""

    def record(self, steps: int, tests: int) -> dict[str, Any]:
        """Record at most this many steps and tested conditions, as JSON; `outcome` is an `Outcome`."""

    def check_film(self) -> None:
        """Raise ValueError if the rollout can't be filmed."""

    def film(self, frames: int, pixels: int) -> bytes:
        """Film the first states as a GIF with at most this many pixels along its longer side."""


class StudioSupport(Protocol):
    """Features of the studio for domains whose worlds the page draws and edits cell by cell."""

    def first_program(self, name: str) -> Program:
        """Return the program that the page shows first for the task of this name."""

    def drawn_world(self, rows: list[str], row: int, column: int, heading: int) -> Episodes:
        """Read a world drawn by hand, with the agent's pose; ValueError if it is none."""

    def prepare(self, task: Any, drawn: Episodes, seed: int) -> Episodes:
        """Set up the task in a drawn world; ValueError if it can't be played there."""

    def replay(self, program: Program, task: Any | None, episodes: Episodes) -> Replay:
        """Run a program from the first of these states; without a task no rule but the world's applies."""


class Disagreement(NamedTuple):
    """A recorded run that a way of running programs does not reproduce."""

    line: int
    """of the file of records"""
    program: str
    runner: str
    """which way of running programs"""
    what: str
    """description of the difference"""


@dataclass(frozen=True)
class RandomWorlds:
    """What a domain does in random worlds of its own, instead of a task's initial states."""

    settings: Callable[..., Any]
    """a dataclass of what a data set is made of, with `programs` and `seed`"""
    make_data: Callable[[Any, Callable[[int], object]], Any]
    """(settings, called with the number of programs so far) → the data set of a program space"""
    read_data: Callable[[Path], Any]
    """read a data set from its folder"""
    runner: Callable[[str, int], Callable[[NDArray[np.uint8]], Rollouts]]
    """(program, seed) → run token ids [n, length] in worlds that show all the program does"""


@dataclass(frozen=True)
class Extras:
    """Features that only some domains have; None where a domain lacks one."""

    studio: StudioSupport | None = None
    conform: Callable[[Path], tuple[int, list[Disagreement]]] | None = None
    """check recorded runs of another implementation: number of records, and those that disagree"""
    random_worlds: RandomWorlds | None = None


@runtime_checkable
class GridTask(Protocol):
    """A task in worlds of cells, which is listed with a picture."""

    @property
    def summary(self) -> str:
        """What the program has to do, in a sentence."""

    @property
    def smallest(self) -> tuple[int, int]:
        """Smallest height and width."""

    @property
    def resizable(self) -> bool: ...


def size_text(size: Size) -> str:
    """Write a size as people do: 8x8."""
    return size if isinstance(size, str) else f"{size[0]}x{size[1]}"


def read_size(text: str) -> tuple[int, int]:
    """Read (height, width) as people write it: 8x8.

    >>> read_size("8x12")
    (8, 12)
    """
    match = re.fullmatch(r"(\d{1,5})[xX×](\d{1,5})", text.strip())
    if not match:
        raise ValueError(f"expected HEIGHTxWIDTH such as 8x8, found {text[:40]!r}")
    return int(match[1]), int(match[2])
