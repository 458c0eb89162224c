import numpy as np
import pytest

from leaps.domain import NO_ACTION
from leaps.dsl.compiler import Compiled
from leaps.karel.draw.frames import frames_of_actions, frames_of_program, path_of
from leaps.karel.tasks import TASKS
from leaps.karel.world import KAREL, LANGUAGE, MOVE, PICK_MARKER, PUT_MARKER, TURN_LEFT, World
from tests.karel.draw.looking import CORRIDOR, corridor, walk


def compiled(*texts: str) -> Compiled:
    return KAREL.compile(LANGUAGE.batch([LANGUAGE.encode(text.split()) for text in texts]))


def test_frames_are_all_states_from_the_first_to_the_last() -> None:
    frames = frames_of_actions(corridor(), [MOVE, PUT_MARKER, MOVE])
    assert [str(frame).split("\n")[1] for frame in frames] == ["#>....#", "#.>...#", "#.>...#", "#.1>..#"]


def test_frames_end_with_the_actions() -> None:
    actions = np.array([MOVE, NO_ACTION, NO_ACTION], np.uint8)
    assert len(frames_of_actions(corridor(), actions)) == 2


def test_frames_of_a_long_rollout_continue_across_chunks() -> None:
    assert path_of(walk(1000)) == [(1, abs((column + 4) % 8 - 4) + 1) for column in range(669)]


def test_frames_leave_the_world_as_it_is() -> None:
    world = corridor()
    frames_of_actions(world, [MOVE, PUT_MARKER])
    assert str(world) == CORRIDOR.strip()


def test_frames_refuse_an_action_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="actions must be from 0 to 4, found 7"):
        frames_of_actions(corridor(), [MOVE, 7])


def test_frames_include_the_reactions_of_a_task() -> None:
    task = TASKS["door-key"]
    world = task.prepare(World.parse("######\n#>.#.#\n#..#.#\n#..#1#\n#..#.#\n######"))
    world.markers[1, 1] = 1
    _, after = frames_of_actions(world, [PICK_MARKER], task.hooks)
    assert (after.ground[2:4, 3] == world.ground[1, 1]).all()


def test_frames_of_a_program_are_those_of_its_actions() -> None:
    program = compiled("DEF run m( WHILE c( frontIsClear c) w( move putMarker w) m)")
    frames = frames_of_program(corridor(), program, horizon=100)
    assert [str(frame) for frame in frames] == [
        str(frame) for frame in frames_of_actions(corridor(), [MOVE, PUT_MARKER] * 4)
    ]


def test_frames_of_a_program_end_at_the_horizon() -> None:
    program = compiled("DEF run m( WHILE c( noMarkersPresent c) w( turnLeft w) m)")
    assert len(frames_of_program(corridor(), program, horizon=7)) == 8


def test_a_path_has_a_cell_once_however_long_karel_stays() -> None:
    frames = frames_of_actions(corridor(), [TURN_LEFT, TURN_LEFT, TURN_LEFT, TURN_LEFT, MOVE])
    assert path_of(frames) == [(1, 1), (1, 2)]


def test_frames_of_several_programs_are_refused() -> None:
    programs = compiled("DEF run m( move m)", "DEF run m( turnLeft m)")
    with pytest.raises(ValueError, match="expected one program, found 2"):
        frames_of_program(corridor(), programs, horizon=7)
