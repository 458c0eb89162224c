"""The paper's Naïve baseline: a network learns to write a program token by token, from its return alone.

Appendix "Naïve". The policy sees the tokens that it has written, never a world. It is trained by PPO: reward
comes only with the last token and is not discounted, so the return of every token is that of its program.
The budget, the paper's "2M Karel environment timesteps", is read as actions executed: on the tasks, whose
rollouts are long, it is spent after 4 to 18 iterations.
Shapes: b programs, t tokens after `DEF run m(`, h hidden, v tokens of the vocabulary.
"""

import copy
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from leaps.baselines.settings import check_finite
from leaps.domain import Rollouts
from leaps.dsl.mask import SHORTEST
from leaps.dsl.text import PREFIX
from leaps.embedding.behaviour import match
from leaps.embedding.model import mlp, previous_tokens, with_prefix
from leaps.embedding.syntax import SyntaxTables, TensorMask
from leaps.karel.dataset import HORIZON
from leaps.karel.executor import run
from leaps.karel.tasks import KarelTask
from leaps.karel.world import KAREL, LANGUAGE, Worlds

VOCABULARY = len(LANGUAGE.tokens)
Score = Callable[[NDArray[np.uint8]], tuple[NDArray[np.float64], int]]
"""programs [n, length] → their returns [n], and how many environment steps were used to find them"""


@dataclass(frozen=True)
class NaiveConfig:
    """Hyperparameters of one training; the paper's per task are in PAPER_NAIVE."""

    batch: int = 128
    """programs written per iteration"""
    initial_entropy: float = 1.0
    """weight of the entropy in PPO's loss at first"""
    final_entropy: float = 0.01
    """that weight at the end; it falls exponentially"""
    learning_rate: float = 0.0005
    hidden: int = 64
    """units of every hidden layer"""
    steps: int = 2_000_000
    """environment steps of a training: actions executed, in all rollouts together"""
    max_length: int = 45
    """tokens of the longest program that is written"""
    clip: float = 0.2
    """how far from 1 the ratio of a token's new and old chances may move its loss"""
    epochs: int = 4
    """times that an iteration learns from its programs"""
    minibatches: int = 4
    """updates per epoch"""
    value_weight: float = 0.5
    """weight of the value's squared error in the loss"""
    gradient_norm: float = 0.5
    """longer gradients are shortened to this"""

    def __post_init__(self) -> None:
        check_finite(self)
        for name in ("batch", "hidden", "steps", "epochs", "minibatches"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")
        for name in ("initial_entropy", "final_entropy", "learning_rate", "clip", "gradient_norm"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0, found {getattr(self, name)}")
        if self.value_weight < 0:
            raise ValueError(f"value_weight must be 0 or more, found {self.value_weight}")
        if self.minibatches > self.batch:
            raise ValueError(f"batch={self.batch} can't be cut into minibatches={self.minibatches}")
        if self.max_length < SHORTEST:
            raise ValueError(
                f"max_length={self.max_length} is too short; the shortest program has {SHORTEST} tokens"
            )


PAPER_NAIVE = {
    "clean-house": NaiveConfig(128, 0.1),
    "four-corner": NaiveConfig(128, 1.0),
    "harvester": NaiveConfig(128, 1.0),
    "maze": NaiveConfig(256, 1.0),
    "stair-climber": NaiveConfig(128, 1.0),
    "top-off": NaiveConfig(128, 1.0),
}
"""the hyperparameters that the paper found best per task"""

PAPER_NAIVE_TESTS = {
    "WHILE": NaiveConfig(128, 0.1),
    "IFELSE+WHILE": NaiveConfig(256, 1.0),
    "2IF+IFELSE": NaiveConfig(256, 0.1),
    "WHILE+2IF+IFELSE": NaiveConfig(128, 0.1),
}
"""those for the reconstruction tests, `leaps.search.reconstruct.TEST_PROGRAMS`"""


def _used(rollouts: Rollouts) -> int:
    """Environment steps of rollouts. One without an action counts as one, or a training might never end."""
    return int(np.maximum(rollouts.steps, 1).sum())


def task_score(task: KarelTask, worlds: Worlds) -> Score:
    """Score programs by their mean return on these worlds of a task."""

    def score(tokens: NDArray[np.uint8]) -> tuple[NDArray[np.float64], int]:
        compiled = KAREL.compile(tokens, calls=task.calls)
        rollouts = run(compiled, worlds, task.horizon(worlds.size), task.hooks)
        assert rollouts.returns is not None
        task.check_values(rollouts.returns)
        return np.asarray(rollouts.returns.mean(axis=1)), _used(rollouts)

    return score


def behaviour_score(program: str, worlds: Worlds) -> Score:
    """Score programs by how alike they and `program` behave: R_mat, without the paper's bonus of 0.1."""
    wanted = run(KAREL.compile(program), worlds, HORIZON, want_actions=True)
    assert wanted.actions is not None
    outcome, steps, actions = wanted.outcome, wanted.steps, wanted.actions

    def score(tokens: NDArray[np.uint8]) -> tuple[NDArray[np.float64], int]:
        count = len(tokens)
        others = Rollouts(
            outcome.repeat(count, axis=0), steps.repeat(count, axis=0), actions=actions.repeat(count, axis=0)
        )
        found = run(KAREL.compile(tokens), worlds, HORIZON, want_actions=True)
        return np.asarray(match(found, others).mean(axis=1)), _used(found)

    return score


class Written(NamedTuple):
    """Programs, and what the network thought while it wrote them."""

    tokens: Tensor
    """[b, t] after the prefix, filled up with `<pad>`"""
    allowed: Tensor
    """[b, t, v] what the syntax allowed in each place"""
    log_probabilities: Tensor
    """[b, t] of the tokens, among those that were allowed"""
    values: Tensor
    """[b, t] the returns that were expected before each token"""

    @property
    def places(self) -> Tensor:
        """[b, t] which tokens are part of a program."""
        return self.tokens != LANGUAGE.pad

    @property
    def programs(self) -> NDArray[np.uint8]:
        """[b, length] whole programs."""
        return np.asarray(with_prefix(self.tokens).to(torch.uint8).cpu().numpy())


class Writer(nn.Module):
    """π(token | tokens so far) and the return expected there: a GRU, and two layers for each."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.policy = mlp(hidden, hidden, VOCABULARY)
        self.value = mlp(hidden, hidden, 1)
        self.syntax = SyntaxTables(LANGUAGE)

    def forward(
        self, previous: Tensor, allowed: Tensor, state: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The token before each [b, t] → log-chances of each [b, t, v], values [b, t], the GRU's last state.

        What isn't allowed has a chance of exactly 0 (and a finite log-chance, for the entropy's sake).
        """
        states, state = self.gru(self.embedding(previous), state)
        logits = self.policy(states).masked_fill(~allowed, -1e9)
        return logits.log_softmax(dim=2), self.value(states)[:, :, 0], state

    @torch.no_grad()
    def write(self, count: int, max_length: int, generator: torch.Generator) -> Written:
        """Write programs, each token drawn by its chances among those that the syntax allows."""
        mask = TensorMask(self.syntax, count, max_length)
        token = torch.full((count,), LANGUAGE.ids[PREFIX[-1]], device=mask.state.device)
        state = None
        steps: list[tuple[Tensor, ...]] = []
        while mask.left > 0 and not bool(mask.done.all()):
            allowed = mask.allowed()
            log_chances, values, state = self(token[:, None], allowed[:, None], state)
            drawn = log_chances[:, 0].exp().multinomial(1, generator=generator)
            steps.append((drawn[:, 0], allowed, log_chances[:, 0].gather(1, drawn)[:, 0], values[:, 0]))
            token = drawn[:, 0]
            mask.advance(token)
        return Written(*(torch.stack(parts, dim=1) for parts in zip(*steps, strict=True)))


@dataclass(frozen=True)
class NaiveStep:
    """What an iteration tells."""

    iteration: int
    environment_steps: int
    """so far"""
    mean_return: float
    """of the programs that this iteration wrote"""
    best_return: float
    """of all programs so far"""
    best_program: NDArray[np.uint8]
    """the tokens of that program"""
    entropy_weight: float
    """in this iteration's loss"""


class Naive:
    """A training that can be asked for one iteration after another, saved and restored."""

    def __init__(
        self, config: NaiveConfig, score: Score, seed: int, device: torch.device | str = "cpu"
    ) -> None:
        self.config, self.score, self.seed, self.device = config, score, seed, torch.device(device)
        with torch.random.fork_rng(devices=[]):  # layers draw their first weights from global random numbers
            torch.manual_seed(seed)
            self.writer = Writer(config.hidden).to(self.device)
        self.optimizer = torch.optim.Adam(self.writer.parameters(), config.learning_rate)
        self.iteration = self.environment_steps = 0
        self.best_return = -np.inf
        self.best_program = np.zeros(0, np.uint8)

    @property
    def finished(self) -> bool:
        return self.environment_steps >= self.config.steps

    @property
    def entropy_weight(self) -> float:
        """The weight of the entropy in the next iteration."""
        first, last = self.config.initial_entropy, self.config.final_entropy
        return float(first * (last / first) ** min(self.environment_steps / self.config.steps, 1.0))

    def _generator(self) -> torch.Generator:
        # All randomness of an iteration follows from its number: a restored training is the same training.
        drawn = np.random.default_rng([self.seed, self.iteration]).integers(2**62)
        return torch.Generator(self.device).manual_seed(int(drawn))

    def _score(self, programs: NDArray[np.uint8]) -> tuple[NDArray[np.float64], int]:
        scores, used = self.score(programs)
        if scores.shape != (len(programs),) or not np.isfinite(scores).all():
            wrong = scores[~np.isfinite(scores)]
            found = f"{wrong[0]} among them" if len(wrong) else f"shape {scores.shape}"
            raise ValueError(f"expected {len(programs)} scores that are finite numbers, found {found}")
        return scores, used

    def step(self) -> NaiveStep:
        """Write programs, run them, and learn from their returns."""
        generator, entropy_weight = self._generator(), self.entropy_weight
        written = self.writer.write(self.config.batch, self.config.max_length, generator)
        programs = written.programs
        scores, used = self._score(programs)
        self._learn(written, torch.from_numpy(scores).float().to(self.device), entropy_weight, generator)
        best = int(scores.argmax())
        if scores[best] > self.best_return:
            self.best_return, self.best_program = float(scores[best]), programs[best]
        self.iteration += 1
        self.environment_steps += used
        return NaiveStep(
            self.iteration,
            self.environment_steps,
            float(scores.mean()),
            self.best_return,
            self.best_program,
            entropy_weight,
        )

    def _learn(
        self, written: Written, returns: Tensor, entropy_weight: float, generator: torch.Generator
    ) -> None:
        """Update the network by PPO, several times on all programs."""
        advantages = returns[:, None] - written.values  # [b, t]
        deviation, mean = torch.std_mean(advantages[written.places], correction=0)
        advantages = (advantages - mean) / (deviation + 1e-8)
        for _ in range(self.config.epochs):
            order = torch.randperm(len(returns), generator=generator, device=self.device)
            for some in order.tensor_split(self.config.minibatches):
                part = Written(*(tensor[some] for tensor in written))
                loss = self._loss(part, advantages[some], returns[some], entropy_weight)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.writer.parameters(), self.config.gradient_norm)
                self.optimizer.step()

    def _loss(self, written: Written, advantages: Tensor, returns: Tensor, entropy_weight: float) -> Tensor:
        """PPO's loss, a mean over the tokens of these programs; padding has no part in it."""
        log_chances, values, _ = self.writer(previous_tokens(written.tokens), written.allowed)
        log_probabilities = log_chances.gather(2, written.tokens[:, :, None])[:, :, 0]
        ratio = (log_probabilities - written.log_probabilities).exp()
        clipped = ratio.clamp(1 - self.config.clip, 1 + self.config.clip)
        gain = torch.minimum(ratio * advantages, clipped * advantages)
        entropy = -(log_chances.exp() * log_chances).sum(dim=2)
        error = (values - returns[:, None]) ** 2
        loss: Tensor = -gain - entropy_weight * entropy + self.config.value_weight * error
        return loss[written.places].mean()

    def answer(self, count: int = 64) -> tuple[NDArray[np.uint8], float]:
        """Write programs, and return the best one's tokens and its score."""
        if count < 1:
            raise ValueError(f"count must be at least 1, found {count}")
        programs = self.writer.write(count, self.config.max_length, self._generator()).programs
        scores, _ = self._score(programs)
        best = int(scores.argmax())
        return programs[best], float(scores[best])

    def state(self) -> dict[str, Any]:
        """All that the next iteration depends on, as numbers and tensors of its own."""
        return copy.deepcopy(
            {
                "config": asdict(self.config),
                "seed": self.seed,
                "iteration": self.iteration,
                "environment_steps": self.environment_steps,
                "best": (self.best_return, self.best_program.tolist()),
                "writer": self.writer.state_dict(),
                "optimizer": self.optimizer.state_dict(),
            }
        )

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where a training of the same configuration was."""
        mine, theirs = asdict(self.config), state["config"]
        if different := [name for name in mine if mine[name] != theirs.get(name)]:
            changes = ", ".join(f"{name}={theirs.get(name)!r}, not {mine[name]!r}" for name in different)
            raise ValueError(f"the state is of a training with {changes}")
        state = copy.deepcopy(state)  # the optimizer would write on into the given tensors
        self.seed, self.iteration = state["seed"], state["iteration"]
        self.environment_steps = state["environment_steps"]
        self.best_return, self.best_program = state["best"][0], np.array(state["best"][1], np.uint8)
        self.writer.load_state_dict(state["writer"])
        self.optimizer.load_state_dict(state["optimizer"])
