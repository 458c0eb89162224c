"""VIPER: trees imitate a teacher in the states that they reach; trees are simplified, drawn and saved."""

import io
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from safetensors.numpy import load_file, save
from sklearn.tree import DecisionTreeClassifier

from leaps.base.seeds import VIPER_SEEDS, VIPER_VALIDATION_SEEDS
from leaps.base.tensors import metadata, read_about
from leaps.baselines import viper
from leaps.baselines.evaluate import evaluate_policy
from leaps.baselines.policies import load_policy
from leaps.baselines.ppo import PPOConfig, PPOTrainer
from leaps.baselines.train import POLICY_FILE, BaselineConfig, Trainer, Training
from leaps.baselines.tree_picture import Leaf, Question
from leaps.baselines.viper import (
    PAPER_VIPER,
    POSSIBLE,
    TreePolicy,
    VIPERConfig,
    VIPERTrainer,
    as_text,
    draw_samples,
    draw_tree,
    fit_tree,
    read_tree,
)
from leaps.evaluate import UNSEEN_SEEDS, evaluate
from leaps.karel.observe import MARKER_PLANE, PERCEIVED
from leaps.karel.physics import TRUTH
from leaps.karel.simulation import Arrays, Observation
from leaps.karel.tasks import KarelTask
from leaps.karel.world import LANGUAGE, MOVE, PICK_MARKER, PUT_MARKER, TURN_LEFT, TURN_RIGHT
from leaps.tasks import get
from tests.baselines.corridor import CORRIDOR, LENGTH

FRONT, LEFT, RIGHT, MARKERS, NO_MARKERS = range(5)
SMALL = VIPERConfig(iterations=4, worlds=8, validation=20)


class Scripted:
    """A teacher with a fixed action for each observation, chosen with high confidence."""

    def __init__(self, observation: Observation = "perceptions", sureness: float = 50.0) -> None:
        self.observation, self.sureness = observation, sureness
        self.begun: list[int] = []

    def check(self, task: KarelTask, size: tuple[int, int]) -> None: ...

    def begin(self, count: int) -> None:
        self.begun.append(count)

    def choose(self, observations: Arrays) -> NDArray[np.int64]:
        """Move, and turn left at walls."""
        return np.where(observations[:, FRONT], MOVE, TURN_LEFT)

    def log_probabilities(self, observations: Arrays) -> NDArray[np.float64]:
        scores = np.zeros((len(observations), 5))
        scores[np.arange(len(observations)), self.choose(observations)] = self.sureness
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))


class SeesTheGrid(Scripted):
    """A teacher that walks east in the corridor, given Karel's heading on the grid."""

    def __init__(self) -> None:
        super().__init__("grid")

    def choose(self, observations: Arrays) -> NDArray[np.int64]:
        east = observations[..., 1].any(axis=(1, 2))
        return np.where(east, MOVE, TURN_RIGHT)


def always(action: int) -> TreePolicy:
    return tree(([0], [0], [-1], [-1], [action]))


def tree(arrays: tuple[list[Any], ...]) -> TreePolicy:
    return TreePolicy.of(dict(zip(viper.ARRAYS, map(np.array, arrays), strict=True)))


def random_counts(seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 30, (32, 5)) * (rng.random((32, 5)) < 0.5)


# The tree as a policy


@pytest.mark.parametrize("depth", [1, 2, 3, 12])
@pytest.mark.parametrize("seed", range(5))
def test_tree_equals_scikit_learns_fitted_to_a_list_of_states(seed: int, depth: int) -> None:
    counts = random_counts(seed)
    perceived, actions = (np.repeat(indices, counts[counts > 0]) for indices in np.nonzero(counts))
    expected: Any = DecisionTreeClassifier(max_depth=depth, random_state=seed)
    expected.fit(PERCEIVED[perceived], actions)
    found = fit_tree(counts, depth, seed)
    assert found.act(PERCEIVED).tolist() == expected.predict(PERCEIVED).tolist()
    assert found.feature.tolist() == expected.tree_.feature.tolist()
    assert len(set(found.choices.tolist())) > 1


def test_unused_actions_do_not_shift_the_labels() -> None:
    counts = np.zeros((32, 5), np.int64)
    counts[PERCEIVED[:, FRONT] == 1, PUT_MARKER] = 1
    counts[PERCEIVED[:, FRONT] == 0, TURN_LEFT] = 1
    found = fit_tree(counts, 12, 0).act(PERCEIVED)
    assert found.tolist() == np.where(PERCEIVED[:, FRONT], PUT_MARKER, TURN_LEFT).tolist()


def test_tree_equals_the_same_program_in_worlds_of_any_size() -> None:
    """The tree and the program pick up the markers along the walls."""
    gatherer = tree(
        ([MARKERS, FRONT, -2, -2, -2], [0.5, 0.5, 0, 0, 0], [1, 2, -1, -1, -1], [4, 3, -1, -1, -1],
         [0, 0, TURN_LEFT, MOVE, PICK_MARKER])
    )  # fmt: skip
    pick = "IF c( markersPresent c) i( pickMarker i)"
    walk = f"WHILE c( frontIsClear c) w( {pick} move w) {pick} turnLeft"
    for size in ((8, 8), (20, 31)):
        found = evaluate_policy(gatherer, "harvester", episodes=50, size=size).returns
        program = evaluate(
            f"DEF run m( REPEAT R=9 r( {walk} r) m)", "harvester", episodes=50, size=size
        ).returns
        assert (found == program).all()
        assert (found > 0).all()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([], [], [], [], []), "five arrays of one number per node"),
        (([0], [0.5, 0.5], [-1], [-1], [0]), "five arrays of one number per node"),
        (([0, 0], [0.5, 0], [1, -1], [-1, -1], [0, 0]), "two children or none"),
        (([0, 0], [0.5, 0], [0, -1], [1, -1], [0, 0]), "children must come after their parents"),
        (([0, 0], [0.5, 0], [1, -1], [2, -1], [0, 0]), "parents and be below 2, found 2 for node 0"),
        (([5, 0, 0], [0.5, 0, 0], [1, -1, -1], [2, -1, -1], [0, 0, 0]), "perceptions must be from 0 to 4"),
        (([0], [0], [-1], [-1], [5]), "actions must be from 0 to 4"),
        (([0, 0, 0], [np.nan, 0, 0], [1, -1, -1], [2, -1, -1], [0, 0, 0]), "thresholds must be finite"),
    ],
)
def test_invalid_tree_arrays_raise(arrays: tuple[list[Any], ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tree(arrays)


def test_observations_other_than_perceptions_raise() -> None:
    with pytest.raises(ValueError, match=r"expected perceptions \[worlds, 5\], found \(3, 8, 8, 16\)"):
        always(MOVE).act(np.zeros((3, 8, 8, 16), np.uint8))


# Trees as text and pictures


def test_possible_perceptions_match_the_physics() -> None:
    assert sorted(map(tuple, PERCEIVED[POSSIBLE].tolist())) == sorted(
        map(tuple, TRUTH.T.astype(int).tolist())
    )


def test_tree_text_has_named_questions() -> None:
    counts = np.zeros((32, 5), np.int64)
    counts[POSSIBLE, np.where(PERCEIVED[POSSIBLE, FRONT], MOVE, TURN_LEFT)] = 5
    counts[PERCEIVED[:, LEFT] == 1] = 0
    counts[POSSIBLE, PUT_MARKER] += np.where(PERCEIVED[POSSIBLE, LEFT], 9, 0)
    assert as_text(fit_tree(counts, 12, 0)) == (
        "if leftIsClear:\n    putMarker\nelif frontIsClear:\n    move\nelse:\n    turnLeft"
    )


def test_equal_branches_are_merged() -> None:
    """A wall to the left makes no difference."""
    found = tree(
        ([FRONT, -2, LEFT, -2, -2], [0.5, 0, 0.5, 0, 0], [1, -1, 3, -1, -1], [2, -1, 4, -1, -1],
         [0, TURN_RIGHT, 0, MOVE, MOVE])
    )  # fmt: skip
    assert as_text(found) == "if frontIsClear:\n    move\nelse:\n    turnRight"


def test_unreachable_branches_are_left_out() -> None:
    """The first question implies the second one's answer: markersPresent excludes noMarkersPresent."""
    found = tree(
        ([MARKERS, -2, NO_MARKERS, -2, -2], [0.5, 0, 0.5, 0, 0], [1, -1, 3, -1, -1], [2, -1, 4, -1, -1],
         [0, MOVE, 0, PICK_MARKER, TURN_LEFT])
    )  # fmt: skip
    assert as_text(found) == "if markersPresent:\n    pickMarker\nelse:\n    move"
    known = tree(
        ([FRONT, FRONT, -2, -2, -2], [0.5, 0.5, 0, 0, 0], [1, 2, -1, -1, -1], [4, 3, -1, -1, -1],
         [0, 0, TURN_LEFT, TURN_RIGHT, MOVE])
    )  # fmt: skip
    assert as_text(known) == "if frontIsClear:\n    move\nelse:\n    turnLeft"


@pytest.mark.parametrize("seed", range(20))
def test_simplified_tree_acts_the_same(seed: int) -> None:
    policy = fit_tree(random_counts(seed), 12, seed)
    for perceived in PERCEIVED[POSSIBLE]:
        node = read_tree(policy)
        tested = []
        while isinstance(node, Question):
            tested.append(node.perception)
            node = node.yes if perceived[LANGUAGE.perceptions.index(node.perception)] else node.no
        assert node == Leaf(LANGUAGE.actions[policy.act(perceived[None])[0]])
        assert len(tested) <= 4  # no perception is tested twice or together with its negation
        assert not {"markersPresent", "noMarkersPresent"} <= set(tested)


def test_tree_picture_must_be_png(tmp_path: Path) -> None:
    draw_tree(always(MOVE), tmp_path / "new" / "tree.png")
    with Image.open(tmp_path / "new" / "tree.png") as picture:
        assert picture.format == "PNG"
    with pytest.raises(ValueError, match=r"expected a \.png file .*, found '.*tree\.gif'"):
        draw_tree(always(MOVE), tmp_path / "tree.gif")


# Samples


def test_samples_are_drawn_by_weight_or_uniformly() -> None:
    """Three kinds of states: many of low weight, few of high weight, and some of weight 0."""
    counts = np.zeros((32, 5), np.int64)
    counts[1, 0], counts[2, 1], counts[3, 2] = 90_000, 10_000, 100_000
    weights = np.zeros((32, 5))
    weights[1, 0], weights[2, 1] = 1_000.0, 9_000.0
    rng = np.random.default_rng(0)
    weighed = draw_samples(counts, weights, 20_000, rng)
    even = draw_samples(counts, None, 20_000, rng)
    assert weighed.sum() == even.sum() == 20_000
    assert weighed[2, 1] / 20_000 == pytest.approx(0.9, abs=0.01)
    assert weighed[3, 2] == 0
    assert even[1, 0] / 20_000 == pytest.approx(0.45, abs=0.02)
    assert even[2, 1] / 20_000 == pytest.approx(0.05, abs=0.01)


def test_number_of_samples_is_at_most_the_number_of_states() -> None:
    counts = random_counts(0)
    rng = np.random.default_rng(0)
    assert (draw_samples(counts, None, 10**6, rng) == counts).all()
    assert draw_samples(counts, counts.astype(float), 10**6, rng).sum() == counts.sum()
    assert (draw_samples(counts, None, 100, rng) <= counts).all()


def test_zero_weights_draw_uniformly() -> None:
    counts = random_counts(1)
    assert (draw_samples(counts, np.zeros((32, 5)), 10**6, np.random.default_rng(0)) == counts).all()


@pytest.mark.parametrize(("reweight", "expected"), [(True, PUT_MARKER), (False, MOVE)])
def test_reweighting_favours_states_where_the_action_matters(reweight: bool, expected: int) -> None:
    """The teacher mildly prefers to move, and strongly to put a marker into the corridor's last cell."""

    class Picky(Scripted):
        def __init__(self) -> None:
            super().__init__("grid")

        def log_probabilities(self, observations: Arrays) -> NDArray[np.float64]:
            scores = np.full((len(observations), 5), -40.0)
            scores[:, MOVE] = -10.0
            last = observations[:, 1, LENGTH - 1]
            scores[(last[:, 1] == 1) & (last[:, MARKER_PLANE] == 1), PUT_MARKER] = 860.0
            return scores

    config = VIPERConfig(reweight=reweight, iterations=1, worlds=100, validation=1)
    trainer = VIPERTrainer(CORRIDOR, Picky(), config)
    trainer.step()
    plain = trainer.counts[:, PUT_MARKER].argmax()  # the corridor without a marker
    often, once = trainer.counts[plain, MOVE], trainer.counts[plain, PUT_MARKER]
    assert often > 1.5 * once == 150
    assert trainer.weights[plain, MOVE] == pytest.approx(30.0 * often)
    assert trainer.weights[plain, PUT_MARKER] == pytest.approx(900.0 * once)
    assert trainer.policy.choices[plain] == expected


# Training


@pytest.mark.parametrize("teacher", [Scripted(), SeesTheGrid()], ids=["perceptions", "grid"])
def test_tree_learns_to_walk_a_corridor(teacher: Scripted) -> None:
    trainer = VIPERTrainer(CORRIDOR, teacher, SMALL)
    while not trainer.done:
        trainer.step()
    assert trainer.judge(500, seed=99).mean > 0.9
    assert trainer.best_return > 0.9


def test_teacher_acts_in_the_first_iteration_and_the_tree_afterwards() -> None:
    """A tree that only turns reaches walls that the teacher never faces, and gets its labels there."""
    trainer = VIPERTrainer(CORRIDOR, SeesTheGrid(), SMALL)
    walls = np.flatnonzero(PERCEIVED[:, FRONT] == 0)
    assert trainer.step() == [1.0] * 8
    assert trainer.counts[walls].sum() == 0
    assert trainer.counts[:, TURN_RIGHT].sum() == 0
    before, steps = trainer.counts.copy(), trainer.steps
    trainer.tree = always(TURN_LEFT)
    assert trainer.step() == [0.0] * 8  # no episode reaches the goal
    labels = trainer.counts - before
    assert labels.sum() == 8 * SMALL.length <= trainer.steps - steps
    assert labels[walls, TURN_RIGHT].sum() == labels[walls].sum() > labels.sum() // 3
    assert labels[:, TURN_LEFT].sum() == 0  # the teacher's labels, not the tree's actions
    assert labels[:, MOVE].sum() == pytest.approx(labels.sum() / 4, rel=0.1)  # facing east


def test_only_states_of_active_episodes_are_collected() -> None:
    """A walk through the corridor takes 2 to 5 steps, each in another state."""
    teacher = Scripted()
    trainer = VIPERTrainer(CORRIDOR, teacher, VIPERConfig(worlds=200, iterations=1, validation=1))
    worlds = CORRIDOR.worlds(200, VIPER_SEEDS)
    trainer.step()
    walked = int((6 - worlds.pose[:, 1]).sum())
    assert trainer.counts.sum() == walked
    validation = CORRIDOR.worlds(1, VIPER_VALIDATION_SEEDS)
    assert trainer.steps == walked + int((6 - validation.pose[:, 1]).sum())
    assert teacher.begun == [200]


def test_policy_is_the_best_tree_not_the_last() -> None:
    class Forgetful(Scripted):
        """A teacher that only turns from the second iteration on."""

        def choose(self, observations: Arrays) -> NDArray[np.int64]:
            known = super().choose(observations)
            return known if len(self.begun) < 2 else np.full(len(known), TURN_LEFT)

    config = VIPERConfig(iterations=4, worlds=50, validation=20, reweight=False)
    trainer = VIPERTrainer(CORRIDOR, Forgetful(), config)
    for _ in range(4):
        trainer.step()
    assert trainer.tree is not None
    assert evaluate_policy(trainer.tree, CORRIDOR, episodes=100).mean_return[0] == 0.0
    assert trainer.judge(100, 99).mean == 1.0
    assert trainer.best_return == 1.0


def test_training_validation_and_judging_worlds_are_different(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[tuple[int, int, int]] = []
    original = KarelTask.worlds

    def worlds(self: KarelTask, count: int, seed: int, *args: Any, first: int = 0) -> Any:
        calls.append((count, seed, first))
        return original(self, count, seed, *args, first=first)

    monkeypatch.setattr(KarelTask, "worlds", worlds)
    trainer = VIPERTrainer(CORRIDOR, Scripted(), SMALL, seed=7)
    calls.clear()
    while not trainer.done:
        trainer.step()
    gathered = [(seed, first) for count, seed, first in calls if count == SMALL.worlds]
    chosen = {(seed, first) for count, seed, first in calls if count == SMALL.validation}
    assert len(gathered) == 4
    assert all(b[1] - a[1] == SMALL.worlds for a, b in pairwise(gathered))
    assert len(chosen) == 1
    seeds = {seed for seed, _ in gathered} | {seed for seed, _ in chosen}
    assert len(seeds) == 2
    # Trainings use seeds below 2^31, searches seeds from 2^40 and 2·2^40, and judging seeds from 3·2^40.
    assert min(seeds) >= UNSEEN_SEEDS + 2**40


def neural(seed: int = 3) -> VIPERTrainer:
    """Create a training with an untrained network as the teacher, so that no action is certain."""
    teacher = PPOTrainer("drl-fcn", get("harvester"), PPOConfig(worlds=1, hidden=8), seed=1).policy
    config = VIPERConfig(samples=100, iterations=6, worlds=3, validation=3)
    return VIPERTrainer(get("harvester"), teacher, config, seed, size=(4, 5))


def whole_state(trainer: VIPERTrainer) -> bytes:
    state = trainer.state()
    flat = {
        f"{name}.{part}": t.numpy() for name in ("tree", "best") for part, t in (state[name] or {}).items()
    }
    rest = (state["iteration"], state["steps"], state["best_return"], state["tried"])
    arrays = {"counts": state["counts"].numpy(), "weights": state["weights"].numpy()} | flat
    return save(arrays) + repr(rest).encode()


@pytest.mark.parametrize("iterations", [0, 1, 3])
def test_resumed_training_gives_the_same_results(iterations: int) -> None:
    straight, other = neural(), neural()
    for _ in range(iterations):
        straight.step()
    file = io.BytesIO()
    torch.save(straight.state(), file)
    frozen = whole_state(straight)
    file.seek(0)
    other.restore(torch.load(file, weights_only=True))
    assert whole_state(other) == frozen
    for _ in range(3):
        assert straight.step() == other.step()
    assert whole_state(straight) == whole_state(other) != frozen


def test_state_does_not_change_during_further_training() -> None:
    trainer = neural()
    trainer.step()
    kept = trainer.state()
    counts = kept["counts"].clone()
    trainer.step()
    assert torch.equal(kept["counts"], counts)
    trainer.restore(kept)
    trainer.step()
    assert torch.equal(kept["counts"], counts)


def test_same_seed_gives_the_same_training() -> None:
    found = []
    for seed in (3, 3, 4):
        trainer = neural(seed)
        np.random.rand(5)  # other code may use numpy's global random state
        trainer.step()
        trainer.step()
        found.append(whole_state(trainer))
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("method", ["drl", "drl-abs"])
def test_tree_imitates_neural_teachers(method: str) -> None:
    """One of the teachers is recurrent, so its labels depend on earlier observations."""
    teacher = PPOTrainer(method, CORRIDOR, PPOConfig(worlds=1, hidden=8, memory=8)).policy
    config = VIPERConfig(worlds=4, iterations=2, validation=4, reweight=False)
    trainer = VIPERTrainer(CORRIDOR, teacher, config)
    trainer.step()
    trainer.step()
    assert trainer.tree is not None
    assert trainer.counts[np.arange(32), trainer.tree.choices].sum() == trainer.counts.max(axis=1).sum()


def test_labels_are_drawn_by_the_teachers_probabilities() -> None:
    class Wavering(Scripted):
        def log_probabilities(self, observations: Arrays) -> NDArray[np.float64]:
            chances = np.array([[0.6, 0.1, 0.3, 1e-9, 1e-9]])
            return np.asarray(np.log(chances).repeat(len(observations), axis=0))

    trainer = VIPERTrainer(CORRIDOR, Wavering(), VIPERConfig(worlds=500, iterations=1, validation=1))
    trainer.step()
    fractions = trainer.counts.sum(axis=0) / trainer.counts.sum()
    assert fractions == pytest.approx([0.6, 0.1, 0.3, 0, 0], abs=0.03)


def test_step_after_the_last_iteration_does_nothing() -> None:
    trainer = VIPERTrainer(CORRIDOR, Scripted(), SMALL)
    for _ in range(4):
        assert not trainer.done
        trainer.step()
    assert trainer.done
    before = whole_state(trainer)
    assert trainer.step() == []
    assert whole_state(trainer) == before


def test_trees_with_the_same_behaviour_are_validated_once() -> None:
    trainer = VIPERTrainer(CORRIDOR, Scripted(), VIPERConfig(worlds=1, iterations=5, validation=1000))
    trainer.step()
    first = trainer.steps
    trainer.step()
    assert 0 < trainer.steps - first < 10  # one short walk


def test_training_ends_when_its_steps_are_used_up(tmp_path: Path) -> None:
    trainer: Trainer = VIPERTrainer(CORRIDOR, Scripted(), SMALL, teacher_name="out/drl-corridor-0")
    result = Training(BaselineConfig("viper", "corridor", steps=50), trainer, tmp_path).run()
    assert result["return"] == 1.0
    assert result["steps"] >= 50
    assert result["config"]["settings"]["teacher"] == "out/drl-corridor-0"
    assert result["config"]["settings"]["depth"] == SMALL.depth
    assert load_policy(tmp_path).act(PERCEIVED).tolist() == [MOVE] * 32


# Files


def test_best_tree_is_saved(tmp_path: Path) -> None:
    trainer = neural()
    for _ in range(3):
        trainer.step()
    trainer.best = fit_tree(random_counts(2), 12, 0)
    trainer.save(tmp_path / "new", {"task": "harvester", "return": 0.5})
    kept = load_policy(tmp_path / "new")
    assert isinstance(kept, TreePolicy)
    assert kept.act(PERCEIVED).tolist() == trainer.policy.act(PERCEIVED).tolist()
    assert as_text(kept) == as_text(trainer.policy)
    assert (tmp_path / "new" / "tree.txt").read_text() == as_text(kept) + "\n"
    about = read_about(tmp_path / "new" / POLICY_FILE)
    assert about == {"task": "harvester", "return": 0.5, "method": "viper", "size": [4, 5]}
    with Image.open(tmp_path / "new" / "tree.png") as picture:
        assert picture.format == "PNG"
    names = sorted(file.name for file in (tmp_path / "new").iterdir())
    assert names == ["policy.safetensors", "tree.png", "tree.txt"]


@pytest.mark.parametrize("harm", ["short", "missing", "action"])
def test_damaged_tree_raises(tmp_path: Path, harm: str) -> None:
    trainer = VIPERTrainer(CORRIDOR, Scripted(), SMALL)
    trainer.step()
    trainer.save(tmp_path, {})
    file = tmp_path / POLICY_FILE
    if harm == "short":
        file.write_bytes(file.read_bytes()[:50])
    else:
        arrays, about = load_file(file), metadata(read_about(file))
        if harm == "missing":
            del arrays["left"]
        else:
            arrays["action"] = arrays["action"] + 9
        file.write_bytes(save(arrays, about))
    with pytest.raises(ValueError, match=f"{POLICY_FILE} is damaged"):
        load_policy(tmp_path)


def test_policy_before_the_first_iteration_raises() -> None:
    with pytest.raises(ValueError, match="no tree before the first iteration"):
        VIPERTrainer(CORRIDOR, Scripted(), SMALL).judge(1, 0)


# Settings


def test_paper_settings_equal_its_table() -> None:
    found = {name: (config.depth, config.samples, config.reweight) for name, config in PAPER_VIPER.items()}
    assert found == {
        "clean-house": (6, 100_000, False),
        "four-corner": (12, 100_000, False),
        "harvester": (12, 400_000, True),
        "maze": (12, 100_000, True),
        "stair-climber": (12, 400_000, True),
        "top-off": (15, 100_000, False),
    }


@pytest.mark.parametrize("name", ["depth", "samples", "iterations", "worlds", "validation"])
def test_settings_out_of_range_raise(name: str) -> None:
    settings: dict[str, Any] = {name: 0}
    with pytest.raises(ValueError, match=f"{name} must be at least 1, found 0"):
        VIPERConfig(**settings)


def test_other_invalid_settings_raise() -> None:
    with pytest.raises(ValueError, match="reweight must be True or False, found 'no'"):
        VIPERConfig(reweight="no")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seed must be from 0"):
        VIPERTrainer(CORRIDOR, Scripted(), SMALL, seed=-1)
    with pytest.raises(ValueError, match="must be fewer than 1,000,000,000"):
        VIPERTrainer(CORRIDOR, Scripted(), VIPERConfig(worlds=10**6))
    teacher = PPOTrainer("drl", get("maze"), PPOConfig(worlds=1, hidden=8)).policy
    with pytest.raises(ValueError, match="accepts only grids of 8x8"):
        VIPERTrainer(get("maze"), teacher, SMALL, size=(10, 10))


@pytest.mark.parametrize(("value", "message"), [(np.nan, "nan among them"), (-np.inf, "-inf among them")])
def test_teacher_without_finite_log_probabilities_raises(value: float, message: str) -> None:
    class Lost(Scripted):
        def log_probabilities(self, observations: Arrays) -> NDArray[np.float64]:
            return np.full((len(observations), 5), value)

    with pytest.raises(ValueError, match=rf"log-probabilities \[8, 5\] as finite numbers, found {message}"):
        VIPERTrainer(CORRIDOR, Lost(), SMALL).step()
