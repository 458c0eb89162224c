"""Programs can be given as text, tree or tokens; evaluation, search and repair work for any task."""

import pytest

from leaps.analysis.repair import repair
from leaps.domain import Extras, GridTask, Task, read_size, size_text
from leaps.dsl.text import ProgramError, parse
from leaps.evaluate import evaluate
from leaps.karel.world import KAREL, LANGUAGE
from leaps.search.solve import Run, SolveConfig, solve, work
from leaps.tasks import get
from tests.hoover import HOOVER, CleanCorridor

WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"
CLEAN = (
    "DEF run m( WHILE c( not c( bump c) c) w( IF c( dirt c) i( suck i) forward w) suck turn "
    "WHILE c( not c( bump c) c) w( IF c( dirt c) i( suck i) forward w) suck m)"
)
CORRIDOR: Task = CleanCorridor()


def test_text_tree_and_tokens_give_the_same_program() -> None:
    tree, tokens = parse(WALK, LANGUAGE), LANGUAGE.encode(WALK.split())
    assert KAREL.read(WALK).tolist() == KAREL.read(tree).tolist() == tokens.tolist()
    assert KAREL.text(tokens) == WALK
    assert KAREL.parse(WALK) == tree


def test_comments_in_programs_are_ignored() -> None:
    assert KAREL.read(f"# walks\n{WALK}").tolist() == KAREL.read(WALK).tolist()


def test_error_in_one_of_several_programs_names_the_token() -> None:
    with pytest.raises(ProgramError, match=r"token 4: found 'move'|token 3: found 'm\)'"):
        KAREL.compile([WALK, "DEF run m( m)"])


def test_sizes_are_formatted_and_parsed() -> None:
    assert size_text((8, 12)) == "8x12"
    assert read_size(" 8X12 ") == read_size("8×12") == (8, 12)


@pytest.mark.parametrize("text", ["", "8", "8x", "8x8x8", "-8x8", "8 x 8", "123456x8"])
def test_invalid_size_raises(text: str) -> None:
    with pytest.raises(ValueError, match="expected HEIGHTxWIDTH such as 8x8, found"):
        read_size(text)


# Another domain's task


def test_program_of_another_domain_has_an_exact_return() -> None:
    assert str(evaluate(CLEAN, CORRIDOR, prefer_exact=True).expected()) == "exact, all 192 states"
    assert evaluate(CLEAN, CORRIDOR, prefer_exact=True).mean_return[0] == 10.0
    lazy = evaluate("DEF run m( suck m)", CORRIDOR, episodes=50, size=(1, 20))
    assert 0.0 < lazy.mean_return[0] < 2.0


@pytest.mark.parametrize(("method", "budget"), [("ladder", 20_000), ("hc", 20_000)])
def test_search_solves_a_task_of_another_domain(method: str, budget: int) -> None:
    """The search starts from random programs, since there is no learned space. The best return is not 1."""
    found = work(Run(SolveConfig("clean-corridor", method, 1, budget, worlds=40), CORRIDOR))
    assert found.solved
    assert found.unseen_return == 10.0
    assert evaluate(found.program, CORRIDOR, prefer_exact=True).expected().lowest == 10.0


def test_search_in_another_domain_is_determined_by_its_seed() -> None:
    one, again, other = (solve(CORRIDOR, seed=seed, budget=600, worlds=4) for seed in (3, 3, 4))
    assert (one.program, one.evaluations) == (again.program, again.evaluations)
    assert (one.program, one.evaluations) != (other.program, other.evaluations)


def test_program_of_another_domain_is_repaired() -> None:
    broken = CLEAN.replace("turn", "forward")
    found = repair(broken, CORRIDOR, edits=1, budget=5000)
    assert found.original_return < 9.0
    assert (found.solution.unseen_return, found.edits) == (10.0, 1)


def test_latent_search_without_a_space_raises() -> None:
    with pytest.raises(
        ValueError,
        match="and hoover has none; expected ladder or hc, or a space learned by `leaps train --task`",
    ):
        solve(CORRIDOR, "leaps")


def test_space_of_another_language_raises() -> None:
    for method in ("ladder", "leaps"):
        message = "is a program space of another language: it has move, turnRight, .* and lacks forward, turn"
        with pytest.raises(ValueError, match=message):
            solve(CORRIDOR, method, space="leaps")


def test_error_in_a_program_of_another_domain_names_the_token() -> None:
    with pytest.raises(ProgramError, match="token 3: 'move' is not a token of this language"):
        repair("DEF run m( move m)", CORRIDOR)
    assert HOOVER.compile(HOOVER.language.encode(["DEF", "run", "m("])[None]).entry[0] == -1


def test_most_domains_have_no_extras() -> None:
    assert HOOVER.extras == Extras()
    assert not HOOVER.compiled
    assert KAREL.extras.conform is not None


def test_only_tasks_in_worlds_of_cells_have_a_picture() -> None:
    assert isinstance(get("maze"), GridTask)
    assert not isinstance(CORRIDOR, GridTask)
