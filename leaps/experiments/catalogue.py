"""The experiments by name: every table and figure as a list of cells, without any computation."""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from leaps.base.user_code import split_name
from leaps.baselines.methods import BASELINES
from leaps.domain import LIMIT, SHARE
from leaps.experiments import computing, environments, figures, published_seeds
from leaps.experiments.cell import Cell, Option, Result, cell, is_name
from leaps.experiments.computing import (
    ABLATION,
    DEPENDS,
    LENGTHS,
    SEARCH_ROWS,
    SEARCHES,
    SIZES,
    SPACES,
    STEPS,
    Job,
    Values,
)
from leaps.experiments.spaces import SEEDS as SPACE_SEEDS
from leaps.experiments.study import EDITS, ORIGINAL, STUDY
from leaps.karel.tasks import HARD, HELD_OUT, PAPER_TASKS
from leaps.search.reconstruct import TEST_PROGRAMS

SEEDS = 5
"""number of seeds in the paper"""
MANY_SEEDS = 32
"""number of seeds of searches that are compared with each other, as in later work"""
NEURAL = tuple(name for name in BASELINES if name not in ("naive", "viper"))
PEERS = ("hc", "cebs", "ladder")
"""searches from later papers, and Ladder of this project"""
TRAININGS = 3
"""independent trainings of each program space"""
SHARES = ("0.75", "0.5", "0.25", "0.1", "0.05")
"""fractions of a task's initial configurations that are available in training"""
SHORT = 100
"""actions per rollout in the experiment `short`"""
HELD_OUT_SEEDS, HELD_OUT_BUDGET = 8, 200_000
"""seeds, and evaluations per search without training; few, since some rollouts have 10,000 actions"""
ABLATION_SEEDS, ABLATION_BUDGET = 16, 200_000
"""seeds, and evaluations per search"""
TOO_SLOW = ("snake", "one-stroke")
"""tasks left out of the ablation, since a search takes minutes"""
LARGE, QUICK_SIZE = "100x100", "20x20"
EPISODES_GRID = 10
"""100x100 worlds for the evaluation of DRL and DRL-FCN, whose networks are slow there; others get 100"""
TRAINED_THERE = ("drl",)
"""methods whose policies work at one size only, and so are trained from scratch in the large worlds"""
TRANSFER_STEPS = 1_000_000
"""training steps before a transfer, and again after it"""


@dataclass(frozen=True)
class Experiment:
    """A table or a figure. The rows and columns of a figure name its panels."""

    name: str
    summary: str
    methods: tuple[str, ...]
    """its rows"""
    tasks: tuple[str, ...]
    """its columns"""
    entries: Callable[[str, str, int, bool], list[Cell]]
    """method, task, seed, quick → the cells that make up one number of one seed; empty if the method has no
    such column"""
    compute: Callable[[Job], Values]
    needs: Callable[[Cell], tuple[Cell, ...]] = lambda cell: ()  # noqa: ARG005
    """cells whose results a cell depends on"""
    seeds: Callable[[str], int] = lambda method: SEEDS  # noqa: ARG005
    """method → default number of seeds"""
    draws: bool = True
    """whether the numbers depend on the seed"""
    takes_searches: bool = False
    """whether a user-defined search can be a row"""
    files: Mapping[str, str] = field(default_factory=dict)
    """`FILE.py:NAME` of every user-defined search, by the name of its row"""

    def with_methods(self, files: Mapping[str, str]) -> "Experiment":
        """Add rows for user-defined searches after the built-in ones. files: `FILE.py:NAME` by row name."""
        if files and not self.takes_searches:
            known = ", ".join(name for name, one in TABLES.items() if one.takes_searches)
            raise ValueError(
                f"{self.name} takes no user-defined searches, found {', '.join(files.values())}; "
                f"expected one of the experiments {known}"
            )
        return replace(self, methods=(*self.methods, *files), files={**self.files, **files})

    def cells(
        self,
        methods: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
        seeds: int | None = None,
        quick: bool = False,
    ) -> list[Cell]:
        """List the cells of the chosen rows and columns, ordered by seed; None chooses all."""
        rows = _chosen("method", methods, self.methods, ", or FILE.py:NAME" if self.takes_searches else "")
        columns = _chosen("task", tasks, self.tasks)
        if seeds is not None and seeds < 1:
            raise ValueError(f"seeds must be at least 1, found {seeds}")
        if seeds is not None and seeds > 1 and not self.draws:
            raise ValueError(f"{self.name} does not depend on the seed; expected seeds=1, found {seeds}")
        wanted = {row: seeds or (1 if quick else self.seeds(row)) for row in rows}
        cells = [
            entry
            for seed in range(max(wanted.values()))
            for row in rows
            for column in columns
            if seed < wanted[row]
            for entry in self.entries(row, column, seed, quick)
        ]
        if not cells:
            raise ValueError(
                f"{self.name} has no cells of {', '.join(rows)} on {', '.join(columns)}; "
                "choose other methods or tasks"
            )
        return cells


def _chosen(
    kind: str, asked: Sequence[str] | None, known: tuple[str, ...], otherwise: str = ""
) -> tuple[str, ...]:
    if asked is None:
        return known
    if not asked:
        raise ValueError(f"expected at least one {kind} of {', '.join(known)}")
    for name in asked:
        if name not in known:
            raise ValueError(f"unknown {kind} {name!r}; expected one of {', '.join(known)}{otherwise}")
    return tuple(name for name in known if name in asked)


# Quick cells are separate cells: their options record the reduced effort.
QUICK_BUDGET = 2_000
"""evaluations per search"""
QUICK_STEPS, QUICK_STEPS_HRL = 10_000, 2_000
"""training steps; fewer for HRL, since each step of SAC takes longer"""
QUICK_JUDGED = 50
"""worlds on which a trained policy is evaluated"""


def _quick(method: str) -> dict[str, Option]:
    if method in ("leaps-rand-8", "leaps-rand-64"):  # already fast
        return {}
    if method in SEARCH_ROWS:
        return {"budget": QUICK_BUDGET}
    if method not in BASELINES:  # a user-defined search
        return {"budget": QUICK_BUDGET}
    return {"judged": QUICK_JUDGED, "steps": QUICK_STEPS_HRL if method.startswith("hrl") else QUICK_STEPS}


def _amount(one: Cell) -> dict[str, Option]:
    """The options that set the effort, so that a quick cell depends on quick cells only."""
    return {name: value for name, value in one.options if name in ("budget", "judged", "steps")}


def _task_entries(method: str, task: str, seed: int, quick: bool, experiment: str = "tasks") -> list[Cell]:
    options = _quick(method) if quick else {}
    if method != "drl-abs-t":
        return [cell(experiment, method, task, seed, **options)]
    # Transfer from every other task; the report takes the best source.
    sources = [source for source in PAPER_TASKS if source != task]
    return [
        cell(experiment, method, task, seed, source=source, **options)
        for source in sources[: 1 if quick else None]
    ]


def _task_needs(one: Cell) -> tuple[Cell, ...]:
    amount = _amount(one)
    if one.method == "drl-abs-t":
        before: dict[str, Option] = {"steps": TRANSFER_STEPS} | amount
        return (cell("tasks", "drl-abs", str(one.option("source")), one.seed, **before),)
    return _teachers(one) if one.method == "viper" else ()


def _teachers(one: Cell) -> tuple[Cell, ...]:
    """The policies of which VIPER's tree imitates the best."""
    amount = _amount(one)
    seeds = range(1 if amount else SEEDS)
    return tuple(cell(one.experiment, "drl", one.task, seed, **amount) for seed in seeds)


def _task(job: Job) -> Values:
    return computing.baseline(job) if job.cell.method in BASELINES else computing.search(job)


def _seeds_of_searches(method: str) -> int:
    """32 seeds as in later work for searches without training, else five seeds per trained space."""
    if method in BASELINES:
        return SEEDS
    row = SEARCH_ROWS.get(method)
    return TRAININGS * SPACE_SEEDS if row and row.in_space else MANY_SEEDS


def _few_seeds(method: str) -> int:
    """Five seeds, or five per trained space for searches in one."""
    row = SEARCH_ROWS.get(method)
    return TRAININGS * SPACE_SEEDS if row and row.in_space else SEEDS


def _seeds_of_reconstruction(method: str) -> int:
    return SEEDS if method == "naive" else TRAININGS * SPACE_SEEDS


def _reconstruction(method: str, test: str, seed: int, quick: bool) -> list[Cell]:
    options: dict[str, Option] = {}
    if quick and method == "naive":
        options = _quick(method)
    elif quick and "rand" not in method:
        options = {"iterations": 50}
    return [cell("reconstruction", method, test, seed, **options)]


def _smoothness(method: str, split: str, seed: int, quick: bool) -> list[Cell]:
    options: dict[str, Option] = {"programs": 1000} if quick else {}
    return [cell("smoothness", method, split, seed, **options)]


def _length(method: str, task: str, seed: int, quick: bool) -> list[Cell]:
    return [cell("length", method, task, seed, **(_quick(method) if quick else {}))]


def _length_needs(one: Cell) -> tuple[Cell, ...]:
    """Searches with the default maximum length are rows of Table 3 already."""
    method = one.method.removesuffix("-45")
    return () if method == one.method else (cell("tasks", method, one.task, one.seed, **_amount(one)),)


def _generalization(method: str, task: str, seed: int, quick: bool) -> list[Cell]:
    options: dict[str, Option] = {"size": QUICK_SIZE, **_quick(method)} if quick else {"size": LARGE}
    if method in ("drl", "drl-fcn"):  # they observe the whole world in every step
        options["episodes"] = EPISODES_GRID
    return [cell("generalization", method, task, seed, **options)]


def _generalization_needs(one: Cell) -> tuple[Cell, ...]:
    if one.method in SIZES or one.method in TRAINED_THERE:
        return ()
    return (cell("tasks", one.method, one.task, one.seed, **_amount(one)),)


def _at_size(job: Job) -> Values:
    return computing.trained_at_size(job) if job.cell.method in TRAINED_THERE else computing.elsewhere(job)


def _unseen(method: str, task: str, seed: int, quick: bool) -> list[Cell]:
    return [cell("unseen", method, task, seed, **(_quick(method) if quick else {}))]


def _unseen_needs(one: Cell) -> tuple[Cell, ...]:
    return _teachers(one) if one.method == "viper" else ()


def _debugging(method: str, task: str, seed: int, quick: bool) -> list[Cell]:
    quick_options: dict[str, Option] = (
        {"judged": QUICK_JUDGED} if method == ORIGINAL else {"budget": QUICK_BUDGET}
    )
    return [cell("debugging", method, task, seed, **(quick_options if quick else {}))]


def _shown(experiment: str, **quick_options: Option) -> Callable[[str, str, int, bool], list[Cell]]:
    """The entries of a figure: one cell each, with these options in a quick run."""

    def entries(method: str, task: str, seed: int, quick: bool) -> list[Cell]:
        return [cell(experiment, method, task, seed, **(quick_options if quick else {}))]

    return entries


def _once(method: str) -> int:  # noqa: ARG001
    return 1


QUICK_SEARCH: dict[str, Option] = {"budget": 640, "programs": 300}
"""options of a quick search in a figure"""


def _evolution_needs(one: Cell) -> tuple[Cell, ...]:
    return (cell("cem-trajectory", one.method, one.task, one.seed, **dict(one.options)),)


def _step_needs(one: Cell) -> tuple[Cell, ...]:
    if one.method not in SEARCHES:
        return ()
    return (cell("tasks", one.method, one.task, one.seed, **_amount(one)),)


def _budget(method: str, task: str, seed: int, quick: bool) -> list[Cell]:
    return [cell("budget", method, task, seed, **(_quick(method) if quick else {}))]


def _ablation(method: str, task: str, seed: int, quick: bool) -> list[Cell]:
    return [cell("ablation", method, task, seed, budget=QUICK_BUDGET if quick else ABLATION_BUDGET)]


def _held_out(method: str, task: str, seed: int, quick: bool) -> list[Cell]:
    if method not in PEERS:
        return _task_entries(method, task, seed, quick, "held-out")
    return [cell("held-out", method, task, seed, budget=QUICK_BUDGET if quick else HELD_OUT_BUDGET)]


def _budget_needs(one: Cell) -> tuple[Cell, ...]:
    """Cells of other tables for HC and CEBS, which score programs on 16 worlds there already."""
    if one.method not in ("hc", "cebs"):
        return ()
    return (cell(_table_of(one.task), one.method, one.task, one.seed, **_amount(one)),)


def _table_of(task: str) -> str:
    return "tasks" if task in PAPER_TASKS else "karel-hard"


ROLLOUTS_ON_ALL = "ladder"
"""row of the figure `rollouts` with all ten tasks; the other rows have the paper's six"""


def _rollout(method: str, task: str, seed: int, quick: bool) -> list[Cell]:
    if task not in PAPER_TASKS and method != ROLLOUTS_ON_ALL:
        return []
    return [cell("rollouts", method, task, seed, **(_quick(method) if quick else {}))]


def _rollout_needs(one: Cell) -> tuple[Cell, ...]:
    return (cell(_table_of(one.task), one.method, one.task, one.seed, **_amount(one)),)


RECONSTRUCTIONS = ("leaps-p", "leaps-p+r", "leaps-p+l", "leaps-rand-8", "leaps-rand-64", "leaps")
"""rows of Table 1; each is searched with leaps and with leaps+"""

AS_RUN_ROWS = ("leaps-rand-8", "leaps-rand-64", "leaps", computing.AUTHORS)

TABLES = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "reconstruction",
            "Table 1: programs that reproduce the behaviour of four test programs",
            ("naive", *RECONSTRUCTIONS, *(f"leaps+{row.removeprefix('leaps')}" for row in RECONSTRUCTIONS)),
            tuple(TEST_PROGRAMS),
            _reconstruction,
            computing.reconstruction,
            seeds=_seeds_of_reconstruction,
        ),
        Experiment(
            "smoothness",
            "Table 2: smoothness of the spaces, as the behavioural similarity of neighbouring programs; each "
            "seed is one trained space",
            tuple(SPACES),
            ("train", "validation", "test"),
            _smoothness,
            computing.smoothness,
            seeds=lambda method: TRAININGS,  # noqa: ARG005
        ),
        Experiment(
            "tasks",
            "Table 3: all methods on the six tasks, including searches from after the paper",
            (*BASELINES, *SEARCHES),
            tuple(PAPER_TASKS),
            _task_entries,
            _task,
            _task_needs,
            _seeds_of_searches,
            takes_searches=True,
        ),
        Experiment(
            "steps",
            "from leaps to leaps+: changes added one after another, then each change alone",
            tuple(STEPS),
            tuple(PAPER_TASKS),
            lambda method, task, seed, quick: _task_entries(method, task, seed, quick, "steps"),
            computing.step,
            _step_needs,
            _seeds_of_searches,
        ),
        Experiment(
            "depends",
            "sensitivity of the return of `leaps` to the search distances, details of the authors' code and "
            "the space",
            tuple(DEPENDS),
            tuple(PAPER_TASKS),
            lambda method, task, seed, quick: _task_entries(method, task, seed, quick, "depends"),
            computing.step,
            _step_needs,
            seeds=lambda method: SPACE_SEEDS,  # noqa: ARG005
        ),
        Experiment(
            "as-run",
            "LEAPS on the tasks as implemented in its authors' code; means over the ten worlds of the search",
            AS_RUN_ROWS,
            tuple(PAPER_TASKS),
            lambda method, task, seed, quick: _task_entries(method, task, seed, quick, "as-run"),
            computing.as_run,
            seeds=_few_seeds,
        ),
        Experiment(
            "budget",
            "held-out return against the number of evaluations; all searches score programs on 16 worlds",
            ("leaps", "leaps+", *PEERS),
            (*PAPER_TASKS, *HARD),
            _budget,
            computing.budget_curve,
            _budget_needs,
            _seeds_of_searches,
            takes_searches=True,
        ),
        Experiment(
            "ablation",
            "ablation of Ladder: one of its ideas removed at a time",
            tuple(ABLATION),
            (*PAPER_TASKS, *(task for task in HARD if task not in TOO_SLOW)),
            _ablation,
            computing.search,
            seeds=lambda method: ABLATION_SEEDS,  # noqa: ARG005
        ),
        Experiment(
            "held-out",
            "seven tasks from other papers, on which no search was tuned; default settings, but 200,000 "
            "evaluations for HC and Ladder",
            ("leaps+", "hc", "ladder"),
            tuple(HELD_OUT),
            _held_out,
            computing.search,
            seeds=lambda method: (
                min(HELD_OUT_SEEDS, _seeds_of_searches(method)) if method in PEERS else _few_seeds(method)
            ),
            takes_searches=True,
        ),
        Experiment(
            "short",
            "Table 3 with rollouts of 100 actions, since the paper does not state the rollout length of its "
            "policies",
            ("drl", "drl-fcn", "drl-abs", "leaps", "leaps+", "ladder"),
            tuple(f"{task}{LIMIT}{SHORT}" for task in PAPER_TASKS),
            lambda method, task, seed, quick: _task_entries(method, task, seed, quick, "short"),
            _task,
            seeds=_few_seeds,
            takes_searches=True,
        ),
        Experiment(
            "generalization",
            "generalization to large worlds: policies and programs from `tasks`, evaluated in 100 worlds of "
            "100x100 (ten for DRL and DRL-FCN); DRL is trained at 100x100; `ladder-sizes` also searches at "
            "9x9, 16x16 and 40x40",
            ("drl", "drl-fcn", "drl-abs", "ppo-last-action", "viper", "leaps", "leaps+", "ladder", *SIZES),
            tuple(name for name in PAPER_TASKS if name != "clean-house"),
            _generalization,
            _at_size,
            _generalization_needs,
            _few_seeds,
            takes_searches=True,
        ),
        Experiment(
            "penalty",
            "policies trained without StairClimber's penalty and evaluated with it",
            ("ppo-last-action",),
            ("stair-climber-free",),
            lambda method, task, seed, quick: _task_entries(method, task, seed, quick, "penalty"),
            computing.without_penalty,
        ),
        Experiment(
            "unseen",
            "generalization to unseen configurations: a fraction is used in training, all in the evaluation",
            ("drl", "drl-abs", "ppo-last-action", "viper", "leaps", "leaps+", "ladder"),
            tuple(f"{task}{SHARE}{share}" for task in ("top-off", "harvester-subsets") for share in SHARES),
            _unseen,
            computing.unseen,
            _unseen_needs,
            _few_seeds,
            takes_searches=True,
        ),
        Experiment(
            "debugging",
            "the human debugging study: its original programs, and the edits that `leaps repair` finds",
            (ORIGINAL, *EDITS),
            tuple(STUDY),
            _debugging,
            computing.debugging,
            seeds=lambda method: 1 if method == ORIGINAL else SEEDS,
        ),
        Experiment(
            "length",
            "programs of up to 45 and up to 100 tokens; the paper shows example programs, but reports no "
            "returns",
            tuple(LENGTHS),
            tuple(PAPER_TASKS),
            _length,
            computing.step,
            _length_needs,
            _few_seeds,
        ),
        Experiment(
            "karel-hard",
            "the four harder tasks of later work (Karel-Hard)",
            ("leaps", "leaps+", *PEERS),
            tuple(HARD),
            lambda method, task, seed, quick: _task_entries(method, task, seed, quick, "karel-hard"),
            computing.search,
            seeds=_seeds_of_searches,
            takes_searches=True,
        ),
    )
}
"""tables by name; the values of their cells have a `return`"""

FIGURES = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "latent-map",
            "the learned program spaces in two dimensions",
            tuple(SPACES),
            ("test-programs",),
            _shown("latent-map", iterations=20, programs=1000),
            figures.latent_map,
            seeds=_once,
        ),
        Experiment(
            "cem-trajectory",
            "path of a search through the program space, on an easy task and on a harder one",
            ("leaps", "leaps+"),
            tuple(figures.TRUTHS),
            _shown("cem-trajectory", **QUICK_SEARCH),
            figures.trajectory,
            seeds=_once,
        ),
        Experiment(
            "evolution",
            "how the best program changes during a search",
            ("leaps", "leaps+"),
            ("stair-climber",),
            _shown("evolution", **QUICK_SEARCH),
            figures.evolution,
            _evolution_needs,
            _once,
        ),
        Experiment(
            "interpolation",
            "programs on the line between two programs, for a close pair and for a distant pair",
            ("leaps",),
            ("close", "far"),
            _shown("interpolation", steps=2),
            figures.interpolation,
            seeds=_once,
            draws=False,
        ),
        Experiment(
            "data-histogram",
            "lengths of the programs that the space is trained on",
            ("programs",),
            ("train", "validation"),
            _shown("data-histogram", programs=1000),
            figures.lengths,
            seeds=_once,
        ),
        Experiment(
            "rollouts",
            "states from rollouts of programs and policies on the paper's six tasks, and of Ladder's "
            "programs on all ten",
            ("drl", "drl-abs", "leaps", ROLLOUTS_ON_ALL),
            (*PAPER_TASKS, *HARD),
            _rollout,
            figures.rollout,
            _rollout_needs,
            _once,
        ),
    )
}
"""figures by name; `leaps report` draws the values of their cells"""

BESIDE = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            environments.NAME,
            "programs and PPO in Gymnasium and MiniGrid environments, on 1,000 held-out seeds",
            environments.ROWS,
            tuple(environments.EFFORTS),
            environments.entries,
            environments.compute,
            seeds=environments.seeds,
        ),
        Experiment(
            published_seeds.NAME,
            "the programs and PPO policies of `environments` on the held-out seeds of EvoPolicyGym",
            environments.ROWS,
            published_seeds.COLUMNS,
            published_seeds.entries,
            published_seeds.compute,
            published_seeds.needs,
            environments.seeds,
        ),
    )
}
"""tables outside the report, which covers Karel only"""

EXPERIMENTS = {**TABLES, **FIGURES, **BESIDE}


def get_experiment(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        close = difflib.get_close_matches(name, EXPERIMENTS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(EXPERIMENTS)}"
        raise ValueError(f"unknown experiment {name!r}; {hint}")
    return EXPERIMENTS[name]


def read_methods(asked: Sequence[str] | None) -> tuple[list[str] | None, dict[str, str]]:
    """Split requested methods into row names and, for user-defined searches, `FILE.py:NAME` by row name."""
    if asked is None:
        return None, {}
    built_in = {row for one in EXPERIMENTS.values() for row in one.methods}
    names, files = [], dict[str, str]()
    for method in asked:
        user = split_name(method)
        name = method if user is None else user[1]
        names.append(name)
        if user is None:
            continue
        if name in built_in:
            raise ValueError(f"{method}: {name} is the name of a built-in row; rename your search")
        if name and not is_name(name):
            raise ValueError(
                f"{method}: expected a NAME of ASCII letters, digits and _ that begins with a letter, since "
                "it names a row and a folder of results; rename your search"
            )
        if files.get(name, method) != method:
            raise ValueError(
                f"{files[name]} and {method} have the same row name {name!r}; rename one of them"
            )
        files[name] = method
    return names, files


def file_of(result: Result) -> str | None:
    """`FILE.py:NAME` of a stored cell with a user-defined search; None for a built-in method."""
    config = result.values.get("config")
    method = config.get("method") if isinstance(config, Mapping) else None
    user = split_name(method) if isinstance(method, str) else None
    return method if user is not None and user[1] == result.cell.method else None


def files_of(results: Iterable[Result]) -> dict[str, str]:
    """`FILE.py:NAME` by row name, for all user-defined searches among stored cells."""
    found = {result.cell.method: file for result in results if (file := file_of(result)) is not None}
    return dict(sorted(found.items()))
