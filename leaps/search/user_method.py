"""Search methods that users write themselves: `--method path/to/file.py:NAME`, on the ask/tell protocol.

NAME is a class, or a function, that takes a `Setting` and returns an object with `ask` and `tell`; or a
`Method`, which also says on how many worlds programs are scored, and so on. Everything else of the `Search`
protocol is optional.
"""

import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from leaps.evaluate import encode
from leaps.karel.executor import compile_karel
from leaps.karel.world import LANGUAGE
from leaps.search.search import Answer, Programs, Scores, State
from leaps.user_code import import_file, pointed_at

_NEEDED = ("ask", "tell")


class UserSearch:
    """A user's search, checked at every call: mistakes are reported with the user's file and line."""

    def __init__(self, search: Any, file: str) -> None:
        self.search, self.file = search, str(Path(file).resolve())
        self.asked: Programs = np.zeros((0, 0), np.uint8)
        for name in _NEEDED:
            if not callable(getattr(search, name, None)):
                self._wrong(None, f"expected a method {name!r}, which {type(search).__name__} does not have")

    @property
    def incumbent(self) -> NDArray[np.uint8] | None:
        found = self._get("incumbent")
        return None if found is None else self._program(found, "incumbent")

    @property
    def answer(self) -> Answer | None:
        found = self._get("answer")
        if found is None:
            return None
        if not isinstance(found, tuple) or len(found) != 2:
            self._wrong("answer", f"expected a program and its score, or None, found {found!r}")
        return Answer(self._program(found[0], "answer"), float(found[1]))

    @property
    def finished(self) -> bool:
        return bool(self._get("finished"))

    @property
    def converged(self) -> bool:
        return bool(self._get("converged"))

    def ask(self) -> Programs:
        self.asked = self._tokens(self._call("ask"), "ask")
        return self.asked

    def tell(self, scores: Scores) -> None:
        self._call("tell", scores)

    def worlds_changed(self) -> None:
        if hasattr(self.search, "worlds_changed"):
            self._call("worlds_changed")

    def state(self) -> State | None:
        """None: the search cannot be saved, and starts again if it was interrupted."""
        if not hasattr(self.search, "state"):
            return None
        found = self._call("state")
        if not isinstance(found, dict):
            self._wrong("state", f"expected a dict, found {type(found).__name__}")
        return found

    def restore(self, state: State) -> None:
        self._call("restore", state)

    def _get(self, name: str) -> Any:
        """An attribute or property; a method of that name is called."""
        try:
            found = getattr(self.search, name, None)
            return found() if callable(found) else found
        except Exception as error:
            raise ValueError(pointed_at(error, self.file)) from error

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self.search, name)(*arguments)
        except Exception as error:
            raise ValueError(pointed_at(error, self.file)) from error

    def _tokens(self, found: Any, name: str) -> Programs:
        """[n, length] programs, as texts or as token ids."""
        if isinstance(found, list | tuple) and found and all(isinstance(item, str) for item in found):
            return LANGUAGE.batch([self._read(text, name) for text in found])
        if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype != np.uint8 or len(found) == 0:
            seen = f"{found.dtype}{list(found.shape)}" if isinstance(found, np.ndarray) else repr(found)[:80]
            self._wrong(
                name, f"expected texts of programs, or token ids uint8[programs, length], found {seen}"
            )
        wrong = np.flatnonzero(compile_karel(found).entry < 0)
        if len(wrong):
            self._wrong(name, f"row {wrong[0]} of {len(found)} is not a program: {found[wrong[0]].tolist()}")
        return found

    def _program(self, found: Any, name: str) -> NDArray[np.uint8]:
        if isinstance(found, str):
            return self._read(found, name)
        program: NDArray[np.uint8] = self._tokens(np.atleast_2d(found), name)[0]
        return program

    def _read(self, text: str, name: str) -> NDArray[np.uint8]:
        try:
            tokens = encode(text)
        except ValueError as error:
            self._wrong(name, f"not a program: {error}")
        if compile_karel(tokens[None]).entry[0] < 0:
            self._wrong(name, f"not a program: {text}")
        return tokens

    def _wrong(self, name: str | None, message: str) -> NoReturn:
        raise ValueError(f"{_place(self.search, name, self.file)}: {message}")


def _place(search: Any, name: str | None, file: str) -> str:
    """The user's file, and the line on which a class or a method of it begins."""
    code: Any = getattr(type(search), name, type(search)) if name else type(search)
    code = code.fget if isinstance(code, property) else code
    try:
        where = f"{file}, line {inspect.getsourcelines(code)[1]}"
    except (OSError, TypeError):  # of a module that is not a file, or an attribute
        return file
    return f"{where}, in {name}" if name else where


def builder_in(file: str, name: str) -> Any:
    """The callable, or the `Method`, of that name in a user's file."""
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
    """Wrap what builds a user's search."""

    def wrapped(setting: Any) -> UserSearch:
        try:
            search = build(setting)
        except Exception as error:
            raise ValueError(pointed_at(error, str(Path(file).resolve()))) from error
        return UserSearch(search, file)

    return wrapped
