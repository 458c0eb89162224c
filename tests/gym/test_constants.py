"""Numeric perceptions: constants from rollouts, refined by a search."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leaps
from leaps.analysis.repair import repair
from leaps.domain import Task
from leaps.dsl.language import MOST_SENSES
from leaps.evaluate import evaluate
from leaps.gym import GymTask, ProgramPolicy, privileged
from leaps.gym.constants import Scale, fitted, number, refined, scale, split, word
from leaps.search.checkpoint import Checkpoints, state_of
from leaps.search.solve import Run, SolveConfig, work
from tests.gym.corridor import Corridor, light_is_on

PLACE = number(lambda seen: seen[0])


def walk(**settings: Any) -> GymTask:
    """Walk to the right while the position is below a constant."""
    given: dict[str, Any] = {
        "name": "walk",
        "make": Corridor,
        "actions": {"left": 0, "right": 1},
        "perceptions": {"place": PLACE, "lightIsOn": light_is_on},
        "best": 1.0,
        "steps": 30,
    }
    return GymTask(**(given | settings))


WALK = walk()
RIGHT = "DEF run m( WHILE c( not c( place>0.93 c) c) w( right w) m)"


def test_perceptions_have_constants_in_their_names() -> None:
    language = walk(constants={"place": (0.5, 0.25)}).domain.language
    assert language.perceptions == ("place>0.25", "place>0.5", "lightIsOn")


def test_a_number_has_the_weight_of_one_perception() -> None:
    shares = walk(constants={"place": (0.2, 0.4, 0.6)}).domain.programs.perceptions
    assert shares == pytest.approx((1 / 6, 1 / 6, 1 / 6, 1 / 2))


def test_initial_constants_are_quantiles_of_random_rollouts() -> None:
    first, again = walk(), walk()
    assert first.compared == again.compared
    places = first.compared["place"]
    assert 3 <= len(places) <= MOST_SENSES - 1
    assert 0 <= min(places) < max(places) <= 1


def test_constants_fill_the_language() -> None:
    cart = GymTask(
        "cart",
        make="CartPole-v1",
        actions={"push": 0, "pull": 1},
        perceptions={
            "angle": number(lambda seen: seen[2]),
            "spin": number(lambda seen: seen[3]),
            "right": lambda seen: seen[0] > 0,
        },
    )
    assert len(cart.domain.language.senses) == 63
    assert all(len(word("angle", constant)) <= len("angle>-0.123") for constant in cart.compared["angle"])


def test_words_are_split_into_number_and_constant() -> None:
    assert split("angle>-0.05", ["angle"]) == ("angle", -0.05)
    assert split("angle>1e-07", ["angle"]) == ("angle", 1e-07)
    for other in ("angle", "speed>1", "angle>fast", "angle>nan"):
        assert split(other, ["angle"]) is None
    with pytest.raises(ValueError, match=r"expected angle>0.05, found angle>0.050"):
        split("angle>0.050", ["angle"])
    assert word("angle", -0.0) == "angle>0"


def test_a_number_that_never_changes_has_one_constant() -> None:
    assert scale(np.full(9, 2.5), 16).quantiles == (2.5,)


def test_wanted_constants_replace_their_nearest() -> None:
    assert fitted({"x": (0.0, 1.0, 2.0)}, {"x": {1.1}}) == {"x": (0.0, 1.1, 2.0)}
    assert fitted({"x": (0.0, 1.0)}, {"x": {3.0, 4.0, 5.0}}) == {"x": (3.0, 4.0, 5.0)}


def test_refined_constants_keep_those_in_use_and_surround_them() -> None:
    first = tuple(float(n) for n in range(10))
    about = Scale(0.0, 9.0, first, 0)
    new = refined(first, about, [4.0], 5, np.random.default_rng(0))
    assert len(new) == 10
    assert 4.0 in new
    assert sum(abs(constant - 4) < 1 and constant != 4 for constant in new) >= 2
    assert new == refined(first, about, [4.0], 5, np.random.default_rng(0))
    assert refined(first, about, [], 5, np.random.default_rng(0)) == first


def test_a_program_with_any_constant_can_be_run() -> None:
    task: Task = WALK
    assert "place>0.93" not in WALK.domain.language.perceptions
    assert evaluate(RIGHT, task, episodes=20).mean_return[0] == 1.0
    both = evaluate([RIGHT, RIGHT.replace("0.93", "0.07")], task, episodes=20)
    assert both.mean_return[0] == 1.0 > both.mean_return[1]


def test_fitting_a_language_twice_changes_nothing() -> None:
    changed = WALK.refined(WALK.domain.language.batch([WALK.domain.read("DEF run m( left m)")]), rng())
    assert changed is not None
    words = changed.task.domain.language.perceptions
    assert WALK.fitting(words).domain.language == changed.task.domain.language


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_refining_keeps_the_best_program_and_maps_others_to_the_nearest() -> None:
    task = walk(constants={"place": (0.1, 0.3, 0.5, 0.9)})
    read = task.domain.read
    programs = [read(f"DEF run m( WHILE c( place>{text} c) w( right w) m)") for text in ("0.3", "0.5", "0.9")]
    changed = task.refined(task.domain.language.batch(programs), rng())
    assert changed is not None
    now = changed.task.domain
    best = changed.tokens[programs[0]]
    assert now.text(best) == task.domain.text(programs[0])
    assert changed.same[programs[0]].all()
    assert now.language.kinds.tolist() == task.domain.language.kinds.tolist()
    lost = [program for program in programs if not changed.same[program].all()]
    assert lost
    for program in lost:
        assert "place>" in now.text(changed.tokens[program])


def test_a_search_finds_constants_that_its_task_did_not_start_with() -> None:
    """The initial constants are small, and reaching the end needs one of 0.8 or more."""
    task = walk(
        perceptions={"place": PLACE}, constants={"place": (0.1, 0.15)}, actions={"right": 1, "left": 0}
    )
    run = Run(SolveConfig("walk", "ladder", 0, 4000, worlds=8, max_length=12), task)
    found = work(run)
    assert found.unseen_return == 1.0
    assert evaluate(found.program, task, episodes=20).mean_return[0] == 1.0


@pytest.mark.parametrize("method", ["ladder", "hc"])
def test_a_search_with_constants_is_determined_by_its_seed_and_can_be_resumed(
    method: str, tmp_path: Path
) -> None:
    task = walk(best=2.0)  # never solved: the constants are refined to the end
    config = SolveConfig("walk", method, 3, 1700, worlds=4)
    whole = Run(config, task)
    while not whole.finished:
        whole.step()
    part = Run(config, task)
    while part.objective.evaluations < 1200:
        part.step()
    Checkpoints(part, tmp_path).write()
    resumed = Run(config, task)
    assert Checkpoints(resumed, tmp_path).resume()
    assert resumed.domain.language == part.domain.language != task.domain.language
    while not resumed.finished:
        resumed.step()
    ends = [
        json.dumps(state_of(run) | {"seconds": 0}, default=lambda a: a.tolist()) for run in (whole, resumed)
    ]
    assert ends[0] == ends[1]
    assert work(whole).summary()["program"] == work(resumed).summary()["program"]


def test_a_program_with_constants_is_repaired() -> None:
    found = repair(RIGHT.replace("0.93", "0.33"), WALK, edits=1, budget=1500, worlds=8)
    assert found.original_return < 1.0 == found.solution.unseen_return
    assert found.edits == 1


def test_a_policy_and_its_export_act_alike(tmp_path: Path) -> None:
    policy = ProgramPolicy(RIGHT, WALK)
    policy.export(tmp_path / "policy.py")
    exported: dict[str, Any] = {}
    text = (tmp_path / "policy.py").read_text()
    exec(compile(text, "policy.py", "exec"), exported)
    exported_policy = exported["Policy"]()
    assert '"place>0.93": lambda observation: perceive_place(observation) > 0.93' in text
    for place in (0.0, 0.5, 0.92, 0.94):
        seen = np.array([place, 0.0])
        assert policy.act(seen) == exported_policy.act(seen)
    assert policy.reasons == {"place>0.93": True}


def test_continuous_actions_have_names() -> None:
    car = GymTask(
        "car",
        make="MountainCarContinuous-v0",
        actions={"pushLeft": [-1.0], "pushRight": [1.0]},
        perceptions={"speed": leaps.number(lambda seen: seen[1])},
    )
    program = (
        "DEF run m( WHILE c( speed>-1 c) w( IFELSE c( speed>0 c) i( pushRight i) ELSE e( pushLeft e) w) m)"
    )
    found = evaluate(program, car, episodes=5)
    assert found.returns.min() > 80


def test_a_privileged_number_needs_the_environment() -> None:
    task = walk(perceptions={"cell": number(privileged(lambda environment: environment.place))})
    assert task.privileged == list(task.sensors)
    assert evaluate("DEF run m( WHILE c( not c( cell>4.5 c) c) w( right w) m)", task).mean_return[0] == 1.0
    with pytest.raises(ValueError, match="privileged perceptions"):
        ProgramPolicy("DEF run m( WHILE c( cell>4.5 c) w( right w) m)", task)


def test_a_value_that_is_not_a_number_raises_with_its_line() -> None:
    def text(seen: Any) -> str:  # noqa: ARG001
        return "far"

    for wrong in (text, lambda seen: seen[0] * np.nan, lambda seen: seen[2]):
        with pytest.raises(ValueError, match=r"walk: perception place>0 .*test_constants.py, line \d+"):
            _ = walk(perceptions={"place": number(wrong)}).domain


def test_invalid_numbers_raise() -> None:
    with pytest.raises(ValueError, match="perception place: expected a function"):
        walk(perceptions={"place": number(3)})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="without >"):
        walk(perceptions={"place>": PLACE})
    with pytest.raises(ValueError, match="constants: expected names of numbers, found 'speed'"):
        walk(constants={"speed": (1.0,)})
    with pytest.raises(ValueError, match="at least one constant"):
        walk(constants={"place": ()})


def test_listing_a_task_runs_no_episode() -> None:
    def make() -> Any:
        raise AssertionError("an environment was made")

    assert replace(WALK, make=make).name == "walk"
