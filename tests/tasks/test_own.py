"""A task of one's own is found by its file, and mistakes in it are shown where they are."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import leaps
from leaps.evaluate import evaluate
from leaps.tasks import get, named

DOCUMENT = Path(__file__).parents[2] / "docs" / "tasks.md"
WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) putMarker m)"


@pytest.fixture
def corridor(tmp_path: Path) -> Path:
    """The task of the documentation, as it is written there."""
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert len(blocks) == 1
    file = tmp_path / "corridor.py"
    file.write_text(blocks[0])
    return file


def written(folder: Path, source: str, name: str = "mine.py") -> Path:
    file = folder / name
    file.write_text(source)
    return file


def test_the_documented_task_runs_as_it_is_written(corridor: Path) -> None:
    done = subprocess.run([sys.executable, corridor], capture_output=True, text=True, check=True)
    program = done.stdout.strip()
    assert program.startswith("DEF run m(")
    assert evaluate(program, f"{corridor}:CORRIDOR", seed=5).returns.min() == 1.0


def test_the_documented_task_is_evaluated_and_solved_by_its_file(corridor: Path) -> None:
    name = f"{corridor}:CORRIDOR"
    assert evaluate(WALK, name, size=(4, 30)).returns.min() == 1.0
    solution = leaps.solve(name, budget=20_000)
    assert solution.solved
    assert solution.task.name == "corridor"
    assert solution.config.task == name


def test_a_relative_path_will_do(corridor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corridor.parent)
    assert get("corridor.py:CORRIDOR").name == "corridor"


def test_a_file_is_the_same_task_until_it_is_edited(corridor: Path) -> None:
    name = f"{corridor}:CORRIDOR"
    first = get(name)
    assert get(name) is first
    corridor.write_text(corridor.read_text().replace("size=(4, 12)", "size=(4, 13)"))
    assert get(name).size == (4, 13)


def test_a_file_may_import_its_neighbours(corridor: Path) -> None:
    path = sys.path[:]
    written(corridor.parent, "HEIGHT = 5\n", "corridor_settings.py")
    source = corridor.read_text().replace("size=(4, 12)", "size=(HEIGHT, 12)")
    corridor.write_text(f"from corridor_settings import HEIGHT\n{source}")
    assert get(f"{corridor}:CORRIDOR").size == (5, 12)
    assert sys.path == path


def test_a_share_of_the_configurations_can_be_asked_for(tmp_path: Path) -> None:
    source = "from leaps.tasks.top_off import TOP_OFF\n"
    file = written(tmp_path, source)
    assert get(f"{file}:TOP_OFF@0.25").seen_share == 0.25
    (tmp_path / "a@b").mkdir()
    assert get(f"{written(tmp_path / 'a@b', source)}:TOP_OFF").seen_share == 1.0


@pytest.mark.parametrize(
    ("source", "name", "said"),
    [
        ("", "CORRIDOR", "mine.py has no task 'CORRIDOR'; it has none"),
        ("from leaps.tasks import *\nA = get('maze')\n", "B", "mine.py has no task 'B'; it has A"),
        ("A = 3\n", "A", "expected A to be a Task, found int; it has none"),
        ("from leaps.tasks.maze import MAZE\n", "", "expected the name of a task after the file"),
        ("\nimport nowhere_at_all\n", "A", "mine.py, line 2: ModuleNotFoundError: No module named"),
        ("\n\ndef f(:\n", "A", "mine.py, line 3: SyntaxError: invalid syntax"),
        ("def f():\n    return 1 / 0\n\nf()\n", "A", "mine.py, line 2: ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit('no')\n", "A", "mine.py, line 2: SystemExit: no"),
        (
            "from leaps.tasks import Task\nTask('', '', (8, 8), (8, 8), id, id)\n",
            "A",
            "mine.py, line 2: ValueError: a task's name is not empty",
        ),
    ],
)
def test_mistakes_in_a_file_are_pointed_at(tmp_path: Path, source: str, name: str, said: str) -> None:
    file = written(tmp_path, source)
    with pytest.raises(ValueError, match=re.escape(said)):
        get(f"{file}:{name}")


def test_a_file_without_a_name_lists_its_tasks(corridor: Path) -> None:
    with pytest.raises(ValueError, match=r"as in .*corridor.py:CORRIDOR; it has CORRIDOR"):
        get(str(corridor))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no file '.*none.py' to take the task 'CORRIDOR' from"):
        get(f"{tmp_path}/none.py:CORRIDOR")
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(ValueError, match="there is no file"):
        get(f"{tmp_path}/folder.py:CORRIDOR")


def test_only_names_never_import_a_file(tmp_path: Path) -> None:
    trace = tmp_path / "imported"
    file = written(tmp_path, f"open({str(trace)!r}, 'w').close()\n")
    with pytest.raises(ValueError, match="unknown task"):
        named(f"{file}:CORRIDOR")
    assert not trace.exists()
