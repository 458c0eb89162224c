"""Any Gymnasium environment as a task, and programs as policies in it.

task.py      a task: an environment, names for its actions, and what can be perceived
constants.py perceptions with a constant: `angle>0.05`
memory.py    an environment that remembers its episodes
policy.py    a program that acts: observation in, action out
export.py    the same as a file of plain Python
"""

from leaps.gym.constants import number
from leaps.gym.policy import ProgramPolicy
from leaps.gym.task import GymTask, privileged

__all__ = ["GymTask", "ProgramPolicy", "number", "privileged"]
