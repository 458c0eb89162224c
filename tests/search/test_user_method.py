"""User-defined search methods run like any other, and errors are reported with their line."""

import json
import re
from pathlib import Path
from textwrap import dedent, indent

import numpy as np
import pytest

import leaps
from leaps.karel.world import KAREL, LANGUAGE
from leaps.search.checkpoint import can_be_saved, restore, state_of
from leaps.search.methods import Setting, get_method, short_name
from leaps.search.search import Answer, Search
from leaps.search.solve import Run, SolveConfig
from leaps.search.user_method import UserSearch

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "a_search_of_your_own.py"
PAGE = ROOT / "docs" / "your-own-search.md"
MOVE, PUT = "DEF run m( move m)", "DEF run m( putMarker m)"

TEXTS = f"""\
    def __init__(self, setting):
        self.setting = setting

    def ask(self):
        return [{MOVE!r}, {PUT!r}]

    def tell(self, scores):
        self.scores = scores
"""


def written(folder: Path, source: str) -> str:
    file = folder / "mine.py"
    file.write_text(dedent(source))
    return str(file.resolve())


def class_with(folder: Path, methods: str = "", base: str = TEXTS) -> str:
    """A file with a class Mine that asks about two texts and has further methods; it starts on line 1."""
    written(folder, f"class Mine:\n{base}\n")
    with (folder / "mine.py").open("a") as file:
        file.write(indent(dedent(methods), "    "))
    return str((folder / "mine.py").resolve())


def built(file: str, name: str = "Mine", max_length: int = 45) -> Search:
    return get_method(f"{file}:{name}").build(Setting(KAREL, "maze", "leaps", 0, max_length))


def line_of(file: str, words: str) -> int:
    lines = Path(file).read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if words in line)
    return number


# The example


def test_the_page_contains_the_example_verbatim() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (shown,) = (block for block in blocks if "class MySearch" in block)
    assert shown == EXAMPLE.read_text()


def test_the_example_solves_maze() -> None:
    returns = [
        leaps.solve("maze", f"{EXAMPLE}:MySearch", seed, budget=20_000).unseen_return for seed in range(4)
    ]
    assert min(returns) > 0.9
    assert np.mean(returns) > 0.95


def test_the_same_seed_finds_the_same_program() -> None:
    one, same = (leaps.solve("maze", f"{EXAMPLE}:MySearch", 3, budget=2_000) for _ in range(2))
    assert (one.program, one.evaluations) == (same.program, same.evaluations)


# Names in a file


def test_a_class_a_function_and_a_method_are_accepted(tmp_path: Path) -> None:
    file = class_with(tmp_path)
    with open(file, "a") as source:
        source.write(
            "from leaps.search.methods import Method\n"
            "def make(setting):\n    'Make it.'\n    return Mine(setting)\n"
            "METHOD = Method('mine', Mine, worlds=7, budget=50, until_perfect=False)\n"
        )
    for name in ("Mine", "make", "METHOD"):
        assert isinstance(built(file, name), UserSearch)
    assert get_method(f"{file}:make").summary == "Make it."
    assert get_method(f"{file}:Mine").summary == f"Mine of {file}"
    assert (get_method(f"{file}:METHOD").worlds, get_method(f"{file}:METHOD").budget) == (7, 50)
    assert short_name(f"{file}:METHOD") == "METHOD"
    assert short_name("hc") == "hc"


def test_texts_and_token_ids_are_equivalent(tmp_path: Path) -> None:
    texts = built(class_with(tmp_path)).ask()
    ids = "import numpy as np\n" + (tmp_path / "mine.py").read_text().replace(
        f"[{MOVE!r}, {PUT!r}]", f"np.array({texts[:, :9].tolist()}, np.uint8)"
    )
    assert np.array_equal(built(written(tmp_path, ids)).ask(), texts)
    assert texts.shape == (2, 45)
    assert texts.dtype == np.uint8


def test_programs_of_different_lengths_can_be_mixed(tmp_path: Path) -> None:
    """The final choice compares programs of all rounds, so all need rows of the same length."""
    longer = "DEF run m( move move turnLeft m)"
    methods = f"""
        def ask(self):
            self.round = getattr(self, "round", 0) + 1
            return [{MOVE!r} if self.round % 2 else {longer!r}]
    """
    file = class_with(tmp_path, methods)
    solution = leaps.solve("maze", f"{file}:Mine", budget=6)
    assert solution.program in (MOVE, longer)
    assert solution.evaluations > 6  # with the final choice


def test_a_search_can_not_change_its_callers_scores_and_programs(tmp_path: Path) -> None:
    methods = """
        def ask(self):
            import numpy as np
            self.asked = np.array([[0, 1, 2, 4, 3]], np.uint8)
            return self.asked
        def tell(self, scores):
            scores[:] = 5
            self.asked[:] = 3
    """
    search = built(class_with(tmp_path, methods))
    programs, scores = search.ask(), np.zeros(1)
    search.tell(scores)
    assert (scores[0], programs[0, 3]) == (0, 4)


def test_all_optional_members_are_used(tmp_path: Path) -> None:
    methods = f"""
        changed = 0
        finished = False
        @property
        def answer(self):
            return {PUT!r}, 0.5
        def incumbent(self):
            return {MOVE!r}
        def worlds_changed(self):
            self.changed += 1
            self.finished = True
        def state(self):
            return {{"changed": self.changed}}
        def restore(self, state):
            self.changed = state["changed"]
    """
    search = built(class_with(tmp_path, methods))
    assert isinstance(search.answer, Answer)
    assert search.answer.score == 0.5
    assert LANGUAGE.decode(search.answer.program) == PUT.split()
    assert search.incumbent is not None
    assert LANGUAGE.decode(search.incumbent) == MOVE.split()
    assert not search.finished
    search.worlds_changed()
    assert search.finished
    other = built(class_with(tmp_path, methods))
    other.restore(search.state() or {})
    assert other.state() == {"changed": 1}


def test_a_search_without_state_is_not_saved(tmp_path: Path) -> None:
    run = Run(SolveConfig("maze", f"{class_with(tmp_path)}:Mine", budget=4))
    run.step()
    assert not can_be_saved(run)


# Mistakes. The line is that of the words that follow it.


@pytest.mark.parametrize(
    ("returned", "found"),
    [
        ("np.zeros((2, 9))", "float64[2, 9]"),
        ("np.zeros((2, 9), np.int64)", "int64[2, 9]"),
        ("np.zeros(9, np.uint8)", "uint8[9]"),
        ("np.zeros((0, 9), np.uint8)", "uint8[0, 9]"),
        ("[]", "[]"),
        ("None", "None"),
        (repr(MOVE), f"'{MOVE}'"),
        ("[1, 'x']", "[1, 'x']"),
    ],
)
def test_a_wrong_shape_or_type_is_reported(tmp_path: Path, returned: str, found: str) -> None:
    file = class_with(tmp_path, f"def ask(self):\n    import numpy as np\n    return {returned}  # here\n")
    line = line_of(file, "# here") - 2
    words = (
        f"{file}, line {line}, in ask: expected a list of program texts, or token ids "
        f"uint8[programs, length], found {found}"
    )
    with pytest.raises(ValueError, match=re.escape(words) + "$"):
        built(file).ask()


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("np.zeros((2, 9), np.uint8)", "row 0 of 2 is not a program: [0, 0, 0, 0, 0, 0, 0, 0, 0]"),
        ("np.array([[0, 1, 2, 4, 3], [0, 1, 2, 250, 3]], np.uint8)", "row 1 of 2 is not a program: [0, 1,"),
        ("['DEF run m( move']", "not a program: 'DEF run m( move'"),
        ("['']", "not a program: "),
        ("['DEF run m( jump m)']", "not a program: "),
        ("['DEF run m( ' + 50 * 'move ' + 'm)']", "expected programs of at most 45 tokens, found one of 54"),
    ],
)  # fmt: skip
def test_an_invalid_program_is_reported(tmp_path: Path, returned: str, message: str) -> None:
    file = class_with(tmp_path, f"def ask(self):\n    import numpy as np\n    return {returned}  # here\n")
    line = line_of(file, "# here") - 2
    with pytest.raises(ValueError, match=re.escape(f"{file}, line {line}, in ask: {message}")):
        built(file).ask()


@pytest.mark.parametrize(
    ("method", "call"),
    [
        ("ask(self)", lambda search: search.ask()),
        ("tell(self, scores)", lambda search: (search.ask(), search.tell(np.zeros(2)))),
        ("state(self)", lambda search: search.state()),
        ("restore(self, state)", lambda search: search.restore({})),
        ("worlds_changed(self)", lambda search: search.worlds_changed()),
        ("finished(self)", lambda search: search.finished),
        ("answer(self)", lambda search: search.answer),
        ("incumbent(self)", lambda search: search.incumbent),
    ],
)
def test_an_exception_is_reported_with_its_line(tmp_path: Path, method: str, call: object) -> None:
    assert callable(call)
    methods = f"def {method}:\n    return 1 / 0\n"
    if method.startswith("state"):
        methods += "def restore(self, state): ...\n"
    file = class_with(tmp_path, methods)
    search = built(file)
    words = f"{file}, line {line_of(file, '1 / 0')}: ZeroDivisionError: division by zero"
    with pytest.raises(ValueError, match=re.escape(words) + "$"):
        call(search)


def test_an_error_within_a_property_is_not_a_missing_property(tmp_path: Path) -> None:
    file = class_with(tmp_path, "@property\ndef finished(self):\n    return self.nothing\n")
    with pytest.raises(ValueError, match=f"line {line_of(file, 'nothing')}: AttributeError: .*'nothing'"):
        _ = built(file).finished


def test_an_error_of_the_package_is_reported_with_the_users_line(tmp_path: Path) -> None:
    file = class_with(
        tmp_path,
        "def ask(self):\n    from leaps.search.cem import CEMConfig\n    return CEMConfig(-1)\n",
    )
    with pytest.raises(ValueError, match=rf"mine.py, line {line_of(file, 'CEMConfig(-1)')}: ValueError: "):
        built(file).ask()


@pytest.mark.parametrize(
    ("constructor", "message"),
    [
        ("def __init__(self, setting):\n    raise KeyError('x')\n", ", line {}: KeyError: 'x'"),
        ("def __init__(self):\n    pass  # KeyError\n", ", line 1: TypeError: Mine.__init__() takes 1"),
    ],
)  # fmt: skip
def test_a_failing_constructor_is_reported(tmp_path: Path, constructor: str, message: str) -> None:
    file = class_with(tmp_path, constructor)
    message = message.format(line_of(file, "KeyError"))
    with pytest.raises(ValueError, match=re.escape(f"{file}{message}")):
        built(file)


def test_a_constructor_with_wrong_arguments_is_explained(tmp_path: Path) -> None:
    file = class_with(tmp_path, "def __init__(self):\n    pass\n")
    with pytest.raises(ValueError, match="it is called with one argument, the Setting of the search"):
        built(file)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("class Mine:\n    def __init__(self, setting): ...\n    def ask(self): ...\n",
         ", line 1: expected an object with a method 'tell', found Mine without it"),
        ("class Mine:\n    def __init__(self, setting): ...\n    def tell(self, scores): ...\n",
         ", line 1: expected an object with a method 'ask', found Mine without it"),
        ("class Mine:\n    ask = tell = state = print\n    def __init__(self, setting): ...\n",
         ", line 1: expected an object with a method 'restore' to go with 'state', found Mine without it"),
        ("\ndef Mine(setting):\n    pass\n",
         ", line 2: expected an object with a method 'ask', found None without it"),
    ],
)  # fmt: skip
def test_missing_methods_are_named(tmp_path: Path, source: str, message: str) -> None:
    file = written(tmp_path, source)
    with pytest.raises(ValueError, match=re.escape(f"{file}{message}") + "$"):
        built(file)


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("finished = 'no'", "expected True or False, found 'no'"),
        ("answer = 3", "expected a program and its score, or None, found 3"),
        (f"answer = ({MOVE!r}, None)", "expected a program and its score, or None, found the score None"),
        (f"answer = ({MOVE!r}, float('nan'))", "expected a program and its score, or None, found the score "),
        ("answer = ('DEF', 1.0)", "not a program: "),
        ("incumbent = 'DEF'", "not a program: "),
    ],
)  # fmt: skip
def test_wrong_members_are_reported_with_the_class(tmp_path: Path, member: str, message: str) -> None:
    file = class_with(tmp_path, f"{member}\n")
    search = built(file)
    with pytest.raises(ValueError, match=re.escape(f"{file}, line 1: {message}")):
        _ = (search.finished, search.answer, search.incumbent)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("[1]", "expected a dict, found list"),
        ("{'rng': print}", "expected only plain values and numpy arrays in the dict: "),
    ],
)
def test_a_state_that_can_not_be_saved_is_reported(tmp_path: Path, returned: str, message: str) -> None:
    file = class_with(tmp_path, f"def state(self):\n    return {returned}\ndef restore(self, state): ...\n")
    line = line_of(file, "def state")
    with pytest.raises(ValueError, match=re.escape(f"{file}, line {line}, in state: {message}")):
        built(file).state()


def test_tell_before_ask_raises(tmp_path: Path) -> None:
    search = built(class_with(tmp_path))
    with pytest.raises(ValueError, match=r"mine.py: tell was called before ask; expected ask, then tell"):
        search.tell(np.zeros(2))
    search.ask()
    search.tell(np.zeros(2))
    with pytest.raises(ValueError, match="tell was called before ask"):
        search.tell(np.zeros(2))
    search.ask()
    with pytest.raises(ValueError, match=r"expected 2 scores, one for each program .*, found .* \[3\]"):
        search.tell(np.zeros(3))


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        ("class A: ...\n", "B", "mine.py has no method 'B'; it has A"),
        ("import os\n", "B", "mine.py has no method 'B'; it has no class or function"),
        ("class A: ...\n", "", "expected the name of a method after the file, as in"),
        ("A = 3\n", "A", "expected A to be a class, a function or a Method, found 3"),
        ("\n\ndef f(:\n", "A", "mine.py, line 3: SyntaxError: invalid syntax"),
        ("\nimport nowhere_at_all\n", "A", "mine.py, line 2: ModuleNotFoundError: No module named"),
    ],
)
def test_an_invalid_file_is_explained(tmp_path: Path, source: str, name: str, message: str) -> None:
    file = written(tmp_path, source)
    with pytest.raises(ValueError, match=re.escape(message)):
        get_method(f"{file}:{name}")


def test_a_missing_file_raises(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no file '.*none.py' to take the method 'A' from"):
        get_method(f"{tmp_path}/none.py:A")


# Saving


def test_a_saved_search_of_a_user_continues_identically(tmp_path: Path) -> None:
    """Through JSON, as in a checkpoint."""
    methods = """
        def __init__(self, setting):
            import numpy as np
            self.rng = np.random.default_rng(setting.seed)
        def ask(self):
            return ["DEF run m( " + "move " * int(self.rng.integers(1, 9)) + "m)" for _ in range(3)]
        def state(self):
            return {"rng": self.rng.bit_generator.state}
        def restore(self, state):
            self.rng.bit_generator.state = state["rng"]
    """
    config = SolveConfig("maze", f"{class_with(tmp_path, methods)}:Mine", budget=60)
    run, restored = Run(config), Run(config)
    for _ in range(5):
        run.step()
    restore(restored, json.loads(json.dumps(state_of(run), default=lambda array: array.tolist())))
    for _ in range(5):
        one, same = run.step(), restored.step()
        assert np.array_equal(one.asked, same.asked)
        assert one.evaluations == same.evaluations
