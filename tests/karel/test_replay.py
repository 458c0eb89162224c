"""Recorded rollouts of Karel, requested through the studio, equal the interpreter's, and can be filmed."""

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from leaps.domain import Outcome
from leaps.dsl.syntax import Program, walk
from leaps.dsl.text import parse, to_line
from leaps.karel.executor import run
from leaps.karel.interpreter import perceived, play
from leaps.karel.physics import TRUTH
from leaps.karel.replay import _PERCEIVED, KarelReplay
from leaps.karel.studio import START
from leaps.karel.tasks import KarelTask
from leaps.karel.world import EXIT, FLOOR, KAREL, LANGUAGE, WALL, World, Worlds
from leaps.studio import rollouts
from leaps.studio.requests import Fields, RequestError
from leaps.studio.rollouts import Replayed, rollout_of, rollouts_of
from leaps.studio.spans import read
from leaps.studio.tracing import FRAMES
from leaps.tasks import get
from tests.strategies import programs, worlds
from tests.studio.harness import WALK
from tests.studio.test_spans import cut

OUTCOMES = {
    Outcome.HALTED: "halted",
    Outcome.ENDED: "ended",
    Outcome.CUT_OFF: "cut-off",
    Outcome.STUCK: "stuck",
}
MAZE = "DEF run m( WHILE c( noMarkersPresent c) w( IF c( rightIsClear c) i( turnRight i) move w) m)"


def answer_to(**fields: Any) -> dict[str, Any]:
    return rollout_of(Fields(fields)).answer()


def karel_rollout(fields: Fields) -> Replayed:
    rollout = rollout_of(fields)
    assert isinstance(rollout, Replayed)
    return rollout


def replayed(text: str, task: KarelTask | None, world: World) -> Replayed:
    reading = read(text, LANGUAGE)
    return Replayed(reading, task, KarelReplay(reading.program, task, world))


def bits(world: World) -> str:
    code = perceived(world)
    return "".join(str(int(TRUTH[i, code])) for i in range(len(LANGUAGE.perceptions)))


def check_against_the_interpreter(answer: dict[str, Any], program: Program, rollout: Replayed) -> None:
    """Run the reference interpreter, and compare everything that was recorded."""
    replay = rollout.replay
    assert isinstance(replay, KarelReplay)
    task, world = replay.task, replay.world.clone()
    numbers = {id(statement): number for number, statement in enumerate(walk(program))}
    react, events = (task.react, task.events) if task else (None, 0)
    walker = play(program, world, replay.horizon, react, events, calls=replay.calls)
    steps, tests, cells = answer["steps"], [], initial_cells(answer)
    looked = bits(world)
    for number, step in enumerate(walker):
        assert steps["statement"][number] == numbers[id(step.statement)]
        path = [numbers[id(statement)] for statement in step.path]
        assert answer["statements"][steps["statement"][number]]["path"] == path
        tests += [[number, numbers[id(statement)], int(held)] for statement, held in step.tests]
        pose = (steps["row"][number], steps["column"][number], steps["heading"][number])
        assert pose == world.place
        assert steps["perceived"][number] == looked
        apply_changes(cells, steps["changes"], number)
        assert (cells == cells_of(world)).all()
        if task:
            assert steps["value"][number] == pytest.approx(task.value(world, replay.world), abs=1e-6)
        looked = bits(world)
    assert [list(test) for test in steps["tests"]] == tests
    assert [list(test) for test in answer["final_tests"]] == [
        [numbers[id(statement)], int(held)] for statement, held in walker.tests
    ]
    assert answer["final_perceived"] == bits(world)
    assert answer["outcome"] == OUTCOMES[walker.outcome]
    assert answer["total"] == answer["shown"] == walker.steps == len(steps["row"])


def cells_of(world: World) -> np.ndarray:
    return np.where(world.ground == WALL, -1, world.markers.astype(int))


def initial_cells(answer: dict[str, Any]) -> np.ndarray:
    """Return the cells of the world in the answer, before the first step."""
    return cells_of(World.of(answer["world"]["rows"], *answer["world"]["karel"]))


def apply_changes(cells: np.ndarray, changes: list[list[int]], step: int) -> None:
    for at, row, column, markers in changes:
        if at == step:
            assert cells[row, column] != markers, "only changed cells are listed"
            cells[row, column] = markers


@given(programs, worlds())
def test_a_replay_without_a_task_equals_the_interpreter(program: Program, world: World) -> None:
    if read(to_line(program), LANGUAGE).tree is not None:  # it may be too long
        rollout = replayed(to_line(program), None, world)
        check_against_the_interpreter(rollout.answer(), rollout.reading.program, rollout)


@given(programs, st.integers(1, 100), st.integers(0, 100))
def test_a_replay_with_a_limit_of_calls_equals_the_interpreter(
    program: Program, calls: int, index: int
) -> None:
    task = get("seeder").within_calls(calls)
    rollout = replayed(to_line(program), task, task.worlds(1, 0, first=index).world(0))
    check_against_the_interpreter(rollout.answer(), program, rollout)


@pytest.mark.parametrize("task", START)
@pytest.mark.parametrize("index", [0, 3])
def test_a_replay_with_a_task_equals_the_interpreter(task: str, index: int) -> None:
    fields = Fields({"program": to_line(START[task]), "task": task, "index": index, "seed": 5})
    rollout = karel_rollout(fields)
    check_against_the_interpreter(rollout.answer(), rollout.reading.program, rollout)


@pytest.mark.parametrize("task", START)
def test_replaying_the_changes_gives_the_executors_final_world(task: str) -> None:
    program = START[task]
    for index in range(5):
        answer = answer_to(program=to_line(program), task=task, index=index, seed=1)
        world = get(task).worlds(1, 1, first=index)
        rollouts = run(KAREL.compile(program), world, get(task).horizon(), get(task).hooks, want_final=True)
        cells = initial_cells(answer)
        for step in range(answer["shown"]):
            apply_changes(cells, answer["steps"]["changes"], step)
        assert rollouts.final is not None
        assert rollouts.returns is not None
        final = rollouts.final.world(0)
        assert (cells == cells_of(final)).all()
        if answer["shown"]:
            last = [answer["steps"][name][-1] for name in ("row", "column", "heading")]
            assert last == list(final.place)
            assert answer["steps"]["value"][-1] == pytest.approx(answer["return"], abs=1e-6)
        assert answer["return"] == rollouts.returns[0, 0]
        assert answer["total"] == rollouts.steps[0, 0]
        assert answer["outcome"] == OUTCOMES[Outcome(int(rollouts.outcome[0, 0]))]


def test_the_values_of_steps_include_the_cost_per_action() -> None:
    free = answer_to(program=MAZE, task="maze")
    costly = answer_to(program=MAZE, task="maze~cost")
    cost = 0.0001 * (1 + np.arange(free["total"]))
    np.testing.assert_allclose(costly["steps"]["value"], free["steps"]["value"] - cost, rtol=0, atol=1e-6)
    assert costly["return"] == pytest.approx(costly["steps"]["value"][-1], abs=1e-6)


def test_worlds_are_numbered_as_in_an_evaluation() -> None:
    answer = answer_to(program=MAZE, task="maze", index=17, seed=9, size=[10, 12])
    world = get("maze").worlds(18, 9, (10, 12)).world(17)
    assert answer["world"] == {"rows": world.rows(), "karel": list(world.place)}
    assert answer["exits"] == np.argwhere(world.ground == EXIT).tolist()
    assert answer["horizon"] == 1200


def test_statements_have_their_text_span_and_kind() -> None:
    answer = answer_to(program=MAZE, task="maze")
    assert [statement["text"] for statement in answer["statements"]] == [
        "WHILE c( noMarkersPresent c)",
        "IF c( rightIsClear c)",
        "turnRight",
        "move",
    ]
    assert all(cut(MAZE, statement["span"]) == statement["text"] for statement in answer["statements"])
    assert [statement["kind"] for statement in answer["statements"]] == ["while", "if", "action", "action"]
    assert [statement["path"] for statement in answer["statements"]] == [[], [0], [0, 1], [0]]


def test_doors_and_walls_made_by_a_task_are_recorded() -> None:
    answer = answer_to(program=to_line(START["one-stroke"]), task="one-stroke")
    assert any(markers == -1 for *_, markers in answer["steps"]["changes"])
    key = to_line(START["door-key"])
    answers = [answer_to(program=key, task="door-key", index=index) for index in range(20)]
    opened = [
        (row, column)
        for answer in answers
        for _, row, column, markers in answer["steps"]["changes"]
        if answer["world"]["rows"][row][column] == "#" and markers == 0
    ]
    assert opened


def test_a_drawn_world_has_the_tasks_rules() -> None:
    drawn = {"rows": ["#####", "#..1#", "#...#", "#...#", "#####"], "karel": [1, 1, 1]}
    answer = answer_to(program=WALK, task="maze", world=drawn)
    assert answer["world"] == drawn
    assert answer["exits"] == [[1, 3]]
    assert (answer["outcome"], answer["return"], answer["total"]) == ("ended", 1.0, 2)
    assert answer["final_tests"] == []


def test_a_drawn_world_without_a_task_has_none() -> None:
    drawn = {"rows": ["#####", "#..1#", "#####"], "karel": [1, 1, 1]}
    answer = answer_to(program=WALK, task=None, world=drawn)
    assert (answer["outcome"], answer["return"], answer["total"]) == ("halted", None, 2)
    assert answer["steps"]["value"] == [None, None]
    assert answer["exits"] == []
    assert answer["final_tests"] == [(0, 0)]
    assert answer["final_perceived"] == "00010"
    assert answer["horizon"] == 150


def test_a_drawn_world_is_checked_against_its_task() -> None:
    drawn = {"rows": ["#####", "#..1#", "#####"], "karel": [1, 1, 1]}
    with pytest.raises(RequestError, match="needs at least 6x6"):
        answer_to(program=WALK, task="door-key", world=drawn)
    with pytest.raises(RequestError, match="found both"):
        answer_to(program=WALK, task="top-off", world=drawn, index=1)


def test_a_program_must_be_one() -> None:
    with pytest.raises(RequestError, match="'jump' is not a token"):
        answer_to(program="DEF run m( jump m)", task="maze")


@pytest.mark.parametrize("index", [-1, 1_000_000, "1"])
def test_an_index_is_bounded(index: object) -> None:
    with pytest.raises(RequestError, match="index"):
        answer_to(program=WALK, task="maze", index=index)


def test_a_long_rollout_is_truncated() -> None:
    circles = "DEF run m( WHILE c( noMarkersPresent c) w( turnLeft w) m)"
    answer = answer_to(program=circles, task="four-corner", size=[50, 50])
    assert (answer["shown"], answer["total"], answer["horizon"]) == (20_000, 25_000, 25_000)
    assert {len(answer["steps"][name]) for name in ("statement", "row", "value", "perceived")} == {20_000}
    assert len(answer["steps"]["tests"]) == 20_000
    assert answer["final_tests"] == []
    assert answer["outcome"] == "cut-off"


def test_a_rollout_with_too_many_tests_is_truncated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollouts, "TESTS", 100)
    circles = "DEF run m( WHILE c( noMarkersPresent c) w( IF c( noMarkersPresent c) i( turnLeft i) w) m)"
    answer = answer_to(program=circles, task="four-corner")
    assert answer["shown"] == 50
    assert len(answer["steps"]["tests"]) == 100
    assert len(answer["steps"]["row"]) == len(answer["steps"]["perceived"]) == 50
    assert answer["total"] == 1440
    assert answer["final_tests"] == []


def test_several_worlds_at_once() -> None:
    fields = {"program": MAZE, "task": "maze", "seed": 3, "size": [9, 9]}
    several = rollouts_of(Fields(fields | {"indices": [4, 0, 4]}), 6)
    assert [one.answer() for one in several] == [answer_to(**fields, index=index) for index in (4, 0, 4)]
    for indices in ([], [0] * 7, ["0"], [None], [True], 3, [-1]):
        with pytest.raises(RequestError, match="indices"):
            rollouts_of(Fields(fields | {"indices": indices}), 6)


def test_the_world_that_was_given_is_not_changed() -> None:
    world = World.of(["####", "#1.#", "####"], 1, 1, 1)
    replayed("DEF run m( pickMarker move m)", None, world).answer()
    assert world.rows() == ["####", "#1.#", "####"]
    assert world.place == (1, 1, 1)


@given(st.integers(0, 15))
def test_all_perceptions_are_recorded_in_their_order(code: int) -> None:
    assert FLOOR == 0
    assert _PERCEIVED[code] == "".join(str(int(TRUTH[i, code])) for i in range(5))


def test_a_rollout_cut_off_at_the_horizon_has_its_final_tests() -> None:
    world = Worlds.stack([World.parse("####\n#>.#\n####")]).world(0)
    program = parse("DEF run m( WHILE c( frontIsClear c) w( turnLeft turnRight w) m)", LANGUAGE)
    rollout = replayed(to_line(program), None, world)
    answer = rollout.answer()
    assert answer["outcome"] == "cut-off"
    assert answer["final_tests"] == [(0, 1)]


def filmed(**fields: Any) -> Replayed:
    return karel_rollout(Fields({"program": WALK, "task": "top-off"} | fields))


def frames_of(content: bytes) -> int:
    image = Image.open(io.BytesIO(content))
    assert image.format == "GIF"
    return int(getattr(image, "n_frames", 1))


def test_a_rollout_is_filmed_from_its_first_state_to_its_last() -> None:
    assert frames_of(filmed().film()) == 10
    assert frames_of(filmed(program="DEF run m( move m)").film()) == 2


def test_a_long_rollout_is_filmed_at_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaps.studio.rollouts.FRAMES", 5)
    assert frames_of(filmed().film()) == 5
    assert FRAMES == 400


def test_a_large_world_is_not_filmed() -> None:
    filmed(size=[40, 40]).check_film()
    with pytest.raises(RequestError, match="at most 40 cells a side, found 8x41"):
        filmed(size=[8, 41]).check_film()


def test_a_drawn_world_is_filmed() -> None:
    drawn = {"rows": ["#####", "#..1#", "#####"], "karel": [1, 1, 1]}
    assert frames_of(filmed(task=None, world=drawn).film()) == 3
