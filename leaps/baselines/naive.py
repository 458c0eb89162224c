"""The paper's Naïve baseline: a network learns to write a program token by token, from its return alone.

Appendix "Naïve". The policy observes the tokens that it has written, never a world. It is trained by PPO.
The only reward comes with the last token and is not discounted, so every token has its program's return.
The paper's budget of "2M Karel environment timesteps" is counted in executed actions. Rollouts on the tasks
are long, so the budget lasts 4 to 18 iterations.
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
"""programs [n, length] → their returns [n], and the number of environment steps used"""


@dataclass(frozen=True)
class NaiveConfig:
    """Hyperparameters of one training; PAPER_NAIVE has the paper's values per task."""

    batch: int = 128
    """programs written per iteration"""
    initial_entropy: float = 1.0
    """weight of the entropy in PPO's loss at the start"""
    final_entropy: float = 0.01
    """weight of the entropy at the end; it falls exponentially"""
    learning_rate: float = 0.0005
    hidden: int = 64
    """units of every hidden layer"""
    steps: int = 2_000_000
    """environment steps of a training: actions executed in all rollouts together"""
    max_length: int = 45
    """maximum number of tokens in a program"""
    clip: float = 0.2
    """PPO's clip range: how far the ratio of new to old probability may go from 1"""
    epochs: int = 4
    """passes over an iteration's programs"""
    minibatches: int = 4
    """updates per epoch"""
    value_weight: float = 0.5
    """weight of the value's squared error in the loss"""
    gradient_norm: float = 0.5
    """maximum norm of a gradient; longer ones are clipped"""

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
            raise ValueError(
                "minibatches must be at most batch, "
                f"found minibatches={self.minibatches} and batch={self.batch}"
            )
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
"""the hyperparameters for the reconstruction tests, `leaps.search.reconstruct.TEST_PROGRAMS`"""


def _used(rollouts: Rollouts) -> int:
    """Count the environment steps of rollouts.

    A rollout without actions counts as one step. Otherwise a training whose programs do nothing would
    never end.
    """
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
    """Score programs by how closely they match the behaviour of `program`: R_mat without the bonus of 0.1."""
    wanted = run(KAREL.compile(program), worlds, HORIZON, want_actions=True)
    assert wanted.actions is not None
    outcome, steps, actions = wanted.outcome, wanted.steps, wanted.actions

    def score(tokens: NDArray[np.uint8]) -> tuple[NDArray[np.float64], int]:
        count = len(tokens)
        repeated = Rollouts(
            outcome.repeat(count, axis=0), steps.repeat(count, axis=0), actions=actions.repeat(count, axis=0)
        )
        found = run(KAREL.compile(tokens), worlds, HORIZON, want_actions=True)
        return np.asarray(match(found, repeated).mean(axis=1)), _used(found)

    return score


class Written(NamedTuple):
    """Programs with the network's outputs while it wrote them."""

    tokens: Tensor
    """[b, t] after the prefix, padded with `<pad>`"""
    allowed: Tensor
    """[b, t, v] the tokens that the syntax allowed at each position"""
    log_probabilities: Tensor
    """[b, t] of the tokens, among the allowed ones"""
    values: Tensor
    """[b, t] the return predicted before each token"""

    @property
    def mask(self) -> Tensor:
        """True [b, t] for the tokens of a program, False for padding."""
        return self.tokens != LANGUAGE.pad

    @property
    def programs(self) -> NDArray[np.uint8]:
        """Whole programs [b, length], with the prefix."""
        return np.asarray(with_prefix(self.tokens).to(torch.uint8).cpu().numpy())


class Writer(nn.Module):
    """The policy π(token | tokens so far) and the value: a GRU with two layers for each."""

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
        """Previous tokens [b, t] → log-probabilities [b, t, v], values [b, t] and the GRU's last state.

        Forbidden tokens have a probability of exactly 0, but a finite log-probability, which keeps the
        entropy finite.
        """
        states, state = self.gru(self.embedding(previous), state)
        logits = self.policy(states).masked_fill(~allowed, -1e9)
        return logits.log_softmax(dim=2), self.value(states)[:, :, 0], state

    @torch.no_grad()
    def write(self, count: int, max_length: int, generator: torch.Generator) -> Written:
        """Write programs, drawing each token from the policy among those that the syntax allows."""
        mask = TensorMask(self.syntax, count, max_length)
        token = torch.full((count,), LANGUAGE.ids[PREFIX[-1]], device=mask.state.device)
        state = None
        steps: list[tuple[Tensor, ...]] = []
        while mask.left > 0 and not bool(mask.done.all()):
            allowed = mask.allowed()
            log_probs, values, state = self(token[:, None], allowed[:, None], state)
            drawn = log_probs[:, 0].exp().multinomial(1, generator=generator)
            steps.append((drawn[:, 0], allowed, log_probs[:, 0].gather(1, drawn)[:, 0], values[:, 0]))
            token = drawn[:, 0]
            mask.advance(token)
        return Written(*(torch.stack(parts, dim=1) for parts in zip(*steps, strict=True)))


@dataclass(frozen=True)
class NaiveStep:
    """The results of an iteration."""

    iteration: int
    environment_steps: int
    """environment steps so far"""
    mean_return: float
    """mean return of this iteration's programs"""
    best_return: float
    """highest return of all programs so far"""
    best_program: NDArray[np.uint8]
    """tokens of the program with that return"""
    entropy_weight: float
    """weight of the entropy in this iteration's loss"""


class Naive:
    """A training that runs one iteration per call, and can be saved and restored."""

    def __init__(
        self, config: NaiveConfig, score: Score, seed: int, device: torch.device | str = "cpu"
    ) -> None:
        self.config, self.score, self.seed, self.device = config, score, seed, torch.device(device)
        with torch.random.fork_rng(devices=[]):  # layers draw their initial weights from torch's global state
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
        # All randomness of an iteration follows from its number, so a resumed training is identical.
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
        """Update the network by PPO, with several passes over all programs."""
        advantages = returns[:, None] - written.values  # [b, t]
        std, mean = torch.std_mean(advantages[written.mask], correction=0)
        advantages = (advantages - mean) / (std + 1e-8)
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
        """Compute PPO's loss, a mean over the tokens of these programs without padding."""
        log_probs, values, _ = self.writer(previous_tokens(written.tokens), written.allowed)
        log_probabilities = log_probs.gather(2, written.tokens[:, :, None])[:, :, 0]
        ratio = (log_probabilities - written.log_probabilities).exp()
        clipped = ratio.clamp(1 - self.config.clip, 1 + self.config.clip)
        gain = torch.minimum(ratio * advantages, clipped * advantages)
        entropy = -(log_probs.exp() * log_probs).sum(dim=2)
        error = (values - returns[:, None]) ** 2
        loss: Tensor = -gain - entropy_weight * entropy + self.config.value_weight * error
        return loss[written.mask].mean()

    def answer(self, count: int = 64) -> tuple[NDArray[np.uint8], float]:
        """Write `count` programs and return the tokens and the score of the best one."""
        if count < 1:
            raise ValueError(f"count must be at least 1, found {count}")
        programs = self.writer.write(count, self.config.max_length, self._generator()).programs
        scores, _ = self._score(programs)
        best = int(scores.argmax())
        return programs[best], float(scores[best])

    def state(self) -> dict[str, Any]:
        """Return a copy of all that the next iteration depends on."""
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
        """Resume from the state of a training with the same configuration."""
        wanted, saved = asdict(self.config), state["config"]
        if different := [name for name in wanted if wanted[name] != saved.get(name)]:
            changes = ", ".join(f"{name}={saved.get(name)!r}, not {wanted[name]!r}" for name in different)
            raise ValueError(f"the state is of a training with {changes}")
        state = copy.deepcopy(state)  # the optimizer would update the given tensors in place
        self.seed, self.iteration = state["seed"], state["iteration"]
        self.environment_steps = state["environment_steps"]
        self.best_return, self.best_program = state["best"][0], np.array(state["best"][1], np.uint8)
        self.writer.load_state_dict(state["writer"])
        self.optimizer.load_state_dict(state["optimizer"])
