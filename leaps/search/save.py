"""Save a solution as a folder: program, summary, history of the search, and a film of a rollout."""

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
    """Create a folder and check that it is writable, before a search whose result goes there."""
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / ".writable"
    write_atomically(probe, b"")
    probe.unlink()


def save_solution(solution: Solution, folder: Path) -> str | None:
    """Write the folder; the program first, since everything else can be recomputed from it.

    Returns the reason if there is no film of a rollout, else None.
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
    except Exception as error:  # a user's environment may raise anything; the solution must not be lost
        return f"no film: {type(error).__name__}: {error}"
    return None
