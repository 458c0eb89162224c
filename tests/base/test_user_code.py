"""User-defined tasks are imported by file and name, and errors in them are reported with file and line."""

import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

import leaps
from leaps.base.user_code import digest_of, import_content, neighbours_of, what_is_wrong, where_defined
from leaps.evaluate import evaluate
from leaps.tasks import get
from tests.karel.tasks.corridor import SOLUTION, corridor_in, edit


@pytest.fixture
def corridor(tmp_path: Path) -> Path:
    return corridor_in(tmp_path)


def written(folder: Path, source: str, name: str = "mine.py") -> Path:
    file = folder / name
    file.write_text(source)
    return file


def test_the_documented_task_runs_as_a_script(corridor: Path) -> None:
    done = subprocess.run([sys.executable, corridor], capture_output=True, text=True, check=True)
    program = done.stdout.strip()
    assert program.startswith("DEF run m(")
    assert evaluate(program, f"{corridor}:CORRIDOR", seed=5).returns.min() == 1.0


def test_the_documented_task_is_evaluated_and_solved_by_file_name(corridor: Path) -> None:
    name = f"{corridor}:CORRIDOR"
    assert evaluate(SOLUTION, name, size=(4, 30)).returns.min() == 1.0
    solution = leaps.solve(name, budget=20_000)
    assert solution.solved
    assert solution.task.name == "corridor"
    assert solution.config.task == name


def test_a_relative_path_is_accepted(corridor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corridor.parent)
    assert get("corridor.py:CORRIDOR").name == "corridor"


def test_a_file_is_the_same_task_until_it_is_edited(corridor: Path) -> None:
    name = f"{corridor}:CORRIDOR"
    first = get(name)
    assert get(name) is first
    edit(corridor, "size=(4, 12)", "size=(4, 13)")
    assert get(name).size == (4, 13)


def test_a_file_may_import_files_beside_it(corridor: Path) -> None:
    path = sys.path[:]
    written(corridor.parent, "HEIGHT = 5\n", "corridor_settings.py")
    source = corridor.read_text().replace("size=(4, 12)", "size=(HEIGHT, 12)")
    corridor.write_text(f"from corridor_settings import HEIGHT\n{source}")
    assert get(f"{corridor}:CORRIDOR").size == (5, 12)
    assert sys.path == [*path, str(corridor.parent)]


def test_a_file_may_import_files_beside_it_lazily(corridor: Path) -> None:
    written(corridor.parent, "HEIGHT = 6\n", "later_settings.py")
    edit(
        corridor,
        "CORRIDOR =",
        "def height():\n    import later_settings as s\n    return s.HEIGHT\n\nCORRIDOR =",
    )
    task = get(f"{corridor}:CORRIDOR")
    assert sys.modules[str(corridor)].height() == 6
    assert where_defined(task) == (str(corridor), corridor.read_bytes(), "CORRIDOR")
    assert where_defined(object()) is None
    found = import_content(str(corridor), corridor.read_bytes())
    assert found.CORRIDOR is task


def test_a_name_may_end_with_a_share_of_the_configurations(tmp_path: Path) -> None:
    source = "from leaps.karel.tasks.top_off import TOP_OFF\n"
    file = written(tmp_path, source)
    assert get(f"{file}:TOP_OFF@0.25").seen_share == 0.25
    (tmp_path / "a@b").mkdir()
    assert get(f"{written(tmp_path / 'a@b', source)}:TOP_OFF").seen_share == 1.0


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        ("", "CORRIDOR", "mine.py has no task 'CORRIDOR'; it has none"),
        ("from leaps.tasks import get\nA = get('maze')\n", "B", "mine.py has no task 'B'; it has A"),
        ("A = 3\n", "A", "expected A to be a Task, found int; it has none"),
        ("from leaps.karel.tasks.maze import MAZE\n", "", "expected the name of a task after the file"),
        ("\nimport nowhere_at_all\n", "A", "mine.py, line 2: ModuleNotFoundError: No module named"),
        ("\n\ndef f(:\n", "A", "mine.py, line 3: SyntaxError: invalid syntax"),
        ("def f():\n    return 1 / 0\n\nf()\n", "A", "mine.py, line 2: ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit('no')\n", "A", "mine.py, line 2: SystemExit: no"),
        (
            "from leaps.karel.tasks import KarelTask\nKarelTask('', '', (8, 8), (8, 8), id, id)\n",
            "A",
            "mine.py, line 2: ValueError: a task's name must not be empty",
        ),
    ],
)
def test_errors_in_a_file_have_file_and_line(tmp_path: Path, source: str, name: str, message: str) -> None:
    file = written(tmp_path, source)
    with pytest.raises(ValueError, match=re.escape(message)):
        get(f"{file}:{name}")


def test_a_file_without_a_name_lists_its_tasks(corridor: Path) -> None:
    with pytest.raises(ValueError, match=r"as in .*corridor.py:NAME; it has CORRIDOR"):
        get(str(corridor))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no file '.*none.py' to take the task 'CORRIDOR' from"):
        get(f"{tmp_path}/none.py:CORRIDOR")
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(ValueError, match="there is no file"):
        get(f"{tmp_path}/folder.py:CORRIDOR")


def test_concurrent_imports_of_a_file_return_the_same_task(corridor: Path) -> None:
    edit(
        corridor,
        "CORRIDOR = KarelTask(",
        f"import time\ntime.sleep(0.1)  # {time.time()}\nCORRIDOR = KarelTask(",
    )
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(get, [f"{corridor}:CORRIDOR"] * 8))
    assert all(task is found[0] for task in found)


def test_errors_during_rollouts_have_file_and_line(corridor: Path) -> None:
    name = f"{corridor}:CORRIDOR"
    for old, new, expected in (
        (
            "    last = 1\n",
            "    last = [1][1]\n",
            f"{corridor}, line 17: IndexError: list index out of range",
        ),
        ("last = [1][1]", "last = int('?')", f"{corridor}, line 17: ValueError: invalid literal"),
        ("    clear(world)\n", "", "corridor: expected wall all around"),
    ):
        edit(corridor, old, new)
        with pytest.raises((IndexError, ValueError)) as caught:
            evaluate(SOLUTION, name)
        message = what_is_wrong(caught.value, f"{name}~100")
        assert message is not None
        assert message.startswith(expected)


def test_a_compilation_error_quotes_the_edited_source(corridor: Path) -> None:
    name = f"{corridor}:CORRIDOR"
    for line in ("last = int.from_bytes(b'1', 'big') - 48", "last = int.from_bytes(b'2', 'big') - 49"):
        corridor_in(corridor.parent)
        edit(corridor, "last = 1\n", f"{line}\n")
        with pytest.raises(ValueError, match="value can't be compiled") as caught:
            evaluate(SOLUTION, name)
        assert line in str(caught.value)


def test_errors_of_a_built_in_task_have_no_message_about_a_file() -> None:
    assert what_is_wrong(ValueError("no"), "maze~50") is None


def test_a_digest_covers_imported_files_beside_the_task(tmp_path: Path) -> None:
    file = written(
        tmp_path, "import numpy, one\nfrom pack.inner import VALUE\n\ndef late():\n    import late\n"
    )
    (tmp_path / "pack").mkdir()
    used = [
        written(tmp_path, "import two\nimport one\n", "one.py"),
        written(tmp_path, "", "two.py"),
        written(tmp_path, "", "late.py"),
        written(tmp_path / "pack", "", "__init__.py"),
        written(tmp_path / "pack", "from . import near\nVALUE = 1\n", "inner.py"),
        written(tmp_path / "pack", "syntax error", "near.py"),
    ]
    unused = written(tmp_path, "", "unused.py")
    assert neighbours_of(file) == sorted(used)
    digest = digest_of(f"{file}:TASK")
    unused.write_text("VALUE = 2\n")
    assert digest_of(f"{file}:TASK") == digest
    for other in used:
        before = other.read_text()
        other.write_text(f"{before}# edited\n")
        assert digest_of(f"{file}:TASK") != digest, other
        other.write_text(before)
    assert digest_of(f"{file}:TASK") == digest


def test_a_digest_without_imports_is_that_of_the_file(tmp_path: Path) -> None:
    """Results that were stored with it stay valid."""
    file = written(tmp_path, "import math\n")
    assert digest_of(f"{file}:TASK") == sha256(b"import math\n").hexdigest()[:16]
