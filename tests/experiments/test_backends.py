"""Each backend against the real thing: processes, a Dask cluster and a Ray cluster on this machine."""

import os
import re
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaps.base import parallel
from leaps.experiments import backends
from leaps.experiments.backends import Backend, Dask, Failure, Local, connect

PATIENT = 30  # seconds; machines that test are slow machines

RAY_HEAD = """
import sys, ray
print(ray.init(
    num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False,
    object_store_memory=80_000_000, _temp_dir=sys.argv[1],
).address_info["address"], flush=True)
sys.stdin.read()
ray.shutdown()
"""


@pytest.fixture(scope="module")
def local() -> Iterator[Backend]:
    backend = connect("local", jobs=2)
    yield backend
    backend.close()


@pytest.fixture  # not of the module: a worker's keeper doesn't always survive many deaths of it
def dask_cluster() -> Iterator[Any]:
    import dask
    from distributed import LocalCluster

    # One failure is allowed instead of three, since every worker that dies costs a second.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs="CRITICAL",
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def dask(dask_cluster: Any) -> Iterator[Backend]:
    with pytest.MonkeyPatch.context() as patience:
        patience.setattr(backends, "PATIENCE", 90.0)
        backend = connect("dask", dask_cluster.scheduler_address)
    yield backend
    backend.close()


@pytest.fixture(scope="module")
def ray() -> Iterator[Backend]:
    with (
        tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder,
        subprocess.Popen(
            [sys.executable, "-c", RAY_HEAD, folder],  # its sockets' paths must be short
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as head,
    ):
        assert head.stdout is not None
        address = head.stdout.readline().strip()
        with pytest.MonkeyPatch.context() as patience:  # freshly installed, on a busy machine
            patience.setattr(backends, "PATIENCE", 90.0)
            backend = connect("ray", address)
        yield backend
        backend.close()


@pytest.fixture(params=["local", "dask", "ray"])
def backend(request: pytest.FixtureRequest) -> Backend:
    found: Backend = request.getfixturevalue(request.param)
    return found


def working_in(folder: Path) -> Callable[[Any], Any]:
    """Work that squares numbers and obeys words; made in a function, so that it is pickled by value."""

    def work(item: Any) -> Any:
        with (folder / f"{item} began").open("a") as file:
            file.write(".")
        if item == "raise":
            raise LookupError("no such marker")
        if item == "die" or (item == "die once" and not (folder / "died").exists()):
            (folder / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if isinstance(item, str):
            return item.upper()
        time.sleep(0.01)
        return np.int64(item) ** 2

    return work


def answers(backend: Backend, work: Callable[[Any], Any], items: Sequence[Any]) -> dict[Any, Any]:
    """All answers by item; fails if a number comes twice or is missing."""
    found = list(backend.run(work, items))
    assert sorted(number for number, _ in found) == list(range(len(items)))
    return {items[number]: answer for number, answer in found}


def test_every_item_is_answered_exactly_once(backend: Backend, tmp_path: Path) -> None:
    assert answers(backend, working_in(tmp_path), range(30)) == {n: n * n for n in range(30)}


def test_no_items_no_answers(backend: Backend, tmp_path: Path) -> None:
    assert answers(backend, working_in(tmp_path), []) == {}


def test_raising_item_is_a_failure_and_others_continue(backend: Backend, tmp_path: Path) -> None:
    found = answers(backend, working_in(tmp_path), [1, 2, "raise", 3, 4])
    failure = found.pop("raise")
    assert isinstance(failure, Failure)
    assert failure.message.startswith("LookupError: no such marker (test_backends.py:")
    assert failure.message.endswith("in work)")
    assert found == {1: 1, 2: 4, 3: 9, 4: 16}


def test_item_of_a_killed_worker_is_retried(backend: Backend, tmp_path: Path) -> None:
    items = [*range(6), "die once", *range(6, 12)]
    expected = {n: n * n for n in range(12)} | {"die once": "DIE ONCE"}
    assert answers(backend, working_in(tmp_path), items) == expected
    assert (tmp_path / "died").exists()


def test_an_item_that_always_kills_its_worker_is_a_failure(backend: Backend, tmp_path: Path) -> None:
    found = answers(backend, working_in(tmp_path), [0, 1, "die", *range(2, 12)])
    failure = found.pop("die")
    assert isinstance(failure, Failure)
    assert re.match(r"the worker (process )?died \d times", failure.message)
    assert found == {n: n * n for n in range(12)}
    times = len((tmp_path / "die began").read_text())
    assert times == (4 if backend.name == "dask" else 3)  # twice, and twice alone


def test_a_worker_uses_one_thread(backend: Backend) -> None:
    assert [answer for _, answer in backend.run(lambda _: parallel.threads(), [0])] == [1]


class Watched(Sequence[int]):
    """Numbers that know how many of them were asked for."""

    asked = 0

    def __len__(self) -> int:
        return 40

    def __getitem__(self, number: Any) -> Any:
        self.asked = max(self.asked, number + 1)
        return number


@pytest.mark.parametrize("cluster", ["dask", "ray"])
def test_a_cluster_is_not_flooded(cluster: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    backend: Backend = request.getfixturevalue(cluster)
    items = Watched()
    ahead = [items.asked - done for done, _ in enumerate(backend.run(working_in(tmp_path), items))]
    assert len(ahead) == 40
    assert max(ahead) == 2 * backends.PER_WORKER


def test_interrupted_run_leaves_nothing_on_ray(ray: Backend, tmp_path: Path) -> None:
    run = ray.run(lambda item: time.sleep(600 * item), [0, 1, 1, 1])
    assert next(run) == (0, None)
    del run
    assert answers(ray, working_in(tmp_path), range(3)) == {0: 0, 1: 1, 2: 4}


def test_interrupted_run_leaves_nothing_on_dask(dask: Dask, tmp_path: Path) -> None:
    def wait(item: int) -> None:  # for the end of the test, since threads can't be interrupted
        while item and not (tmp_path / "end").exists():
            time.sleep(0.01)

    run = dask.run(wait, [0, 1, 1, 1])
    assert next(run) == (0, None)
    del run
    within_seconds(
        lambda: not dask._client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
    )
    (tmp_path / "end").touch()


def test_answer_of_a_worker_that_died_later_counts(dask: Dask, tmp_path: Path) -> None:
    def work(item: int) -> int:
        (tmp_path / str(item)).write_text(str(os.getpid()))
        return item

    run = dask.run(work, range(4))
    found = [next(run)]  # and the caller is busy with it while the others come, and their workers go
    within_seconds(lambda: all((tmp_path / str(item)).exists() for item in range(4)))
    time.sleep(0.5)
    for process in {int((tmp_path / str(item)).read_text()) for item in range(4)}:
        os.kill(process, signal.SIGKILL)
    time.sleep(0.5)
    found += list(run)
    assert sorted(found) == [(item, item) for item in range(4)]


def test_lost_scheduler_raises(dask_cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "PATIENCE", 10.0)  # it is waited for, half as long
    backend = connect("dask", dask_cluster.scheduler_address)
    run = backend.run(lambda item: time.sleep(0.1 * item), range(100))
    next(run)
    dask_cluster.close()
    with pytest.raises(ConnectionError, match="lost the dask cluster"):
        list(run)
    backend.close()


def within_seconds(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENT
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def alive(process: int) -> bool:
    try:
        return "zombie" not in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False


def test_worker_death_repeats_no_other_items(local: Backend, tmp_path: Path) -> None:
    found = answers(local, working_in(tmp_path), [*range(20), "die", *range(20, 40)])
    assert [n for n in range(40) if (tmp_path / f"{n} began").read_text() != "."] == []
    assert found["die"] == Failure(
        "the worker process died 3 times, with exit codes SIGKILL(-9), SIGKILL(-9), SIGKILL(-9)"
    )


def test_answers_come_as_they_are_found(local: Backend, tmp_path: Path) -> None:
    def work(item: str) -> str:  # the slow one can't end before the quick one's answer is seen
        while item == "slow" and not (tmp_path / "seen").exists():
            time.sleep(0.01)
        return item

    run = local.run(work, ["slow", "quick"])
    assert next(run) == (1, "quick")
    (tmp_path / "seen").touch()
    assert list(run) == [(0, "slow")]


def test_workers_continue_while_the_caller_is_busy(local: Backend, tmp_path: Path) -> None:
    run = local.run(working_in(tmp_path), range(8))
    next(run)
    within_seconds(lambda: (tmp_path / "7 began").exists())
    assert len(list(run)) == 7


def test_unpicklable_item_is_a_failure(local: Backend) -> None:
    items = ["plain", "answer", threading.Lock()]
    found = dict(local.run(lambda item: threading.Lock() if item == "answer" else item, items))
    assert found.pop(0) == "plain"
    assert [isinstance(answer, Failure) and "pickle" in answer.message for answer in found.values()] == [
        True,
        True,
    ]


def test_local_workers_have_one_thread_for_libraries(local: Backend) -> None:
    def work(_: int) -> tuple[int, int]:
        import torch

        return torch.get_num_threads(), parallel.threads()

    assert list(local.run(work, [0])) == [(0, (1, 1))]


def test_interrupted_local_run_ends_its_workers(local: Backend) -> None:
    run = local.run(lambda item: os.getpid() if item == 0 else time.sleep(600), [0, 1, 2])
    _, process = next(run)
    del run
    assert not alive(process)  # type: ignore[arg-type]


def test_closing_ends_the_workers() -> None:
    backend = Local(1)
    run = backend.run(lambda item: os.getpid() if item == 0 else time.sleep(600), [0, 1])
    _, process = next(run)
    backend.close()
    assert not alive(process)  # type: ignore[arg-type]


CALLER = """
import os, time
from leaps.experiments.backends import Local

def work(item):
    if item > 1:
        time.sleep(600)
    time.sleep(0.5)  # so that both workers get one
    return os.getpid()

if __name__ == "__main__":
    try:
        for _, process in Local(2).run(work, range(6)):
            print(process, flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.fixture
def caller(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    (tmp_path / "caller.py").write_text(CALLER)
    with subprocess.Popen(
        [sys.executable, tmp_path / "caller.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as in a terminal, Ctrl-C reaches the caller and its workers
    ) as process:
        yield process
        process.kill()


def test_control_c_ends_the_workers_and_reaches_the_caller(caller: "subprocess.Popen[str]") -> None:
    assert caller.stdout is not None
    workers = {int(caller.stdout.readline()) for _ in range(2)}
    os.killpg(caller.pid, signal.SIGINT)
    output, complaints = caller.communicate(timeout=PATIENT)
    assert (output, complaints, caller.returncode) == ("interrupted\n", "", 0)
    assert not any(alive(worker) for worker in workers)


def test_workers_end_when_their_caller_is_killed(caller: "subprocess.Popen[str]") -> None:
    assert caller.stdout is not None
    workers = {int(caller.stdout.readline()) for _ in range(2)}
    caller.kill()
    within_seconds(lambda: not any(alive(worker) for worker in workers))


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that nobody listens at, or can while this one has it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port where somebody takes calls and says nothing."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


@pytest.mark.parametrize(
    ("name", "form"),
    [("dask", "tcp://{}"), ("ray", "{}"), ("ray", "ray://{}")],
    ids=["dask", "ray", "client"],
)
def test_unreachable_address_raises(name: str, form: str, closed_port: int) -> None:
    address = form.format(f"127.0.0.1:{closed_port}")
    began = time.monotonic()
    with pytest.raises(ValueError, match=f"no {name} cluster answers at '{address}'; expected .*host:port"):
        connect(name, address)
    assert time.monotonic() - began < 20


def connecting(name: str, address: str, patience: float) -> "subprocess.CompletedProcess[str]":
    """Connect in a process of its own, since the libraries try on."""
    code = f"""
from leaps.experiments import backends
backends.PATIENCE = {patience}
try:
    backends.connect({name!r}, {address!r})
except ValueError as error:
    print(error)
"""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("name", "form"),
    [("dask", "tcp://{}"), ("ray", "{}"), ("ray", "ray://{}")],
    ids=["dask", "ray", "client"],
)
def test_silent_server_raises(name: str, form: str, silent_port: int) -> None:
    address = form.format(f"127.0.0.1:{silent_port}")
    done = connecting(name, address, patience=1.0)
    assert done.stdout.startswith(f"no {name} cluster answers at '{address}'; expected ")
    assert done.returncode == 0


@pytest.fixture
def http_port() -> Iterator[int]:
    """The port of a server that answers every request with an HTTP error."""

    class Refusing(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            if self.request.recv(1):
                self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_http_server_is_not_taken_for_a_dask_cluster(http_port: int) -> None:
    """Soon, with usual patience, and without a traceback when Python ends."""
    address = f"tcp://127.0.0.1:{http_port}"
    done = connecting("dask", address, backends.PATIENCE)
    assert done.stdout.startswith(f"no dask cluster answers at '{address}'; expected tcp://host:port")
    assert done.stdout.endswith("(ConnectionError: the server there is not a Dask scheduler)\n")
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("slurm", None, None), "unknown backend 'slurm'; expected local, dask or ray"),
        (
            ("local", "tcp://127.0.0.1:1", None),
            "the local backend takes no address, found 'tcp://127.0.0.1:1'",
        ),
        (("local", None, 0), "jobs must be at least 1, found 0"),
        (("dask", None, None), "dask needs the address of a cluster; expected tcp://host:port"),
        (("ray", None, None), "ray needs the address of a cluster; expected auto, host:port, or ray://"),
        (("dask", "tcp://127.0.0.1:1", 4), "the dask cluster sets how many jobs run at once"),
        (
            ("dask", "127.0.0.1:8786", None),
            "'127.0.0.1:8786' is not the address of a dask cluster; expected tcp://",
        ),
        (("dask", "tcp://127.0.0.1", None), "'tcp://127.0.0.1' is not the address of a dask cluster"),
        (
            ("dask", "tcp://127.0.0.1:http", None),
            "'tcp://127.0.0.1:http' is not the address of a dask cluster",
        ),
        (("ray", "local", None), "'local' is not the address of a ray cluster; expected auto, "),
        (("ray", "http://127.0.0.1:1", None), "'http://127.0.0.1:1' is not the address of a ray cluster"),
    ],
)
def test_wrong_arguments_raise(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        connect(*arguments)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(("name", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_missing_package_raises(name: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ValueError, match=rf"install it with: pip install 'leaps\[{name}\]'"):
        connect(name, "tcp://127.0.0.1:1")


def test_clusters_are_imported_when_they_are_needed() -> None:
    code = (
        "import sys, leaps.experiments.backends as b; b.connect('local'); "
        "print([m for m in ('dask', 'distributed', 'ray', 'joblib', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
