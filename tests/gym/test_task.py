"""Tasks in Gymnasium environments: rollouts, searches, and errors."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from PIL import Image

import leaps
from leaps.base import parallel
from leaps.domain import Outcome, Task
from leaps.evaluate import evaluate
from leaps.gym import GymTask, privileged
from leaps.search.checkpoint import restore, state_of
from leaps.search.objective import Objective
from leaps.search.save import save_solution
from leaps.search.solve import Run, SolveConfig, work
from leaps.tasks import get
from tests.gym.corridor import CORRIDOR, Corridor, corridor, light_is_on

RIGHT = "DEF run m( WHILE c( not c( atTheEnd c) c) w( right w) m)"
IN_LIGHT = (
    "DEF run m( WHILE c( not c( atTheEnd c) c) w( IFELSE c( lightIsOn c) i( right i) ELSE e( left e) w) m)"
)
TASK: Task = CORRIDOR


def test_the_return_is_that_of_stepping_the_environment_by_hand() -> None:
    starts = CORRIDOR.worlds(40, seed=3)
    found = CORRIDOR.run(CORRIDOR.compile(IN_LIGHT), starts, want_actions=True)
    environment = Corridor()
    for number, seed in enumerate(starts.seeds.tolist()):
        seen, _ = environment.reset(seed=seed)
        done: list[int] = []
        reward, arrived = 0.0, False
        while len(done) < 30 and not arrived:
            done.append(1 if light_is_on(seen) else 0)
            seen, reward, arrived, _, _ = environment.step(done[-1])
        assert found.steps[0, number] == len(done)
        assert found.actions is not None
        assert found.actions[0, number, : len(done)].tolist() == done
        assert found.returns is not None
        assert found.returns[0, number] == reward
        assert found.outcome[0, number] == (Outcome.ENDED if arrived else Outcome.CUT_OFF)
    assert found.returns is not None
    assert {0.0, 1.0} == set(np.unique(found.returns))


def test_results_depend_on_the_seed_and_not_on_the_number_of_processes() -> None:
    programs = [RIGHT, IN_LIGHT, "DEF run m( right m)", "DEF run m( REPEAT R=9 r( right r) m)"]
    starts = CORRIDOR.worlds(30, seed=1)
    try:
        found = []
        for threads in (1, 2):
            parallel.set_threads(threads)
            found.append(CORRIDOR.run(CORRIDOR.compile(programs), starts, want_used=True))
            one = CORRIDOR.run(CORRIDOR.compile(IN_LIGHT), CORRIDOR.worlds(70, seed=2), want_used=True)
            found.append(one)
    finally:
        parallel.set_threads(None)
    for alone, shared in ((found[0], found[2]), (found[1], found[3])):
        for name in ("outcome", "steps", "returns", "used"):
            assert np.array_equal(getattr(alone, name), getattr(shared, name))
    again = CORRIDOR.worlds(10, seed=1, first=20)
    assert starts.seeds[20:].tolist() == again.seeds.tolist()
    assert starts.seeds[:10].tolist() != again.seeds.tolist()


def test_a_program_that_ends_keeps_its_return() -> None:
    found = CORRIDOR.run(CORRIDOR.compile("DEF run m( left m)"), CORRIDOR.worlds(5, seed=0))
    assert (found.outcome == Outcome.HALTED).all()
    assert found.returns is not None
    assert found.returns.tolist() == [[0.0] * 5]


def test_a_program_below_the_needed_return_is_rejected() -> None:
    programs = CORRIDOR.compile(["DEF run m( left m)", RIGHT])
    found = CORRIDOR.run(programs, CORRIDOR.worlds(10, seed=0), needed=np.full(10, 0.5))
    assert found.tried is not None
    assert found.tried.tolist() == [1, 10]


def test_a_found_program_also_solves_a_variant() -> None:
    found = leaps.solve(CORRIDOR, seed=0, budget=2000, also=("long",))
    assert found.solved
    assert found.elsewhere == {"long": 1.0}
    assert evaluate(found.program, TASK, episodes=50, seed=9).mean_return[0] == 1.0
    again = leaps.solve(CORRIDOR, seed=0, budget=2000, also=("long",))
    assert (again.program, again.evaluations) == (found.program, found.evaluations)


def test_a_task_in_a_file_is_loaded_by_its_name() -> None:
    file = Path(__file__).parent / "corridor.py"
    assert get(f"{file}:CORRIDOR").name == "corridor"
    with pytest.raises(ValueError, match="@ and ~ are for tasks of Karel"):
        get(f"{file}:CORRIDOR~100")


def test_the_task_defines_the_value_of_an_episode() -> None:
    task = corridor(value=lambda episode: -len(episode.rewards) + 100 * episode.terminated)
    found = task.run(task.compile(RIGHT), task.worlds(20, seed=5))
    assert found.returns is not None
    assert np.array_equal(found.returns, 100 - found.steps)


def test_without_a_best_return_nothing_is_solved() -> None:
    found = leaps.solve(corridor(best=np.inf), budget=200)
    assert not found.solved
    assert found.unseen_return > 0


def test_a_rollout_is_filmed(tmp_path: Path) -> None:
    starts = CORRIDOR.worlds(1, seed=0, size="long")
    steps = int(CORRIDOR.run(CORRIDOR.compile(RIGHT), starts).steps[0, 0])
    CORRIDOR.film(CORRIDOR.compile(RIGHT), starts, tmp_path / "walk.gif")
    with Image.open(tmp_path / "walk.gif") as film:
        assert (film.size, getattr(film, "n_frames", 1)) == ((96, 8), steps + 1)


def test_a_registered_environment_is_made_by_its_id() -> None:
    task = GymTask(
        "cart-pole",
        make="CartPole-v1",
        actions={"left": 0, "right": 1},
        perceptions={"leansRight": lambda seen: seen[2] > 0, "fallsRight": lambda seen: seen[3] > 0},
        best=500,
    )
    assert task.horizon() == 500
    balance = (
        "DEF run m( REPEAT R=19 r( REPEAT R=19 r( REPEAT R=2 r( "
        "IFELSE c( fallsRight c) i( right i) ELSE e( left e) r) r) r) m)"
    )
    falls = "DEF run m( REPEAT R=19 r( right r) m)"
    returns = task.run(task.compile([balance, falls]), task.worlds(20, seed=0)).returns
    assert returns is not None
    assert returns[0].mean() > 10 * returns[1].mean()


def test_the_page_contains_the_example_verbatim() -> None:
    root = Path(__file__).parents[2]
    example = (root / "examples" / "an_environment_of_your_own.py").read_text()
    assert f"```python\n{example}```" in (root / "docs" / "your-own-environment.md").read_text()
    assert len(example.splitlines()) < 60


def test_an_interrupted_search_with_variants_resumes() -> None:
    """The names of variants are of different lengths."""

    def run() -> Run:
        config = SolveConfig("corridor", seed=2, budget=800, worlds=4, also=("long",))
        return Run(config, corridor(opposites={}, perceptions={"lightIsOn": light_is_on}))

    first, second = run(), run()
    for _ in range(5):
        first.step()
    saved = json.loads(json.dumps(state_of(first), default=lambda value: value.tolist()))
    restore(second, saved)
    assert second.objective.elsewhere[0].size == "long"
    one, other = work(first), work(second)
    assert (one.program, one.evaluations, one.history) == (other.program, other.evaluations, other.history)


def test_no_better_program_is_rejected_where_an_episode_may_exceed_best() -> None:
    task = corridor(value=lambda episode: 100.0 - len(episode.rewards), best=50.0)
    objective = Objective(task, task.worlds(40, seed=0))
    slow, fast = (f"DEF run m( {wait} {RIGHT.removeprefix('DEF run m( ')}" for wait in ("left", ""))
    tokens = [task.domain.read(program) for program in (slow, fast)]
    scores = objective.scores(tokens[1][None], tokens[0])
    assert scores[0] == task.run(task.compile(fast), objective.worlds).returns.mean() > 50  # type: ignore[union-attr]


def test_a_solution_that_can_not_be_filmed_is_saved_without_a_film(tmp_path: Path) -> None:
    task = corridor(make=lambda: Corridor())
    found = leaps.solve(task, budget=300, worlds=4)
    why = save_solution(found, tmp_path)
    assert why is not None
    assert why.startswith("no film: ValueError: corridor: make: the environment could not be made")
    assert "unexpected keyword argument 'render_mode'" in why
    assert (tmp_path / "program.karel").read_text().startswith("DEF run m(")


def test_an_environment_that_changes_its_action_in_place_changes_no_task() -> None:
    class Greedy(Corridor):
        def __init__(self) -> None:
            super().__init__()
            self.action_space = spaces.MultiDiscrete([2])

        def step(self, action: Any) -> Any:
            found = super().step(int(action[0]))
            action += 5
            return found

    task = corridor(make=Greedy, actions={"right": np.array([1])})
    program = task.compile("DEF run m( REPEAT R=9 r( right r) m)")
    returns = task.run(program, task.worlds(3, seed=0)).returns
    assert returns is not None
    assert returns.tolist() == [[1.0] * 3]


# Mistakes


def too_bright(seen: Any) -> bool:
    if seen[1] > 0.5:
        raise RuntimeError("too bright")
    return False


def how_bright(seen: Any) -> float:
    return float(seen[1])


def run_with(**settings: Any) -> None:
    task = corridor(**settings)
    task.run(task.compile("DEF run m( WHILE c( not c( lit c) c) w( right w) m)"), task.worlds(9, seed=0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"perceptions": {"lit": too_bright}, "opposites": {}},
            r"corridor: perception lit \(.*test_task.py, line \d+\): RuntimeError: too bright, after "
            r"step \d of the episode with seed \d+",
        ),
        (
            {"perceptions": {"lit": how_bright}, "opposites": {}},
            r"perception lit \(.*line \d+\): expected True or False, found [01]\.0",
        ),
        (
            {"perceptions": {"lit": privileged(lambda env: env.nothing)}, "opposites": {}},
            r"perception lit .*: AttributeError: .*nothing",
        ),
        (
            {"actions": {"right": 7}, "perceptions": {"lit": light_is_on}, "opposites": {}},
            r"corridor: action right: 7 is not in the environment's Discrete\(2\)",
        ),
        (
            {"value": lambda _: None, "perceptions": {"lit": light_is_on}, "opposites": {}},
            r"value .*: expected a finite number, found None",
        ),
        (
            {"steps": None, "perceptions": {"lit": light_is_on}, "opposites": {}},
            "the environment has no limit of steps per episode; expected `steps`",
        ),
    ],
)
def test_errors_of_a_task_name_the_function_and_the_episode(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_with(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "a/b"}, "a task's name must not be empty"),
        ({"steps": 0}, "corridor: steps must be at least 1, found 0"),
        (
            {"actions": {"WHILE": 0}},
            "corridor: 'WHILE' is a word of the language; expected another name for the action",
        ),
        ({"perceptions": {"light is on": light_is_on}}, "corridor: 'light is on' can't be a token"),
        ({"perceptions": {"lightIsOn": 3}}, "corridor: perception lightIsOn: expected a function"),
        ({"opposites": {"dark": "darkness"}}, "corridor: opposites: expected pairs of perceptions"),
    ],
)
def test_an_invalid_task_raises_when_it_is_made(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        corridor(**settings)


def test_an_unknown_variant_raises() -> None:
    with pytest.raises(ValueError, match="corridor has no variant 'wide'; expected one of: long"):
        CORRIDOR.worlds(1, 0, "wide")


def test_a_program_that_repeats_restarts_until_the_episode_is_over() -> None:
    task = corridor(repeats=True)
    starts = task.worlds(20, seed=0)
    found = task.run(task.compile(["DEF run m( right m)", "DEF run m( right left m)"]), starts)
    assert found.returns is not None
    assert (found.returns[0] == 1).all()
    assert (found.steps[1][found.returns[1] == 0] == 30).all()
    for number in range(5):
        course = task.course(task.domain.parse(IN_LIGHT), starts.take(np.array([number])))
        steps = [step.action for step in course]
        fast = task.run(task.compile(IN_LIGHT), starts.take(np.array([number])), want_actions=True)
        assert fast.actions is not None
        assert fast.actions[0, 0, : len(steps)].tolist() == steps
        assert fast.outcome[0, 0] == course.outcome


def test_a_program_that_would_not_act_again_ends_its_episode() -> None:
    task = corridor(repeats=True)
    program = "DEF run m( IF c( atTheEnd c) i( left i) m)"
    found = task.run(task.compile(program), task.worlds(3, seed=0))
    assert (found.outcome == Outcome.HALTED).all()
    assert found.steps.tolist() == [[0, 0, 0]]
    course = task.course(task.domain.parse(program), task.worlds(1, seed=0))
    assert [*course] == []
    assert course.outcome == Outcome.HALTED
