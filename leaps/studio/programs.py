"""Programs that the page shows first, and titles of tasks."""

from leaps.domain import Task
from leaps.dsl.syntax import Action, Condition, IfElse, Program, Repeat
from leaps.dsl.text import to_indented


def start_of(name: str, task: Task) -> str:
    """Return the first program for a task, indented; the domain's own where it has one."""
    support = task.domain.extras.studio
    return to_indented(support.first_program(name) if support else first_program(task))


def first_program(task: Task) -> Program:
    """Make an example of a task's language: its first two actions, chosen by its first perception."""
    language = task.domain.language
    first, *others = map(Action, language.actions)
    choice = IfElse(Condition(language.perceptions[0]), (first,), tuple(others[:1]) or (first,))
    return Program((Repeat(language.max_repeat, (choice,)),))


def title_of(task: str) -> str:
    """Write a task's name as the paper does.

    >>> title_of("top-off")
    'TopOff'
    """
    return "".join(part[:1].upper() + part[1:] for part in task.split("-")) or task
