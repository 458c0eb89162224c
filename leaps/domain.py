"""Protocols of domains, tasks and rollouts: all that evaluation, search and higher layers know of a domain.

A domain has a language of actions and perceptions. A task defines initial states and returns, and runs
programs. Evaluation and search take both from the task that they are given, and work for any task.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from leaps.dsl.sample import DECISIVE, ProgramDistribution
from leaps.dsl.syntax import If, IfElse, Program, While, tokens_of, walk
from leaps.dsl.text import parse, read, words

if TYPE_CHECKING:
    from PIL.Image import Image
    from rich.text import Text

Programs = str | Program | Sequence[str | Program] | NDArray[np.uint8]
"""a text, a tree, several of them, or token ids [programs, length]"""
Size = Any
"""(height, width) of a task's worlds, or the name of a variant of it: any argument of its `check_size`"""

SHARE = "@"
"""separates a task's name from the share of its initial states that worlds are drawn from"""
LIMIT = "~"
"""separates a task's name from a limit of its rollouts"""


@dataclass(frozen=True)
class Domain:
    """A language and its distribution of random programs, with the features that only some domains have."""

    name: str
    language: Language
    programs: ProgramDistribution
    space: str | None = None
    """the learned program space that comes with the package, if there is one"""
    privileged: tuple[str, ...] = ()
    """perceptions that use state which a policy does not observe"""
    compiled: bool = False
    """whether rollouts run in compiled code, hundreds of times as fast as an environment in Python"""
    extras_module: str | None = None
    """name of the module whose `EXTRAS` are the features that only this domain has; imported when needed"""

    @property
    def extras(self) -> "Extras":
        """The features that only this domain has; empty for most domains."""
        found: Extras = import_module(self.extras_module).EXTRAS if self.extras_module else Extras()
        return found

    @classmethod
    def of(
        cls,
        name: str,
        actions: Sequence[str],
        perceptions: Sequence[str],
        opposites: Mapping[str, str] | None = None,
    ) -> "Domain":
        """Make a domain in whose random programs all actions are equally likely, and all perceptions.

        opposites: more perceptions, each the opposite of one of `perceptions`.

        >>> Domain.of("vacuum", ("forward", "suck"), ("dirt",), {"clean": "dirt"}).language.perceptions
        ('dirt', 'clean')
        """
        pairs = dict(opposites or {})
        names = (*perceptions, *pairs)
        language = Language(tuple(actions), names, opposites=tuple(pairs.items()))
        even = ProgramDistribution(
            actions=tuple(1 / len(actions) for _ in actions),
            perceptions=tuple(1 / len(names) for _ in names),
            **DECISIVE,
        )
        return cls(name, language, even)

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
        """Compile programs in any of the forms of `Programs`; see `compile_tokens`.

        Rows of token ids that are no program get entry -1; those that use too many perceptions get TOO_MUCH.
        A text that is no program, or uses too many perceptions, raises a ValueError.
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
            self.parse(wrong if isinstance(wrong, str) else " ".join(tokens_of(wrong)))  # raises
            raise AssertionError("the parser accepts a program that the compiler refuses")
        return compiled


def words_of(programs: Programs) -> set[str]:
    """Return the words of texts or trees; token ids have none."""
    if isinstance(programs, np.ndarray):
        return set()
    listed = [programs] if isinstance(programs, str | Program) else programs
    return {
        word
        for item in listed
        for word in (tokens_of(item) if isinstance(item, Program) else (found.text for found in words(item)))
    }


NO_ACTION = 255
"""pads `Rollouts.actions`"""


@dataclass(frozen=True)
class Rollouts:
    """Outcomes, lengths and returns of rollouts, per program and episode."""

    outcome: NDArray[np.uint8]
    """[programs, episodes] the `Outcome` of each"""
    steps: NDArray[np.int32]
    """[programs, episodes] actions taken"""
    returns: NDArray[np.float64] | None = None
    """[programs, episodes] the task's return of each"""
    actions: NDArray[np.uint8] | None = None
    """[programs, episodes, horizon] actions taken; padded with NO_ACTION"""
    covered: NDArray[np.uint64] | None = None
    """[programs, episodes] the conditions tested; see `Compiled.branches`"""
    used: NDArray[np.bool_] | None = None
    """[entries] which of `Compiled.table` were looked up, in any episode"""
    tried: NDArray[np.int64] | None = None
    """[programs] number of episodes that each ran in: all, unless it was rejected early"""
    final: Any = None
    """the final worlds, those of program 0 first"""


Episodes = Any
"""Initial states of one size, to run programs from: a named tuple of arrays, with the states along the first
axis. It has a `count` and a `size`. `take(indices)` selects states in the order given, and `join([…])`
concatenates batches of one size."""


class States(NamedTuple):
    """All initial states of a size, with their probabilities."""

    worlds: Episodes
    weights: NDArray[np.float64]
    """[states] positive, with a sum of 1"""


class Scene(Stage, Protocol):
    """A state that a program acts on one action at a time, with its display."""

    def worth(self) -> float:
        """Return of the rollout if it ends now."""

    def plain(self) -> dict[str, Any]:
        """The state as JSON."""

    def text(self) -> "str | Text":
        """The state in a few lines, for a terminal."""

    def image(self) -> "Image":
        """The state as a picture."""


class Reworded(NamedTuple):
    """A task after some words of its language were replaced, and the mapping from old tokens to new ones."""

    task: "Task"
    tokens: NDArray[np.uint8]
    """[tokens] the new id of each old token, or the id of the token nearest in meaning"""
    same: NDArray[np.bool_]
    """[tokens] whether the meaning is the same"""


@runtime_checkable
class Task(Protocol):
    """A problem to solve: initial states, rollouts of programs from them, and returns."""

    @property
    def name(self) -> str: ...

    @property
    def variant_of(self) -> str | None:
        """The task that this one is a variant of, if any; settings for that task also suit this one."""

    @property
    def domain(self) -> Domain: ...

    def changed(self, changes: Sequence[tuple[str, str]]) -> "Task":
        """Return a variant of the task. changes: pairs of SHARE or LIMIT and a value, as in task names."""

    def fitting(self, words: Iterable[str]) -> "Task":
        """Return the task with a language that has these words, if the task's language can vary.

        Words that no language of the task has are left to the parser.
        """

    def refined(self, programs: NDArray[np.uint8], generator: np.random.Generator) -> Reworded | None:
        """Replace words that the first of these programs [n, length] do not use by finer ones.

        None if the task's language is fixed.
        """

    @property
    def best(self) -> float:
        """The return that counts as solved; a search stops when it is reached."""

    @property
    def highest(self) -> float:
        """Highest possible return of one episode; infinity if unknown."""

    @property
    def checked(self) -> int:
        """Number of fresh initial states per check of a good program."""

    def horizon(self, size: Size | None = None) -> int:
        """Maximum number of actions of a rollout."""

    def check_size(self, size: Size | None) -> Size:
        """Return the size to use; ValueError if this one is not possible. None is the task's default."""

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
        """Run every program from every initial state, and compute the returns; ValueError if one is invalid.

        needed: [episodes] smallest total return that a program must have by the end of each episode; a
        program below it is rejected early. grain: smallest number of rollouts worth another thread.
        """

    def course(self, program: Program, episodes: Episodes, *, horizon: int | None = None) -> Course:
        """Run a program from the first of these states, one action at a time; its stage is a `Scene`."""

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
        """Read a world drawn by hand, with the agent's pose; ValueError if it is invalid."""

    def prepare(self, task: Any, drawn: Episodes, seed: int) -> Episodes:
        """Set up the task in a drawn world; ValueError if it can't be played there."""

    def replay(self, program: Program, task: Any | None, episodes: Episodes) -> Replay:
        """Run a program from the first of these states; without a task, only the rules of the world apply."""


class Disagreement(NamedTuple):
    """A recorded run that one of the ways to run programs does not reproduce."""

    line: int
    """line in the file of records"""
    program: str
    runner: str
    """name of the way to run programs, such as the interpreter"""
    what: str
    """description of the difference"""


@dataclass(frozen=True)
class RandomWorlds:
    """Functions for random worlds of the domain, which belong to no task."""

    settings: Callable[..., Any]
    """dataclass of the settings of a data set, with `programs` and `seed`"""
    make_data: Callable[[Any, Callable[[int], object]], Any]
    """(settings, called with the number of programs so far) → the data set of a program space"""
    read_data: Callable[[Path], Any]
    """read a data set from its folder"""
    runner: Callable[[str, int], Callable[[NDArray[np.uint8]], Rollouts]]
    """(program, seed) → function that runs token ids [n, length] in worlds that exercise the whole program"""


@dataclass(frozen=True)
class Extras:
    """Features that only some domains have; None where a domain lacks one."""

    studio: StudioSupport | None = None
    conform: Callable[[Path], tuple[int, list[Disagreement]]] | None = None
    """check recorded runs of another implementation: number of records, and disagreements"""
    random_worlds: RandomWorlds | None = None


@runtime_checkable
class GridTask(Protocol):
    """A task in worlds of cells, which the list of tasks shows with a picture."""

    @property
    def summary(self) -> str:
        """The goal of the task, in one sentence."""

    @property
    def smallest(self) -> tuple[int, int]:
        """Smallest height and width."""

    @property
    def resizable(self) -> bool: ...


def size_text(size: Size) -> str:
    """Format a size as text, such as 8x8."""
    return size if isinstance(size, str) else f"{size[0]}x{size[1]}"


def read_size(text: str) -> tuple[int, int]:
    """Read (height, width) from text such as 8x8.

    >>> read_size("8x12")
    (8, 12)
    """
    match = re.fullmatch(r"(\d{1,5})[xX×](\d{1,5})", text.strip())
    if not match:
        raise ValueError(f"expected HEIGHTxWIDTH such as 8x8, found {text[:40]!r}")
    return int(match[1]), int(match[2])
