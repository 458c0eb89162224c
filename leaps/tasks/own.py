"""Tasks of one's own, by the file that they are written in: `path/to/file.py:NAME`."""

import sys
import traceback
from functools import cache
from pathlib import Path
from types import ModuleType

from leaps.tasks.task import Task

ENDING = ".py"


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
    try:
        # Not by way of importlib, which would take an edit of the same second and length for none.
        exec(compile(source, file, "exec"), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[file]
        raise ValueError(f"{_place_of(error, file)}: {type(error).__name__}: {_words_of(error)}") from error
    finally:
        sys.path.remove(folder)
    return module


def _place_of(error: BaseException, file: str) -> str:
    """The line of the file that an error comes from."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    if isinstance(error, SyntaxError) and error.filename == file:
        lines.append(error.lineno)
    return f"{file}, line {lines[-1]}" if lines else file


def _words_of(error: BaseException) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)
