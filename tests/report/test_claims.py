"""Verdicts on the paper's claims follow from stored results."""

from dataclasses import dataclass, field

import pytest

from leaps.experiments.catalogue import EXPERIMENTS
from leaps.experiments.cell import Result, cell
from leaps.experiments.table import Entry
from leaps.report.claims import CLAIMS, FAILS, HOLDS, MISSING, PARTLY, Results, Verdict, claims_page, judged
from leaps.report.contents import Exhibit
from leaps.tasks import PAPER


@dataclass
class _Section:
    name: str
    returns: dict[tuple[str, str], float]

    @property
    def experiment(self) -> object:
        return EXPERIMENTS[self.name]

    @property
    def table(self) -> dict[tuple[str, str], object]:
        return {place: _Compared(_entry(self.name, place, value)) for place, value in self.returns.items()}


@dataclass
class _Compared:
    entry: Entry


@dataclass
class _Contents:
    sections: list[_Section] = field(default_factory=list)
    exhibits: list[Exhibit] = field(default_factory=list)


def _entry(name: str, place: tuple[str, str], value: float) -> Entry:
    return Entry((Result(cell(name, *place), {"return": value}, 0.0, "0"),))


def contents(**tables: dict[tuple[str, str], float]) -> _Contents:
    return _Contents([_Section(name, returns) for name, returns in tables.items()])


def verdict(quote: str, **tables: dict[tuple[str, str], float]) -> Verdict:
    (claim,) = (claim for claim in CLAIMS if quote in claim.quote)
    return claim.judge(Results(contents(**tables)))  # type: ignore[arg-type]


def on_all(method: str, value: float, **others: float) -> dict[tuple[str, str], float]:
    return {(method, task): others.get(task.replace("-", "_"), value) for task in PAPER}


def verdict_of_maps(quote: str, maps: dict[str, tuple[float, float]]) -> Verdict:
    """maps: by method, the distance from normal and how far found programs are apart."""
    shown = {
        (method, "test-programs"): Result(
            cell("latent-map", method, "test-programs"),
            {"from_normal": distance, "dimensions": 30.0, "tests": {"WHILE": {"apart": apart}}},
            0.0,
            "0",
        )
        for method, (distance, apart) in maps.items()
    }
    exhibit = Exhibit(EXPERIMENTS["latent-map"], shown, None)  # type: ignore[arg-type]
    (claim,) = (claim for claim in CLAIMS if quote in claim.quote)
    return claim.judge(Results(_Contents([], [exhibit])))  # type: ignore[arg-type]


@pytest.mark.parametrize(("distance", "word"), [(0.2, HOLDS), (0.05, FAILS)])
def test_spaces_with_the_loss_l_have_to_be_farther_from_normal(distance: float, word: str) -> None:
    maps = {"leaps-p": (0.1, 1.0), "leaps-p+r": (0.1, 1.0), "leaps-p+l": (0.2, 1.0), "leaps": (distance, 1.0)}
    found = verdict_of_maps("more twisted", maps)
    assert found.word == word
    assert "leaps-p+l 0.200" in found.evidence


@pytest.mark.parametrize(("apart", "word"), [(0.5, HOLDS), (1.5, FAILS)])
def test_reconstructions_have_to_be_closest_in_the_full_space(apart: float, word: str) -> None:
    maps = dict.fromkeys(("leaps-p", "leaps-p+r", "leaps-p+l"), (0.1, 1.0)) | {"leaps": (0.1, apart)}
    assert verdict_of_maps("are smaller in the", maps).word == word


def test_a_tree_that_earns_more_than_its_teachers_is_not_bounded_by_them() -> None:
    teachers = on_all("drl", 0.5)
    assert verdict("bounded", tasks=teachers | on_all("viper", 0.5)).word == HOLDS
    found = verdict("bounded", tasks=teachers | on_all("viper", 0.4, four_corner=1.0))
    assert found.word == FAILS
    assert "four-corner (best teacher 0.50, trees 1.00)" in found.evidence


def test_transfer_is_ineffective_only_if_it_helps_nowhere() -> None:
    before = on_all("drl-abs", 0.3)
    assert verdict("transferring", tasks=before | on_all("drl-abs-t", 0.31)).word == HOLDS
    found = verdict("transferring", tasks=before | on_all("drl-abs-t", 0.0, maze=0.9))
    assert found.word == PARTLY
    assert "helps on maze" in found.evidence
    assert verdict("transferring", tasks=before | on_all("drl-abs-t", 0.9, maze=0.0)).word == FAILS


def test_a_difference_within_its_error_is_not_better() -> None:
    results = Results(contents(tasks={("drl", "maze"): 0.5, ("hrl", "maze"): 0.55}))  # type: ignore[arg-type]
    assert results.better("tasks", "hrl", "drl", "maze")
    spread = tuple(
        Result(cell("tasks", "hrl", "maze", seed), {"return": value}, 0.0, "0")
        for seed, value in enumerate((0.1, 1.0))
    )
    results.entries["tasks"]["hrl", "maze"] = Entry(spread)
    assert not results.better("tasks", "hrl", "drl", "maze")


@pytest.mark.parametrize(
    ("without", "word"), [((), HOLDS), (("clean-house",), PARTLY), (tuple(PAPER)[:3], FAILS)]
)
def test_random_search_is_worse_on_all_tasks_or_the_exceptions_are_named(
    without: tuple[str, ...], word: str
) -> None:
    random = {("leaps-rand-64", task): 0.9 if task in without else 0.1 for task in PAPER}
    found = verdict("LEAPS-rand", tasks=random | on_all("leaps", 0.5))
    assert found.word == word
    assert all(task in found.evidence for task in without)


def test_what_has_no_result_is_not_measured_and_says_so() -> None:
    found = judged(contents(tasks={("drl", "maze"): 1.0}))  # type: ignore[arg-type]
    assert len(found) == len(CLAIMS)
    assert {one.word for _, one in found} == {MISSING}
    page = claims_page(contents(tasks={("drl", "maze"): 1.0}))  # type: ignore[arg-type]
    assert f"Of {len(CLAIMS)} claims: {len(CLAIMS)} {MISSING}." in page
    assert all(f"> {claim.quote}" in page for claim in CLAIMS)
