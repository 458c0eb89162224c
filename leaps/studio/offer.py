"""Describe tasks to the page: language, sizes, units, first program."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from leaps.domain import Task
from leaps.dsl.language import Language
from leaps.dsl.syntax import If, IfElse, Program, While, tokens_of, walk
from leaps.studio.completion import kinds_of
from leaps.studio.programs import start_of, title_of
from leaps.studio.requests import METHODS, methods_for
from leaps.tasks import featured

STEP_COST = 500
"""compiled steps that take as long as one step of an environment in Python"""


def offered() -> dict[str, Task]:
    """Return the tasks that are always listed; another is listed if the studio is opened with it."""
    return {name: task for tasks in featured().values() for name, task in tasks.items()}


def step_cost(task: Task) -> int:
    """Return the cost of a step, in compiled steps."""
    return 1 if task.domain.compiled else STEP_COST


def privileged_names(task: Task) -> set[str]:
    """Return the privileged perceptions of a task, with their opposites; most tasks have none."""
    language = task.domain.language
    hidden = set(task.domain.privileged)
    senses = zip(language.perceptions, language.sense_of.tolist(), strict=True)
    return {name for name, sense in senses if language.senses[sense] in hidden}


def privileged_of(task: Task, program: Program) -> list[str]:
    """List the privileged perceptions that a program uses, in the language's order."""
    hidden = privileged_names(task)
    asked = {one.condition.perception for one in walk(program) if isinstance(one, While | If | IfElse)}
    return [name for name in task.domain.language.perceptions if name in hidden & asked]


def describe_tasks(tasks: Mapping[str, Task], own: Mapping[str, Task]) -> dict[str, Any]:
    """Describe the tasks that the page lists, and their languages.

    tasks: tasks of the package. own: user tasks from the command line.
    """
    languages: list[Language] = []

    def number_of(language: Language) -> int:
        if language not in languages:
            languages.append(language)
        return languages.index(language)

    def described() -> Iterator[dict[str, Any]]:
        for name, task in tasks.items():
            yield describe_task(name, task, group_of(name, task), number_of(task.domain.language))
        for name, task in own.items():
            yield describe_task(name, task, "Your own", number_of(task.domain.language))

    return {"tasks": list(described()), "languages": [describe_language(one) for one in languages]}


def describe_task(name: str, task: Task, group: str, language: int) -> dict[str, Any]:
    """Describe one task. language: its index in the list of languages."""
    size = task.check_size(None)
    grid = isinstance(size, tuple)
    return {
        "name": name,
        "title": title_of(name),
        "summary": summary_of(task),
        "group": group,
        "language": language,
        "size": list(size) if grid else None,
        "smallest": list(getattr(task, "smallest", (3, 3))) if grid else None,
        "resizable": grid and getattr(task, "resizable", True),
        "variants": [] if grid else list(getattr(task, "variants", ())),
        "horizon": task.horizon(),
        "best": task.best if math.isfinite(task.best) else None,
        "unit": "world" if grid else "episode",
        "drawn": task.domain.extras.studio is not None,
        "mapped": task.domain.space is not None,
        "episodes": 100 if step_cost(task) == 1 else 20,
        "search": {"budget": 50_000, "worlds": None}
        if step_cost(task) == 1
        else {"budget": 1_000, "worlds": 4},
        "methods": [{"name": method, "title": METHODS[method]} for method in methods_for(task)],
        "privileged": sorted(privileged_names(task), key=task.domain.language.perceptions.index),
        "program": start_of(name, task),
    }


def describe_language(language: Language) -> dict[str, Any]:
    """Describe a language: its tokens, each with its kind."""
    return {
        "words": kinds_of(language),
        "actions": list(language.actions),
        "perceptions": list(language.perceptions),
    }


def group_of(name: str, task: Task) -> str:
    """Return the heading that a task of the package is listed under."""
    for heading, tasks in featured().items():
        if name in tasks:
            return heading
    return "Other tasks" if task.domain.compiled else "Environments"


def kinds_beyond(language: Language, program: Program, base: Language) -> dict[str, str]:
    """Return the words of a program that are not in the base language, each with its kind."""
    kinds = kinds_of(language)
    return {word: kinds[word] for word in tokens_of(program) if word not in base.ids}


def summary_of(task: Task) -> str:
    """Return the task's summary, or a sentence about its language."""
    if summary := getattr(task, "summary", ""):
        return str(summary)
    language = task.domain.language
    actions, perceptions = len(language.actions), len(language.perceptions)
    return (
        f"{actions} {'action' if actions == 1 else 'actions'} and {perceptions} "
        f"{'perception' if perceptions == 1 else 'perceptions'}; an episode takes at most "
        f"{task.horizon():,} steps"
    )
