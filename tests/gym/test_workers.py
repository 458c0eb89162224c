"""Worker processes give the same results as this process, or report why they can't."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaps.base import parallel
from leaps.gym import GymTask
from leaps.gym.workers import KEPT, send
from leaps.tasks import get
from tests.gym.corridor import Corridor, corridor, light_is_on

ROOT = Path(__file__).parents[2]
SEEING = "DEF run m( REPEAT R=19 r( IFELSE c( lightIsOn c) i( right i) ELSE e( left e) r) m)"


@pytest.fixture(autouse=True)
def two_processes() -> Iterator[None]:
    parallel.set_threads(2)
    yield
    parallel.set_threads(None)


def returns(task: Any, program: str = SEEING, episodes: int = 64) -> list[float]:
    found = task.run(task.compile(program), task.worlds(episodes, seed=1)).returns
    assert found is not None
    listed: list[float] = found[0].tolist()
    return listed


def returns_here(task: Any, program: str = SEEING, episodes: int = 64) -> list[float]:
    parallel.set_threads(1)
    try:
        return returns(task, program, episodes)
    finally:
        parallel.set_threads(2)


HALL = """
import gymnasium
from leaps import GymTask
from the_seeing import is_on

gymnasium.register("Hall-v0", entry_point="the_hall:Hall", max_episode_steps=20)
HALL = GymTask(
    "hall", make="Hall-v0", actions={"left": 0, "right": 1}, perceptions={"lightIsOn": is_on}, best=1.0
)
"""


def test_a_file_registers_its_environment_and_imports_its_neighbours_in_each_worker(tmp_path: Path) -> None:
    (tmp_path / "hall.py").write_text(HALL)
    (tmp_path / "the_seeing.py").write_text("def is_on(seen):\n    return bool(seen[1] > 0.5)\n")
    hall = (ROOT / "tests" / "gym" / "corridor.py").read_text().replace("class Corridor", "class Hall")
    (tmp_path / "the_hall.py").write_text(hall.split("def light_is_on")[0].replace("Corridor", "Hall"))
    task = get(f"{tmp_path / 'hall.py'}:HALL")
    found = returns(task)
    assert 0 < np.mean(found) < 1
    assert found == returns_here(task)


def test_workers_use_the_file_as_it_was_when_it_was_loaded(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    source = (ROOT / "tests" / "gym" / "corridor.py").read_text()
    file.write_text(source)
    task = get(f"{file}:CORRIDOR")
    before = returns_here(task)
    file.write_text(source.replace("seen[1] > 0.5", "seen[1] < 0.5"))
    edited = get(f"{file}:CORRIDOR")
    assert edited is not task
    for one in (task, edited):
        assert returns(one) == returns_here(one)
    assert returns(task) == before != returns(edited)


SCRIPT = """
import gymnasium
import numpy as np
import leaps
from leaps.base import parallel
from beside import is_on
from tests.gym.corridor import Corridor

class Mine(Corridor):
    def step(self, action):
        return super().step(1 - action)

def make():
    return gymnasium.make("Inner-v0")

gymnasium.register("Mine-v0", entry_point=Mine, max_episode_steps=15)
gymnasium.register("Inner-v0", entry_point=Mine, max_episode_steps=15)

if __name__ == "__main__":
    for maker in ("Mine-v0", make):
        actions = {"left": 0, "right": 1}
        task = leaps.GymTask("mine", make=maker, actions=actions, perceptions={"lightIsOn": is_on})
        program = "DEF run m( REPEAT R=19 r( IFELSE c( lightIsOn c) i( left i) ELSE e( right e) r) m)"
        compiled = task.compile(program)
        found = []
        for threads in (1, 2):
            parallel.set_threads(threads)
            found.append(task.run(compiled, task.worlds(64, seed=1)).returns)
        assert np.array_equal(*found)
        assert 0 < found[0].mean() < 1
    print("equal")
"""


def test_a_script_sends_its_classes_and_registered_environments(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "beside.py").write_text("def is_on(seen):\n    return bool(seen[1] > 0.5)\n")
    done = subprocess.run(
        [sys.executable, "-W", "error", tmp_path / "script.py"],
        capture_output=True,
        text=True,
        cwd="/",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == "equal\n"


class Deadly(Corridor):
    """Ends its process in a later step."""

    last = 3

    def reset(self, **settings: Any) -> Any:
        self.steps_done = 0
        return super().reset(**settings)

    def step(self, action: int) -> Any:
        self.steps_done += 1
        if self.steps_done == self.last:
            os._exit(7)
        return super().step(action)


class DeadlyLater(Deadly):
    """Not in the check, which takes at most 100 steps."""

    last = 101


WAIT = "DEF run m( REPEAT R=19 r( REPEAT R=19 r( left r) r) m)"


@pytest.mark.parametrize(("maker", "steps"), [(Deadly, 30), (DeadlyLater, 200)])
def test_a_worker_that_dies_is_reported_and_the_next_batch_runs(maker: Any, steps: int) -> None:
    task = corridor(name="deadly", make=maker, steps=steps)
    message = r"deadly: a worker process ended during an episode \(exit code .*7.*set_threads\(1\)"
    with pytest.raises(ValueError, match=message):
        returns(task, WAIT)
    sound = corridor(name="sound")
    assert returns(sound) == returns_here(sound)


class Noted(Corridor):
    """Writes to a file when it is made and closed."""

    def __init__(self, notes: Path) -> None:
        super().__init__()
        self.notes = notes
        self.note("made")

    def note(self, what: str) -> None:
        with self.notes.open("a") as file:
            file.write(f"{what} {os.getpid()}\n")

    def close(self) -> None:
        self.note("closed")


def noted(folder: Path, name: str) -> tuple[GymTask, Path]:
    notes = folder / name
    task = corridor(
        name=name,
        make=lambda: Noted(notes),
        perceptions={"lightIsOn": light_is_on},
        opposites={},
        variants={},
    )
    return task, notes


def test_a_task_is_made_once_in_a_worker_and_closed_when_it_is_dropped(tmp_path: Path) -> None:
    first, notes = noted(tmp_path, "first")
    sent = {send(first) for _ in range(3)}
    for _ in range(4):
        returns(first)
        sent.add(send(first))
    assert len(sent) == 1
    lines = [line.split()[0] for line in notes.read_text().splitlines()]
    # Two workers, and another environment for the check, which it closed.
    assert lines.count("closed") == 1
    assert 2 <= lines.count("made") <= 3
    for number in range(KEPT + 1):
        for _ in range(3):
            returns(noted(tmp_path, f"other-{number}")[0], episodes=200)
    assert [line.split()[0] for line in notes.read_text().splitlines()].count("closed") > 1


def test_environments_of_this_process_are_closed_with_the_task(tmp_path: Path) -> None:
    task, notes = noted(tmp_path, "here")
    returns_here(task)

    def what_became() -> list[str]:
        return [line.split()[0] for line in notes.read_text().splitlines()]

    assert what_became() == ["made", "made", "closed"]  # the check made another
    task.close()
    assert what_became() == ["made", "made", "closed", "closed"]
    returns_here(task)
    del task
    assert what_became() == ["made", "made", "closed", "closed", "made", "closed"]


def test_environments_are_closed_when_their_process_ends(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from leaps.base import parallel; from tests.gym.test_workers import *; "
        f"parallel.set_threads(2); task, _ = noted(Path({str(tmp_path)!r}), 'notes'); returns(task); "
        "returns_here(task)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    lines = [line.split()[0] for line in (tmp_path / "notes").read_text().splitlines()]
    assert lines.count("made") == lines.count("closed") >= 3


def test_a_task_that_can_not_be_sent_runs_in_this_process_with_a_warning() -> None:
    lock = threading.Lock()

    def is_on(seen: Any) -> bool:
        with lock:
            return light_is_on(seen)

    task = corridor(perceptions={"lightIsOn": is_on}, opposites={})
    with pytest.warns(UserWarning, match="corridor can't be sent to worker processes, .* FILE.py:NAME"):
        found = returns(task)
    assert found == returns_here(task)
    assert returns(task) == found  # without another warning


def test_a_redefined_function_is_sent_again() -> None:
    bright = [0.5]
    task = corridor(perceptions={"lightIsOn": lambda seen: bool(seen[1] > bright[0])}, opposites={})
    before = returns(task)
    bright[0] = 2.0
    assert returns(task) == returns_here(task) != before
