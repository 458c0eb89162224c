"""The paper's claims, each with a verdict that is computed from the stored results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from leaps.experiments.table import Entry
from leaps.report.contents import Contents
from leaps.report.wording import number
from leaps.tasks import PAPER

TITLE = "Which of the paper's claims hold"
INTRODUCTION = (
    "Every claim in the paper's own words, a verdict, and the cells behind it. `leaps report` writes this "
    "page: "
    "verdicts and numbers follow from the stored results, and change with them. `leaps` is the search "
    "exactly as "
    "published, in a program space trained here; `leaps-220` also has the authors' limit of a rollout (220 "
    "calls of "
    "their interpreter); `leaps+` is the search with six changes. [The reproduction](reproduction.md) has "
    "all tables, "
    "seeds, deviations and commands."
)
HOLDS, FAILS, PARTLY, MISSING = "holds", "does not hold", "holds in part", "not measured"
LEVEL = 0.02
"""difference of mean returns that counts as better or worse"""
NEURAL = ("drl", "drl-fcn", "drl-abs", "drl-abs-t", "hrl", "hrl-abs", "naive", "viper")
"""the paper's baselines"""


@dataclass(frozen=True)
class Verdict:
    word: str
    evidence: str


class Results:
    """Mean returns by experiment, method and task; a claim that needs a missing one is not measured."""

    def __init__(self, contents: Contents) -> None:
        self.entries: dict[str, dict[tuple[str, str], Entry]] = {
            section.experiment.name: {
                place: one.entry for place, one in section.table.items() if one.entry is not None
            }
            for section in contents.sections
        }

    def mean(self, experiment: str, method: str, task: str) -> float:
        if (method, task) not in self.entries.get(experiment, {}):
            raise KeyError(f"{method} on {task} in {experiment}")
        return self.entries[experiment][method, task].mean

    def row(self, experiment: str, method: str, tasks: Sequence[str]) -> dict[str, float]:
        return {task: self.mean(experiment, method, task) for task in tasks}

    def known(self, experiment: str, methods: Sequence[str], task: str) -> dict[str, float]:
        """Of the methods that have a result there; at least one has to."""
        found = self.entries.get(experiment, {})
        known = {method: found[method, task].mean for method in methods if (method, task) in found}
        if not known:
            raise KeyError(f"{' or '.join(methods)} on {task} in {experiment}")
        return known


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in values.items())


def _best_on_all_but_one(results: Results) -> Verdict:
    behind = {}
    for task in PAPER:
        rivals = results.known("tasks", NEURAL, task)
        best = max(rivals, key=lambda method: rivals[method])
        own = results.mean("tasks", "leaps-220", task)
        if rivals[best] > own + LEVEL:
            behind[task] = f"{task} ({best} {number(rivals[best])}, leaps-220 {number(own)})"
    rows = {
        method: fmean(results.row("short", method, [f"{task}~100" for task in PAPER]).values())
        for method in ("drl-fcn", "leaps", "leaps+", "ladder")
    }
    return Verdict(
        HOLDS if len(behind) <= 1 else FAILS,
        f"A baseline is better on {len(behind)} of 6 tasks: {'; '.join(behind.values())}. In rollouts of "
        f"100 actions "
        f"for everybody, means over the six tasks are {_listed(rows)}. The baselines trained here learn "
        f"more than "
        "the paper's, with its settings; why the paper's learn less is not known.",
    )


def _random_is_worse(results: Results) -> Verdict:
    pairs = {
        task: (results.mean("tasks", "leaps-rand-64", task), results.mean("tasks", "leaps", task))
        for task in PAPER
    }
    alike = [task for task, (random, own) in pairs.items() if random > own - LEVEL]
    said = ", ".join(f"{task} {number(random)} and {number(own)}" for task, (random, own) in pairs.items())
    word = HOLDS if not alike else FAILS if len(alike) > 2 else PARTLY
    rest = f" Not on {', '.join(alike)}." if alike else ""
    return Verdict(word, f"leaps-rand-64 and leaps, in rollouts of the same length: {said}.{rest}")


TESTS = ("WHILE", "IFELSE+WHILE", "2IF+IFELSE", "WHILE+2IF+IFELSE")


def _losses(results: Results) -> Verdict:
    rows = ("leaps-p", "leaps-p+r", "leaps-p+l", "leaps")
    means = {row: fmean(results.row("reconstruction", row, TESTS).values()) for row in rows}
    ordered = means["leaps-p"] + LEVEL < means["leaps"] and all(
        means["leaps-p"] <= means[row] <= means["leaps"] + LEVEL for row in rows
    )
    plus = {
        row: fmean(results.row("reconstruction", row.replace("leaps", "leaps+", 1), TESTS).values())
        for row in rows
    }
    return Verdict(
        HOLDS if ordered else FAILS,
        f"Means of Table 1 with the paper's search: {_listed(means)}. With leaps+: {_listed(plus)}. One "
        f"training per "
        "variant so far.",
    )


def _smooth(results: Results) -> Verdict:
    values = results.known("smoothness", ("leaps-p", "leaps-p+r", "leaps-p+l", "leaps"), "test")
    with_l, without = min(values["leaps-p+l"], values["leaps"]), max(values["leaps-p"], values["leaps-p+r"])
    return Verdict(
        HOLDS if with_l > without else FAILS, f"R_mat of neighbours, test split: {_listed(values)}."
    )


def _transfer(results: Results) -> Verdict:
    pairs = {
        task: (results.mean("tasks", "drl-abs", task), results.mean("tasks", "drl-abs-t", task))
        for task in PAPER
    }
    better = [task for task, (before, after) in pairs.items() if after > before + LEVEL]
    said = ", ".join(
        f"{task} {number(before)} and {number(after)}" for task, (before, after) in pairs.items()
    )
    return Verdict(
        FAILS if better else HOLDS,
        f"drl-abs and drl-abs-t: {said}. Transfer from the best other task helps on "
        f"{', '.join(better) or 'no task'}.",
    )


def _bounded(results: Results) -> Verdict:
    above = [
        f"{task} (teacher {number(results.mean('tasks', 'drl', task))}, tree "
        f"{number(results.mean('tasks', 'viper', task))})"
        for task in PAPER
        if results.mean("tasks", "viper", task) > results.mean("tasks", "drl", task) + LEVEL
    ]
    if not above:
        return Verdict(HOLDS, "No tree earns more than the mean of its teachers.")
    return Verdict(
        FAILS,
        f"Trees earn more than the mean of their teachers on {'; '.join(above)}. The tree imitates the best "
        f"of five "
        "teachers and is the best of 80, so part of that is selection.",
    )


def _hierarchy(results: Results) -> Verdict:
    means = {
        method: fmean(results.row("tasks", method, tuple(PAPER)).values())
        for method in ("hrl", "hrl-abs", "drl")
    }
    good = {
        f"{method} on {task}": results.mean("tasks", method, task)
        for method in ("hrl", "hrl-abs")
        for task in PAPER
        if results.mean("tasks", method, task) >= 0.5
    }
    return Verdict(
        HOLDS if not good else PARTLY,
        f"Means over the six tasks: {_listed(means)}. Exceptions: {_listed(good) or 'none'}.",
    )


LARGE = ("stair-climber", "maze", "four-corner", "top-off", "harvester")


def _without_loss(results: Results) -> Verdict:
    lines = []
    kept = True
    for method in ("leaps", "leaps+", "ladder"):
        home = results.row("tasks", method, LARGE[:2])
        large = results.row("generalization", method, LARGE[:2])
        kept &= all(large[task] >= home[task] - LEVEL for task in home) if method == "leaps" else True
        pairs = ", ".join(f"{task} {number(home[task])} and {number(large[task])}" for task in home)
        lines.append(f"{method}: {pairs}")
    return Verdict(
        HOLDS if kept else PARTLY,
        f"Home and 100x100, {'; '.join(lines)}. A program that solves its task at home can still count to a "
        f"number "
        "that fits the small worlds only.",
    )


def _networks_break(results: Results) -> Verdict:
    entries, kept = 0, []
    for method in ("drl-fcn", "drl-abs", "viper", "ppo-last-action"):
        for task in LARGE:
            try:
                home = results.mean("tasks", method, task)
                large = results.mean("generalization", method, task)
            except KeyError:  # not every method has every entry
                continue
            if home < 0.7:
                continue
            entries += 1
            if large >= 0.9 * home:
                kept.append(f"{method} on {task} ({number(home)} and {number(large)})")
    if not entries:
        raise KeyError("policies at home and at 100x100")
    return Verdict(
        HOLDS if not kept else FAILS,
        f"Of {entries} policies with at least 0.70 at home, {len(kept)} keep nine tenths of it at 100x100: "
        f"{'; '.join(kept) or 'none'}. Rollouts there may take 100,000 actions.",
    )


def _best_of_five(results: Results) -> Verdict:
    behind = []
    for task in LARGE:
        rivals = results.known("generalization", ("drl", "drl-fcn", "drl-abs", "viper"), task)
        best = max(rivals, key=lambda method: rivals[method])
        own = results.mean("generalization", "leaps", task)
        if rivals[best] > own + LEVEL:
            behind.append(f"{task} ({best} {number(rivals[best])}, leaps {number(own)})")
    searched = {
        method: results.mean("generalization", method, "harvester")
        for method in ("leaps", "ladder", "ladder-sizes", "ppo-last-action")
    }
    return Verdict(
        HOLDS if len(behind) <= 1 else FAILS,
        f"A baseline is better on {len(behind)} of 5: {'; '.join(behind) or 'none'}. Harvester at 100x100: "
        f"{_listed(searched)}. What is searched for at several sizes holds there; what is searched for in "
        f"one small "
        "world mostly counts.",
    )


def _naive(results: Results) -> Verdict:
    hard = TESTS[-1]
    values = results.known("reconstruction", ("naive", "leaps-p", "leaps"), hard)
    return Verdict(
        HOLDS if values["naive"] < values["leaps"] - LEVEL else FAILS,
        f"{hard}, R_mat with the bonus of 0.1: {_listed(values)}. Naïve's programs are masked by the syntax "
        f"here.",
    )


def _edits(results: Results) -> Verdict:
    tasks = ("top-off", "four-corner", "harvester")
    before = results.row("debugging", "original", tasks)
    gains = {
        edits: fmean(results.mean("debugging", edits, task) / before[task] - 1 for task in tasks)
        for edits in ("3-edits", "5-edits")
    }
    said = ", ".join(f"{edits} {100 * gain:.0f} %" for edits, gain in gains.items())
    return Verdict(
        HOLDS if min(gains.values()) > 0.5 else FAILS,
        f"People are not available here; `leaps repair` with as many edits improves the same programs by "
        f"{said} on "
        "average.",
    )


def _unseen(results: Results) -> Verdict:
    shares = ("0.75", "0.5", "0.25", "0.1", "0.05")
    columns = {name: [f"{name}@{share}" for share in shares] for name in ("top-off", "harvester-subsets")}
    methods = ("drl", "drl-abs", "viper", "leaps", "leaps+", "ladder")
    means = {
        name: {method: fmean(results.row("unseen", method, tasks).values()) for method in methods}
        for name, tasks in columns.items()
    }
    top = means["top-off"]
    best = top["leaps"] >= max(top["drl"], top["drl-abs"], top["viper"]) - LEVEL
    said = "; ".join(f"{name}: {_listed(row)}" for name, row in means.items())
    return Verdict(
        HOLDS if best else FAILS, f"Means over the five shares, judged on all configurations: {said}."
    )


@dataclass(frozen=True)
class Claim:
    quote: str
    judge: Callable[[Results], Verdict]


CLAIMS = (
    Claim("Across all but one task, LEAPS yields the best performance.", _best_on_all_but_one),
    Claim(
        "The LEAPS-rand baselines perform significantly worse than LEAPS on all Karel tasks, demonstrating "
        "the need "
        "for using a search algorithm like CEM during synthesis.",
        _random_is_worse,
    ),
    Claim(
        "LEAPS-P achieves the worst performance out of the CEM search LEAPS ablations […] optimizing our "
        "full "
        "objective with all three achieves the best performance across all tasks.",
        _losses,
    ),
    Claim(
        "LEAPS and LEAPS-P+L perform the best, suggesting that optimizing the latent behavior reconstruction "
        "objective is essential for improving the smoothness of the latent space.",
        _smooth,
    ),
    Claim("The naïve program synthesis baseline fails on the complex WHILE+2IF+IFELSE program.", _naive),
    Claim(
        "DRL-abs-t is generally unable to improve upon DRL-abs across the board, suggesting that "
        "transferring Karel "
        "behaviors with RL from one task to another is ineffective.",
        _transfer,
    ),
    Claim("The performance of VIPER is bounded by its RL teacher policy.", _bounded),
    Claim("Both the HRL baselines achieve poor performance.", _hierarchy),
    Claim(
        "The programs synthesized by LEAPS for the smaller task instances achieve zero-shot generalization "
        "to larger "
        "task instances without losing any performance.",
        _without_loss,
    ),
    Claim("All baselines perform significantly worse than before [in worlds of 100x100].", _networks_break),
    Claim(
        "LEAPS performs the best on 4 out of these 5 tasks, further demonstrating its superior zero-shot "
        "generalization performance.",
        _best_of_five,
    ),
    Claim(
        "LEAPS outperforms all the baselines on the mean return on all the experiments [unseen TopOff].",
        _unseen,
    ),
    Claim(
        "With just 3 edits, participants obtained a mean reward improvement of 97.1%, and with 5 edits, "
        "participants "
        "improved it by 125%.",
        _edits,
    ),
)


def judged(contents: Contents) -> list[tuple[Claim, Verdict]]:
    results = Results(contents)
    found = []
    for claim in CLAIMS:
        try:
            verdict = claim.judge(results)
        except KeyError as missing:
            verdict = Verdict(MISSING, f"There is no result yet for {missing.args[0]}.")
        found.append((claim, verdict))
    return found


def claims_page(contents: Contents) -> str:
    """The page, as Markdown."""
    verdicts = judged(contents)
    counts = {
        word: sum(verdict.word == word for _, verdict in verdicts) for word in (HOLDS, PARTLY, FAILS, MISSING)
    }
    summary = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    parts = [f"# {TITLE}", INTRODUCTION, f"Of {len(verdicts)} claims: {summary}."]
    for count, (claim, verdict) in enumerate(verdicts, 1):
        parts += [f"## {count}. {verdict.word.capitalize()}", f"> {claim.quote}", verdict.evidence]
    return "\n\n".join(parts) + "\n"
