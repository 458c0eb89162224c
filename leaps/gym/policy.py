"""A program as a policy: observation in, action out, wherever a policy is asked for."""

from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.base.files import write_atomically
from leaps.domain import words_of
from leaps.dsl.compiler import HALT
from leaps.dsl.language import Kind
from leaps.dsl.stepper import Stepper
from leaps.dsl.syntax import Program
from leaps.gym.export import to_python
from leaps.gym.perceptions import Privileged
from leaps.gym.scene import is_truth, label, shown
from leaps.gym.task import GymTask


class ProgramPolicy:
    """A program that acts in a Gymnasium environment.

    `reset` and `act` run one episode. `predict` has the semantics of stable-baselines3, so that its
    `evaluate_policy`, and whatever else takes a trained model, takes a program.

    >>> import leaps.tasks
    >>> task = leaps.tasks.get("CartPole-v1")
    >>> program = "DEF run m( IFELSE c( angle>0 c) i( pushRight i) ELSE e( pushLeft e) m)"
    >>> policy = leaps.ProgramPolicy(program, task)
    >>> policy.act([0.0, 0.0, 0.1, 0.0]), policy.reasons
    (1, {'angle>0': True})
    """

    def __init__(self, program: str | Program, task: GymTask, environment: Any = None) -> None:
        """environment: what privileged perceptions look into, if the program uses any."""
        task = task.fitting(words_of(program))
        self.task, self.environment = task, environment
        self._tokens = task.domain.read(program)
        self._compiled = task.compile(program)
        language = task.domain.language
        asked = {language.senses[sense] for sense in self._senses()}
        if environment is None and (hidden := sorted(asked & set(task.privileged))):
            raise ValueError(
                f"the program looks into the environment ({', '.join(hidden)}); expected the environment, too"
            )
        self._names = language.senses
        self._perceptions, self._actions = list(task.sensors.values()), list(task.actions.values())
        self._hidden = [isinstance(perception, Privileged) for perception in self._perceptions]
        """which of them look into the environment"""
        self._moves = [value if isinstance(value, int) else None for value in self._actions]
        """actions that nobody can change, so that they need not be copied; None for others"""
        self._seen: Any = None
        """the observation that is looked at"""
        self.reasons: dict[str, bool] = {}
        """what was perceived for the last action, as far as it mattered"""
        self._space: Any = None
        self.reset()

    def _senses(self) -> set[int]:
        """The senses that the program asks about."""
        program = self.task.domain.language
        return {
            int(program.sense_of[program.arguments[token]])
            for token in self._tokens
            if program.kinds[token] == Kind.PERCEPTION
        }

    def reset(self) -> None:
        """Begin an episode."""
        self._stepper = self._begin()

    def _begin(self) -> Stepper:
        return Stepper(self._compiled, repeats=self.task.repeats)

    def act(self, observation: Any) -> Any:
        """Say what to do next, as the environment takes it; None once the program has come to its end."""
        self._seen, self.reasons = observation, {}
        operation = self._stepper.next(self._look)
        if operation >= HALT:
            return None
        move = self._moves[operation]
        return copy(self._actions[operation]) if move is None else move

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,  # noqa: ARG002
    ) -> tuple[NDArray[Any], Any]:
        """Choose actions for one observation or a batch; also what to hand back as `state` next time.

        A program that has come to its end can't end an episode here: it repeats its last action, or does its
        first action if it never acted.
        """
        observations = self._split(observation)
        batch = [observation] if observations is None else observations
        if state is None:
            state = [_Course(self._begin()) for _ in batch]
        begins = np.zeros(len(batch), np.bool_) if episode_start is None else np.atleast_1d(episode_start)
        chosen = []
        for course, seen, begin in zip(state, batch, begins, strict=True):
            if begin:
                course.stepper.reset()
                course.last = 0
            self._seen = seen
            operation = course.stepper.next(self._look)
            course.last = course.last if operation >= HALT else operation
            chosen.append(self._actions[course.last])
        return np.array(chosen if observations is not None else chosen[0]), state

    def export(self, file: str | Path) -> None:
        """Write the program as a file of plain Python, which depends on nothing and has a `Policy` like this.

        Its perceptions go with it, so they have to be functions that use nothing but their argument.
        """
        text = to_python(self.task.domain.parse(self.task.domain.text(self._tokens)), self.task)
        write_atomically(Path(file), text.encode())

    def _split(self, observation: Any) -> list[Any] | None:
        """The observations of a batch; None if it is a single one."""
        if self._space is None:
            environment = self.environment or self.task.environment()
            self._space = getattr(environment, "single_observation_space", environment.observation_space)
        if isinstance(observation, dict):
            name = next(iter(observation))
            if np.ndim(observation[name]) == len(self._space[name].shape):
                return None
            count = len(observation[name])
            return [{key: values[i] for key, values in observation.items()} for i in range(count)]
        return None if np.ndim(observation) == len(self._space.shape) else list(observation)

    def _look(self, sense: int) -> bool:
        """Look whether the perception of a sense holds."""
        seen = self.environment.unwrapped if self._hidden[sense] else self._seen
        holds: bool = self._perceptions[sense](seen)
        if holds is not True and holds is not False:
            if not is_truth(holds):
                where = label(self.task, self._perceptions[sense])
                raise ValueError(f"{where}: expected True or False, found {shown(holds)}")
            holds = bool(holds)
        self.reasons[self._names[sense]] = holds
        return holds


@dataclass
class _Course:
    """One of the episodes that `predict` is in."""

    stepper: Stepper
    last: int = 0
    """action"""
