"""Import user-defined tasks and search methods from Python files: `path/to/file.py:NAME`."""

import ast
import linecache
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

ENDING = ".py"
INSTALLED = (
    *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
    str(Path(__file__).parents[1]),
)
"""folders of the standard library and of installed packages"""
_IMPORTING = RLock()
"""makes one of several threads import a file, so that all of them get the same objects"""


def split_name(name: str) -> tuple[str, str] | None:
    """Split `path/to/file.py:NAME`; None if it is not of that form."""
    file, colon, variable = name.rpartition(":")
    if colon and file.endswith(ENDING):
        return file, variable
    return (name, "") if name.endswith(ENDING) else None


def digest_of(name: str) -> str:
    """Hash the file in `path/to/file.py:NAME` and the files beside it that it imports.

    The hash changes when any of them is edited.
    """
    file = Path(name.rpartition(":")[0])
    digest = sha256(file.read_bytes())
    for other in neighbours_of(file):
        digest.update(str(other.relative_to(file.resolve().parent)).encode() + other.read_bytes())
    return digest.hexdigest()[:16]


def neighbours_of(file: Path) -> list[Path]:
    """List the files in a file's folder, and below it, that it imports directly or indirectly."""
    root = file.resolve().parent
    found: set[Path] = set()
    waiting = [file.resolve()]
    while waiting:
        here = waiting.pop()
        try:
            tree = ast.parse(here.read_bytes())
        except (SyntaxError, ValueError):  # importing it raises the error
            continue
        for folder, name in _imports_of(tree, here.parent, root):
            path = folder.joinpath(*name.split("."))
            packages = [parent / "__init__.py" for parent in (path, *path.parents) if root in parent.parents]
            for other in (path.parent / f"{path.name}{ENDING}", *packages):
                known = other in found or other == file.resolve()
                if not known and other.is_relative_to(root) and other.is_file():
                    found.add(other)
                    waiting.append(other)
    return sorted(found)


def _imports_of(tree: ast.AST, folder: Path, root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the modules that a file may import, each with the folder that its name is relative to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((root, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = root if node.level == 0 else [folder, *folder.parents][node.level - 1]
            module = [node.module] if node.module else []
            yield from ((start, ".".join(module)) for _ in module)
            yield from ((start, ".".join([*module, alias.name])) for alias in node.names if alias.name != "*")


def load(file: str, variable: str, kinds: tuple[type, ...], what: str) -> Any:
    """Import a file, and return its object of this name, which must be of one of these kinds.

    what: the word for the object in messages, such as "task".
    """
    if not Path(file).is_file():
        raise ValueError(f"there is no file {file!r} to take the {what} {variable!r} from")
    module = import_file(file)
    known = [name for name, value in vars(module).items() if isinstance(value, kinds)]
    has = f"it has {', '.join(known)}" if known else "it has none"
    if not variable:
        raise ValueError(f"expected the name of a {what} after the file, as in {file}:NAME; {has}")
    if not hasattr(module, variable):
        raise ValueError(f"{file} has no {what} {variable!r}; {has}")
    value = getattr(module, variable)
    if not isinstance(value, kinds):
        found = type(value).__name__
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"{file}: expected {variable} to be a {expected}, found {found}; {has}")
    return value


def import_file(file: str) -> ModuleType:
    """Import a file by its path, and again after an edit."""
    with _IMPORTING:
        return _module_of(str(Path(file).resolve()), Path(file).read_bytes())


_sources: dict[str, bytes] = {}
"""content of each file that was imported by its path, once the import is complete"""


def where_defined(value: Any) -> tuple[str, bytes, str] | None:
    """Find an object in the files that were imported by their paths.

    Returns the file, its content and the object's name there, or None if it is in none of them.
    `import_content` imports it again in another process.
    """
    for file, source in list(_sources.items()):
        for name, known in list(vars(sys.modules[file]).items()) if file in sys.modules else ():
            if known is value:
                return file, source, name
    return None


def import_content(file: str, source: bytes) -> ModuleType:
    """Import a file with this content, even if the file has changed since or is gone."""
    with _IMPORTING:
        return _module_of(file, source)


def imported_files() -> list[ModuleType]:
    """List the files that were imported by their paths, as modules."""
    return [
        module for name, module in sys.modules.items() if name.endswith(ENDING) and Path(name).is_absolute()
    ]


@cache
def _module_of(file: str, source: bytes) -> ModuleType:
    """Import a file, once for each content: the same name is the same object until the file is edited."""
    module = ModuleType(file)
    module.__file__ = file
    folder = str(Path(file).parent)
    sys.path.insert(0, folder)  # so that it can import files beside it, as a script can
    _sources.pop(file, None)
    sys.modules[file] = module
    linecache.checkcache()  # numba's errors quote source lines from this cache
    try:
        # Not with importlib, which misses an edit in the same second that keeps the file's length.
        exec(compile(source, file, "exec"), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[file]
        raise ValueError(pointed_at(error, file)) from error
    finally:
        sys.path.remove(folder)
    if folder not in sys.path:  # last, for files beside it that are imported when first needed
        sys.path.append(folder)
    _sources[file] = source
    return module


def what_is_wrong(error: BaseException, name: str) -> str | None:
    """Return the message for an error that a user-defined task raised; None if the task is built in."""
    found = split_name(name)
    if found is None:
        return None
    file = str(Path(found[0]).resolve())
    if isinstance(error, ValueError) and not lines_of(error, file):
        return str(error)  # raised by the package, whose message has the location
    return pointed_at(error, file)


def pointed_at(error: BaseException, file: str) -> str:
    """Format an error with the line of the file that led to it."""
    lines = lines_of(error, file)
    location = f"{file}, line {lines[-1]}" if lines else file
    words = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{location}: {type(error).__name__}: {words}"


def lines_of(error: BaseException, file: str) -> list[int | None]:
    """List the lines of the file that led to an error, innermost last; empty if it came from other files."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    if isinstance(error, SyntaxError) and error.filename == file:
        lines.append(error.lineno)
    return lines


def raised_at(error: BaseException) -> str:
    """Locate an error in the user's files: " (file, line n)", or "" if it was raised in none of them."""
    frames = traceback.extract_tb(error.__traceback__)[1:]  # the first is the package's
    users = [frame for frame in frames if not frame.filename.startswith(INSTALLED)]
    return f" ({users[-1].filename}, line {users[-1].lineno})" if users else ""
