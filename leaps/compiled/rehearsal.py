"""Test a user's task before its first run, and locate the error when a run fails.

Compiled code can't report the line of an error in a user's function. So some random programs are first run in
plain Python, which reports it, and then compiled. Both must give the same results.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from leaps.compiled.plain import Worlds
from leaps.compiled.scene import CompiledScene
from leaps.domain import Outcome
from leaps.dsl.compiler import HALT, STUCK, Compiled
from leaps.dsl.sample import sample_programs
from leaps.dsl.stepper import Stepper

if TYPE_CHECKING:
    from leaps.compiled.task import CompiledTask

PROGRAMS, WORLDS, ACTIONS = 24, 4, 40
"""random programs of a rehearsal, initial states per program, and maximum actions per run"""
NEARLY = 1e-9
"""tolerance between two returns"""


def rehearse(task: "CompiledTask") -> None:
    """Run random programs in plain Python and compiled; ValueError if one fails or they differ."""
    language = task.domain.language
    tokens = sample_programs(language, task.domain.programs, PROGRAMS, seed=0)
    programs = tokens[task.compile(tokens).entry >= 0]  # skip programs with too many perceptions
    compiled = task.compile(programs)
    worlds = task.worlds(WORLDS, seed=0).worlds
    played = [
        [play(task, compiled, program, worlds, number, ACTIONS) for number in range(worlds.count)]
        for program in range(compiled.count)
    ]
    rollouts = task.engine.run(compiled, worlds, ACTIONS, task.hooks, want_final=True)
    assert rollouts.returns is not None
    for program, runs in enumerate(played):
        for number, (scene, outcome) in enumerate(runs):
            final = rollouts.final.world(program * worlds.count + number)
            found: dict[str, tuple[Any, Any]] = {
                "outcome": (outcome, Outcome(rollouts.outcome[program, number])),
                "number of actions": (scene.actions, int(rollouts.steps[program, number])),
                "cells": (scene.world.cells, final.cells),
                "numbers": (scene.world.numbers, final.numbers),
                "value": (scene.worth(), float(rollouts.returns[program, number])),
            }
            for what, (plain, other) in found.items():
                if not np.allclose(plain, other, rtol=0, atol=NEARLY):
                    raise ValueError(
                        f"{task.name}: expected the same from a program in plain Python and compiled; the "
                        f"{what} differed: {_flat(plain)} and {_flat(other)}. Cells are uint8, so convert "
                        "them with int() in arithmetic; and a task's functions may use no random numbers. "
                        f"The program: {language.text(programs[program])}"
                    )


def _flat(value: Any) -> Any:
    if isinstance(value, Outcome):
        return value.name
    return value.tolist() if isinstance(value, np.ndarray) else value


def play(
    task: "CompiledTask", compiled: Compiled, program: int, worlds: Worlds, number: int, horizon: int
) -> tuple[CompiledScene, Outcome]:
    """Run a compiled program in plain Python."""
    scene, stepper = CompiledScene(task, worlds.world(number)), Stepper(compiled, program)
    while True:
        operation = stepper.next(scene.look)
        if operation >= HALT:
            return scene, Outcome.STUCK if operation == STUCK else Outcome.HALTED
        if scene.actions == horizon:
            return scene, Outcome.CUT_OFF
        if (end := scene.act(operation)) is not None:
            return scene, end


def find_fault(task: "CompiledTask", compiled: Compiled, worlds: Worlds, horizon: int) -> None:
    """Find the rollout in which a function of the task fails; ValueError with file and line, if found.

    Run compiled code program by program and world by world, then the failing rollout in plain Python.
    """
    for program in range(compiled.count):
        alone = compiled.take(np.array([program]))
        if _works(task, alone, worlds, horizon):
            continue
        for number in range(worlds.count):
            if not _works(task, alone, worlds.take(np.array([number])), horizon):
                scene, _ = play(task, compiled, program, worlds, number, horizon)
                scene.worth()


def _works(task: "CompiledTask", compiled: Compiled, worlds: Worlds, horizon: int) -> bool:
    try:
        rollouts = task.engine.run(compiled, worlds, horizon, task.hooks)
    except Exception:  # whatever a user's function raises
        return False
    assert rollouts.returns is not None
    return bool(np.isfinite(rollouts.returns).all() and rollouts.returns.max(initial=-np.inf) <= task.most)
