"""The check of the ask/tell protocol accepts correct searches and reports violations."""

from pathlib import Path

import pytest

from leaps.search.check import check_method
from leaps.search.methods import METHODS, Method, Setting
from tests.search.test_user_method import EXAMPLE, MOVE, class_with, written


def test_the_example_passes_the_check() -> None:
    check_method(f"{EXAMPLE}:MySearch")


def test_built_in_methods_pass_the_check() -> None:
    check_method(METHODS["hc"])
    check_method(METHODS["ladder"], rounds=6)


def test_nondeterministic_programs_are_detected(tmp_path: Path) -> None:
    methods = """
        def ask(self):
            import random
            return ["DEF run m( " + "move " * random.randint(1, 9) + "m)"]
    """
    file = class_with(tmp_path, methods)
    with pytest.raises(ValueError, match=r"the same seed asked about other programs in .*setting\.seed"):
        check_method(f"{file}:Mine")


def test_an_incomplete_state_is_detected(tmp_path: Path) -> None:
    methods = """
        count = 0
        def ask(self):
            return ["DEF run m( " + "move " * (1 + self.count % 9) + "m)"]
        def tell(self, scores):
            self.count += 1
        def state(self):
            return {}
        def restore(self, state): ...
    """
    file = class_with(tmp_path, methods)
    with pytest.raises(ValueError, match="the restored search asked about other programs in round 1;"):
        check_method(f"{file}:Mine", rounds=5)
    source = Path(file).read_text()
    source = source.replace("return {}", 'return {"count": self.count}')
    source = source.replace("(self, state): ...", '(self, state):\n        self.count = state["count"]')
    check_method(f"{written(tmp_path, source)}:Mine")


def test_programs_above_the_maximum_length_are_detected(tmp_path: Path) -> None:
    file = class_with(tmp_path, "def ask(self):\n    return ['DEF run m( ' + 20 * 'move ' + 'm)']\n")
    with pytest.raises(ValueError, match="in ask: expected programs of at most 15 tokens, found one of 24"):
        check_method(f"{file}:Mine")


class Endless:
    """A class passed directly."""

    def __init__(self, setting: Setting) -> None:
        self.seed = setting.seed

    def ask(self) -> list[str]:
        return [MOVE]

    def tell(self, scores: object) -> None: ...


def test_only_a_class_a_method_or_a_file_can_be_checked() -> None:
    check_method(Endless)  # type: ignore[arg-type]
    check_method(Method("endless", Endless))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"expected FILE.py:NAME, or a class, .*, found 'hc'"):
        check_method("hc")
    with pytest.raises(ValueError, match="expected a class, a function or a Method, or FILE"):
        check_method(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rounds must be at least 2, found 1"):
        check_method(Endless, rounds=1)  # type: ignore[arg-type]
