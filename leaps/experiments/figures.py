"""Compute the values of a figure's cell: the data of a picture or of a table of programs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from leaps.base.tensors import read_about
from leaps.experiments.computing import SEARCHES, SPACES, Job, Values, best_of, space_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from leaps.karel.tasks import KarelTask
    from leaps.karel.world import World

TRUTHS = {
    "stair-climber": "DEF run m( WHILE c( noMarkersPresent c) w( turnLeft move turnRight move w) m)",
    "four-corner": (
        "DEF run m( WHILE c( noMarkersPresent c) w( WHILE c( frontIsClear c) w( move w) "
        "IF c( noMarkersPresent c) i( putMarker turnLeft move i) w) m)"
    ),
}
"""reference programs that solve the tasks of the figure `cem-trajectory`"""
STEPS = 8
"""interpolation steps between two programs"""
FRAMES = 5
"""states shown per rollout, including the first and the last"""
LIKENESS_WORLDS = 100
"""worlds in which consecutive interpolated programs are compared"""
DIGITS = 4


def latent_map(job: Job) -> Values:
    """Project the raw latents of a space to two dimensions, as in the paper."""
    from leaps.embedding.space import Space
    from leaps.experiments.explore import chart_of_space
    from leaps.karel.dataset import DataConfig, unique_programs

    cell = job.cell
    config = DataConfig(programs=cell.option("programs", DataConfig.programs))
    training = unique_programs(config)[: config.bounds[0]]
    trained, seed = space_of(job, SPACES[cell.method])
    iterations = cell.option("iterations", 1000)
    chart = chart_of_space(Space.load(trained.path, raw=True), training, seed, iterations)
    return {"programs": len(training), **chart.report(), "space": trained.about}


def trajectory(job: Job) -> Values:
    """Record a search by the cross entropy method."""
    from leaps.experiments.trajectory import CLOUD, record, search_space
    from leaps.search.solve import SolveConfig

    cell = job.cell
    trained, seed = space_of(job, "leaps")
    config = SolveConfig(
        cell.task, SEARCHES[cell.method].method, seed, budget=cell.option("budget"), space=trained.path
    )
    truth, programs = TRUTHS[cell.task], cell.option("programs", CLOUD)
    found = record(config, search_space(config), truth, programs=programs).summary()
    return found | {"space": trained.about}


def evolution(job: Job) -> Values:
    """Evaluate the best programs of a recorded search on held-out worlds."""
    from leaps.evaluate import UNSEEN, UNSEEN_SEEDS, evaluate

    (recorded,) = job.needed
    found, cell = recorded.values, job.cell
    programs = sorted((int(number), str(program)) for number, program in found["programs"].items())
    judged = evaluate(
        [program for _, program in programs], cell.task, episodes=UNSEEN, seed=UNSEEN_SEEDS + cell.seed
    )
    return {
        "iterations": len(found["best_returns"]),
        "converged": found["converged"],
        "rows": [
            {
                "iteration": number,
                "search_return": found["best_returns"][number - 1],
                "return": round(float(value), DIGITS),
                "program": program,
            }
            for (number, program), value in zip(programs, judged.mean_return, strict=True)
        ],
    }


def interpolation(job: Job) -> Values:
    """Interpolate between two of the paper's programs in the space."""
    from leaps.embedding.space import Space
    from leaps.experiments.explore import interpolate
    from leaps.experiments.paper import INTERPOLATIONS

    reported = INTERPOLATIONS[job.cell.task]
    trained, _ = space_of(job, SPACES[job.cell.method])
    steps = job.cell.option("steps", STEPS)
    programs = interpolate(Space.load(trained.path), reported[0], reported[-1], steps)
    return {
        "programs": programs,
        "likeness": _likeness(programs),
        "likeness_of_reported": _likeness(reported),
        "space": trained.about,
    }


def _likeness(programs: "list[str] | tuple[str, ...]") -> list[float]:
    """R_mat of consecutive programs in random worlds."""
    from leaps.experiments.explore import r_mat
    from leaps.karel.world import KAREL, random_worlds

    before, after = KAREL.compile(list(programs[:-1])), KAREL.compile(list(programs[1:]))
    likeness = r_mat(before, after, random_worlds(LIKENESS_WORLDS, 0))
    return [round(float(value), DIGITS) for value in likeness]


def lengths(job: Job) -> Values:
    """Count the programs of each length in a split of the data set."""
    import numpy as np

    from leaps.karel.dataset import DataConfig, unique_programs
    from leaps.karel.world import LANGUAGE

    config = DataConfig(programs=job.cell.option("programs", DataConfig.programs), seed=job.cell.seed)
    bounds = (0, *config.bounds)
    split = ("train", "validation").index(job.cell.task)
    tokens = unique_programs(config)[bounds[split] : bounds[split + 1]]
    found = (tokens != LANGUAGE.pad).sum(axis=1)
    return {
        "programs": len(tokens),
        "mean": round(float(found.mean()), DIGITS),
        "longest": int(found.max()),
        "counts": np.bincount(found).tolist(),
    }


def rollout(job: Job) -> Values:
    """Run a stored program or a trained policy in its first held-out world, and keep some states.

    The world depends only on task and seed, so all methods with the same seed start in the same world.
    """
    from leaps.domain import NO_ACTION
    from leaps.evaluate import UNSEEN_SEEDS
    from leaps.experiments.trajectory import spread
    from leaps.karel.draw import frames_of_actions, path_of
    from leaps.tasks import get

    cell, (found,) = job.cell, job.needed
    task = get(cell.task)
    start = task.worlds(1, UNSEEN_SEEDS + cell.seed).world(0)
    act = _act_by_program if "program" in found.values else _act_by_policy
    padded, about = act(job, task, start)
    taken = padded[padded != NO_ACTION]
    states = frames_of_actions(start, taken, task.hooks)
    values = [round(float(task.value(state, start)), DIGITS) for state in states]
    # Some programs keep acting after success until the horizon. Those states are not shown.
    succeeds = values[-1] == max(values) > values[0]
    done = values.index(max(values)) if succeeds else len(values) - 1
    shown = spread(done + 1, FRAMES)
    frames = []
    for before, at in zip([0, *shown[:-1]], shown, strict=True):
        way = path_of(states[before : at + 1])
        frames.append(
            {
                "actions": at,
                "value": values[at],
                "rows": states[at].rows(),
                "karel": list(states[at].place),
                "way_rows": [row for row, _ in way],
                "way_columns": [column for _, column in way],
            }
        )
    return about | {
        "rollout_return": values[-1],
        "actions": len(taken),
        "taken": taken.tolist(),  # indices into LANGUAGE.actions
        "frames": frames,
    }


def _act_by_program(job: Job, task: "KarelTask", start: "World") -> "tuple[NDArray[np.uint8], Values]":
    """The actions of the needed program, padded with NO_ACTION, and its stored values."""
    from leaps.karel.executor import run
    from leaps.karel.world import KAREL, Worlds

    found = job.needed[0].values
    program = str(found["program"])
    compiled = KAREL.compile([program], calls=task.calls)
    rollouts = run(compiled, Worlds.stack([start]), task.horizon(), task.hooks, want_actions=True)
    assert rollouts.actions is not None
    return rollouts.actions[0, 0], {"program": program, **_judgement(found)}


def _act_by_policy(job: Job, task: "KarelTask", start: "World") -> "tuple[NDArray[np.uint8], Values]":  # noqa: ARG001
    """The actions of the needed policy, padded with NO_ACTION, and its stored values.

    A policy retrained on this machine may differ from that of the stored result.
    """
    from leaps.baselines.evaluate import evaluate_policy
    from leaps.baselines.policies import load_policy
    from leaps.baselines.train import POLICY_FILE
    from leaps.evaluate import UNSEEN_SEEDS

    folder = best_of(job)
    seed = UNSEEN_SEEDS + job.cell.seed
    policy = load_policy(folder, job.device)
    rollouts = evaluate_policy(policy, task, episodes=1, seed=seed, want_actions=True).rollouts
    assert rollouts.actions is not None
    about = read_about(folder / POLICY_FILE)
    trained = {name: about[name] for name in ("steps", "seconds", "finished") if name in about}
    return rollouts.actions[0, 0], {"trained": trained, **_judgement(about)}


def _judgement(values: Mapping[str, Any]) -> Values:
    """The mean return of a program or policy and, if stored, the worlds that it is a mean over."""
    judged = {"judged": values["judged"]} if "judged" in values else {}
    return {"mean_return": values["return"], **judged}
