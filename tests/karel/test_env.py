import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from leaps.base import parallel
from leaps.dsl.sample import sample_programs
from leaps.dsl.text import build
from leaps.evaluate import evaluate
from leaps.karel.env import KarelEnv, KarelVectorEnv
from leaps.karel.executor import run
from leaps.karel.registration import TASK_OF
from leaps.karel.simulation import Observation
from leaps.karel.tasks import TASKS
from leaps.karel.world import KAREL, LANGUAGE, MOVE, PROGRAMS, PUT_MARKER, TURN_LEFT, World, Worlds
from tests.karel.tricky import COMPASS


@pytest.mark.parametrize("observation", ["grid", "perceptions"])
@pytest.mark.parametrize("name", TASK_OF)
def test_gymnasiums_checker_finds_nothing(name: str, observation: str) -> None:
    check_env(gymnasium.make(f"Karel/{name}-v0", observation=observation, render_mode="rgb_array").unwrapped)


def test_every_task_is_registered() -> None:
    assert set(TASK_OF.values()) == set(TASKS)
    for name, task in TASK_OF.items():
        env = gymnasium.make(f"Karel/{name}-v0").unwrapped
        assert isinstance(env, KarelEnv)
        assert env.task is TASKS[task]


@pytest.mark.parametrize("name", TASKS)
def test_the_rewards_of_an_episode_add_up_to_the_return(name: str) -> None:
    """Acting as a program does, an environment pays what `evaluate` would report."""
    task = TASKS[name]
    env = KarelEnv(task, observation="perceptions")
    for number, ids in enumerate(sample_programs(LANGUAGE, PROGRAMS, 25, seed=31)):
        env.reset(seed=number)
        start = env.world.clone()
        program = build(LANGUAGE.decode(ids))
        actions = [step.action for step in task.play(program, start.clone(), env.simulation.horizon)]
        total = sum(env.step(action)[1] for action in actions)
        rollouts = run(KAREL.compile(ids[None]), Worlds.stack([start]), env.simulation.horizon, task.hooks)
        assert rollouts.returns is not None
        if actions:
            assert total == pytest.approx(rollouts.returns[0, 0])


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        ("turnRight", 1.0),
        ("turnRight turnLeft", 0.0),
        ("move turnRight", 1.0),
        ("turnLeft move", 1.0),  # blocked: Karel turns around
        ("turnRight move move move move", 0.0),  # the last one is blocked
        ("turnRight putMarker turnRight pickMarker", 0.0),
    ],
)
def test_a_turn_is_rewarded_if_it_changes_the_value(text: str, worth: float) -> None:
    env = KarelEnv(COMPASS, "perceptions")
    env.reset(seed=0)
    total = sum(env.step(LANGUAGE.actions.index(word))[1] for word in text.split())
    assert total == evaluate(f"DEF run m( {text} m)", COMPASS, episodes=1).returns[0, 0] == worth


def test_terminated_and_truncated_are_distinguished() -> None:
    env = KarelEnv("maze", horizon=3)
    env.reset(seed=0)
    ends = [env.step(TURN_LEFT)[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]

    seeder = KarelEnv("seeder", horizon=2)
    seeder.reset(seed=0)
    assert seeder.step(PUT_MARKER)[2:4] == (False, False)
    assert seeder.step(PUT_MARKER)[2:4] == (True, False)  # lost with the very last step: decided, not cut off


def test_the_same_seed_gives_the_same_worlds() -> None:
    env = KarelEnv("maze")
    first = [env.reset(seed=5)[0], env.reset()[0], env.reset()[0]]
    again = [env.reset(seed=5)[0], env.reset()[0], env.reset()[0]]
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], first[1])


@pytest.mark.parametrize("name", ["maze", "stair-climber", "snake"])
@pytest.mark.parametrize("mode", ["next-step", "same-step"])
@pytest.mark.parametrize("observation", ["grid", "perceptions"])
def test_the_vector_environment_is_many_single_ones(name: str, mode: str, observation: Observation) -> None:
    """The same worlds and actions give the same observations, rewards and ends, resets included."""
    count, horizon = 7, 12
    many = KarelVectorEnv(name, count, observation, horizon=horizon, autoreset_mode=mode)  # type: ignore[arg-type]
    seen, _ = many.reset(seed=3)
    singles = [KarelEnv(name, observation, horizon=horizon) for _ in range(count)]
    rng = np.random.default_rng(0)

    def follow(index: int) -> NDArray[np.uint8]:
        """Let a single environment begin the episode that the vector environment has just begun."""
        simulation = singles[index].simulation
        for field in simulation.worlds._fields:
            getattr(simulation.worlds, field)[0] = getattr(many.simulation.worlds, field)[index]
            getattr(simulation.starts, field)[0] = getattr(many.simulation.starts, field)[index]
        simulation.values[:] = 0
        simulation.steps[:] = 0
        return np.asarray(simulation.observe(observation)[0])

    assert all(np.array_equal(follow(i), seen[i]) for i in range(count))
    ended = np.zeros(count, np.bool_)
    ends = 0
    for _ in range(60):
        actions = rng.integers(0, 5, count)
        seen, rewards, terminated, truncated, info = many.step(actions)
        for i in range(count):
            if mode == "next-step" and ended[i]:
                assert np.array_equal(follow(i), seen[i])
                assert (rewards[i], terminated[i], truncated[i]) == (0.0, False, False)
                continue
            one, reward, over, cut, _ = singles[i].step(actions[i])
            assert reward == pytest.approx(rewards[i])
            assert (over, cut) == (terminated[i], truncated[i])
            if mode == "same-step" and (over or cut):
                assert info["_final_obs"][i]
                assert np.array_equal(info["final_obs"][i], one)
                one = follow(i)
            assert np.array_equal(one, seen[i])
        ended = terminated | truncated
        ends += int(ended.sum())
    assert ends > count


def test_the_vector_environment_does_not_depend_on_threads() -> None:
    def play() -> list[NDArray[np.uint8]]:
        env = KarelVectorEnv("snake", 5000, "grid")
        rng = np.random.default_rng(1)
        seen = [env.reset(seed=8)[0]]
        return seen + [env.step(rng.integers(0, 5, 5000))[0] for _ in range(15)]

    try:
        parallel.set_threads(1)
        alone = play()
        parallel.set_threads(4)
        together = play()
    finally:
        parallel.set_threads(None)
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_make_vec_makes_the_compiled_vector_environment() -> None:
    env = gymnasium.make_vec(
        "Karel/Harvester-v0", num_envs=4, vectorization_mode="vector_entry_point", size=(5, 6)
    )
    assert isinstance(env, KarelVectorEnv)
    assert env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    assert env.reset(seed=0)[0].shape == (4, 5, 6, 16)
    assert env.single_observation_space.shape == (5, 6, 16)


def test_a_list_of_seeds_gives_each_world_its_own() -> None:
    env = KarelVectorEnv("maze", 3)
    seen, _ = env.reset(seed=[4, 9, 4])
    assert np.array_equal(seen[0], seen[2])
    assert not np.array_equal(seen[0], seen[1])


def test_a_world_without_a_seed_continues_its_stream_or_gets_a_random_seed() -> None:
    def names(seen: NDArray[np.uint8]) -> list[bytes]:
        return [one.tobytes() for one in seen]

    env = KarelVectorEnv("maze", 4)
    unseeded = names(env.reset(seed=[None] * 4)[0])
    assert len(set(unseeded)) == 4
    assert names(KarelVectorEnv("maze", 4).reset(seed=[None] * 4)[0]) != unseeded
    assert names(KarelVectorEnv("maze", 4).reset(seed=[5, None, 5, None])[0])[1] != unseeded[1]

    first = [env.reset(seed=3)[0], env.reset(seed=[None] * 4)[0]]
    again = [env.reset(seed=3)[0], env.reset(seed=[None, 7, None, None])[0]]
    assert names(first[0]) == names(again[0])
    assert [a == b for a, b in zip(names(first[1]), names(again[1]), strict=True)] == [
        True,
        False,
        True,
        True,
    ]


def test_worlds_with_individual_seeds_use_them_in_all_episodes() -> None:
    def play() -> list[bytes]:
        env = KarelVectorEnv("maze", 3)
        return [seen.tobytes() for seen in (env.reset(seed=[4, 9, 6])[0], env.reset()[0], env.reset()[0])]

    assert play() == play()
    assert len(set(play())) == 3


@pytest.mark.parametrize("seed", [np.int64(3), np.uint8(3), np.array(3)[()]])
def test_a_seed_may_be_any_whole_number(seed: np.int64) -> None:
    for env in (KarelEnv("maze"), KarelVectorEnv("maze", 2)):
        assert np.array_equal(env.reset(seed=seed)[0], env.reset(seed=3)[0])
    many = KarelVectorEnv("maze", 2)
    assert np.array_equal(many.reset(seed=[seed, seed])[0], many.reset(seed=[3, 3])[0])
    assert np.array_equal(many.reset(seed=np.array([seed, 4]))[0], many.reset(seed=[3, 4])[0])
    assert many.reset(seed=[2**63 - 1, 2**200])[0].shape == (2, 8, 8, 16)


def test_a_seed_below_0_is_refused() -> None:
    one, many = KarelEnv("maze"), KarelVectorEnv("maze", 2)
    for seed in (-1, np.int64(-1)):
        with pytest.raises(ValueError, match="seed must be 0 or more, found -1"):
            one.reset(seed=seed)
        with pytest.raises(ValueError, match="seed must be 0 or more, found -1"):
            many.reset(seed=seed)
        with pytest.raises(ValueError, match="seed must be 0 or more, found -1"):
            many.reset(seed=[3, seed])


def test_a_seed_that_is_no_whole_number_is_refused() -> None:
    for env in (KarelEnv("maze"), KarelVectorEnv("maze", 2)):
        with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
            env.reset(seed=3.0)  # type: ignore[arg-type]


def test_worlds_can_be_rendered() -> None:
    env = gymnasium.make("Karel/Maze-v0", render_mode="ansi")
    env.reset(seed=0)
    picture = env.render()
    assert isinstance(picture, str)
    assert str(World.parse(picture)) == picture
    image = gymnasium.make("Karel/Maze-v0", render_mode="rgb_array")
    image.reset(seed=0)
    before = np.asarray(image.render())
    image.step(TURN_LEFT)
    after = np.asarray(image.render())
    assert before.ndim == 3
    assert before.shape[2] == 3
    assert not np.array_equal(before, after)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"observation": "pixels"}, "expected 'grid' or 'perceptions'"),
        ({"size": (3, 3)}, "maze needs at least 5x5"),
        ({"task": "labyrinth"}, "unknown task 'labyrinth'"),
        ({"horizon": 0}, "the horizon must be at least 1"),
        ({"render_mode": "human"}, "expected 'ansi' or 'rgb_array'"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KarelEnv(**{"task": "maze", **arguments})  # type: ignore[arg-type]


def test_bad_actions_are_refused() -> None:
    env = KarelEnv("maze")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action must be from 0 to 4, found 5"):
        env.step(5)
    many = KarelVectorEnv("maze", 3)
    many.reset(seed=0)
    with pytest.raises(ValueError, match="actions must be from 0 to 4"):
        many.step(np.array([MOVE, 9, MOVE]))
    with pytest.raises(ValueError, match="expected 3 actions"):
        many.step(np.array([MOVE]))
