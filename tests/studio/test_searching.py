"""A search sends events, and ends when the client disconnects."""

import asyncio
import json
import os
import time
from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from leaps.dsl.language import Language
from leaps.dsl.text import parse
from leaps.evaluate import evaluate
from leaps.experiments.explore import Plane
from leaps.karel.world import KAREL, LANGUAGE
from leaps.search.solve import Round, Run, SolveConfig, solve
from leaps.studio import searching
from leaps.studio.mapping import LatentMap
from leaps.studio.requests import RequestError, SearchRequest
from leaps.studio.searching import Searches, StepEvents, encode_event, search
from tests.karel.tasks.corridor import edit
from tests.studio.harness import OWN, search_without_end

QUICK = SearchRequest("four-corner", "leaps+", 0, 320, None)
ENDLESS = SearchRequest("one-stroke", "hc", 0, 1_000_000, (40, 40))


def step_of(method: str = "leaps+", rounds: int = 1, **changes: Any) -> Round:
    run = Run(SolveConfig("four-corner", method, budget=1000))
    for _ in range(rounds):
        step = run.step()
    return Round(**{**step.__dict__, **changes})


async def everything(searches: Searches, request: SearchRequest, plane: Plane | None) -> list[Any]:
    return [event async for event in searches.events(request, plane) if event is not None]


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def gone(process: int) -> bool:
    """Whether a process ends within a moment."""
    for _ in range(3000):
        if not is_alive(process):
            return True
        await asyncio.sleep(0.01)
    return False


def test_search_sends_steps_and_an_end_and_finds_the_program_of_solve(
    latent_map: LatentMap,
) -> None:
    async def scene() -> list[Any]:
        searches = Searches()
        events = await everything(searches, QUICK, latent_map.plane)
        assert not searches.running
        searches.stop()
        return events

    first = asyncio.run(scene())
    assert {name for name, _ in first[:-2]} == {"step"}
    assert first[-2] == ("judging", {})
    name, end = first[-1]
    assert name == "end"
    expected = solve("four-corner", "leaps+", budget=320)
    assert " ".join(end["program"].split()) == expected.program
    assert end["return"] == expected.unseen_return
    assert end["search_return"] == expected.search_return
    assert end["evaluations"] == expected.evaluations > expected.budget_spent == 320
    assert end["solved"] is False
    assert first[-3][1]["evaluations"] == 320
    assert first[0][1]["round"] == 1
    assert len(first[0][1]["population"]) == 64


def test_closing_the_events_ends_the_search() -> None:
    async def scene() -> None:
        searches = Searches(at_once=1, work=search_without_end)
        events = searches.events(ENDLESS, None)
        while await anext(events) is None:
            pass
        (process,) = searches.running
        identity = process.pid
        assert identity is not None
        assert is_alive(identity)
        with pytest.raises(RequestError, match="1 searches are running") as caught:
            searches.check()
        assert caught.value.status == 503
        with pytest.raises(RequestError):
            await anext(searches.events(QUICK, None))
        await events.aclose()
        assert await gone(identity)
        searches.check()
        searches.stop()

    asyncio.run(scene())


def test_search_finds_a_program_for_an_environment() -> None:
    request = SearchRequest(OWN["corridor"], "ladder", 0, 1000, None, ("long",), worlds=4, mapped=False)

    async def scene() -> list[Any]:
        return await everything(Searches(), request, None)

    events = asyncio.run(scene())
    name, end = events[-1]
    assert (name, end["solved"], end["elsewhere"]) == ("end", True, {"long": 1.0})
    assert evaluate(end["program"], OWN["corridor"]).returns.min() == 1.0
    assert "program" in events[0][1]
    assert events[0][1]["population"] == []


def test_dead_process_is_a_problem_and_stopping_is_not() -> None:
    async def scene() -> None:
        searches = Searches(work=search_without_end)
        watched = [asyncio.create_task(everything(searches, ENDLESS, None)) for _ in range(2)]
        while len(searches.running) < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        one, other = searches.running
        assert one.pid is not None
        assert other.pid is not None
        one.kill()
        done, _ = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        (events,) = (task.result() for task in done)
        assert events[-1] == ("problem", {"error": "the process of the search ended unexpectedly"})
        searches.stop()
        for rest in await asyncio.gather(*(task for task in watched if task not in done)):
            assert all(name == "step" for name, _ in rest)
        assert await gone(other.pid)
        with pytest.raises(RequestError):
            searches.check()

    async def bounded() -> None:
        await asyncio.wait_for(scene(), 60)

    asyncio.run(bounded())


@pytest.mark.parametrize(("size", "also"), [((9, 9), ()), (None, ((9, 9),))])
def test_unsupported_size_is_a_problem(
    size: tuple[int, int] | None, also: tuple[tuple[int, int], ...]
) -> None:
    async def scene() -> list[Any]:
        return await everything(Searches(), SearchRequest("clean-house", "leaps+", 0, 10, size, also), None)

    ((name, data),) = asyncio.run(scene())
    assert name == "problem"
    assert "a fixed size of 14x22" in data["error"]


def test_search_finds_a_program_for_several_sizes() -> None:
    async def scene(also: tuple[tuple[int, int], ...]) -> Any:
        request = SearchRequest("stair-climber", "ladder", 0, 10_000, None, also)
        return (await everything(Searches(), request, None))[-1]

    name, end = asyncio.run(scene(((9, 9), (14, 10))))
    assert (name, end["solved"]) == ("end", True)
    assert end["elsewhere"] == {"9x9": 1.0, "14x10": 1.0}
    name, data = asyncio.run(scene(((9, 9), (9, 9))))
    assert name == "problem"
    assert "expected sizes that differ" in data["error"]


def send_nothing(*_: object) -> None:
    time.sleep(60)


def test_heartbeats_are_sent_during_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "HEARTBEAT", 0.05)

    async def scene() -> None:
        searches = Searches(work=send_nothing)
        events = searches.events(ENDLESS, None)
        assert await anext(events) is None
        await events.aclose()
        searches.stop()

    asyncio.run(scene())


def test_value_error_of_the_search_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no such luck")

    monkeypatch.setattr(searching, "_search", fail)
    monkeypatch.setattr(os, "nice", lambda _: 0)
    receiver, sender = Pipe(duplex=False)
    search(sender, QUICK, None)
    assert receiver.recv() == ("problem", {"error": "no such luck"})
    receiver.close()
    search(sender, QUICK, None)  # the connection is closed: it ends without an error


def test_error_of_a_user_task_is_reported_with_its_line(
    corridor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "nice", lambda _: 0)
    edit(corridor, "    last = 1\n", "    last = [1][1]\n")
    receiver, sender = Pipe(duplex=False)
    search(sender, SearchRequest(f"{corridor}:CORRIDOR~40", "hc", 0, 100, None), None)
    _, data = receiver.recv()
    assert data["error"] == f"{corridor}, line 17: IndexError: list index out of range"


def test_error_of_the_package_is_not_reported_as_a_task_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise IndexError("internal")

    monkeypatch.setattr(searching, "_search", fail)
    monkeypatch.setattr(os, "nice", lambda _: 0)
    with pytest.raises(IndexError, match="internal"):
        search(Pipe(duplex=False)[1], QUICK, None)


def test_program_is_sent_when_it_changes() -> None:
    events, step = StepEvents(None, LANGUAGE), step_of()
    event = events.of(step, KAREL)
    assert parse(event["program"], LANGUAGE)
    assert "program" not in events.of(step, KAREL)
    other = step_of(program=LANGUAGE.encode(["DEF", "run", "m(", "move", "m)"]))
    event = events.of(other, KAREL)
    assert (event["program"], event["words"]) == ("DEF run m(\n  move\nm)", {})


def test_words_unknown_to_the_page_are_sent_with_their_kinds() -> None:
    known = Language(("move",), ("frontIsClear",), max_repeat=2)
    event = StepEvents(None, known).of(
        step_of(program=LANGUAGE.encode(["DEF", "run", "m(", "turnLeft", "m)"])), KAREL
    )
    assert event["words"] == {"turnLeft": "action"}


def test_event_is_valid_json_if_all_candidates_were_rejected() -> None:
    event = StepEvents(None, LANGUAGE).of(step_of(best=-float("inf")), KAREL)
    assert event["best"] == 0.0
    json.dumps(event, allow_nan=False)


def test_population_is_placed_at_intervals(latent_map: LatentMap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "BETWEEN_PLACINGS", 600.0)
    events = StepEvents(latent_map.plane, LANGUAGE)
    first = events.of(step_of(), KAREL)["population"]
    assert len(first) == 64
    assert events.of(step_of(rounds=2), KAREL)["population"] == first  # a moment ago
    later = SimpleNamespace(monotonic=lambda: events.placed + 601)
    monkeypatch.setattr(searching, "time", later)
    assert events.of(step_of(rounds=2), KAREL)["population"] != first


def test_programs_without_a_latent_are_encoded(latent_map: LatentMap) -> None:
    step = step_of("hc")
    placed = StepEvents(latent_map.plane, LANGUAGE).of(step, KAREL)["population"]
    lines = sorted({" ".join(LANGUAGE.decode(row)) for row in step.asked[:64]})
    expected = latent_map.place([parse(line, LANGUAGE) for line in lines])["points"]
    assert np.allclose(sorted(placed), sorted(expected), atol=2e-3)


def test_events_are_encoded_as_server_sent_events() -> None:
    assert encode_event(("end", {"a": "x\ny"})) == b'event: end\ndata: {"a": "x\\ny"}\n\n'
    assert encode_event(None).startswith(b":")
