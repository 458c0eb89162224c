"""Checkpoints: an interrupted search resumes identically."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from leaps.search import checkpoint
from leaps.search.checkpoint import Checkpoints, state_of
from leaps.search.methods import METHODS
from leaps.search.solve import Round, Run, SolveConfig, work
from tests.embedding.helpers import needs_shipped_weights
from tests.search.solutions import assert_same

pytestmark = needs_shipped_weights


def interrupted(config: SolveConfig, rounds: int, folder: Path) -> Run:
    """Search for some rounds, save the state, and run a few more rounds, which are lost."""
    run = Run(config)
    for _ in range(rounds):
        run.step()
    Checkpoints(run, folder).write()
    for _ in range(2):
        if not run.finished:
            run.step()
    return run


def test_a_search_at_several_sizes_resumes_at_all_sizes(tmp_path: Path) -> None:
    config = SolveConfig("harvester", seed=2, budget=3000, also=((9, 9), (12, 17)))
    interrupted(config, 6, tmp_path)
    again = Run(config)
    assert Checkpoints(again, tmp_path).resume()
    assert [batch.size for batch in again.objective.elsewhere] == [(9, 9), (12, 17)]
    assert_same(work(again), work(Run(config)))


@pytest.mark.parametrize("method", [name for name in METHODS if not name.startswith("random")])
def test_a_resumed_search_finds_the_same_program(method: str, tmp_path: Path) -> None:
    config = SolveConfig("four-corner", method, 3, budget=2000)
    interrupted(config, 4, tmp_path)
    again = Run(config)
    assert Checkpoints(again, tmp_path).resume()
    assert again.objective.evaluations > 0
    assert_same(work(again), work(Run(config)))


def test_added_worlds_survive_a_resume(tmp_path: Path) -> None:
    """Snake's first programs overfit their worlds, so counterexamples are soon added."""
    config = SolveConfig("snake", seed=3, budget=25_000)
    run = Run(config)
    while run.objective.worlds.count == 32 and not run.finished:
        run.step()
    for _ in range(50):  # and the climbs were scored again
        run.step()
    Checkpoints(run, tmp_path).write()
    again = Run(config)
    assert Checkpoints(again, tmp_path).resume()
    assert again.objective.worlds.count == run.objective.worlds.count > 32
    for _ in range(100):
        one, other = run.step(), again.step()
        assert (one.best_so_far, one.evaluations, one.worlds) == (
            other.best_so_far,
            other.evaluations,
            other.worlds,
        )
        assert (one.asked == other.asked).all()


def test_seconds_accumulate_over_a_resume(tmp_path: Path) -> None:
    config = SolveConfig("snake", seed=1, budget=5000)
    run = interrupted(config, 20, tmp_path)
    again = Run(config)
    checkpoints = Checkpoints(again, tmp_path)
    state = json.loads(checkpoints.file.read_text())["state"]
    checkpoints.resume()
    assert again.step().seconds > state["seconds"] > 0
    assert state_of(run)["seconds"] > state["seconds"]


@pytest.mark.parametrize("other", [{"seed": 4}, {"budget": 999}, {"task": "maze"}, {"size": (10, 10)}])
def test_another_configuration_does_not_resume_it(other: dict[str, object], tmp_path: Path) -> None:
    config = {"task": "snake", "seed": 3, "budget": 1000}
    interrupted(SolveConfig(**config), 3, tmp_path)  # type: ignore[arg-type]
    run = Run(SolveConfig(**{**config, **other}))  # type: ignore[arg-type]
    assert not Checkpoints(run, tmp_path).resume()
    assert run.objective.evaluations == 0


def test_another_search_in_the_folder_leaves_the_checkpoint_alone(tmp_path: Path) -> None:
    config, other = (SolveConfig("snake", seed=3, budget=budget) for budget in (1000, 2000))
    interrupted(config, 3, tmp_path)
    interrupted(other, 5, tmp_path)
    Checkpoints(Run(other), tmp_path).remove()
    again = Run(config)
    assert Checkpoints(again, tmp_path).resume()
    assert_same(work(again), work(Run(config)))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": "0.0.1"}'])
def test_an_invalid_checkpoint_is_ignored(content: str, tmp_path: Path) -> None:
    checkpoints = Checkpoints(Run(SolveConfig("maze")), tmp_path)
    checkpoints.file.write_text(content)
    assert not checkpoints.resume()


def test_a_checkpoint_of_another_format_is_ignored(tmp_path: Path) -> None:
    config = SolveConfig("snake", seed=3, budget=1000)
    interrupted(config, 3, tmp_path)
    file = Checkpoints(Run(config), tmp_path).file
    stored = json.loads(file.read_text())
    for older in ({**stored, "format": 1}, {name: part for name, part in stored.items() if name != "format"}):
        file.write_text(json.dumps(older))
        run = Run(config)
        assert not Checkpoints(run, tmp_path).resume()
        assert run.objective.evaluations == 0
    file.write_text(json.dumps(stored))
    assert Checkpoints(Run(config), tmp_path).resume()


def test_without_a_checkpoint_a_search_starts(tmp_path: Path) -> None:
    assert not Checkpoints(Run(SolveConfig("maze")), tmp_path / "nowhere").resume()


def test_a_checkpoint_is_written_regularly_and_removed_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    # A clock for this module only: other threads of this process use the real one.
    monkeypatch.setattr("leaps.search.checkpoint.time", SimpleNamespace(monotonic=lambda: now))
    run = Run(SolveConfig("snake", budget=1000))
    checkpoints = Checkpoints(run, tmp_path)
    file = checkpoints.file
    seen: list[int] = []
    """rounds whose state was kept"""

    def watch(step: Round) -> None:
        nonlocal now
        checkpoints(step)
        kept = json.loads(file.read_text())["state"]["round"]
        seen.append(kept)
        now += checkpoint.EVERY / 2

    work(run, watch)
    # The first one at once, for early interruptions; then not in every round.
    assert seen[:6] == [1, 1, 3, 3, 5, 5]
    checkpoints.remove()
    assert not list(tmp_path.iterdir())
    checkpoints.remove()  # there may be none


def test_a_checkpoint_without_digests_is_read(tmp_path: Path) -> None:
    """Like the files of earlier versions."""
    config = SolveConfig("four-corner", seed=3, budget=2000)
    interrupted(config, 4, tmp_path)
    file = Checkpoints(Run(config), tmp_path).file
    stored = json.loads(file.read_text())
    assert stored.pop("files") == {}
    assert stored.pop("tokens")[:3] == ["DEF", "run", "m("]
    file.write_text(json.dumps(stored))
    again = Run(config)
    assert Checkpoints(again, tmp_path).resume()
    assert_same(work(again), work(Run(config)))


def test_a_checkpoint_in_another_language_raises(tmp_path: Path) -> None:
    config = SolveConfig("four-corner", seed=3, budget=2000)
    interrupted(config, 4, tmp_path)
    file = Checkpoints(Run(config), tmp_path).file
    stored = json.loads(file.read_text())
    stored["tokens"][4:6] = stored["tokens"][5:3:-1]
    file.write_text(json.dumps(stored))
    run = Run(config)
    with pytest.raises(ValueError, match=r"the task's actions or perceptions changed .* or delete .*json"):
        Checkpoints(run, tmp_path).resume()
    assert run.objective.evaluations == 0


@pytest.mark.parametrize("edited", ["task", "method", "imported"])
def test_a_checkpoint_of_an_edited_file_raises(edited: str, tmp_path: Path) -> None:
    task, method = tmp_path / "task.py", tmp_path / "method.py"
    (tmp_path / "imported.py").write_text("LIMIT = 100\n")
    task.write_text("import imported\nfrom leaps.karel.tasks.maze import MAZE\n")
    method.write_text(
        "from leaps.search.methods import get_method\n\n\n"
        "def my_search(setting):\n    return get_method('hc').build(setting)\n"
    )
    config = SolveConfig(f"{task}:MAZE", f"{method}:my_search", 3, budget=200)
    run = Run(config)
    run.step()
    Checkpoints(run, tmp_path).write()
    file = tmp_path / f"{edited}.py"
    before = file.read_text()
    file.write_text(f"{before}\n")
    again = Run(config)
    blamed = "task" if edited == "imported" else edited
    with pytest.raises(ValueError, match=rf"{blamed}.py, or a file that it imports, changed since this"):
        Checkpoints(again, tmp_path).resume()
    assert again.objective.evaluations == 0
    file.write_text(before)
    assert Checkpoints(Run(config), tmp_path).resume()
