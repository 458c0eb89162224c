"""Additional parts of a table's section: curves, percent changes and programs."""

from collections.abc import Callable, Mapping
from statistics import fmean, median

from leaps.domain import SHARE
from leaps.dsl.text import parse, to_indented
from leaps.embedding.train import VARIANTS
from leaps.experiments.cell import Result
from leaps.experiments.computing import BUDGET_WORLDS
from leaps.experiments.paper import (
    HC_EVALUATIONS,
    LENGTH_100,
    REPORTED,
    STUDY_INCREASES,
    UNSEEN_CHANGES,
    Reported,
)
from leaps.experiments.report import curves
from leaps.experiments.report.comparison import ROUNDING
from leaps.experiments.report.contents import Contents, Section
from leaps.experiments.report.parts import Heading, Listing, Part, Picture, SideBySide, Words
from leaps.experiments.report.programs import best_program, found_of
from leaps.experiments.report.wording import NOTHING, number, percent, program_line
from leaps.experiments.spaces import RECIPES
from leaps.experiments.study import EDITS, ORIGINAL
from leaps.experiments.table import Entry
from leaps.karel.world import LANGUAGE
from leaps.search.leaps import DETAILS as AUTHORS_DETAILS
from leaps.search.reconstruct import TEST_PROGRAMS


def details_of(section: Section, contents: Contents) -> list[Part]:
    """The parts of a section that are specific to its experiment."""
    name = section.experiment.name
    try:
        return _DETAILS[name](section, contents) if name in _DETAILS else []
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ValueError(
            f"the stored results of {name} lack a field that the report needs ({type(error).__name__}: "
            f"{error}); remove them and run `leaps experiment {name}`"
        ) from error


def _entries(section: Section) -> dict[tuple[str, str], Entry]:
    """The entries that have results, by method and task."""
    return {key: one.entry for key, one in section.table.items() if one.entry}


def _budget(section: Section, contents: Contents) -> list[Part]:  # noqa: ARG001
    tasks = [task for task in section.experiment.tasks if any(name == task for _, name in _entries(section))]
    entries = {
        (method, task): entry
        for task in tasks
        for method in section.experiment.methods
        if (entry := section.table[method, task].entry)
    }
    methods, partial = curves.complete(entries)
    scope = (
        f"Only rows with results on all {len(tasks)} tasks of this table are shown. Results are missing for "
        f"{', '.join(partial)}."
        if partial
        else ""
    )
    parts: list[Part] = [Heading("Return against evaluations and rollouts")]
    for axis in (curves.EVALUATIONS, curves.ROLLOUTS):
        parts += [
            Picture(
                f"budget-{axis.name}",
                f"mean held-out return against {axis.name}: a panel per task, a line per method",
                curves.means_drawer(entries, axis),
            ),
            Words(
                f"Mean return on held-out worlds of the best program so far against {axis.name}, with a 95 % "
                f"bootstrap band over seeds. All searches score programs on {BUDGET_WORLDS} worlds. The "
                "return is 0 before a search's first program, and constant after the search has ended."
                + (
                    " Diamonds are the published medians of evaluations until HC's program was perfect on "
                    f"its own {BUDGET_WORLDS} worlds."
                    if axis is curves.EVALUATIONS
                    else ""
                ),
            ),
        ]
        if methods:
            parts += [
                Picture(
                    f"budget-{axis.name}-all",
                    f"interquartile mean of held-out returns over all tasks and seeds against {axis.name}",
                    curves.overall_drawer(entries, axis),
                ),
                Words(
                    f"Interquartile mean over all tasks and seeds against {axis.name}, with a 95 % bootstrap "
                    f"band stratified by task. {scope}".rstrip(),
                ),
            ]
    if methods:
        parts += [
            Picture(
                "budget-profiles",
                "performance profiles: fraction of runs with a held-out return above τ at the end",
                curves.profiles_drawer(entries),
            ),
            Words(
                "Performance profiles: the fraction of runs over all tasks and seeds whose held-out return "
                f"at the end is above τ, with a 95 % bootstrap band stratified by task. {scope}".rstrip(),
            ),
        ]
    rows = []
    for method in section.experiment.methods:
        if any(name == method for name, _ in entries):
            rows.append((f"**{method}**", *(_perfect(entries.get((method, task))) for task in tasks)))
        if method == "hc":
            counts = [HC_EVALUATIONS.get(task) for task in tasks]
            rows.append(("hc, reported", *(NOTHING if one is None else f"{one:,}" for one in counts)))
    return [
        *parts,
        Heading("Evaluations until perfect on the search's own worlds"),
        Listing("budget, evaluations until perfect", ("", *tasks), tuple(rows)),
        Words(
            f"Median evaluations until the best program had return 1 on all {BUDGET_WORLDS} worlds of the "
            "search · number of such searches / all searches. A search without such a program counts as "
            "infinitely long. “never” means that the median is infinite.",
        ),
    ]


def _perfect(entry: Entry | None) -> str:
    if entry is None:
        return NOTHING
    counts = [result.values["evaluations_to_perfect"] for result in entry.results]
    reached = [count for count in counts if count is not None]
    middle = median([float("inf") if count is None else float(count) for count in counts])
    text = "never" if middle == float("inf") else f"{middle:,.0f}"
    return f"{text} · {len(reached)}/{len(counts)}"


_WHOLE = {"top-off": "top-off", "harvester-subsets": "harvester"}
"""the column of Table 3 with which the paper compares a fraction of a task's configurations"""


def _unseen(section: Section, contents: Contents) -> list[Part]:
    tasks = section.experiment.tasks
    entries = _entries(section)
    whole = {
        key: one.entry.mean
        for other in contents.sections
        if other.experiment.name == "tasks"
        for key, one in other.table.items()
        if one.entry
    }

    def from_all(method: str, task: str) -> str:
        entry, before = entries.get((method, task)), whole.get((method, _WHOLE[task.partition(SHARE)[0]]))
        return _change(entry.mean if entry else None, before)

    def from_seen(method: str, task: str) -> str:
        entry = entries.get((method, task))
        if entry is None:
            return NOTHING
        return _change(entry.mean, fmean(float(one.values["return_on_seen"]) for one in entry.results))

    methods = [method for method in section.experiment.methods if any(name == method for name, _ in entries)]
    rows: list[tuple[str, ...]] = []
    for method in methods:
        rows.append((f"**{method}**", *(from_all(method, task) for task in tasks)))
        if method in UNSEEN_CHANGES:
            rows.append(("reported", *(percent(UNSEEN_CHANGES[method][task]) for task in tasks)))
    return [
        Heading("Change against learning from all configurations"),
        Listing("unseen, change against all configurations", ("", *tasks), tuple(rows)),
        Words(
            "Change of the mean return relative to the row's mean return in Table 3 (top-off and harvester), "
            "where the method learns from all configurations. The paper reports this percentage. "
            f"{NOTHING}: the return in Table 3 is 0 or missing.",
        ),
        Heading("Change against the configurations seen"),
        Listing(
            "unseen, change against the configurations seen",
            ("", *tasks),
            tuple((f"**{method}**", *(from_seen(method, task) for task in tasks)) for method in methods),
        ),
        Words(
            "Change from the mean return on the configurations used in training to that on all "
            "configurations.",
        ),
    ]


def _change(after: float | None, before: float | None) -> str:
    if after is None or before is None or before <= 0:
        return NOTHING
    return percent(100 * (after / before - 1))


def _debugging(section: Section, contents: Contents) -> list[Part]:  # noqa: ARG001
    tasks, entries = section.experiment.tasks, _entries(section)
    reported = REPORTED["debugging"]
    rows: list[tuple[str, ...]] = []
    for method in EDITS:
        if not any(name == method for name, _ in entries):
            continue
        pairs = [(entries.get((method, task)), entries.get((ORIGINAL, task))) for task in tasks]
        changes = [
            100 * (edited.mean / original.mean - 1) if edited and original and original.mean > 0 else None
            for edited, original in pairs
        ]
        known = [change for change in changes if change is not None]
        average = percent(fmean(known)) if len(known) == len(tasks) else NOTHING
        rows.append((f"**{method}**", *(NOTHING if c is None else percent(c) for c in changes), average))
        increases = [
            percent(100 * (reported[method][task].mean / reported[ORIGINAL][task].mean - 1)) for task in tasks
        ]
        rows.append(("reported", *increases, percent(STUDY_INCREASES[method])))
    parts: list[Part] = []
    if rows:
        parts = [
            Heading("Improvement"),
            Listing("debugging, improvement", ("", *tasks, "average"), tuple(rows)),
            Words(
                "Change of the mean return from the original to the edited programs. The reported edits are "
                "by people. The edits here are found by `leaps repair`.",
            ),
        ]
    for task in tasks:
        found = [entries.get((method, task)) for method in (ORIGINAL, *EDITS)]
        programs = [best for entry in found if entry and (best := best_program(entry))]
        if len(programs) > 1:
            shown = tuple((program_line(program), program.text) for program in programs)
            parts += [Heading(f"{task}: original and edited"), SideBySide(shown)]
    return parts


RECONSTRUCTIONS = ("naive", "leaps-p", "leaps-p+r", "leaps-p+l", "leaps")
"""rows of Table 1 whose programs are shown, as in the paper's appendix"""


def _reconstruction(section: Section, contents: Contents) -> list[Part]:  # noqa: ARG001
    entries = _entries(section)
    parts: list[Part] = []
    for test in section.experiment.tasks:
        found: list[tuple[str, str]] = []
        for method in RECONSTRUCTIONS:
            result = _first(entries.get((method, test)))
            if result is not None and result.values.get("program"):
                value = number(float(result.values["r_mat"]))
                found.append((f"`{method}`: R_mat {value}, seed {result.cell.seed}", found_of(result).text))
        if found:
            program = to_indented(parse(TEST_PROGRAMS[test], LANGUAGE)).rstrip()
            parts += [Heading(test), SideBySide((("test program", program), *found))]
    if parts:
        parts.insert(
            0, Words("Programs found for the behaviour of each test program, each with the first seed.")
        )
    return parts


def _first(entry: Entry | None) -> Result | None:
    """The result of the first seed."""
    return min(entry.results, key=lambda result: result.cell.seed) if entry else None


SHOWN_LENGTHS = ("leaps-45", "leaps-100")


def _length(section: Section, contents: Contents) -> list[Part]:  # noqa: ARG001
    tasks, entries = section.experiment.tasks, _entries(section)
    rows: list[tuple[str, ...]] = []
    for method in section.experiment.methods:
        if any(name == method for name, _ in entries):
            rows.append((f"**{method}**", *(_lengths(entries.get((method, task))) for task in tasks)))
        if method == "leaps-100":
            shown = [LENGTH_100[task] for task in tasks]
            rows.append(("reported program", *(f"{one.tokens} · {one.loops}" for one in shown)))
    programs: list[tuple[str, ...]] = []
    for task in tasks:
        for method in SHOWN_LENGTHS:
            result = _first(entries.get((method, task)))
            if result is not None and result.values.get("program"):
                one = found_of(result)
                counts = (number(one.mean_return), str(one.tokens), str(one.loops))
                programs.append((f"{task}, {method}", *counts, f"`{result.values['program']}`"))
    parts: list[Part] = [
        Heading("Length and loops"),
        Listing("length, tokens and loops", ("", *tasks), tuple(rows)),
        Words(
            "Mean number of tokens · mean number of loops (WHILE and REPEAT) of the programs found. The "
            "paper shows one program of up to 100 tokens for each task. It states that without the limit of "
            "45 tokens some programs are much longer and lack loops.",
        ),
    ]
    if programs:
        parts += [
            Heading("Programs of the first seed"),
            Listing("length, programs", ("", "return", "tokens", "loops", "program"), tuple(programs)),
        ]
    return parts


def _lengths(entry: Entry | None) -> str:
    found = [found_of(result) for result in entry.results if result.values.get("program")] if entry else []
    if not found:
        return NOTHING
    return f"{fmean(one.tokens for one in found):.1f} · {fmean(one.loops for one in found):.1f}"


def _as_run(section: Section, contents: Contents) -> list[Part]:  # noqa: ARG001
    tasks, entries = section.experiment.tasks, _entries(section)
    rows = []
    for method in section.experiment.methods:
        means = [
            fmean(float(one.values["held_out_return"]) for one in entry.results)
            if (entry := entries.get((method, task)))
            else None
            for task in tasks
        ]
        if any(mean is not None for mean in means):
            rows.append((f"**{method}**", *(NOTHING if one is None else number(one) for one in means)))
    return [
        Words(
            "In the authors' code, leaving the stairs of StairClimber has no penalty, the last cell of "
            "TopOff always has a marker, and Maze starts in a corner. The code reports the mean over the ten "
            "worlds of the search. This table does the same."
        ),
        Heading("The same programs on held-out worlds"),
        Listing("as-run, held-out", ("", *tasks), tuple(rows)),
    ]


ROW_CHANGES = {
    "leaps": "none (seeds 0 to 4 of `tasks`)",
    "leaps+x2": "all distances of the search doubled",
    "leaps+x3": "all distances of the search tripled",
    **{f"leaps+{name}": text for name, text in AUTHORS_DETAILS.items()},
    "leaps+ties+negative+redraw": "these three details of the authors' code",
    "in-p": "the package's space trained with loss P only",
    "in-pr": "the package's space trained with losses P and R",
    "in-pl": "the package's space trained with losses P and L",
    **{f"in-{name}": recipe.summary for name, recipe in RECIPES.items() if name not in VARIANTS},
}
"""the change that each row of `depends` makes to `leaps`"""


def _lowest_as_reported(reported: Reported) -> float:
    """The lowest mean that is not marked as worse than the reported one."""
    return reported.mean - max(reported.deviation or 0.0, ROUNDING)


def _depends(section: Section, contents: Contents) -> list[Part]:  # noqa: ARG001
    entries, reported = _entries(section), REPORTED["tasks"]["leaps"]
    rows: list[tuple[str, ...]] = []
    for method in section.experiment.methods:
        own = {task: entry for (name, task), entry in entries.items() if name == method}
        if not own:
            continue
        reached = [task for task, entry in own.items() if entry.mean >= _lowest_as_reported(reported[task])]
        judged = {
            key: fmean(values)
            for key in ("exact", "behaviour")
            if (
                values := [
                    one.values["space"][key]
                    for entry in own.values()
                    for one in entry.results
                    if "space" in one.values
                ]
            )
        }
        rows.append(
            (
                f"**{method}**",
                ROW_CHANGES.get(method, NOTHING),
                f"{100 * judged['exact']:.1f} %" if judged else NOTHING,
                f"{judged['behaviour']:.3f}" if judged else NOTHING,
                f"{len(reached)} of {len(own)}",
                number(fmean(entry.mean for entry in own.values())),
            )
        )
    head = ("", "change", "decoded exactly", "R_mat", "as good as the paper", "mean")
    return [
        Heading("What each row changes"),
        Listing("depends, rows", head, tuple(rows)),
        Words(
            "Percentage of test programs that the row's space decodes exactly · R_mat of all decoded test "
            "programs · tasks on which the mean is at least the paper's mean minus its standard deviation · "
            "mean over tasks. The test split belongs to the data set that the space was trained on; the "
            "splits of `in-p24-every` and `in-p24-complete` are harder. Rows `in-p24-…` change one setting "
            "of the training `p24`.",
        ),
    ]


def _penalty(section: Section, contents: Contents) -> list[Part]:  # noqa: ARG001
    rows = []
    for (method, _), entry in _entries(section).items():
        means = [
            fmean(float(one.values[name]) for one in entry.results)
            for name in ("return_in_training", "return", "large_return")
        ]
        rows.append((f"**{method}**", *map(number, means)))
    return [
        Heading("At the task's own size and at 100x100"),
        Listing(
            "penalty, by size",
            ("", "without the penalty", "with it", "with it, at 100x100"),
            tuple(rows),
        ),
        Words(
            "The policy is trained on the task `stair-climber-free`, where leaving the stairs has no penalty "
            "and does not end the rollout. The policy trained with the penalty is a row of `tasks`.",
        ),
    ]


_DETAILS: Mapping[str, Callable[[Section, Contents], list[Part]]] = {
    "reconstruction": _reconstruction,
    "budget": _budget,
    "unseen": _unseen,
    "debugging": _debugging,
    "length": _length,
    "as-run": _as_run,
    "penalty": _penalty,
    "depends": _depends,
}
