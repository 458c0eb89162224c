"""HRL: skills are executed action by action, a policy learns to choose them, and trainings resume exactly."""

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file

from leaps.base.tensors import metadata, read_about
from leaps.baselines import hrl, train
from leaps.baselines.evaluate import evaluate_policy
from leaps.baselines.hrl import (
    OBSERVATIONS,
    PAPER_HRL,
    PAPER_HRL_ABS,
    HRLConfig,
    HRLTrainer,
    SkillPolicy,
    SkillVecEnv,
)
from leaps.baselines.policies import load_policy
from leaps.baselines.skills import END, Actions, SkillDecoder, Skills, SkillsConfig, lengths_of
from leaps.baselines.train import POLICY_FILE, BaselineConfig, Training
from leaps.karel.simulation import Observation, Simulation
from leaps.karel.world import MOVE
from leaps.tasks import get
from tests.baselines.corridor import CORRIDOR
from tests.baselines.helpers import fresh, taught

SMALL = HRLConfig(updates=2, worlds=4, batch=16, random=12, hidden=16, replay=1000)


def wild(seed: int = 0) -> Skills:
    """Create untrained skills of many lengths, up to 12 actions."""
    skills = fresh(SkillsConfig(latent=5, hidden=64, max_length=12), seed, scale=6.0)
    skills.decoder.output.bias.data[END] += 0.5
    return skills


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def few_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "UNSEEN", 20)


def weights(trainer: HRLTrainer) -> torch.Tensor:
    return torch.cat([tensor.flatten() for tensor in trainer.model.policy.state_dict().values()])


def table(points: NDArray[np.float32], shortest: int) -> Actions:
    """Decode without a network: the first number gives the length, the second the actions."""
    lengths = np.maximum((np.abs(points[:, 0]) * 15).astype(np.int64), shortest)
    seeds = np.abs(points[:, 1:2] * 1000).astype(np.int64)
    actions = (seeds * (1 + np.arange(30)) // 7 + np.arange(30) ** 2) % 5
    return np.where(np.arange(30) < lengths[:, None], actions, END).astype(np.uint8)


class OneByOne:
    """Reference implementation: separate worlds, one action at a time."""

    def __init__(self, task: str, count: int, observation: Observation, seed: int) -> None:
        self.observation = observation
        self.simulations = [Simulation(get(task), 1) for _ in range(count)]
        for index, simulation in enumerate(self.simulations):
            simulation.seed(0, seed, index)
            simulation.renew(np.ones(1, np.bool_))
        self.steps = 0
        self.returns = [0.0] * count
        self.episodes: list[float] = []

    def see(self, index: int) -> Any:
        return self.simulations[index].observe(self.observation)[0]

    def perform(self, index: int, actions: list[int]) -> tuple[float, bool, bool, Any]:
        simulation, total, every = self.simulations[index], 0.0, np.ones(1, np.bool_)
        for action in actions:
            reward, terminated, truncated = simulation.advance(np.array([action]), every)
            self.steps += 1
            total += reward[0]
            if terminated[0] or truncated[0]:
                last = self.see(index)
                self.episodes.append(self.returns[index] + total)
                self.returns[index] = 0.0
                simulation.renew(every)
                return total, True, bool(truncated[0]), last
        self.returns[index] += total
        return total, False, False, None


@pytest.mark.parametrize("observation", ["grid", "perceptions"])
@pytest.mark.parametrize("name", ["stair-climber", "harvester", "door-key", "snake", "one-stroke"])
def test_skill_steps_equal_single_action_steps(name: str, observation: Observation) -> None:
    count = 5
    env = SkillVecEnv(get(name), count, table, latent=3, reach=2.0, observation=observation, seed=8)
    plain = OneByOne(name, count, observation, seed=8)
    np.testing.assert_array_equal(env.reset(), [plain.see(index) for index in range(count)])
    rng = np.random.default_rng(0)
    ends = []
    for _ in range(150):
        points = rng.uniform(-2, 2, (count, 3)).astype(np.float32)
        sequences = table(points, 1)
        seen, rewards, ended, infos = env.step(points)
        for index in range(count):
            actions = sequences[index, : lengths_of(sequences)[index]].tolist()
            reward, end, truncated, last = plain.perform(index, actions)
            assert rewards[index] == pytest.approx(reward, abs=1e-6)
            assert ended[index] == end
            if end:
                ends.append(truncated)
                np.testing.assert_array_equal(infos[index]["terminal_observation"], last)
                assert infos[index]["TimeLimit.truncated"] == truncated
            else:
                assert infos[index] == {}
        np.testing.assert_array_equal(seen, [plain.see(index) for index in range(count)])
        assert env.steps == plain.steps
    assert env.episodes == pytest.approx(plain.episodes, abs=1e-6)
    assert len(ends) > 3
    assert not any(env.episodes) or len(set(env.episodes)) > 1


def test_an_action_is_a_latent_within_reach() -> None:
    env = SkillVecEnv(get("maze"), 2, table, latent=3, reach=1.5)
    assert env.action_space == spaces.Box(-1.5, 1.5, (3,), np.float32)


def test_skills_without_actions_do_not_hang() -> None:
    nothing = wild()
    nothing.decoder.output.bias.data[END] = 1e4
    decode = SkillDecoder(nothing)
    assert (lengths_of(decode(np.zeros((3, 5), np.float32))) == 0).all()
    env = SkillVecEnv(CORRIDOR, 3, decode, latent=5, reach=2.0, observation="perceptions")
    env.reset()
    for decision in range(env.simulation.horizon):
        assert env.steps == 3 * decision
        _, _, ended, _ = env.step(np.zeros((3, 5)))
    assert ended.all()
    policy = HRLTrainer("hrl-abs", CORRIDOR, SMALL, skills=nothing).policy
    assert evaluate_policy(policy, CORRIDOR, episodes=3).returns.shape == (1, 3)


@pytest.mark.parametrize("method", OBSERVATIONS)
def test_policy_learns_to_walk_a_corridor(method: str) -> None:
    config = HRLConfig(updates=2, hidden=32, batch=64, random=128, learning_rate=1e-3)
    trainer = HRLTrainer(method, CORRIDOR, config, skills=taught())
    # An untrained policy acts much the same everywhere, maybe by walking. So it starts with another action.
    points = np.random.default_rng(0).uniform(-1.5, 1.5, (500, 4)).astype(np.float32)
    others = points[(trainer.env.decode(points, 1) != MOVE).all(axis=1)]
    bias = trainer.model.actor.get_parameter("mu.bias")
    bias.data[:] = torch.from_numpy(np.arctanh(others[0] / config.reach))
    before = evaluate_policy(trainer.policy, CORRIDOR, episodes=100).mean_return[0]
    while trainer.steps < 20_000:
        trainer.step()
        if trainer.iteration % 25 == 0:
            found = evaluate_policy(trainer.policy, CORRIDOR, episodes=100, seed=trainer.iteration)
            if found.mean_return[0] > 0.95:
                break
    assert before < 0.9
    assert evaluate_policy(trainer.policy, CORRIDOR, episodes=500, seed=99).mean_return[0] > 0.9


@pytest.mark.parametrize("method", OBSERVATIONS)
def test_same_seed_gives_the_same_training(method: str) -> None:
    found = []
    for seed in (1, 1, 2):
        trainer = HRLTrainer(method, get("harvester"), SMALL, seed, skills=wild())
        for _ in range(5):
            torch.rand(7)  # other code may use torch's global random state
            np.random.rand(7)
            trainer.model.action_space.sample()
            trainer.step()
        found.append(weights(trainer))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


@pytest.mark.parametrize("method", OBSERVATIONS)
@pytest.mark.parametrize(("iterations", "replay"), [(0, 1000), (2, 1000), (8, 1000), (9, 28)])
def test_resumed_training_gives_the_same_results(method: str, iterations: int, replay: int) -> None:
    config = replace(SMALL, replay=replay)
    straight, other = (HRLTrainer(method, get("snake"), config, seed=4, skills=wild()) for _ in range(2))
    for _ in range(iterations):
        straight.step()
    file = io.BytesIO()
    torch.save(straight.state(), file)
    file.seek(0)
    other.restore(torch.load(file, weights_only=True))
    assert (other.steps, other.decisions, other.iteration) == (
        straight.steps,
        straight.decisions,
        straight.iteration,
    )
    for _ in range(6):
        assert straight.step() == other.step()
    assert torch.equal(weights(straight), weights(other))
    assert straight.steps == other.steps > straight.decisions == (iterations + 6) * SMALL.worlds


def test_state_does_not_change_during_further_training() -> None:
    trainer, other = (HRLTrainer("hrl-abs", get("maze"), SMALL, skills=wild()) for _ in range(2))
    for _ in range(5):
        trainer.step()
    state = trainer.state()
    expected = [trainer.step() for _ in range(4)]
    other.restore(state)
    assert [other.step() for _ in range(4)] == expected
    assert torch.equal(weights(trainer), weights(other))


def test_state_contains_only_the_filled_part_of_the_replay_buffer() -> None:
    trainer = HRLTrainer("hrl", get("harvester"), replace(SMALL, replay=1_000_000), skills=wild())
    for _ in range(10):
        trainer.step()
    replay = trainer.state()["replay"]
    assert replay["observations"].shape == (10, SMALL.worlds, 8 * 8 * 16 // 8)
    assert sum(array.nbytes for array in replay.values() if isinstance(array, torch.Tensor)) < 40 * 320


@pytest.mark.parametrize("method", OBSERVATIONS)
def test_policy_finishes_a_skill_before_it_chooses_another(method: str) -> None:
    trainer = HRLTrainer(method, get("harvester"), SMALL, skills=wild())
    policy, decode = trainer.policy, SkillDecoder(trainer.skills)
    horizon, count = 60, 6
    found = evaluate_policy(policy, "harvester", episodes=count, seed=5, horizon=horizon, want_actions=True)
    assert found.rollouts.actions is not None
    for index in range(count):
        simulation = Simulation(get("harvester"), 1, horizon=horizon)
        simulation.place(get("harvester").worlds(1, 5, first=index))
        done: list[int] = []
        while len(done) < horizon:
            (point,) = policy.choose(simulation.observe(policy.observation))
            (sequence,) = decode(point[None], 1)
            for action in sequence[sequence != END][: horizon - len(done)].tolist():
                simulation.advance(np.array([action]), np.ones(1, np.bool_))
                done.append(action)
        assert found.rollouts.actions[0, index].tolist() == done
        assert found.returns[0, index] == pytest.approx(simulation.values[0])


def test_new_evaluation_clears_the_skill_cache() -> None:
    trainer = HRLTrainer("hrl-abs", get("harvester"), SMALL, skills=wild())
    settings: dict[str, Any] = {"episodes": 10, "horizon": 100, "want_actions": True}
    policy = trainer.policy
    before = evaluate_policy(policy, "harvester", **settings).rollouts.actions
    trainer.model.actor.get_parameter("mu.bias").data += 1.0
    after = evaluate_policy(policy, "harvester", **settings).rollouts.actions
    expected = evaluate_policy(trainer.policy, "harvester", **settings).rollouts.actions
    assert before is not None
    assert after is not None
    assert (before != after).any()
    np.testing.assert_array_equal(after, expected)


def test_skill_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = HRLTrainer("hrl", get("harvester"), SMALL, skills=wild())
    settings: dict[str, Any] = {"episodes": 10, "horizon": 100, "want_actions": True}
    expected = evaluate_policy(trainer.policy, "harvester", **settings).rollouts.actions
    monkeypatch.setattr(hrl, "KNOWN", 5)
    policy = trainer.policy
    found = evaluate_policy(policy, "harvester", **settings).rollouts.actions
    assert expected is not None
    np.testing.assert_array_equal(found, expected)
    assert len(policy._known) <= 5 + 10


@pytest.mark.parametrize("method", OBSERVATIONS)
def test_policy_chooses_the_mean_latent(method: str) -> None:
    trainer = HRLTrainer(method, get("maze"), replace(SMALL, reach=1.25), skills=wild())
    observations = trainer.env.reset()
    expected, _ = trainer.model.predict(observations, deterministic=True)
    np.testing.assert_allclose(trainer.policy.choose(observations), expected, atol=1e-6)
    assert np.abs(expected).max() < 1.25


def test_policy_is_judged_on_the_same_worlds_as_programs() -> None:
    trainer = HRLTrainer("hrl-abs", get("harvester"), SMALL, skills=wild())
    expected = evaluate_policy(trainer.policy, "harvester", episodes=20, seed=77)
    assert trainer.judge(20, 77) == expected.expected()


@pytest.mark.parametrize("method", OBSERVATIONS)
@pytest.mark.usefixtures("few_worlds")
def test_loaded_policy_acts_the_same(method: str, tmp_path: Path) -> None:
    config = BaselineConfig(method, "stair-climber", seed=3, steps=300)
    trainer = HRLTrainer(method, get("stair-climber"), replace(SMALL, reach=1.5), 3, skills=wild())
    training = Training(config, trainer, tmp_path)
    result = training.run()
    again = load_policy(tmp_path)
    settings: dict[str, Any] = {"episodes": 30, "seed": 9, "want_actions": True}
    expected = evaluate_policy(trainer.policy, "stair-climber", **settings).rollouts.actions
    found = evaluate_policy(again, "stair-climber", **settings).rollouts.actions
    assert expected is not None
    np.testing.assert_array_equal(found, expected)
    assert result["steps"] >= 300
    assert read_about(tmp_path / POLICY_FILE)["return"] == result["return"]


@pytest.mark.usefixtures("few_worlds")
def test_training_resumes_only_with_the_same_skills(tmp_path: Path) -> None:
    def training(steps: int, skills: Skills, folder: str = "a") -> Training:
        config = BaselineConfig("hrl-abs", "top-off", steps=steps)
        trainer = HRLTrainer("hrl-abs", get("top-off"), SMALL, skills=skills)
        return Training(config, trainer, tmp_path / folder)

    training(200, wild()).run()
    longer = training(400, wild())
    assert longer.resume()
    found, expected = longer.run(), training(400, wild(), "b").run()
    assert {**found, "seconds": 0} == {**expected, "seconds": 0}
    message = r"holds a training with skills='\w+', not '\w+'; use another folder"
    with pytest.raises(ValueError, match=message):
        training(600, wild(seed=1)).resume()


def test_grid_policy_raises_for_other_sizes_and_perception_policy_takes_any() -> None:
    on_grids, on_perceptions = (HRLTrainer(name, get("maze"), SMALL, skills=wild()) for name in OBSERVATIONS)
    with pytest.raises(ValueError, match="accepts only grids of 8x8; found maze at 10x10"):
        evaluate_policy(on_grids.policy, "maze", size=(10, 10))
    found = evaluate_policy(on_perceptions.policy, "maze", size=(12, 15), episodes=3)
    assert found.returns.shape == (1, 3)


def test_polyak_is_the_fraction_of_the_target_that_is_kept() -> None:
    trainer = HRLTrainer("hrl-abs", get("maze"), replace(SMALL, polyak=0.9, updates=1), skills=wild())
    while trainer.decisions < SMALL.random:
        trainer.step()
    before = [weight.clone() for weight in trainer.model.critic_target.parameters()]
    trainer.step()
    for old, target, new in zip(
        before, trainer.model.critic_target.parameters(), trainer.model.critic.parameters(), strict=True
    ):
        assert torch.allclose(target, 0.9 * old + 0.1 * new, atol=1e-6)


def test_number_of_updates_per_iteration_is_the_setting() -> None:
    trainer = HRLTrainer("hrl-abs", get("maze"), SMALL, skills=wild())
    for _ in range(13):
        trainer.step()
    assert trainer.decisions == 13 * 4
    assert trainer.model._n_updates == (13 - 3) * 2  # none in the three iterations of random decisions


def test_paper_settings_equal_its_tables() -> None:
    def table_of(settings: dict[str, HRLConfig]) -> dict[str, tuple[int, float]]:
        return {name: (config.updates, config.polyak) for name, config in settings.items()}

    assert table_of(PAPER_HRL_ABS) == {
        "clean-house": (1, 0.95),
        "four-corner": (8, 0.9),
        "harvester": (8, 0.95),
        "maze": (1, 0.95),
        "stair-climber": (1, 0.9),
        "top-off": (1, 0.9),
    }
    assert table_of(PAPER_HRL) == {
        "clean-house": (1, 0.9),
        "four-corner": (1, 0.95),
        "harvester": (1, 0.95),
        "maze": (8, 0.9),
        "stair-climber": (8, 0.95),
        "top-off": (8, 0.95),
    }
    for config in [*PAPER_HRL.values(), *PAPER_HRL_ABS.values()]:
        assert (config.batch, config.worlds, config.replay) == (128, 8, 1_000_000)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"updates": 0}, "updates must be at least 1, found 0"),
        ({"worlds": -1}, "worlds must be at least 1, found -1"),
        ({"random": -1}, "random must be 0 or more, found -1"),
        ({"polyak": 1.0}, "polyak must be from 0 to below 1, found 1.0"),
        ({"discount": -0.1}, "discount must be from 0 to below 1, found -0.1"),
        ({"learning_rate": 0.0}, "learning_rate > 0"),
        ({"reach": 0.0}, "reach > 0"),
        ({"temperature": -1.0}, "temperature > 0"),
    ],
)
def test_settings_out_of_range_raise(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HRLConfig(**settings)


def test_worlds_too_small_for_the_convolutions_raise() -> None:
    with pytest.raises(ValueError, match="hrl needs worlds of 5x5 or more, found 4x8"):
        HRLTrainer("hrl", get("top-off"), SMALL, size=(4, 8), skills=wild())
    assert HRLTrainer("hrl-abs", get("top-off"), SMALL, size=(4, 8), skills=wild()).policy.size is None


def test_unknown_method_raises() -> None:
    with pytest.raises(ValueError, match="expected one of hrl, hrl-abs, found 'sac'"):
        HRLTrainer("sac", CORRIDOR, SMALL, skills=wild())


def test_folder_without_a_policy_raises(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=re.escape(f"no policy in {str(tmp_path)!r}; expected a folder written by")
    ):
        load_policy(tmp_path)


def test_policy_is_loaded_on_the_given_device(tmp_path: Path) -> None:
    trainer = HRLTrainer("hrl", get("maze"), SMALL, skills=wild())
    trainer.save(tmp_path, {"method": "hrl", "task": "maze", "config": {"settings": trainer.settings}})
    policy = load_policy(tmp_path, "meta")
    assert isinstance(policy, SkillPolicy)
    assert policy.actor.device.type == "meta"


def test_damaged_policies_raise(tmp_path: Path) -> None:
    trainer = HRLTrainer("hrl", get("maze"), SMALL, skills=wild())
    about = {"method": "hrl", "task": "maze", "config": {"settings": trainer.settings}}
    trainer.save(tmp_path, about)
    load_policy(tmp_path)
    file = tmp_path / POLICY_FILE
    tensors = {name: tensor.clone() for name, tensor in load_file(file).items()}  # not a view of the file
    whole, about = file.read_bytes(), read_about(file)
    for part in ("decoder.", "actor."):
        rest = {name: tensor for name, tensor in tensors.items() if not name.startswith(part)}
        save_file(rest, file, metadata(about))
        with pytest.raises(ValueError, match="damaged or of another version"):
            load_policy(tmp_path)
    changes: list[dict[str, Any]] = [{"skills": {"colour": 1}}, {"size": None}, {"config": {}}]
    for wrong in changes:
        save_file(tensors, file, metadata(about | wrong))
        with pytest.raises(ValueError, match="damaged or of another version"):
            load_policy(tmp_path)
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="damaged"):
        load_policy(tmp_path)
