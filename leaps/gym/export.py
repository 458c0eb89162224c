"""Export a program as plain Python: one file without dependencies."""

import ast
import builtins
import dis
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from leaps.domain import words_of
from leaps.dsl.syntax import Action, Block, Condition, If, IfElse, Program, Repeat, While, walk
from leaps.dsl.text import to_indented
from leaps.gym.constants import MORE, Above
from leaps.gym.perceptions import Privileged
from leaps.gym.task import GymTask

_HEAD = '''\
"""{name}: a program as plain Python, without dependencies.

policy = Policy(); policy.reset(); action = policy.act(observation), which is None once the program has ended.

{text}
"""

from __future__ import annotations

ACTIONS = {actions}
'''

_PROGRAM = '''\
def program(perceives):
    """Yield the names of actions; `perceives(name)` returns whether a perception holds now."""
'''

_TAIL = '''\
class Policy:
    """The program as a policy, for one episode at a time."""

    def __init__(self):
        self.reset()

    def reset(self):
        """Start an episode."""
        self._seen = None
        self._program = program(lambda name: PERCEPTIONS[name](self._seen))

    def act(self, observation):
        """Return the next action; None once the program has ended."""
        self._seen = observation
        name = next(self._program, None)
        return None if name is None else ACTIONS[name]
'''


def to_python(program: Program, task: GymTask) -> str:
    """Return the text of a Python file with a program and its perceptions."""
    task = task.fitting(words_of(program))
    conditions = [one.condition for one in walk(program) if isinstance(one, While | If | IfElse)]
    asked = {condition.perception for condition in conditions}
    opposites = dict(task.opposites)
    functions, sources, table = dict[str, Callable[..., Any]](), [], []
    for name in sorted(asked, key=task.domain.language.perceptions.index):
        sense = opposites.get(name, name)
        perception = task.sensors[sense]
        compared = perception if isinstance(perception, Above) else None
        function = _function(task, sense, perception if compared is None else compared.function)
        called, source = _source(task, sense, function)
        if called not in functions:
            functions[called] = function
            sources.append(source)
        elif functions[called] is not function:
            raise ValueError(f"{task.name}: expected functions of different names, found two {called}")
        seen = called
        if compared is not None:
            seen = f"lambda observation: {called}(observation) > {compared.constant}"
        elif name in opposites:
            seen = f"lambda observation: not {called}(observation)"
        table.append(f'    "{name}": {seen},\n')
    actions = {name: _plain(task, name, value) for name, value in task.actions.items()}
    lines = list(_program_lines(program, task.repeats))
    if any("steps" in line for line in lines):
        lines.insert(0, "steps = 0")
    text = "\n\n".join(
        (
            _HEAD.format(name=task.name, text=to_indented(program), actions=json.dumps(actions)),
            *sources,
            "PERCEPTIONS = {\n" + "".join(table) + "}\n",
            _PROGRAM + "".join(f"    {line}\n" for line in lines),
            _TAIL,
        )
    )
    try:
        compile(text, "policy.py", "exec")
    except SyntaxError as error:
        raise ValueError(f"the program can't be written as Python: {error.msg}") from None
    return text


def _plain(task: GymTask, name: str, value: Any) -> Any:
    """Convert an action to JSON values, which are also valid Python."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    try:
        json.dumps(plain)
    except TypeError:
        raise ValueError(
            f"{task.name}: action {name}: expected numbers or lists of them, found {value!r}"
        ) from None
    return plain


def _function(task: GymTask, name: str, perception: Any) -> Callable[..., Any]:
    """Return the function of a perception; ValueError if its source can't stand alone."""
    what = f"{task.name}: perception {name}"
    if isinstance(perception, Privileged):
        raise ValueError(f"{what} looks into the environment, which an exported program doesn't have")
    if not inspect.isfunction(perception):
        raise ValueError(f"{what}: expected a function that is written in Python, found {perception!r}")
    if outer := sorted(_outer_names(perception.__code__) | set(perception.__code__.co_freevars)):
        raise ValueError(
            f"{what}: expected a function that uses nothing but its argument, so that it can be exported; it "
            f"uses {', '.join(outer)}"
        )
    return perception


def _source(task: GymTask, sense: str, function: Callable[..., Any]) -> tuple[str, str]:
    """Return the name and the source of a definition of a sense's function."""
    if function.__name__ != "<lambda>":
        return function.__name__, textwrap.dedent(inspect.getsource(function))
    called = "perceive_" + re.sub(r"\W", "_", sense.partition(MORE)[0])
    found = _lambda_of(function)
    if found is None:
        raise ValueError(
            f"{task.name}: perception {sense}: expected a function that is defined with def, found a lambda "
            "whose source can't be found"
        )
    return called, f"def {called}({ast.unparse(found.args)}):\n    return {ast.unparse(found.body)}\n"


def _lambda_of(function: Callable[..., Any]) -> ast.Lambda | None:
    """Find the expression of a lambda in its source; None if it can't be found."""
    code = function.__code__
    try:
        lines, _ = inspect.findsource(function)
        tree = ast.parse("".join(lines))
    except (OSError, SyntaxError):
        return None

    def same(node: ast.Lambda) -> bool:
        (made,) = (
            const
            for const in compile(ast.Expression(node), "", "eval").co_consts
            if isinstance(const, CodeType)
        )
        return (made.co_code, made.co_consts, made.co_names) == (code.co_code, code.co_consts, code.co_names)

    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno and same(node)
    ]
    return found[0] if found else None


def _outer_names(code: CodeType) -> set[str]:
    """Return the global names that a function uses, without Python's built-ins."""
    used = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return {name for name in used if not hasattr(builtins, name)}.union(*map(_outer_names, inner))


def _condition(condition: Condition) -> str:
    return ("not " if condition.negated else "") + f'perceives("{condition.perception}")'


def _acts(block: Block) -> bool:
    """Whether a block always executes an action."""
    return any(
        isinstance(statement, Action)
        or (isinstance(statement, IfElse) and _acts(statement.body) and _acts(statement.orelse))
        or (isinstance(statement, Repeat) and statement.times > 0 and _acts(statement.body))
        for statement in block
    )


def _program_lines(program: Program, repeats: bool) -> Iterator[str]:
    """Write the statements of a program, to run once or, with `repeats`, as long as they act."""
    if not repeats:
        yield from _lines(program.body)
        return
    yield "while True:"
    yield from _guarded(program.body, 0, "return  # nothing was done, so nothing can change any more")


def _lines(block: Block, depth: int = 0) -> Iterator[str]:
    """Write the statements of a block. depth: number of enclosing loops that count actions."""

    def inside(body: Block, depth: int) -> Iterator[str]:
        return (f"    {line}" for line in _lines(body, depth))

    for statement in block:
        match statement:
            case Action(name):
                if depth:
                    yield "steps += 1"
                yield f'yield "{name}"'
            case If(condition, body):
                yield f"if {_condition(condition)}:"
                yield from inside(body, depth)
            case IfElse(condition, body, orelse):
                yield f"if {_condition(condition)}:"
                yield from inside(body, depth)
                yield "else:"
                yield from inside(orelse, depth)
            case While(condition, body):
                yield f"while {_condition(condition)}:"
                yield from _guarded(body, depth, "return  # nothing was done, so nothing can change any more")
            case Repeat(times, body):
                yield f"for _ in range({times}):"
                yield from _guarded(body, depth, "break  # the other rounds would do nothing, too")


def _guarded(body: Block, depth: int, way_out: str) -> Iterator[str]:
    """Write the body of a loop, with an exit from iterations without an action, if these are possible."""
    if _acts(body):
        yield from (f"    {line}" for line in _lines(body, depth))
        return
    yield f"    before_{depth} = steps"
    yield from (f"    {line}" for line in _lines(body, depth + 1))
    yield f"    if steps == before_{depth}:"
    yield f"        {way_out}"
