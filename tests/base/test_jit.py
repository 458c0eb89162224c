import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import types

import leaps
from leaps.base.jit import address_of, as_bits, compiled_for, is_ours, jit, python_of
from leaps.karel.physics import VALUE_TYPE
from leaps.karel.tasks.flaws import guarded_value
from leaps.karel.world import World, clear

PACKAGE = Path(leaps.__file__).parent

HEADING = """
from leaps.karel.executor import run
from leaps.karel.world import KAREL, World, Worlds
world = World.parse("####\\n#>.#\\n####")
rollouts = run(KAREL.compile("DEF run m( turnRight m)"), Worlds.stack([world]), 9, want_final=True)
print(rollouts.final.world(0).place[2])
"""

SKILL_STATE = """
import numpy as np
from leaps.baselines.skills import _remember
from leaps.embedding.compiled_layers import PANEL
gate, cell, state = (np.ones(PANEL, np.float32) for _ in range(3))
_remember(gate, gate, gate, gate, cell, state)
print(state[0])
"""

STAMPS = """
import json
from leaps.baselines.skills import _decode_range as baselines
from leaps.dsl.compiler import accepted_length as dsl
from leaps.embedding.fast_decoder import _decode_range as embedding
from leaps.karel.executor import ENGINE
from leaps.karel.tasks.maze import carve as tasks
karel = ENGINE._run_range
kernels = {"dsl": dsl, "karel": karel, "tasks": tasks, "embedding": embedding, "baselines": baselines}
print(json.dumps({name: repr(kernel._cache._cache_file._source_stamp) for name, kernel in kernels.items()}))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package to edit, without compiled kernels."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "leaps", ignore=shutil.ignore_patterns("__pycache__")))


def output_of(code: str, package: Path) -> str:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=package.parent, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def change(file: Path, old: str, new: str) -> None:
    source = file.read_text()
    changed = source.replace(old, new)
    assert changed != source
    file.write_text(changed)


def test_a_kernel_is_recompiled_when_a_function_that_it_calls_changes(package: Path) -> None:
    """Karel's physics is compiled into the executor, from another file."""
    assert output_of(HEADING, package) == "2"
    assert output_of(HEADING, package) == "2"  # from the cache
    change(
        package / "karel" / "physics.py",
        "return (position, (heading + _ONE) & _THREE), TURNED",
        "return registers, TURNED",
    )
    assert output_of(HEADING, package) == "1"


def test_a_kernel_of_another_decorator_is_also_recompiled(package: Path) -> None:
    """Layers, which have other decorators, are compiled into the decoder of skills."""
    before = output_of(SKILL_STATE, package)
    assert 0 < float(before) < 1
    assert output_of(SKILL_STATE, package) == before  # from the cache
    change(
        package / "embedding" / "compiled_layers.py",
        "return np.float32(x * above / below)",
        "return np.float32(0.0)",
    )
    assert output_of(SKILL_STATE, package) == "0.0"


def test_reference_counting_does_not_depend_on_the_first_caller(package: Path) -> None:
    """Loops without reference counting call functions that are also called with it."""
    code = """
import sys
from leaps.base.jit import jit
from leaps.karel.executor import run
from leaps.karel.world import KAREL, flatten, random_worlds
worlds = random_worlds(2, 0)
run(KAREL.compile("DEF run m( turnRight m)"), worlds, 9)
@jit
def look(worlds, times):
    total = 0
    for _ in range(times):
        total += flatten(worlds).pose[0]
    return total
before = [sys.getrefcount(array) for array in worlds]
look(worlds, 100)
print(before == [sys.getrefcount(array) for array in worlds])
"""
    assert output_of(code, package) == "True"


def test_a_change_in_a_layer_above_keeps_a_kernel_cached(package: Path) -> None:
    before = json.loads(output_of(STAMPS, package))

    def outdated() -> set[str]:
        return {
            name for name, stamp in json.loads(output_of(STAMPS, package)).items() if stamp != before[name]
        }

    for file, reached in [
        ("embedding/compiled_layers.py", {"embedding", "baselines"}),
        ("karel/tasks/snake.py", {"tasks", "embedding", "baselines"}),
        ("karel/physics.py", {"karel", "tasks", "embedding", "baselines"}),
        ("dsl/mask.py", {"dsl", "karel", "tasks", "embedding", "baselines"}),
    ]:
        source = (package / file).read_text()
        (package / file).write_text(source + "# touched\n")
        assert outdated() == reached, file
        (package / file).write_text(source)


USER_TASK = """
import sys
from leaps.karel.world import EAST, clear, place_karel
from leaps.base.randomness import uniform
from leaps.base.jit import jit
from leaps.karel.tasks import KarelTask
from density_settings import ROWS

DENSITY = float(sys.argv[1])

@jit
def is_marked(stream):
    return uniform(stream) < DENSITY

def sample(stream, world):
    clear(world)
    place_karel(world, 1, 1, EAST)
    for row in range(1, 1 + ROWS):
        world.markers[row, 2] = is_marked(stream)

def value(world, start):
    return float(ROWS) / 10

task = KarelTask("marked", "", (8, 8), (8, 8), sample, value)
world = task.worlds(1, seed=0).world(0)
from leaps.evaluate import evaluate
print(world.markers.sum(), evaluate("DEF run m( move m)", task).returns[0, 0])
"""


def test_a_user_task_uses_the_current_values_of_its_constants(tmp_path: Path) -> None:
    """Constants are frozen into compiled code: from the command line, and from another file."""
    script, settings = tmp_path / "density.py", tmp_path / "density_settings.py"
    script.write_text(USER_TASK)

    def printed(density: str, rows: int) -> str:
        settings.write_text(f"ROWS = {rows}\n" + "#" * rows)  # of another length, for Python's own cache
        command = [sys.executable, str(script), density]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert printed("1.0", 3) == "3 0.3"
    assert printed("0.0", 3) == "0 0.3"
    assert printed("1.0", 5) == "5 0.5"
    assert not list(tmp_path.rglob("*.nbi"))


def test_a_task_can_be_written_without_a_file() -> None:
    """As in an interactive session, or a notebook."""
    code = USER_TASK.replace("from density_settings import ROWS", "ROWS = 4")
    done = subprocess.run([sys.executable, "-", "1"], input=code, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "4 0.4"


def number_in_words(x: int) -> int:
    return {"one": 1, "two": [2]}["one" if x else "two"]  # type: ignore[return-value]


def test_a_compilation_error_has_file_and_line() -> None:
    message = r"test_jit.py, line \d+: number_in_words can't be compiled: "
    with pytest.raises(ValueError, match=message):
        address_of(number_in_words, types.int64(types.int64))


def test_functions_of_the_package_are_cached_on_disk() -> None:
    assert is_ours(clear)
    assert not is_ours(output_of)
    assert jit(clear.py_func)._cache._cache_file is not None  # type: ignore[attr-defined]


def test_closures_over_user_functions_are_not_cached_on_disk() -> None:
    def value(world: World, start: World) -> float:  # noqa: ARG001
        return 0.25

    guarded = guarded_value(value)
    assert is_ours(guarded)
    address_of(guarded, VALUE_TYPE)
    assert not [file for file in PACKAGE.rglob("*.nbi") if guarded.__name__ in file.name]


def test_nothing_else_in_the_package_compiles() -> None:
    """A kernel compiled by numba itself would have no stamp."""
    for file in PACKAGE.rglob("*.py"):
        if file == PACKAGE / "base" / "jit.py":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                assert not any(alias.name.split(".")[0] == "numba" for alias in node.names), file
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numba":
                assert [alias.name for alias in node.names] == ["types"], file


@pytest.mark.parametrize(("seen", "bits"), [((True, False, True), 5), ((), 0), ((2, 0, True), 5), (9, 9)])
def test_truth_values_become_bits_in_plain_python_and_compiled(seen: Any, bits: int) -> None:
    def own(seen: Any) -> Any:
        return as_bits(seen)

    assert as_bits(seen) == jit(own)(seen) == bits


def test_an_index_out_of_range_in_a_users_function_raises() -> None:
    def own(values: Any, index: int) -> Any:
        return values[index]

    compiled = jit(own)
    assert compiled(np.arange(3), 2) == 2
    with pytest.raises(IndexError):
        compiled(np.arange(3), 3)
    assert python_of(compiled) is own


def test_a_function_that_can_not_be_compiled_is_named_with_its_line() -> None:
    def own(number: int) -> Any:
        return open(number)

    line = own.__code__.co_firstlineno
    with pytest.raises(ValueError, match=rf"test_jit.py, line {line}: own can't be compiled"):
        compiled_for(own, types.int64)
