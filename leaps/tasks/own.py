"""Tasks of one's own, by the file that they are written in: `path/to/file.py:NAME`."""

import linecache
import sys
import traceback
from functools import cache
from pathlib import Path
from threading import RLock
from types import ModuleType

from leaps.tasks.task import Task

ENDING = ".py"
_IMPORTING = RLock()
"""of two threads that want the same file one imports it, and both get the same task"""


def split_name(name: str) -> tuple[str, str] | None:
    """Split `path/to/file.py:NAME`; None if it is not of that form."""
    file, colon, variable = name.rpartition(":")
    if colon and file.endswith(ENDING):
        return file, variable
    return (name, "") if name.endswith(ENDING) else None


def task_in(file: str, variable: str) -> Task:
    """Import a file, and take the task of that name."""
    if not Path(file).is_file():
        raise ValueError(f"there is no file {file!r} to take the task {variable!r} from")
    with _IMPORTING:
        module = _module_of(str(Path(file).resolve()), Path(file).read_bytes())
    known = [name for name, value in vars(module).items() if isinstance(value, Task)]
    has = f"it has {', '.join(known)}" if known else "it has none"
    if not variable:
        raise ValueError(f"expected the name of a task after the file, as in {file}:CORRIDOR; {has}")
    if not hasattr(module, variable):
        raise ValueError(f"{file} has no task {variable!r}; {has}")
    task = getattr(module, variable)
    if not isinstance(task, Task):
        raise ValueError(f"{file}: expected {variable} to be a Task, found {type(task).__name__}; {has}")
    return task


@cache
def _module_of(file: str, source: bytes) -> ModuleType:
    """Import a file, once for each content: the same name is the same task until the file is edited."""
    module = ModuleType(file)
    module.__file__ = file
    folder = str(Path(file).parent)
    sys.path.insert(0, folder)  # so that it can import its neighbours, as a script can
    sys.modules[file] = module
    linecache.checkcache()  # numba quotes from there what it can't compile, by paths of its own
    try:
        # Not by way of importlib, which would take an edit of the same second and length for none.
        exec(compile(source, file, "exec"), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[file]
        raise ValueError(_pointed_at(error, file)) from error
    finally:
        sys.path.remove(folder)
    return module


def what_is_wrong(error: BaseException, name: str) -> str | None:
    """Say what a task of one's own got wrong when it was played; None if the task of that name ships."""
    found = split_name(name)
    if found is None:
        return None
    file = str(Path(found[0]).resolve())
    if isinstance(error, ValueError) and not _lines_of(error, file):
        return str(error)  # the package has found it, and says where
    return _pointed_at(error, file)


def _pointed_at(error: BaseException, file: str) -> str:
    lines = _lines_of(error, file)
    place = f"{file}, line {lines[-1]}" if lines else file
    words = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{place}: {type(error).__name__}: {words}"


def _lines_of(error: BaseException, file: str) -> list[int | None]:
    """The lines of the file that led to an error, the last one last."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    if isinstance(error, SyntaxError) and error.filename == file:
        lines.append(error.lineno)
    return lines
