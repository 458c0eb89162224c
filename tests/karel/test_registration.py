import subprocess
import sys


def output_of(code: str) -> list[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split("\n")


def test_importing_leaps_is_all_that_gymnasium_needs() -> None:
    code = (
        "import leaps, gymnasium; print(gymnasium.make('Karel/Maze-v0', size=(9, 9)).reset(seed=0)[0].shape)"
    )
    assert output_of(code)[0] == "(9, 9, 16)"


def test_gymnasium_can_import_leaps_by_itself() -> None:
    assert (
        output_of("import gymnasium; print(gymnasium.make('leaps:Karel/Snake-v0').reset(seed=0)[0].shape)")[0]
        == "(8, 8, 16)"
    )


def test_leaps_can_be_imported_without_gymnasium() -> None:
    code = (
        "import importlib.util as u, sys; find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'gymnasium' else find(name, *rest)\n"
        "sys.modules['gymnasium'] = None\n"
        "from leaps.evaluate import evaluate\n"
        "print(evaluate('DEF run m( move m)', 'maze', episodes=3).returns.shape)"
    )
    assert output_of(code)[0] == "(1, 3)"


def test_registering_is_cheap() -> None:
    """The environments, and numba with them, are imported when one is made."""
    assert output_of("import leaps, sys; print('numba' in sys.modules)")[0] == "False"
