"""VIPER: a decision tree over Karel's perceptions that imitates a neural policy (Bastani et al., 2018).

A tree fitted only to the teacher's states would not know what to do in the states that its own mistakes lead
to. So trees are fitted by DAgger: the tree acts, the teacher labels each state with an action, and the next
tree is fitted to all labels so far. The best tree is kept. A teacher trained by PPO draws its actions, and
may do far worse if it always takes the likeliest. So the labels are drawn, too.

States are weighted by how much the choice of action matters. A teacher trained by PPO has no Q function. As
is usual, the gap between the log-probabilities of its best and worst action replaces the gap of their Q
values.

A tree observes five binary perceptions. So the only data needed are, for each of the 32 observations and each
action, the number of labels and the sum of their weights. Drawing samples from these tables is the same as
drawing them from a list of all states.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save
from sklearn.tree import DecisionTreeClassifier

from leaps.base.files import write_atomically
from leaps.base.seeds import SPAN, VIPER_SEEDS, VIPER_VALIDATION_SEEDS
from leaps.base.tensors import metadata
from leaps.baselines.evaluate import evaluate_policy
from leaps.baselines.train import POLICY_FILE
from leaps.baselines.tree_picture import Leaf, Question, Tree, picture
from leaps.evaluate import Evaluation, ExpectedReturn
from leaps.karel.observe import BITS, PERCEIVED
from leaps.karel.physics import TRUTH
from leaps.karel.simulation import Arrays, Observation, Simulation
from leaps.karel.tasks import KarelTask
from leaps.karel.world import LANGUAGE, Worlds

METHOD = "viper"
TEXT_FILE, PICTURE_FILE = "tree.txt", "tree.png"
ARRAYS = ("feature", "threshold", "left", "right", "action")
LEAF = -1
"""the children of a leaf"""
FEATURES, ACTIONS = len(LANGUAGE.perceptions), len(LANGUAGE.actions)
POSSIBLE = np.sort(TRUTH.T @ BITS)
"""numbers of the possible observations: exactly one of the two marker perceptions holds"""

JsonTree = str | dict[str, Any]
"""a tree as JSON, see `as_json`"""
MOST_STATES = 10**9
"""limit of numpy's draws without replacement"""


@dataclass(frozen=True)
class VIPERConfig:
    """Hyperparameters. The paper tuned the first ones per task."""

    depth: int = 12
    """maximum depth of a tree. One of the five perceptions is the negation of another, so a tree needs at
    most four questions, and the paper's depths set no limit"""
    samples: int = 100_000
    """maximum number of states to which a tree is fitted"""
    reweight: bool = True
    """draw states by weight instead of uniformly"""
    iterations: int = 80
    """number of trees, as in the original implementation"""
    worlds: int = 20
    """worlds per iteration"""
    length: int = 200
    """maximum number of steps per training episode: after that, a tree mostly goes in circles and repeats
    the same states"""
    validation: int = 100
    """number of separate worlds on which the best tree is chosen"""

    def __post_init__(self) -> None:
        for name in ("depth", "samples", "iterations", "worlds", "length", "validation"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")
        if not isinstance(self.reweight, bool):
            raise ValueError(f"reweight must be True or False, found {self.reweight!r}")


PAPER_VIPER = {
    "clean-house": VIPERConfig(6, 100_000, False),
    "four-corner": VIPERConfig(12, 100_000, False),
    "harvester": VIPERConfig(12, 400_000, True),
    "maze": VIPERConfig(12, 100_000, True),
    "stair-climber": VIPERConfig(12, 400_000, True),
    "top-off": VIPERConfig(15, 100_000, False),
}
"""the hyperparameters that the paper found best"""


class Teacher(Protocol):
    """A policy that VIPER can imitate, such as a `NeuralPolicy`."""

    @property
    def observation(self) -> Observation: ...

    def check(self, task: KarelTask, size: tuple[int, int]) -> None:
        """Raise ValueError if the policy can't act in worlds of this task and size."""

    def begin(self, count: int) -> None:
        """Start episodes in `count` worlds, without memory of earlier episodes."""

    def log_probabilities(self, observations: Arrays) -> NDArray[np.floating[Any]]:
        """Log-probabilities [worlds, actions] for the current observations."""


class TreePolicy:
    """A decision tree that acts on perceptions, in worlds of any size.

    The tree is stored as five arrays over its nodes, the root first, like in scikit-learn. If the perception
    `feature` is at most `threshold`, the next node is `left`, otherwise `right`. A leaf performs `action`.
    """

    observation: Observation = "perceptions"
    deterministic = True

    def __init__(
        self,
        feature: NDArray[np.int64],
        threshold: NDArray[np.float64],
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        action: NDArray[np.int64],
    ) -> None:
        self.feature, self.threshold, self.left, self.right, self.action = (
            feature, threshold, left, right, action,
        )  # fmt: skip
        self._check_arrays()
        node, every = np.zeros(len(PERCEIVED), np.int64), np.arange(len(PERCEIVED))
        tested = np.where(left == LEAF, 0, feature)  # scikit-learn stores −2 for leaves
        for _ in range(len(feature)):  # an upper bound of the depth
            low = PERCEIVED[every, tested[node]] <= self.threshold[node]
            child = np.where(low, self.left[node], self.right[node])
            node = np.where(child == LEAF, node, child)
        self.choices: NDArray[np.int64] = self.action[node]
        """the actions [32] for all observations by number, which define the tree's behaviour"""

    def _check_arrays(self) -> None:
        shapes = {name: getattr(self, name).shape for name in ARRAYS}
        count = len(self.feature) if self.feature.ndim == 1 else 0
        if count == 0 or set(shapes.values()) != {(count,)}:
            raise ValueError(f"expected five arrays of one number per node, found {shapes}")
        inner = self.left != LEAF
        if ((self.right != LEAF) != inner).any():
            raise ValueError("expected nodes with two children or none, found a node with one")
        parents = np.arange(count)[inner]
        for children in (self.left[inner], self.right[inner]):
            # Children come after their parents, as in scikit-learn, so every path ends.
            if (wrong := (children <= parents) | (children >= count)).any():
                raise ValueError(
                    f"children must come after their parents and be below {count}, "
                    f"found {children[wrong][0]} for node {parents[wrong][0]}"
                )
        if ((self.feature[inner] < 0) | (self.feature[inner] >= FEATURES)).any():
            raise ValueError(f"perceptions must be from 0 to {FEATURES - 1}, found {self.feature[inner]}")
        if ((self.action < 0) | (self.action >= ACTIONS)).any():
            raise ValueError(f"actions must be from 0 to {ACTIONS - 1}, found {self.action}")
        if not np.isfinite(self.threshold[inner]).all():
            raise ValueError(f"thresholds must be finite numbers, found {self.threshold[inner]}")

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in ARRAYS}

    @staticmethod
    def of(arrays: dict[str, NDArray[Any]]) -> "TreePolicy":
        whole = {name: np.array(arrays[name], np.int64) for name in ARRAYS if name != "threshold"}
        return TreePolicy(threshold=np.array(arrays["threshold"], np.float64), **whole)

    def check(self, task: KarelTask, size: tuple[int, int]) -> None:
        """Accept every task and size."""

    def begin(self, count: int) -> None:
        """Do nothing: the tree has no memory."""

    def act(self, observations: Arrays) -> NDArray[np.int64]:
        if observations.ndim != 2 or observations.shape[1] != FEATURES:
            raise ValueError(f"expected perceptions [worlds, {FEATURES}], found {observations.shape}")
        return np.asarray(self.choices[observations @ BITS])


def read_tree(policy: TreePolicy) -> Tree:
    """Simplify a tree: leave out questions whose answer is known or whose two answers agree."""

    def read(node: int, possible: NDArray[np.int64]) -> Tree:
        if policy.left[node] == LEAF:
            return Leaf(LANGUAGE.actions[policy.action[node]])
        low = PERCEIVED[possible, policy.feature[node]] <= policy.threshold[node]
        if low.all():
            return read(policy.left[node], possible)
        if not low.any():
            return read(policy.right[node], possible)
        no, yes = read(policy.left[node], possible[low]), read(policy.right[node], possible[~low])
        return yes if yes == no else Question(LANGUAGE.perceptions[policy.feature[node]], yes, no)

    return read(0, POSSIBLE)


def as_text(policy: TreePolicy) -> str:
    """Write a tree as readable text.

    >>> print(as_text(TreePolicy.of({"feature": [0, 0, 0], "threshold": [0.5, 0, 0],
    ...                              "left": [1, -1, -1], "right": [2, -1, -1], "action": [0, 2, 0]})))
    if frontIsClear:
        move
    else:
        turnLeft
    """

    def lines(tree: Tree) -> list[str]:
        if isinstance(tree, Leaf):
            return [tree.action]
        yes, no = (lines(answer) for answer in (tree.yes, tree.no))
        written = [f"if {tree.perception}:", *(f"    {line}" for line in yes)]
        if isinstance(tree.no, Question):
            return [*written, "el" + no[0], *no[1:]]
        return [*written, "else:", *(f"    {line}" for line in no)]

    return "\n".join(lines(read_tree(policy)))


def as_json(tree: Tree) -> JsonTree:
    """Write a tree as JSON: a leaf is the name of its action, a question has a subtree for each answer.

    >>> as_json(Question("frontIsClear", Leaf("move"), Leaf("turnLeft")))
    {'perception': 'frontIsClear', 'yes': 'move', 'no': 'turnLeft'}
    """
    if isinstance(tree, Leaf):
        return tree.action
    return {"perception": tree.perception, "yes": as_json(tree.yes), "no": as_json(tree.no)}


def count_leaves(tree: Tree) -> int:
    return 1 if isinstance(tree, Leaf) else count_leaves(tree.yes) + count_leaves(tree.no)


def draw_tree(policy: TreePolicy, path: Path, title: str = "") -> None:
    """Draw a tree as a PNG file."""
    if path.suffix.lower() != ".png":
        raise ValueError(f"expected a .png file for the picture of a tree, found {str(path)!r}")
    write_atomically(path, picture(read_tree(policy), title))


def draw_samples(
    counts: NDArray[np.int64], weights: NDArray[np.float64] | None, samples: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw states and return how many of each kind were drawn.

    counts: number of states of each kind. weights: sum of the weights of each kind.

    As in the original, states are drawn by weight with replacement, or without weights uniformly without
    replacement. The number of draws is at most the number of states.
    """
    size = min(samples, int(counts.sum()))
    drawn = np.zeros(counts.size, np.int64)
    if weights is not None and weights.sum() > 0:  # all weights are 0 for an indifferent teacher
        kinds = np.flatnonzero(weights)
        positive = weights.reshape(-1)[kinds]
        drawn[kinds] = rng.multinomial(size, positive / positive.sum())
    else:
        drawn[:] = rng.multivariate_hypergeometric(counts.reshape(-1), size, method="marginals")
    return drawn.reshape(counts.shape)


def fit_tree(counts: NDArray[np.int64], depth: int, seed: int) -> TreePolicy:
    """Fit a tree to the numbers of states [32, actions] with each observation and label.

    It is the same tree that scikit-learn would fit to a list of all states.
    """
    perceived, actions = np.nonzero(counts)
    fitted: Any = DecisionTreeClassifier(max_depth=depth, random_state=seed)
    fitted.fit(PERCEIVED[perceived], actions, sample_weight=counts[perceived, actions])
    tree = fitted.tree_
    return TreePolicy.of(
        {
            "feature": tree.feature,
            "threshold": tree.threshold,
            "left": tree.children_left,
            "right": tree.children_right,
            "action": fitted.classes_[tree.value[:, 0].argmax(axis=1)],
        }
    )


class VIPERTrainer:
    """Trainer of VIPER: one iteration of DAgger per call, whose randomness follows from its number."""

    def __init__(
        self,
        task: KarelTask,
        teacher: Teacher,
        config: VIPERConfig,
        seed: int = 0,
        size: tuple[int, int] | None = None,
        teacher_name: str | None = None,
    ) -> None:
        if not 0 <= seed < SPAN:
            raise ValueError(f"seed must be from 0 to 2^40 - 1, found {seed}")
        self.task, self.teacher, self.config, self.seed = task, teacher, config, seed
        self.teacher_name = teacher_name
        """part of the settings, so that a training can't resume with another teacher"""
        task.check_policies()
        self.size = task.check_size(size)
        teacher.check(task, self.size)
        self._length = min(config.length, task.horizon(self.size))
        most = config.iterations * config.worlds * self._length
        if most >= MOST_STATES:
            raise ValueError(
                f"iterations * worlds * length must be fewer than {MOST_STATES:,} states, found "
                f"{config.iterations} * {config.worlds} * {self._length:,} = {most:,}"
            )
        self.iteration = self.steps = 0
        # For each observation and action: the number of labels and the sum of their weights.
        self.counts = np.zeros((len(PERCEIVED), ACTIONS), np.int64)
        self.weights = np.zeros((len(PERCEIVED), ACTIONS), np.float64)
        self.tree: TreePolicy | None = None
        """the last tree, which acts in the next iteration"""
        self.best: TreePolicy | None = None
        self.best_return = -np.inf
        """return of the best tree on the validation worlds"""
        self._tried: dict[tuple[int, ...], float] = {}

    @property
    def done(self) -> bool:
        """Whether all iterations are complete; after that, `step` does nothing."""
        return self.iteration >= self.config.iterations

    def step(self) -> list[float]:
        """Act, collect the teacher's labels, fit a tree and validate it. Return the episodes' returns."""
        if self.done:
            return []
        first = self.iteration * self.config.worlds
        worlds = self.task.worlds(self.config.worlds, VIPER_SEEDS + self.seed, self.size, first=first)
        self.iteration += 1
        rng = np.random.default_rng([self.seed, self.iteration])
        returns = self._gather(worlds, rng)
        weights = self.weights if self.config.reweight else None
        drawn = draw_samples(self.counts, weights, self.config.samples, rng)
        self.tree = fit_tree(drawn, self.config.depth, int(rng.integers(2**31)))
        found = self._validate(self.tree)
        if found > self.best_return:
            self.best, self.best_return = self.tree, found
        return returns

    def _gather(self, worlds: Worlds, rng: np.random.Generator) -> list[float]:
        """Collect the teacher's labels while the tree acts, or the teacher in the first iteration."""
        simulation = Simulation(self.task, worlds.count, self.size, self._length)
        simulation.place(worlds)
        self.teacher.begin(worlds.count)
        active = np.ones(worlds.count, np.bool_)
        while active.any():
            seen = simulation.observe("perceptions")
            log_probabilities = self._log_probabilities(simulation.observe(self.teacher.observation))
            # The argmax of log-probabilities plus Gumbel noise is a draw.
            labels = (log_probabilities + rng.gumbel(size=log_probabilities.shape)).argmax(axis=1)
            gap = log_probabilities.max(axis=1) - log_probabilities.min(axis=1)
            kind = ((seen @ BITS) * ACTIONS + labels)[active]
            self.counts += np.bincount(kind, minlength=self.counts.size).reshape(self.counts.shape)
            added = np.bincount(kind, gap[active], minlength=self.counts.size)
            self.weights += added.reshape(self.counts.shape)
            actions = labels if self.tree is None else self.tree.act(seen)
            _, terminated, truncated = simulation.advance(actions, active)
            active &= ~(terminated | truncated)
        self.steps += int(simulation.steps.sum())
        return [float(value) for value in simulation.values]

    def _log_probabilities(self, observations: Arrays) -> NDArray[np.float64]:
        """Return the teacher's log-probabilities; raise ValueError if they are not finite numbers."""
        values = np.asarray(self.teacher.log_probabilities(observations), np.float64)
        if values.shape != (len(observations), ACTIONS) or not np.isfinite(values).all():
            wrong = values[~np.isfinite(values)]
            found = f"{wrong[0]} among them" if len(wrong) else f"{values.shape}"
            raise ValueError(
                f"expected the teacher's log-probabilities [{len(observations)}, {ACTIONS}] as finite "
                f"numbers, found {found}"
            )
        return values

    def _validate(self, tree: TreePolicy) -> float:
        """Compute a tree's return on the validation worlds, cached by behaviour: most trees behave alike."""
        behaviour = tuple(tree.choices[POSSIBLE].tolist())
        if behaviour not in self._tried:
            found = self._evaluate(tree, self.config.validation, VIPER_VALIDATION_SEEDS + self.seed)
            self.steps += int(found.rollouts.steps.sum())
            self._tried[behaviour] = float(found.mean_return[0])
        return self._tried[behaviour]

    def _evaluate(self, tree: TreePolicy, episodes: int, seed: int, prefer_exact: bool = False) -> Evaluation:
        return evaluate_policy(
            tree, self.task, episodes=episodes, seed=seed, size=self.size, prefer_exact=prefer_exact
        )

    @property
    def policy(self) -> TreePolicy:
        """The best tree so far."""
        if self.best is None:
            raise ValueError("there is no tree before the first iteration")
        return self.best

    def judge(self, episodes: int, seed: int, prefer_exact: bool = False) -> ExpectedReturn:
        return self._evaluate(self.policy, episodes, seed, prefer_exact).expected()

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        tree, about = self.policy, about | {"method": METHOD, "size": self.size}
        write_atomically(folder / POLICY_FILE, save(tree.arrays, metadata(about)))
        write_atomically(folder / TEXT_FILE, (as_text(tree) + "\n").encode())
        draw_tree(tree, folder / PICTURE_FILE, f"VIPER on {self.task.name}, seed {self.seed}")

    @property
    def readable(self) -> dict[str, Any]:
        tree = read_tree(self.policy)
        return {"tree": as_json(tree), "leaves": count_leaves(tree)}

    @property
    def settings(self) -> dict[str, Any]:
        return asdict(self.config) | {"teacher": self.teacher_name}

    def state(self) -> dict[str, Any]:
        """Return all that the next iteration depends on, in types that torch.save accepts."""

        def kept(tree: TreePolicy | None) -> dict[str, torch.Tensor] | None:
            return None if tree is None else {name: torch.tensor(a) for name, a in tree.arrays.items()}

        return {
            "iteration": self.iteration,
            "steps": self.steps,
            "counts": torch.tensor(self.counts),
            "weights": torch.tensor(self.weights),
            "tree": kept(self.tree),
            "best": kept(self.best),
            "best_return": self.best_return,
            "tried": [(list(behaviour), found) for behaviour, found in self._tried.items()],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from the state of another trainer."""

        def tree(kept: dict[str, torch.Tensor] | None) -> TreePolicy | None:
            return None if kept is None else TreePolicy.of({name: t.numpy() for name, t in kept.items()})

        self.iteration, self.steps = state["iteration"], state["steps"]
        self.counts, self.weights = (state[name].numpy().copy() for name in ("counts", "weights"))
        self.tree, self.best, self.best_return = (
            tree(state["tree"]),
            tree(state["best"]),
            state["best_return"],
        )
        self._tried = {tuple(behaviour): found for behaviour, found in state["tried"]}


def read_tree_policy(file: Path, about: dict[str, Any]) -> TreePolicy:  # noqa: ARG001
    """Read a tree for acting."""
    return TreePolicy.of(load_file(file))
