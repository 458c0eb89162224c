"""A search tells how it goes, and ends when nobody watches it."""

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
from leaps.studio.searching import Searches, Teller, in_words, search
from tests.karel.tasks.corridor import edit
from tests.studio.harness import OWN, search_for_ever

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
    """Whether a process goes away within a moment."""
    for _ in range(3000):
        if not is_alive(process):
            return True
        await asyncio.sleep(0.01)
    return False


def test_a_search_is_told_from_its_first_step_to_its_end_and_finds_what_solve_finds(
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


def test_who_stops_asking_ends_the_search() -> None:
    async def scene() -> None:
        searches = Searches(at_once=1, work=search_for_ever)
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


def test_a_program_is_found_for_an_environment_in_its_own_words() -> None:
    request = SearchRequest(OWN["corridor"], "ladder", 0, 1000, None, ("long",), worlds=4, mapped=False)

    async def scene() -> list[Any]:
        return await everything(Searches(), request, None)

    events = asyncio.run(scene())
    name, end = events[-1]
    assert (name, end["solved"], end["elsewhere"]) == ("end", True, {"long": 1.0})
    assert evaluate(end["program"], OWN["corridor"]).returns.min() == 1.0
    assert "program" in events[0][1]
    assert events[0][1]["population"] == []


def test_a_process_that_dies_is_a_problem_and_stopping_is_none() -> None:
    async def scene() -> None:
        searches = Searches(work=search_for_ever)
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
def test_a_size_that_the_task_does_not_have_is_a_problem(
    size: tuple[int, int] | None, also: tuple[tuple[int, int], ...]
) -> None:
    async def scene() -> list[Any]:
        return await everything(Searches(), SearchRequest("clean-house", "leaps+", 0, 10, size, also), None)

    ((name, said),) = asyncio.run(scene())
    assert name == "problem"
    assert "a fixed size of 14x22" in said["error"]


def test_a_program_is_found_that_holds_at_other_sizes() -> None:
    async def scene(also: tuple[tuple[int, int], ...]) -> Any:
        request = SearchRequest("stair-climber", "ladder", 0, 10_000, None, also)
        return (await everything(Searches(), request, None))[-1]

    name, end = asyncio.run(scene(((9, 9), (14, 10))))
    assert (name, end["solved"]) == ("end", True)
    assert end["elsewhere"] == {"9x9": 1.0, "14x10": 1.0}
    name, said = asyncio.run(scene(((9, 9), (9, 9))))
    assert name == "problem"
    assert "expected sizes that differ" in said["error"]


def say_nothing(*_: object) -> None:
    time.sleep(60)


def test_silence_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "HEARTBEAT", 0.05)

    async def scene() -> None:
        searches = Searches(work=say_nothing)
        events = searches.events(ENDLESS, None)
        assert await anext(events) is None
        await events.aclose()
        searches.stop()

    asyncio.run(scene())


def test_what_goes_wrong_in_the_process_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no such luck")

    monkeypatch.setattr(searching, "_search", fail)
    monkeypatch.setattr(os, "nice", lambda _: 0)
    receiver, sender = Pipe(duplex=False)
    search(sender, QUICK, None)
    assert receiver.recv() == ("problem", {"error": "no such luck"})
    receiver.close()
    search(sender, QUICK, None)  # nobody listens: it ends quietly


def test_what_a_task_of_ones_own_gets_wrong_is_told_with_its_place(
    corridor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "nice", lambda _: 0)
    edit(corridor, "    last = 1\n", "    last = [1][1]\n")
    receiver, sender = Pipe(duplex=False)
    search(sender, SearchRequest(f"{corridor}:CORRIDOR~40", "hc", 0, 100, None), None)
    _, said = receiver.recv()
    assert said["error"] == f"{corridor}, line 17: IndexError: list index out of range"


def test_a_mistake_of_ours_is_not_put_down_to_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise IndexError("ours")

    monkeypatch.setattr(searching, "_search", fail)
    monkeypatch.setattr(os, "nice", lambda _: 0)
    with pytest.raises(IndexError, match="ours"):
        search(Pipe(duplex=False)[1], QUICK, None)


def test_a_program_is_told_when_it_changes() -> None:
    teller, step = Teller(None, LANGUAGE), step_of()
    told = teller.tell(step, KAREL)
    assert parse(told["program"], LANGUAGE)
    assert "program" not in teller.tell(step, KAREL)
    other = step_of(program=LANGUAGE.encode(["DEF", "run", "m(", "move", "m)"]))
    told = teller.tell(other, KAREL)
    assert (told["program"], told["words"]) == ("DEF run m(\n  move\nm)", {})


def test_words_that_the_page_does_not_know_come_with_their_kinds() -> None:
    known = Language(("move",), ("frontIsClear",), max_repeat=2)
    told = Teller(None, known).tell(
        step_of(program=LANGUAGE.encode(["DEF", "run", "m(", "turnLeft", "m)"])), KAREL
    )
    assert told["words"] == {"turnLeft": "action"}


def test_what_is_told_is_json_even_if_all_were_given_up() -> None:
    told = Teller(None, LANGUAGE).tell(step_of(best=-float("inf")), KAREL)
    assert told["best"] == 0.0
    json.dumps(told, allow_nan=False)


def test_a_population_is_placed_now_and_then(latent_map: LatentMap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "BETWEEN_PLACINGS", 600.0)
    teller = Teller(latent_map.plane, LANGUAGE)
    first = teller.tell(step_of(), KAREL)["population"]
    assert len(first) == 64
    assert teller.tell(step_of(rounds=2), KAREL)["population"] == first  # a moment ago
    later = SimpleNamespace(monotonic=lambda: teller.placed + 601)
    monkeypatch.setattr(searching, "time", later)
    assert teller.tell(step_of(rounds=2), KAREL)["population"] != first


def test_programs_that_have_no_point_are_encoded(latent_map: LatentMap) -> None:
    step = step_of("hc")
    placed = Teller(latent_map.plane, LANGUAGE).tell(step, KAREL)["population"]
    lines = sorted({" ".join(LANGUAGE.decode(row)) for row in step.asked[:64]})
    expected = latent_map.place([parse(line, LANGUAGE) for line in lines])["points"]
    assert np.allclose(sorted(placed), sorted(expected), atol=2e-3)


def test_events_in_the_words_of_browsers() -> None:
    assert in_words(("end", {"a": "x\ny"})) == b'event: end\ndata: {"a": "x\\ny"}\n\n'
    assert in_words(None).startswith(b":")
