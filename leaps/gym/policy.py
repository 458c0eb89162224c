"""A program as a policy: observation in, action out."""

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
    `evaluate_policy` and other functions for trained models also take a program.

    >>> import leaps.tasks
    >>> task = leaps.tasks.get("CartPole-v1")
    >>> program = "DEF run m( IFELSE c( angle>0 c) i( pushRight i) ELSE e( pushLeft e) m)"
    >>> policy = leaps.ProgramPolicy(program, task)
    >>> policy.act([0.0, 0.0, 0.1, 0.0]), policy.reasons
    (1, {'angle>0': True})
    """

    def __init__(self, program: str | Program, task: GymTask, environment: Any = None) -> None:
        """environment: needed for privileged perceptions, if the program uses any."""
        task = task.fitting(words_of(program))
        self.task, self.environment = task, environment
        self._tokens = task.domain.read(program)
        self._compiled = task.compile(program)
        language = task.domain.language
        asked = {language.senses[sense] for sense in self._senses()}
        if environment is None and (hidden := sorted(asked & set(task.privileged))):
            raise ValueError(
                f"the program has privileged perceptions ({', '.join(hidden)}); expected an environment, too"
            )
        self._names = language.senses
        self._perceptions, self._actions = list(task.sensors.values()), list(task.actions.values())
        self._hidden = [isinstance(perception, Privileged) for perception in self._perceptions]
        """whether each perception is privileged"""
        self._moves = [value if isinstance(value, int) else None for value in self._actions]
        """immutable actions, which need not be copied; None for mutable ones"""
        self._seen: Any = None
        """the present observation"""
        self.reasons: dict[str, bool] = {}
        """the perceptions that the program checked for the last action, with their values"""
        self._space: Any = None
        self.reset()

    def _senses(self) -> set[int]:
        """Return the senses that the program uses."""
        program = self.task.domain.language
        return {
            int(program.sense_of[program.arguments[token]])
            for token in self._tokens
            if program.kinds[token] == Kind.PERCEPTION
        }

    def reset(self) -> None:
        """Start an episode."""
        self._stepper = self._begin()

    def _begin(self) -> Stepper:
        return Stepper(self._compiled, repeats=self.task.repeats)

    def act(self, observation: Any) -> Any:
        """Return the next action for the environment; None once the program has ended."""
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
        """Choose actions for one observation or a batch; also return the `state` for the next call.

        A program that has ended can't end an episode here. It repeats its last action, or returns the task's
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
        """Write the program as a file of plain Python without dependencies, with a `Policy` like this one.

        The file includes its perceptions, so they must be functions that use only their argument.
        """
        text = to_python(self.task.domain.parse(self.task.domain.text(self._tokens)), self.task)
        write_atomically(Path(file), text.encode())

    def _split(self, observation: Any) -> list[Any] | None:
        """Split a batch into its observations; None if it is a single observation."""
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
        """Whether the perception of a sense holds."""
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
    """The program's state in one of the episodes of `predict`."""

    stepper: Stepper
    last: int = 0
    """the last action"""
