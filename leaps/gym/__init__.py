"""Any Gymnasium environment as a task, and programs as policies in it.

scene.py       one environment, run one action at a time
record.py      records of episodes, and the first difference between two
check.py       validation of an environment before a search
resets.py      initial states by seed: resets, or copies where these are faster
play.py        run compiled programs, one episode after the other
workers.py     run a batch in several processes
watchdog.py    stop an environment that hangs
seeds.py       initial states: the seeds that environments are reset with
constants.py   perceptions with a constant: `angle>0.05`
perceptions.py functions of the observation, or of the environment, as the senses of a language
task.py        a task: an environment with names for its actions and perceptions
film.py        an episode as a GIF
memory.py      an environment with a cache of its episodes
policy.py      a program as a policy: observation in, action out
export.py      a program as a file of plain Python
"""

from leaps.gym.constants import number
from leaps.gym.perceptions import privileged
from leaps.gym.policy import ProgramPolicy
from leaps.gym.task import GymTask

__all__ = ["GymTask", "ProgramPolicy", "number", "privileged"]
