"""What a search found, as a folder: the program, a rollout to look at, how it was found, and with what."""

import json
from pathlib import Path

from leaps.base.files import write_atomically
from leaps.dsl.text import to_indented
from leaps.search.solution import Solution

PROGRAM_FILE, RESULT_FILE, HISTORY_FILE, ROLLOUT_FILE = (
    "program.karel",
    "result.json",
    "history.jsonl",
    "rollout.gif",
)


def make_folder(folder: Path) -> None:
    """Make sure, before a search, that its result can be written."""
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / ".writable"
    write_atomically(probe, b"")
    probe.unlink()


def save_solution(solution: Solution, folder: Path) -> str | None:
    """Write the folder; the program first, as all else can be made again from it.

    Returns why there is no film of a rollout, if there is none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    program = solution.task.domain.parse(solution.program)
    write_atomically(folder / PROGRAM_FILE, (to_indented(program) + "\n").encode())
    write_atomically(folder / RESULT_FILE, (json.dumps(solution.summary(), indent=2) + "\n").encode())
    lines = "".join(json.dumps(row) + "\n" for row in solution.history)
    write_atomically(folder / HISTORY_FILE, lines.encode())
    task, config = solution.task, solution.config
    try:
        task.film(task.compile(program), task.worlds(1, config.seed, config.size), folder / ROLLOUT_FILE)
    except Exception as error:  # of somebody else's environment; what was found is more than its film
        return f"no film: {type(error).__name__}: {error}"
    return None
