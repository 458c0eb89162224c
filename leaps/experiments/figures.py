"""From a cell of a figure to its values: all that a picture or a table of programs is made of."""

from leaps.experiments.computing import SEARCHES, SPACES, Job, Values, space_of

TRUTHS = {
    "stair-climber": "DEF run m( WHILE c( noMarkersPresent c) w( turnLeft move turnRight move w) m)",
    "four-corner": (
        "DEF run m( WHILE c( noMarkersPresent c) w( WHILE c( frontIsClear c) w( move w) "
        "IF c( noMarkersPresent c) i( putMarker turnLeft move i) w) m)"
    ),
}
"""programs that solve the tasks whose searches are shown"""
STEPS = 8
"""of a walk between two programs"""
FRAMES = 5
"""of a rollout, with its first and its last"""
LIKENESS_WORLDS = 100
"""that the behaviour of neighbours on a walk is compared in"""
DIGITS = 4


def latent_map(job: Job) -> Values:
    """Lay out a space in two dimensions: its raw latents, as the paper does."""
    from leaps.dataset import DataConfig, unique_programs
    from leaps.embedding.space import Space
    from leaps.explore import latent_map as lay_out

    cell = job.cell
    config = DataConfig(programs=cell.option("programs", DataConfig.programs))
    training = unique_programs(config)[: config.bounds[0]]
    space = Space.load(SPACES[cell.method], raw=True)
    chart = lay_out(space, training, cell.seed, cell.option("iterations", 1000))
    return {"programs": len(training), **chart.report()}


def trajectory(job: Job) -> Values:
    """Record a search by the cross entropy method."""
    from leaps.search.solve import SolveConfig
    from leaps.trajectory import CLOUD, record, search_space

    cell = job.cell
    space, seed = space_of(job, "leaps")
    config = SolveConfig(
        cell.task, SEARCHES[cell.method].method, seed, budget=cell.option("budget"), space=space
    )
    truth, programs = TRUTHS[cell.task], cell.option("programs", CLOUD)
    return record(config, search_space(config), truth, programs=programs).summary()


def evolution(job: Job) -> Values:
    """Judge the best programs of a recorded search on worlds that it never saw."""
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
    """Walk from one program of the paper's to another, through the space."""
    from leaps.embedding.space import Space
    from leaps.experiments.paper import INTERPOLATIONS
    from leaps.explore import interpolate

    reported = INTERPOLATIONS[job.cell.task]
    programs = interpolate(
        Space.load(SPACES[job.cell.method]), reported[0], reported[-1], job.cell.option("steps", STEPS)
    )
    return {
        "programs": programs,
        "likeness": _likeness(programs),
        "likeness_of_reported": _likeness(reported),
    }


def _likeness(programs: "list[str] | tuple[str, ...]") -> list[float]:
    """R_mat of each program and the next, in random worlds."""
    from leaps.behaviour import r_mat
    from leaps.evaluate import compile_programs
    from leaps.karel.world import random_worlds

    before, after = compile_programs(list(programs[:-1])), compile_programs(list(programs[1:]))
    likeness = r_mat(before, after, random_worlds(LIKENESS_WORLDS, 0))
    return [round(float(value), DIGITS) for value in likeness]


def lengths(job: Job) -> Values:
    """Count the programs of each length in a split of the data set."""
    import numpy as np

    from leaps.dataset import DataConfig, unique_programs
    from leaps.karel.world import LANGUAGE

    config = DataConfig(programs=job.cell.option("programs", DataConfig.programs), seed=job.cell.seed)
    bounds = (0, *config.bounds)
    place = ("train", "validation").index(job.cell.task)
    tokens = unique_programs(config)[bounds[place] : bounds[place + 1]]
    found = (tokens != LANGUAGE.pad).sum(axis=1)
    return {
        "programs": len(tokens),
        "mean": round(float(found.mean()), DIGITS),
        "longest": int(found.max()),
        "counts": np.bincount(found).tolist(),
    }


def rollout(job: Job) -> Values:
    """Let what was found act in the first of the worlds that it was judged on, and keep some states."""
    from leaps.evaluate import UNSEEN_SEEDS, compile_programs
    from leaps.karel.draw import frames_of_program, path_of
    from leaps.tasks import get
    from leaps.trajectory import spread

    cell, (found,) = job.cell, job.needed
    task, program = get(cell.task), str(found.values["program"])
    start = task.worlds(1, UNSEEN_SEEDS + cell.seed).world(0)
    states = frames_of_program(
        start, compile_programs([program], calls=task.calls), task.horizon(), task.hooks
    )
    values = [round(float(task.value(state, start)), DIGITS) for state in states]
    # Some programs go on when all is done, until they are cut off: that is not worth a picture.
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
    return {
        "program": program,
        "mean_return": found.values["return"],
        "actions": len(states) - 1,
        "frames": frames,
    }
