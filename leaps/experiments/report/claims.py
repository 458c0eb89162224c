"""The paper's claims, each with a verdict that is computed from the stored results."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import dist
from statistics import fmean

from leaps.dsl.text import words
from leaps.experiments.report.contents import Contents
from leaps.experiments.report.verdicts import (
    ERRORS,
    FAILS,
    HOLDS,
    LEVEL,
    MISSING,
    OPEN,
    PARTLY,
    Case,
    Results,
    Rule,
    Verdict,
    ahead,
    at_least,
    behind,
    best,
    decide,
    not_ahead,
)
from leaps.experiments.report.wording import entry_text, number, percent
from leaps.experiments.table import Entry
from leaps.karel.tasks import PAPER_TASKS

TITLE = "Which of the paper's claims hold"
INTRODUCTION = (
    "Every claim of the paper about results, quoted, with a verdict and the results behind it. "
    "`leaps report` generates this page from the stored results. Numbers are mean (standard deviation) · "
    f"seeds. A method counts as better if the difference of the means exceeds {LEVEL} and {ERRORS:.0f} times "
    "its standard error. Standard errors are over independent trainings of a program space where there are "
    "several, else over seeds. `leaps` is the published search in a space trained here, with rollouts as "
    "long as those of the policies. `leaps-220` has the authors' rollout limit. "
    "[The reproduction](reproduction.md) has all tables and commands."
)
POOR, FULL = 0.5, 0.995
"""return below which a method does poorly, and return from which it counts as solving a task"""
HOME_LEAST = 0.05
"""least return at the default size; from a lower one, a loss in large worlds could not be measured"""
NEURAL = ("drl", "drl-fcn", "drl-abs", "drl-abs-t", "hrl", "hrl-abs", "naive", "viper")
"""the paper's baselines"""
TABLE_3 = tuple(method for method in NEURAL if method != "drl-fcn")
"""baselines in the paper's Table 3"""
SPACES = ("leaps-p", "leaps-p+r", "leaps-p+l", "leaps")
TESTS = ("WHILE", "IFELSE+WHILE", "2IF+IFELSE", "WHILE+2IF+IFELSE")
SPLITS = ("train", "validation", "test")
LARGE = ("stair-climber", "maze", "four-corner", "top-off", "harvester")
LARGE_RIVALS = ("drl", "drl-fcn", "drl-abs", "viper")
SHARES = ("0.75", "0.5", "0.25", "0.1", "0.05")
MATERIAL = "Measured in the first trained space only."


@dataclass(frozen=True)
class Claim:
    quote: str
    judge: Rule


def _about(where: str, holds: bool | None, numbers: str) -> Verdict:
    """A verdict from a single case."""
    return decide([Case(where, holds, numbers)])


# Reconstruction


def _naive_fails(results: Results) -> Verdict:
    gap = results.gap("reconstruction", "naive", "leaps-rand-64", TESTS[-1])
    return decide([not_ahead(f"no better than the best of 64 random points on {TESTS[-1]}", gap)])


CONTROL = ("IF", "IFELSE", "WHILE", "REPEAT")


def _statements(entry: Entry) -> float:
    """Mean number of conditionals and loops per program."""
    programs = [str(one.values["program"]) for one in entry.results if one.values.get("program")]
    if not programs:
        raise KeyError("programs")
    return fmean(sum(word.text in CONTROL for word in words(program)) for program in programs)


def _naive_is_simple(results: Results) -> Verdict:
    cases = []
    for test in TESTS:
        own, other = (
            _statements(results.entry("reconstruction", method, test)) for method in ("naive", "leaps")
        )
        cases.append(Case(test, own < other, f"naive {own:.1f}, leaps {other:.1f}"))
    return decide(cases, "Mean number of conditionals and loops per program.")


def _spaces_beat_naive(results: Results) -> Verdict:
    return decide(
        ahead(test, results.gap("reconstruction", row, "naive", test)) for row in SPACES for test in TESTS
    )


def _p_is_worst(results: Results) -> Verdict:
    return decide(
        (ahead("", results.gap("reconstruction", row, "leaps-p", TESTS)) for row in SPACES[1:]),
        "Means over the four tests.",
    )


def _either_loss_helps(results: Results) -> Verdict:
    return decide(
        (ahead("", results.gap("reconstruction", row, "leaps-p", TESTS)) for row in SPACES[1:3]),
        "Means over the four tests.",
    )


def _all_three_are_best(results: Results) -> Verdict:
    return decide(best(results, "reconstruction", "leaps", SPACES[:3], test, test) for test in TESTS)


def _search_beats_random(results: Results) -> Verdict:
    return decide(
        ahead(test, results.gap("reconstruction", "leaps", row, test))
        for test in TESTS
        for row in ("leaps-rand-8", "leaps-rand-64")
    )


# The space


def _smooth(results: Results) -> Verdict:
    return decide(
        ahead(split, results.gap("smoothness", row, other, split))
        for row in ("leaps-p+l", "leaps")
        for other in ("leaps-p", "leaps-p+r")
        for split in SPLITS
    )


def _data(results: Results) -> Verdict:
    values = results.figure("data-histogram", "programs", "train")
    mean, longest = float(values["mean"]), int(values["longest"])
    return _about("training programs", abs(mean - 17.9) < 0.5 and longest == 44, f"{mean:.1f} and {longest}")


def _shape(results: Results) -> Verdict:
    maps = {row: results.figure("latent-map", row, "test-programs") for row in SPACES}
    shape = {row: float(values["from_normal"]) for row, values in maps.items()}
    baseline = max(shape["leaps-p"], shape["leaps-p+r"])
    filled = ", ".join(f"{row} {float(values['dimensions']):.0f}" for row, values in maps.items())
    return decide(
        (
            Case(row, shape[row] > baseline, f"{shape[row]:.3f}, without the loss L at most {baseline:.3f}")
            for row in ("leaps-p+l", "leaps")
        ),
        "Distance of the training programs on the map from a normal distribution (0 is normal). They fill "
        f"these numbers of the 256 dimensions: {filled}. {MATERIAL}",
    )


def _apart(results: Results, row: str) -> float:
    tests = results.figure("latent-map", row, "test-programs")["tests"]
    return fmean(float(test["apart"]) for test in tests.values())


def _closer(results: Results) -> Verdict:
    own, other = _apart(results, "leaps"), _apart(results, "leaps-p+l")
    return decide(
        [Case("the four test programs", own < other, f"leaps {number(own)}, leaps-p+l {number(other)}")],
        "Mean distance between a test program and the search's result for it, in units of the space. "
        f"{MATERIAL}",
    )


def _policy(results: Results) -> Verdict:
    space = results.entry("reconstruction", "leaps", TESTS[0]).results[0].values["space"]
    named = (("actions", "action_accuracy", 0.965), ("sequences", "sequence_accuracy", 0.913))
    return decide(
        Case(name, float(space[key]) >= least, percent(100 * float(space[key])).lstrip("+"))
        for name, key, least in named
    )


def _interpolation(results: Results) -> Verdict:
    close, far = (
        fmean(results.figure("interpolation", "leaps", pair)["likeness"]) for pair in ("close", "far")
    )
    return _about("mean R_mat of neighbours", close > far, f"close pair {number(close)}, far {number(far)}")


# The search


def _rises(values: Sequence[float]) -> tuple[bool, str]:
    """Whether the means of the first, second and last third increase, and the means as text."""
    ends = [round(part * len(values) / 3) for part in range(4)]
    thirds = [fmean(values[begin:end] or values[-1:]) for begin, end in pairwise(ends)]
    increases = thirds[0] <= thirds[1] <= thirds[2] and thirds[0] < thirds[2]
    return increases, " → ".join(number(third) for third in thirds)


def _trajectory_rises(results: Results) -> Verdict:
    values = results.figure("cem-trajectory", "leaps", "stair-climber")
    named = (("population", "mean_returns"), ("next centre", "centre_returns"))
    return decide(
        (Case(name, *_rises(values[key])) for name, key in named),
        "Means over the first, second and last third of the search.",
    )


def _nears_the_truth(results: Results) -> Verdict:
    values = results.figure("cem-trajectory", "leaps", "stair-climber")
    truth = [values["truth"]["place"][axis][0] for axis in "xy"]
    centres = list(zip(values["centres"]["x"], values["centres"]["y"], strict=True))
    first, last = (dist(centre, truth) for centre in (centres[0], centres[-1]))
    return _about(
        "distance on the map", last < first, f"{number(first)} at the start, {number(last)} at the end"
    )


def _does_not_converge(results: Results) -> Verdict:
    values = results.figure("cem-trajectory", "leaps", "four-corner")
    return _about("seed 0", not values["converged"], f"{len(values['mean_returns'])} iterations")


def _evolves(results: Results) -> Verdict:
    rows = results.figure("evolution", "leaps", "stair-climber")["rows"]
    holds, numbers = _rises([float(row["return"]) for row in rows])
    return decide(
        [Case("the best of each iteration", holds, numbers)],
        "Means over the first, second and last third of the search.",
    )


# The tasks


def _one_exception(results: Results, experiment: str, rivals: Sequence[str], limit: str = "") -> Case:
    """The case that on all tasks but one no rival is better."""
    losses = [
        case
        for task in PAPER_TASKS
        if (case := best(results, experiment, "leaps", rivals, task + limit, task)).holds is False
    ]
    listed = "; ".join(f"{case.where} ({case.numbers})" for case in losses) or "none"
    where = {
        TABLE_3: "the baselines of Table 3",
        NEURAL: "with drl-fcn",
    }.get(tuple(rivals), f"in rollouts of 100 actions ({', '.join(rivals)})")
    return Case(where, len(losses) <= 1, f"behind on {len(losses)} of {len(PAPER_TASKS)}, {listed}")


def _best_on_all_but_one(results: Results) -> Verdict:
    cases = [
        _one_exception(results, "tasks", TABLE_3),
        _one_exception(results, "tasks", NEURAL),
        _one_exception(results, "short", ("drl", "drl-fcn", "drl-abs"), "~100"),
    ]
    limited = ", ".join(f"{task} {number(results.mean('tasks', 'leaps-220', task))}" for task in PAPER_TASKS)
    return decide(cases, f"Returns of leaps-220, with the authors' rollout limit: {limited}.")


def _random_is_worse(results: Results) -> Verdict:
    return decide(
        ahead(task, results.gap("tasks", "leaps", row, task))
        for task in PAPER_TASKS
        for row in ("leaps-rand-8", "leaps-rand-64")
    )


def _bounded(results: Results) -> Verdict:
    cases = []
    for task in PAPER_TASKS:
        teacher = max(results.entry("tasks", "drl", task).returns)
        trees = results.entry("tasks", "viper", task)
        numbers = f"best teacher {number(teacher)}, trees {entry_text(trees)}"
        cases.append(Case(task, trees.mean <= teacher + LEVEL, numbers))
    return decide(cases, "Each tree here is the best of 80 by return.")


def _networks_beat_trees(results: Results) -> Verdict:
    cases = [ahead(task, results.gap("tasks", "drl", "viper", task)) for task in PAPER_TASKS]
    count = sum(case.holds is True for case in cases)
    listed = "; ".join(f"{case.where}: {case.numbers}" for case in cases)
    return _about(
        "tasks on which drl is better",
        count > len(PAPER_TASKS) / 2,
        f"{count} of {len(PAPER_TASKS)} ({listed})",
    )


def _transfer(results: Results) -> Verdict:
    return decide(
        (
            not_ahead(task, results.gap("tasks", "drl-abs-t", "drl-abs", task))
            for task in PAPER_TASKS
            if results.mean("tasks", "drl-abs", task) < FULL
        ),
        "Only tasks that drl-abs does not solve. The transfer is from the best of five source tasks.",
    )


def _poor(results: Results, methods: Sequence[str], tasks: Iterable[str] = PAPER_TASKS) -> Verdict:
    """The verdict that every method does poorly on every task."""
    return decide(
        Case(f"{method} on {task}", results.mean("tasks", method, task) < POOR, number(own))
        for method in methods
        for task in tasks
        for own in [results.mean("tasks", method, task)]
    )


def _not_solved(results: Results) -> Verdict:
    entry = results.entry("tasks", "drl-abs", "stair-climber")
    return _about("drl-abs on stair-climber", entry.mean < FULL, entry_text(entry))


def _solved(results: Results, *tasks: str) -> Verdict:
    entries = {task: results.entry("tasks", "leaps", task) for task in tasks}
    return decide(
        Case(f"leaps on {task}", entry.mean >= FULL, entry_text(entry)) for task, entry in entries.items()
    )


def _reliable(results: Results) -> Verdict:
    cases = []
    for task in PAPER_TASKS:
        returns = results.entry("tasks", "leaps", task).returns
        solved = sum(value >= FULL for value in returns)
        cases.append(Case(task, solved == len(returns), f"{solved} of {len(returns)} searches"))
    return decide(cases)


def _best_baseline_is_behind(results: Results, task: str) -> Verdict:
    return decide(ahead("", results.gap("tasks", "leaps", method, task)) for method in TABLE_3)


def _best_at(results: Results, task: str) -> Verdict:
    return decide([best(results, "tasks", "leaps", TABLE_3, task, "the closest rival")])


def _behind_at_harvester(results: Results) -> Verdict:
    return decide(
        ahead("", results.gap("tasks", method, "leaps", "harvester")) for method in ("drl", "viper")
    )


def _only_actions(results: Results) -> Verdict:
    entry = results.entry("tasks", "leaps", "harvester")
    programs = [str(one.values["program"]) for one in entry.results]
    plain = sum(not any(word.text in CONTROL for word in words(program)) for program in programs)
    return _about("programs for harvester", plain > len(programs) / 2, f"{plain} of {len(programs)}")


# Longer programs


def _tokens(entry: Entry) -> float:
    return fmean(len(list(words(str(one.values["program"])))) for one in entry.results)


def _longer_programs(results: Results) -> Verdict:
    cases = []
    for task in ("top-off", "four-corner", "harvester"):
        short, long = (results.entry("length", row, task) for row in ("leaps-45", "leaps-100"))
        numbers = (
            f"tokens {_tokens(short):.0f} → {_tokens(long):.0f}, conditionals and loops "
            f"{_statements(short):.1f} → {_statements(long):.1f}"
        )
        much = _tokens(long) > 1.5 * _tokens(short) and _statements(long) < _statements(short)
        cases.append(Case(task, much, numbers))
    return decide(cases)


def _unaffected(results: Results) -> Verdict:
    cases = []
    for task in ("maze", "stair-climber"):
        short, long = (_tokens(results.entry("length", row, task)) for row in ("leaps-45", "leaps-100"))
        cases.append(Case(task, long <= 1.5 * short, f"tokens {short:.0f} → {long:.0f}"))
    return decide(cases)


# Large worlds


def _networks_break(results: Results) -> Verdict:
    """Compare large worlds with the default size. Only DRL is retrained in large worlds."""
    cases = []
    for method in ("drl", "drl-abs", "viper"):
        for task in LARGE[:2]:
            if results.mean("tasks", method, task) >= HOME_LEAST:
                try:
                    change = results.change("tasks", "generalization", method, task)
                except KeyError:
                    cases.append(Case(f"{method} on {task}", None, "no result yet"))
                else:
                    cases.append(behind(f"{method} on {task}", change))
    return decide(cases, f"Only entries with a return of at least {HOME_LEAST} at the task's own size.")


def _without_loss(results: Results) -> Verdict:
    return decide(
        at_least(f"{method} on {task}", results.change("tasks", "generalization", method, task))
        for method in ("leaps", "leaps+", "ladder")
        for task in LARGE[:2]
    )


def _best_of_five(results: Results) -> Verdict:
    measured = [method for method in LARGE_RIVALS if results.has("generalization", method, LARGE)]
    if not measured:
        raise KeyError("any baseline in generalization")
    cases = [best(results, "generalization", "leaps", measured, task, task) for task in LARGE]
    count = sum(case.holds is True for case in cases)
    listed = "; ".join(f"{case.where} ({case.numbers})" for case in cases)
    searched = ", ".join(
        results.text("generalization", method, "harvester")
        for method in ("ladder", "ladder-sizes", "ppo-last-action")
    )
    return decide(
        [
            Case(
                f"tasks on which none of {', '.join(measured)} is better",
                count >= 4,
                f"{count} of 5. {listed}",
            )
        ],
        f"Other methods on Harvester at 100x100: {searched}. `ladder-sizes` searches at several sizes.",
    )


def _keeps_corners(results: Results) -> Verdict:
    change = results.change("tasks", "generalization", "leaps", "four-corner")
    return decide([at_least("leaps on four-corner", change)])


def _none_harvests(results: Results) -> Verdict:
    return decide(
        Case(method, results.mean("generalization", method, "harvester") < POOR, entry_text(entry))
        for method in (*LARGE_RIVALS[1:], "leaps")
        for entry in [results.entry("generalization", method, "harvester")]
    )


def _leaves_the_stairs(results: Results) -> Verdict:
    entry = results.entry("generalization", "drl-fcn", "stair-climber")
    return _about("drl-fcn on stair-climber", entry.mean < 0, entry_text(entry))


def _convolutions_are_worse(results: Results) -> Verdict:
    return decide(
        ahead(task, results.gap("generalization", method, "drl-fcn", task))
        for method in ("leaps", "viper")
        for task in LARGE
    )


def _trees_do_not_transfer(results: Results) -> Verdict:
    cases = []
    for task in LARGE:
        if results.mean("tasks", "viper", task) >= HOME_LEAST:
            change = results.change("tasks", "generalization", "viper", task)
            cases.append(behind(task, change))
    return decide(cases)


# Unseen configurations


def _shares(task: str) -> list[str]:
    return [f"{task}@{share}" for share in SHARES]


def _ahead_on_unseen(results: Results) -> Verdict:
    return decide(
        ahead(f"{100 * float(share):.0f} %", results.gap("unseen", "leaps", method, f"top-off@{share}"))
        for method in ("drl", "drl-abs", "viper")
        for share in SHARES
    )


def _decreases(results: Results, task: str, home: str) -> dict[str, float]:
    """Mean percent change over the fractions, relative to learning from all configurations."""
    found = {}
    for method in ("drl", "drl-abs", "viper", "leaps"):
        before = results.mean("tasks", method, home)
        after = fmean(results.mean("unseen", method, column) for column in _shares(task))
        found[method] = 100 * (after / before - 1)
    return found


def _listed(changes: Mapping[str, float]) -> str:
    return ", ".join(f"{method} {percent(change)}" for method, change in changes.items())


def _least_decrease(results: Results) -> Verdict:
    changes = _decreases(results, "top-off", "top-off")
    order = sorted(changes, key=lambda method: -changes[method])
    return _about(
        "changes, means over five shares", order[0] == "viper" and order[1] == "leaps", _listed(changes)
    )


def _abstraction_helps(results: Results) -> Verdict:
    gap = results.gap("unseen", "drl-abs", "drl", _shares("top-off"))
    return decide([ahead("means over five shares", gap)])


def _second_best(results: Results) -> Verdict:
    rows = {
        method: fmean(results.mean("unseen", method, column) for column in _shares("harvester-subsets"))
        for method in ("drl", "drl-abs", "viper", "leaps")
    }
    order = sorted(rows, key=lambda method: -rows[method])
    listed = ", ".join(f"{method} {number(mean)}" for method, mean in rows.items())
    return _about("means over five shares", order[:2] == ["viper", "leaps"], listed)


def _policies_do_not_generalize(results: Results) -> Verdict:
    changes = _decreases(results, "harvester-subsets", "harvester")
    return decide(
        Case(method, changes[method] < -10, percent(changes[method])) for method in ("drl", "drl-abs")
    )


# People


def _edits(results: Results) -> Verdict:
    tasks = ("top-off", "four-corner", "harvester")
    before = {task: results.mean("debugging", "original", task) for task in tasks}
    gains = {
        edits: fmean(100 * (results.mean("debugging", edits, task) / before[task] - 1) for task in tasks)
        for edits in ("3-edits", "5-edits")
    }
    given = ", ".join(f"{task} {number(value)}" for task, value in before.items())
    return Verdict(
        MISSING,
        f"The claim is about people, and no people took part here. `leaps repair` changes the returns of the "
        f"same programs by {_listed(gains)} on average. Their original returns are {given}.",
    )


TOPICS: Mapping[str, tuple[Claim, ...]] = {
    "Program reconstruction": (
        Claim(
            "The naïve program synthesis baseline fails on the complex WHILE+2IF+IFELSE program, …",
            _naive_fails,
        ),
        Claim("… as it rarely synthesizes conditional and loop statements, …", _naive_is_simple),
        Claim(
            "LEAPS and its variations perform better and synthesize more complex programs, …",
            _spaces_beat_naive,
        ),
        Claim(
            "… LEAPS-P achieves the worst performance out of the CEM search LEAPS ablations, …",
            _p_is_worst,
        ),
        Claim(
            "Jointly optimizing L^P with either the program behavior reconstruction loss L^R or the latent "
            "behavior reconstruction loss L^L improves the performance, …",
            _either_loss_helps,
        ),
        Claim(
            "… and optimizing our full objective with all three achieves the best performance across all "
            "tasks, …",
            _all_three_are_best,
        ),
        Claim(
            "Finally, LEAPS outperforms LEAPS-rand-8/64, suggesting the necessity of adopting better search "
            "algorithms such as CEM.",
            _search_beats_random,
        ),
    ),
    "The program space": (
        Claim("The maximum length of the programs is 44 tokens and the average length is 17.9.", _data),
        Claim(
            "LEAPS and LEAPS-P+L perform the best, suggesting that optimizing the latent behavior "
            "reconstruction objective L^L, in …, is essential for improving the smoothness of the latent "
            "space in terms of execution behavior.",
            _smooth,
        ),
        Claim(
            "… the shape of the latent program distribution in the program embedding space learned by "
            "LEAPS+P+L is significantly different from a normal distribution, …",
            _shape,
        ),
        Claim(
            "However, the distance between each pair of the ground-truth testing program and the predicted "
            "program is much closer in the program embedding space learned by LEAPS compared to the space "
            "learned by LEAPS+P+L.",
            _closer,
        ),
        Claim(
            "After convergence, our model achieves an action token accuracy of 96.5% and an action sequence "
            "accuracy of 91.3%.",
            _policy,
        ),
        Claim(
            "We observe that the interpolations between the closer program pair exhibit smoother transitions "
            "and the interpolations between the further program pair display more dramatic change.",
            _interpolation,
        ),
    ),
    "The search": (
        Claim(
            "Both the average reward of the entire population and the reward of the next candidate program "
            "(CEM Next Center) consistently increase as the number of iterations increase.",
            _trajectory_rises,
        ),
        Claim(
            "Also, the CEM population gradually moves toward where the ground-truth program is located.",
            _nears_the_truth,
        ),
        Claim("The CEM trajectory does not converge. [FourCorner]", _does_not_converge),
        Claim(
            "We observe that the sampled programs consistently improve as the number of iterations "
            "increases, …",
            _evolves,
        ),
        Claim(
            "… some of the generated programs are indeed much longer and lack loop statements and "
            "structures. [with at most 100 tokens]",
            _longer_programs,
        ),
        Claim(
            "Maze and StairClimber programs are mostly unaffected by the change in maximum program length.",
            _unaffected,
        ),
    ),
    "The six tasks": (
        Claim("Across all but one task, LEAPS yields the best performance.", _best_on_all_but_one),
        Claim(
            "… the proposed framework not only learns to reliably synthesize task-solving programs …",
            _reliable,
        ),
        Claim(
            "The LEAPS-rand baselines perform significantly worse than LEAPS on all Karel tasks, "
            "demonstrating the need for using a search algorithm like CEM during synthesis.",
            _random_is_worse,
        ),
        Claim("The performance of VIPER is bounded by its RL teacher policy, …", _bounded),
        Claim(
            "… and therefore is outperformed by the DRL baselines on most of the tasks.", _networks_beat_trees
        ),
        Claim(
            "Meanwhile, DRL-abs-t is generally unable to improve upon DRL-abs across the board, suggesting "
            "that transferring Karel behaviors with RL from one task to another is ineffective.",
            _transfer,
        ),
        Claim(
            "Furthermore, both the HRL baselines achieve poor performance, …",
            lambda results: _poor(results, ("hrl", "hrl-abs")),
        ),
        Claim(
            "Finally, the poor performance of the naïve program synthesis baseline highlights the difficulty "
            "and inefficiency of learning to synthesize programs from scratch using only rewards.",
            lambda results: _poor(results, ("naive",)),
        ),
        Claim("StairClimber, … , is not solved by DRL-abs.", _not_solved),
        Claim(
            "LEAPS fully solves the task given the same perceptions, … [StairClimber]",
            lambda results: _solved(results, "stair-climber"),
        ),
        Claim(
            "However VIPER performs poorly as its decision tree cannot represent such loops. [StairClimber]",
            lambda results: _poor(results, ("viper",), ("stair-climber",)),
        ),
        Claim(
            "Similarly, the baselines are unable to perform as well on FourCorner, …",
            lambda results: _best_baseline_is_behind(results, "four-corner"),
        ),
        Claim("LEAPS performs best on this task, … [TopOff]", lambda results: _best_at(results, "top-off")),
        Claim(
            "Solving Harvester and CleanHouse requires acquiring complex behaviors, resulting in poor "
            "performance from all methods.",
            lambda results: _poor(results, (*TABLE_3, "leaps"), ("harvester", "clean-house")),
        ),
        Claim(
            "However, LEAPS is able to perform substantially better … [CleanHouse]",
            lambda results: _best_baseline_is_behind(results, "clean-house"),
        ),
        Claim("As a result, DRL and VIPER outperform LEAPS on this task. [Harvester]", _behind_at_harvester),
        Claim(
            "The synthesized programs solve both StairClimber and Maze.",
            lambda results: _solved(results, "stair-climber", "maze"),
        ),
        Claim(
            "… LEAPS fails to acquire the desired behavior that required nested loops but produces a "
            "sub-optimal program that contains only action tokens. [Harvester]",
            _only_actions,
        ),
    ),
    "Worlds of 100x100": (
        Claim("All baselines perform significantly worse than before on both tasks.", _networks_break),
        Claim(
            "On the contrary, the programs synthesized by LEAPS for the smaller task instances achieve "
            "zero-shot generalization to larger task instances without losing any performance.",
            _without_loss,
        ),
        Claim(
            "In summary, LEAPS performs the best on 4 out of these 5 tasks, further demonstrating its "
            "superior zero-shot generalization performance.",
            _best_of_five,
        ),
        Claim("We see that LEAPS generalizes well on FourCorner …", _keeps_corners),
        Claim(
            "… none of the methods do well on Harvester as the highest obtained reward by any method is 0.04 "
            "(by VIPER).",
            _none_harvests,
        ),
        Claim("However, it obtains a negative reward on StairClimber … [DRL-FCN]", _leaves_the_stairs),
        Claim(
            "Its performance is still far worse than LEAPS and VIPER on most tasks, … [DRL-FCN]",
            _convolutions_are_worse,
        ),
        Claim(
            "… it is still unable to transfer the behavior to the larger grid despite its abstract state "
            "representation. [VIPER]",
            _trees_do_not_transfer,
        ),
    ),
    "Unseen configurations": (
        Claim(
            "LEAPS outperforms all the baselines on the mean return on all the experiments. [TopOff]",
            _ahead_on_unseen,
        ),
        Claim(
            "VIPER and LEAPS enjoy the lowest and the second lowest performance decrease when learning from "
            "only a portion of configurations, … [TopOff]",
            _least_decrease,
        ),
        Claim("DRL-abs slightly outperforms DRL, … [TopOff]", _abstraction_helps),
        Claim(
            "VIPER outperforms almost all other methods on absolute performance and performance decrease, "
            "while LEAPS achieves second best results, … [Harvester]",
            _second_best,
        ),
        Claim(
            "Both DRL and DRL-abs are unable to generalize well when learning from a limited set of "
            "configurations, … [Harvester]",
            _policies_do_not_generalize,
        ),
    ),
    "People": (
        Claim(
            "With just 3 edits, participants obtained a mean reward improvement of 97.1%, and with 5 edits, "
            "participants improved it by 125%.",
            _edits,
        ),
    ),
}
"""claims by topic; … marks an omission, and brackets hold words from elsewhere in the paper"""
COUNTED = {
    HOLDS: ("holds", "hold"),
    PARTLY: ("holds in part", "hold in part"),
    FAILS: ("does not hold", "do not hold"),
    OPEN: ("is undecided", "are undecided"),
    MISSING: ("is not measured", "are not measured"),
}
"""verdicts in singular and plural"""
CLAIMS = tuple(claim for claims in TOPICS.values() for claim in claims)


def judge(claim: Claim, results: Results) -> Verdict:
    try:
        return claim.judge(results)
    except KeyError as missing:
        return Verdict(MISSING, f"There is no result yet for {missing.args[0]}.")


def claims_page(contents: Contents) -> str:
    """The page of claims, as Markdown."""
    results = Results(contents)
    verdicts = {claim.quote: judge(claim, results) for claim in CLAIMS}
    counts = {
        word: sum(verdict.word == word for verdict in verdicts.values())
        for word in (HOLDS, PARTLY, FAILS, OPEN, MISSING)
    }
    summary = ", ".join(f"{count} {COUNTED[word][count > 1]}" for word, count in counts.items() if count)
    parts = [f"# {TITLE}", INTRODUCTION, f"Of {len(CLAIMS)} claims: {summary}."]
    count = 0
    for topic, claims in TOPICS.items():
        parts.append(f"## {topic}")
        for claim in claims:
            count += 1
            verdict = verdicts[claim.quote]
            share = f": {verdict.share}" if verdict.share else ""
            parts += [
                f"### {count}. {verdict.word.capitalize()}{share}",
                f"> {claim.quote}",
                verdict.evidence,
            ]
    return "\n\n".join(parts) + "\n"
