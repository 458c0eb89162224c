"""User tasks in the studio: they work like tasks of the package, and no other file can be requested."""

import json
from pathlib import Path

import pytest

from leaps.evaluate import evaluate
from leaps.studio.offer import offered
from leaps.studio.rollouts import Replayed
from leaps.studio.server import Start, Studio
from tests.karel.tasks.corridor import SOLUTION, edit
from tests.studio.harness import WALK, running


def test_user_task_is_listed_and_scored_like_tasks_of_the_package(corridor: Path) -> None:
    with running(start=Start.of(f"{corridor}:CORRIDOR~100")) as server:
        result = server.get("/api/about").json
        assert result["start"] == {"task": "corridor~100", "program": None}
        assert [task["name"] for task in result["tasks"]] == [*offered(), "corridor"]
        assert [task["name"] for task in result["tasks"] if task["group"] == "Your own"] == ["corridor"]
        own = result["tasks"][-1]
        assert own["summary"] == "leave a marker in the last cell of a corridor"
        assert (own["title"], own["size"], own["horizon"]) == ("Corridor", [4, 12], 480)
        assert str(corridor.parent) not in json.dumps(result)
        for name, program in (
            ("corridor", SOLUTION),
            ("corridor~7", SOLUTION),
            ("corridor", own["program"]),
        ):
            scored = server.result("/api/evaluate", program=program, task=name, seed=4, size=[4, 30])
            known = name.replace("corridor", f"{corridor}:CORRIDOR")
            expected = evaluate(program, known, seed=4, size=(4, 30))
            assert scored["returns"] == expected.returns[0].tolist()
            assert scored["steps"] == expected.rollouts.steps[0].tolist()


def test_user_task_has_rollouts_drawn_worlds_and_films(corridor: Path) -> None:
    with running(start=Start.of(f"{corridor}:CORRIDOR")) as server:
        asked = {"program": SOLUTION, "task": "corridor"}
        one = server.result("/api/rollout", **asked, index=3)
        assert (one["return"], one["outcome"]) == (1.0, "halted")
        assert server.result("/api/rollouts", **asked, indices=[3, 5])["rollouts"][0] == one
        drawn = {"rows": ["######", "#....#", "######"], "karel": [1, 1, 1]}
        result = server.result("/api/rollout", **asked, world=drawn)
        assert (result["return"], result["steps"]["value"]) == (1.0, [0.0, 0.0, 0.0, 1.0])
        answer = server.post("/api/gif", asked | {"task": "corridor~9"})
        assert answer.headers["content-disposition"] == 'attachment; filename="corridor-9.gif"'


def test_film_has_a_plain_file_name_for_any_task_name(corridor: Path) -> None:
    edit(corridor, 'name="corridor"', 'name="Flur\\r\\n\\"ü→"')
    with running(start=Start.of(f"{corridor}:CORRIDOR")) as server:
        answer = server.post("/api/gif", {"program": SOLUTION, "task": 'Flur\r\n"ü→'})
        assert answer.headers["content-disposition"] == 'attachment; filename="Flur-----.gif"'


def test_search_finds_a_program_for_a_user_task(corridor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corridor.parent)
    start = Start.of("corridor.py:CORRIDOR")
    monkeypatch.chdir("/")
    with running(start=start) as server:
        events = server.get("/api/solve?task=corridor~60&method=hc&budget=20000").body.decode()
        end = json.loads(events.rpartition("event: end\ndata: ")[2])
        assert end["solved"]
        assert evaluate(end["program"], f"{corridor}:CORRIDOR~60", seed=9).returns.min() == 1.0


@pytest.mark.parametrize("started_with_it", [True, False])
def test_request_with_a_file_is_refused(
    corridor: Path, started_with_it: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corridor.parent)
    with running(start=Start.of(f"{corridor}:CORRIDOR") if started_with_it else None) as server:
        trace = corridor.parent / "imported"
        edit(corridor, "CORRIDOR = KarelTask(", f"open({str(trace)!r}, 'w').close()\nCORRIDOR = KarelTask(")
        for name in (
            "corridor.py:CORRIDOR",
            "corridor.py:CORRIDOR~9",
            "./corridor.py:CORRIDOR",
            "corridor.py",
        ):
            for path in ("evaluate", "rollout", "gif"):
                answer = server.post(f"/api/{path}", {"program": WALK, "task": name})
                assert answer.status == 422
                assert answer.json["error"].startswith("task: unknown task")
            assert server.get(f"/api/solve?task={name}").status == 422
        assert not trace.exists()


def test_next_request_uses_the_edited_user_task(corridor: Path) -> None:
    with running(start=Start.of(f"{corridor}:CORRIDOR")) as server:
        asked = {"program": SOLUTION, "task": "corridor"}
        assert server.result("/api/evaluate", **asked)["mean"] == 1.0
        edit(corridor, "return 1.0 if", "return 0.5 if")
        edit(corridor, "size=(4, 12)", "size=(5, 9)")
        edit(corridor, 'name="corridor"', 'name="hall"')  # the page still requests it by its first name
        assert server.result("/api/evaluate", **asked)["mean"] == 0.5
        assert len(server.result("/api/rollout", **asked)["world"]["rows"]) == 5
        (own,) = (task for task in server.get("/api/about").json["tasks"] if task["group"] == "Your own")
        assert (own["name"], own["size"]) == ("corridor", [5, 9])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("def value(", "def value(:", "{file}, line 15: SyntaxError: invalid syntax"),
        ("    last = 1\n", "    last = [1][1]\n", "{file}, line 17: IndexError: list index out of range"),
        (
            "    last = 1\n",
            "    last = int.from_bytes(b'1', 'big') - 48\n",
            "{file}, line 15: value can't be compiled",
        ),
        ("    clear(world)\n", "", "corridor: expected wall all around"),
        ("else 0.0", "else np.nan", "corridor: a state's value must be a finite number, found nan"),
    ],
)
def test_errors_of_a_user_task_are_reported_until_the_file_is_fixed(
    corridor: Path, old: str, new: str, message: str
) -> None:
    edit(corridor, "from leaps.base.randomness", "import numpy as np; from leaps.base.randomness")
    source = corridor.read_text()
    with running(start=Start.of(f"{corridor}:CORRIDOR")) as server:
        edit(corridor, old, new)
        for path, more in (("evaluate", {}), ("rollout", {}), ("rollouts", {"indices": [0]})):
            answer = server.post(f"/api/{path}", {"program": WALK, "task": "corridor", **more})
            assert answer.status == 422
            assert answer.json["error"].startswith("task: " + message.format(file=corridor))
        (own,) = (task for task in server.get("/api/about").json["tasks"] if task["group"] == "Your own")
        assert own["size"] == [4, 12]
        assert server.result("/api/evaluate", program=WALK, task="maze")["valid"]
        corridor.write_text(source)
        assert server.result("/api/evaluate", program=SOLUTION, task="corridor")["mean"] == 1.0


def test_broken_user_task_does_not_stop_the_warm_up(corridor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready: list[str] = []
    monkeypatch.setattr(Replayed, "answer", lambda rollout: ready.append(rollout.task.name))
    studio = Studio(Start.of(f"{corridor}:CORRIDOR"), warm=False)
    monkeypatch.setattr(studio, "draw_map", lambda: ready.append("map"))
    studio._warm_up()
    edit(corridor, "    last = 1\n", "    last = [1][1]\n")
    studio._warm_up()
    studio.stop()
    assert ready == ["corridor", *offered(), "map", *offered(), "map"]
