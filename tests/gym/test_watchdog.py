"""The watchdog: an environment that never returns from a step or a reset raises."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaps.base import parallel
from leaps.evaluate import evaluate
from leaps.gym import GymTask
from leaps.gym.watchdog import Pulse, reported
from tests.cli.harness import Leaps
from tests.gym.corridor import CORRIDOR, corridor
from tests.gym.hanging import ASLEEP, HOLDING, RESET, SPINNING

LEFT = "DEF run m( REPEAT R=19 r( left r) m)"
STEP = (
    r"hanging: the environment did not return from step \d+ of the episode with seed \d+ within 0.4 s; if it"
)
FROM_RESET = r"hanging: the environment did not return from reset\(seed=\d*3\) within 0.4 s"
LATEST = 30.0
"""seconds after which a test has hung, on a busy machine"""


@pytest.fixture(autouse=True)
def _one_process() -> Iterator[None]:
    parallel.set_threads(1)
    yield
    parallel.set_threads(None)


def play(task: GymTask) -> None:
    evaluate(LEFT, task, episodes=64)


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    ("task", "message"),
    [(ASLEEP, STEP), (SPINNING, STEP), (RESET, FROM_RESET)],
    ids=["sleep", "spin", "reset"],
)
def test_a_step_or_reset_that_never_returns_raises(task: GymTask, message: str, processes: int) -> None:
    parallel.set_threads(processes)
    begin = time.monotonic()
    with pytest.raises(ValueError, match=message):
        play(task)
    assert time.monotonic() - begin < LATEST


def test_compiled_code_that_never_returns_ends_a_worker() -> None:
    parallel.set_threads(2)
    with pytest.raises(ValueError, match=r"hanging: a worker process ended .* did not return within 0.8 s"):
        play(HOLDING)


def test_workers_continue_after_one_was_ended() -> None:
    parallel.set_threads(2)
    with pytest.raises(ValueError, match=STEP):
        play(ASLEEP)
    assert evaluate(LEFT, CORRIDOR, episodes=64).returns.shape == (1, 64)


def test_an_environment_that_computes_forever_is_interrupted_in_a_thread() -> None:
    messages: list[str] = []

    def trace() -> None:
        with pytest.raises(ValueError, match=STEP) as caught:
            list(SPINNING.course(SPINNING.domain.parse(LEFT), SPINNING.worlds(1, 0)))
        messages.append(str(caught.value))

    thread = threading.Thread(target=trace, daemon=True)
    thread.start()
    thread.join(LATEST)
    assert len(messages) == 1


def test_a_trace_reports_a_hanging_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(__file__).parent / "hanging.py"
    done = Leaps(monkeypatch, capsys)("trace", "-e", LEFT, "--task", f"{file}:ASLEEP")
    assert done.code == 2
    assert "hanging: the environment did not return from step" in done.err


def test_a_slow_step_within_the_limit_is_no_error() -> None:
    class Slow(type(CORRIDOR.environment())):  # type: ignore[misc]
        def step(self, action: int) -> object:
            time.sleep(0.02)
            return super().step(action)

    assert evaluate(LEFT, corridor(make=Slow, seconds=5), episodes=4).rollouts.steps.max() > 0


def test_an_idle_scene_does_not_count_as_hanging() -> None:
    """Reading a trace may take longer than a step may take."""
    task = corridor(seconds=0.2)
    steps = iter(task.course(task.domain.parse(LEFT), task.worlds(1, 0)))
    next(steps)
    time.sleep(0.6)
    next(steps)


@pytest.mark.parametrize("seconds", [0, -1, "60", True])
def test_seconds_must_be_a_positive_number(seconds: object) -> None:
    with pytest.raises(ValueError, match="corridor: seconds: expected a positive number"):
        corridor(seconds=seconds)


def test_a_report_is_read_once(tmp_path: Path) -> None:
    pulse = Pulse("mine", 2.0)
    assert pulse.at_work() is None
    pulse.calls += 1
    assert pulse.at_work() == 1
    (tmp_path / "hangs-1").write_text(str(pulse))
    assert "mine: the environment did not return from step 1" in (reported(tmp_path) or "")
    assert reported(tmp_path) is None
