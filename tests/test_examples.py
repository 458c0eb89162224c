"""The example scripts run and print the expected output; the example programs are tested with their tasks."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

OUTPUTS = {
    "evaluate_a_program.py": ["top-off, 12x12: mean return 1.000", "top-off, 100x100: mean return 1.000"],
    "a_task_of_your_own.py": ["1.000  DEF run m( WHILE c( frontIsClear c) w( move w) putMarker m)"],
    "a_domain_of_your_own.py": ["1.000 after", "evaluations: DEF run m("],
    "a_search_of_your_own.py": ["1.000 after", "evaluations: DEF run m("],
    "an_environment_of_your_own.py": ["of 500 on average: DEF run m(", "it looked at {"],
    "a_vector_environment.py": ["million steps per second"],
}


def test_every_script_is_tested() -> None:
    assert {file.name for file in EXAMPLES.glob("*.py")} == set(OUTPUTS)


@pytest.mark.parametrize("name", OUTPUTS)
def test_script_prints_the_expected_output(name: str) -> None:
    done = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, check=True)
    for words in OUTPUTS[name]:
        assert words in done.stdout


def test_page_on_domains_contains_the_example() -> None:
    page = EXAMPLES.parent / "docs" / "your-own-domain.md"
    assert (EXAMPLES / "a_domain_of_your_own.py").read_text() in page.read_text()
