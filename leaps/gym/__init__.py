"""Any Gymnasium environment as a task, and programs as policies in it.

scene.py       one environment, played an action at a time
record.py      records of episodes, and the first difference of two
check.py       what an environment has to keep to, checked before a search
resets.py      initial states by seed: resets, or copies where they are faster
play.py        compiled programs, one episode after the other
workers.py     a batch in several processes
watchdog.py    notice an environment that hangs
seeds.py       initial states: the seeds that environments are reset with
constants.py   perceptions with a constant: `angle>0.05`
perceptions.py functions of the observation, or of the environment, as the senses of a language
task.py        a task: an environment, names for its actions, and what can be perceived
film.py        an episode as a GIF
memory.py      an environment that remembers its episodes
policy.py      a program that acts: observation in, action out
export.py      the same as a file of plain Python
"""

from leaps.gym.constants import number
from leaps.gym.perceptions import privileged
from leaps.gym.policy import ProgramPolicy
from leaps.gym.task import GymTask

__all__ = ["GymTask", "ProgramPolicy", "number", "privileged"]
