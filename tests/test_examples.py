"""The example scripts do what they say. (The example programs are tested with their tasks.)"""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

SAID = {
    "evaluate_a_program.py": ["top-off, 12x12: mean return 1.000", "top-off, 100x100: mean return 1.000"],
    "a_task_of_your_own.py": ["1.000  DEF run m( WHILE c( frontIsClear c) w( move w) putMarker m)"],
    "a_domain_of_your_own.py": ["1.000 after", "evaluations: DEF run m("],
    "a_search_of_your_own.py": ["1.000 after", "evaluations: DEF run m("],
    "an_environment_of_your_own.py": ["of 500 on average: DEF run m(", "it looked at {"],
    "a_vector_environment.py": ["million steps a second"],
}


def test_every_script_is_tested() -> None:
    assert {file.name for file in EXAMPLES.glob("*.py")} == set(SAID)


@pytest.mark.parametrize("name", SAID)
def test_a_script_runs_and_says_what_it_should(name: str) -> None:
    done = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, check=True)
    for words in SAID[name]:
        assert words in done.stdout


def test_the_page_on_domains_shows_the_example() -> None:
    page = EXAMPLES.parent / "docs" / "your-own-domain.md"
    assert (EXAMPLES / "a_domain_of_your_own.py").read_text() in page.read_text()
