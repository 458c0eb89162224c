"""The list of baselines, which is read without importing a learning library."""

import subprocess
import sys

import pytest

from leaps.baselines.builders import BUILDERS
from leaps.baselines.methods import BASELINES, Options, build_trainer, get_baseline
from leaps.baselines.ppo import LAST_ACTION
from leaps.baselines.train import BaselineConfig


def test_builders_match_the_list_of_baselines() -> None:
    assert list(BUILDERS) == list(BASELINES)
    assert LAST_ACTION in BASELINES


@pytest.mark.parametrize(
    "build", [get_baseline, lambda name: build_trainer(BaselineConfig(name, "maze"), Options())]
)
def test_unknown_baseline_raises(build: object) -> None:
    assert callable(build)
    with pytest.raises(ValueError, match="unknown baseline 'dqn'; expected one of drl, drl-fcn, drl-abs,"):
        build("dqn")


def test_listing_baselines_imports_no_learning_library() -> None:
    heavy = ("torch", "sklearn", "stable_baselines3", "sb3_contrib", "numba", "matplotlib")
    code = f"import leaps.baselines.methods, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
