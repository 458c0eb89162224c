"""User-defined search methods on the ask/tell protocol: `--method path/to/file.py:NAME`.

NAME is a class or function that takes a `Setting` and returns an object with `ask` and `tell`. It can also be
a `Method`, which has further settings, such as the number of worlds. The rest of the `Search` protocol is
optional.
"""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from leaps.base.user_code import import_file, lines_of, pointed_at
from leaps.domain import Domain
from leaps.search.search import Answer, Candidates, Scores, State, Turn

_NEEDED = ("ask", "tell")
_SHOWN = 80
"""maximum characters of a wrong value in an error message"""


class UserSearch:
    """A user's search, checked at every call: mistakes are reported with the user's file and line."""

    def __init__(
        self, search: Any, file: str, domain: Domain, max_length: int = 45, made_by: Any = None
    ) -> None:
        """made_by: the class or function that made the search, whose line is reported if no other is known.

        max_length: maximum length of a program in tokens.
        """
        self.search, self.file, self.max_length, self.made_by = search, _full(file), max_length, made_by
        self.domain = domain
        self.turn = Turn(f"{self.file}: ")
        needed = (*_NEEDED, "restore") if hasattr(search, "state") else _NEEDED
        for name in needed:
            if not callable(getattr(search, name, None)):
                found = "None" if search is None else type(search).__name__
                why = " to go with 'state'" if name == "restore" else ""
                self._wrong(None, f"expected an object with a method {name!r}{why}, found {found} without it")

    @property
    def incumbent(self) -> NDArray[np.uint8] | None:
        found = self._get("incumbent")
        return None if found is None else self._program(found, "incumbent")

    @property
    def answer(self) -> Answer | None:
        found = self._get("answer")
        if found is None:
            return None
        expected = "expected a program and its score, or None"
        if not isinstance(found, tuple | list) or len(found) != 2:
            self._wrong("answer", f"{expected}, found {_short(found)}")
        program, score = found
        if not isinstance(score, int | float | np.number) or not np.isfinite(score):
            self._wrong("answer", f"{expected}, found the score {_short(score)}")
        return Answer(self._program(program, "answer"), float(score))

    @property
    def finished(self) -> bool:
        return self._flag("finished")

    @property
    def converged(self) -> bool:
        return self._flag("converged")

    def ask(self) -> Candidates:
        self.turn.ask()
        return self.turn.asked(self._tokens(self._call("ask"), "ask"))

    def tell(self, scores: Scores) -> None:
        self.turn.tell(scores)
        self._call("tell", scores.copy())  # a copy: the user's code may change it

    def worlds_changed(self) -> None:
        if hasattr(self.search, "worlds_changed"):
            self._call("worlds_changed")

    def state(self) -> State | None:
        """Return the search's state; None if it cannot be saved, and restarts after an interruption."""
        if not hasattr(self.search, "state"):
            return None
        found = self._call("state")
        if not isinstance(found, dict):
            self._wrong("state", f"expected a dict, found {type(found).__name__}")
        try:
            json.dumps(found, default=lambda value: value.tolist())
        except (AttributeError, TypeError, ValueError) as error:
            self._wrong("state", f"expected only plain values and numpy arrays in the dict: {error}")
        return found

    def restore(self, state: State) -> None:
        self._call("restore", state)
        self.turn = Turn(f"{self.file}: ")

    def _get(self, name: str) -> Any:
        """Return an attribute or property, or the result of a method; None if there is none of that name."""
        try:
            try:
                found = getattr(self.search, name)
            except AttributeError:
                if inspect.getattr_static(self.search, name, None) is not None:
                    raise  # from within the property
                return None
            return found() if callable(found) else found
        except (Exception, SystemExit) as error:
            self._failed(error, name)

    def _flag(self, name: str) -> bool:
        found = self._get(name)
        if found is not None and not isinstance(found, bool | np.bool_):
            self._wrong(name, f"expected True or False, found {_short(found)}")
        return bool(found)

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self.search, name)(*arguments)
        except (Exception, SystemExit) as error:
            self._failed(error, name)

    def _tokens(self, found: Any, name: str) -> Candidates:
        """Convert programs, given as texts or token ids, to token ids [n, max_length]."""
        if isinstance(found, list | tuple) and found and all(isinstance(item, str) for item in found):
            found = self.domain.language.batch([self._read(text, name) for text in found])
        if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype != np.uint8 or len(found) == 0:
            seen = f"{found.dtype}{list(found.shape)}" if isinstance(found, np.ndarray) else _short(found)
            self._wrong(
                name, f"expected a list of program texts, or token ids uint8[programs, length], found {seen}"
            )
        legal = np.asarray((found < len(self.domain.language.tokens)).all(axis=1))
        legal[legal] = self.domain.compile(found[legal]).entry != -1
        if not legal.all():
            row = int(np.argmin(legal))
            self._wrong(name, f"row {row} of {len(found)} is not a program: {found[row].tolist()}")
        if (found[:, self.max_length :] != self.domain.language.pad).any():
            longest = int((found != self.domain.language.pad).sum(axis=1).max())
            self._wrong(
                name, f"expected programs of at most {self.max_length} tokens, found one of {longest}"
            )
        return self._padded(found)

    def _padded(self, found: Candidates) -> Candidates:
        """Copy programs into rows of `max_length`, the same length throughout a search."""
        out = np.full((len(found), self.max_length), self.domain.language.pad, np.uint8)
        out[:, : found.shape[1]] = found[:, : self.max_length]
        return out

    def _program(self, found: Any, name: str) -> NDArray[np.uint8]:
        listed = [found] if isinstance(found, str) else found
        if isinstance(found, np.ndarray) and found.ndim == 1:
            listed = found[None]
        program: NDArray[np.uint8] = self._tokens(listed, name)[0]
        return program

    def _read(self, text: str, name: str) -> NDArray[np.uint8]:
        try:
            tokens = self.domain.read(text)
        except ValueError as error:
            self._wrong(name, f"not a program: {error}")
        if len(tokens) == 0 or self.domain.compile(tokens[None]).entry[0] == -1:
            self._wrong(name, f"not a program: {text!r}")
        return tokens

    def _wrong(self, name: str | None, message: str) -> NoReturn:
        raise ValueError(f"{self._location(name)}: {message}")

    def _failed(self, error: BaseException, name: str) -> NoReturn:
        """Report an exception of the user's code, at the line that raised it or the line of the method."""
        if lines_of(error, self.file):
            raise ValueError(pointed_at(error, self.file)) from error
        raise ValueError(f"{self._location(name)}: {type(error).__name__}: {error}") from error

    def _location(self, name: str | None) -> str:
        """Return the user's file with the line of a method, the class, or the builder of the search."""
        method = inspect.getattr_static(type(self.search), name, None) if name else None
        if line := _line_of(method, self.file):
            return f"{self.file}, line {line}, in {name}"
        line = _line_of(type(self.search), self.file) or _line_of(self.made_by, self.file)
        return f"{self.file}, line {line}" if line else self.file


def _full(file: str) -> str:
    return str(Path(file).resolve())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " …"


def _line_of(thing: Any, file: str) -> int | None:
    """Return the first line of a class or function in a file; None if it is not from that file."""
    thing = thing.fget if isinstance(thing, property) else thing
    try:
        thing = inspect.unwrap(thing)
        if inspect.getsourcefile(thing) != file:
            return None
        return inspect.getsourcelines(thing)[1]
    except (OSError, TypeError):  # not a class or function, or its source is not available
        return None


def builder_in(file: str, name: str) -> Any:
    """Return the callable, or the `Method`, of that name in a user's file."""
    if not Path(file).is_file():
        raise ValueError(f"there is no file {file!r} to take the method {name!r} from")
    module = import_file(file)
    known = _candidates(module)
    has = f"it has {', '.join(known)}" if known else "it has no class or function"
    if not name:
        raise ValueError(f"expected the name of a method after the file, as in {file}:NAME; {has}")
    if not hasattr(module, name):
        raise ValueError(f"{file} has no method {name!r}; {has}")
    return getattr(module, name)


def _candidates(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", None) == module.__name__
    ]


def checked(build: Callable[[Any], Any], file: str) -> Callable[[Any], UserSearch]:
    """Wrap the builder of a user's search, so that the search is checked at every call."""
    full = _full(file)

    def wrapped(setting: Any) -> UserSearch:
        try:
            search = build(setting)
        except (Exception, SystemExit) as error:
            if lines_of(error, full):
                raise ValueError(pointed_at(error, full)) from error
            line = _line_of(build, full)
            where = f"{full}, line {line}" if line else full
            raise ValueError(
                f"{where}: {type(error).__name__}: {error}; it is called with one argument, the Setting of "
                "the search"
            ) from error
        return UserSearch(search, full, setting.domain, setting.max_length, build)

    return wrapped
