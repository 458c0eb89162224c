"""Build the trainers of the baselines: one function for each method of `leaps.baselines.methods`."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from leaps.base.files import write_atomically
from leaps.base.settings import changed
from leaps.base.tensors import read_about
from leaps.baselines import hrl, naive, ppo, viper
from leaps.baselines.evaluate import check_domain
from leaps.baselines.hrl import HRLConfig, HRLTrainer
from leaps.baselines.methods import Options
from leaps.baselines.naive import Naive, NaiveConfig, behaviour_score, task_score
from leaps.baselines.policies import load_origin, load_policy
from leaps.baselines.ppo import LastActionConfig, LastActionPolicy, NeuralPolicy, PPOConfig, PPOTrainer
from leaps.baselines.skill_training import SKILLS_FILE
from leaps.baselines.skills import load_skills
from leaps.baselines.train import POLICY_FILE, BaselineConfig, Trainer, named
from leaps.baselines.viper import VIPERConfig, VIPERTrainer
from leaps.dsl.syntax import Program
from leaps.dsl.text import parse, to_indented, to_line
from leaps.evaluate import ExpectedReturn, evaluate
from leaps.karel.dataset import WALL_DENSITY, worlds_for
from leaps.karel.world import LANGUAGE
from leaps.search.reconstruct import TEST_PROGRAMS
from leaps.tasks import get

PROGRAM_FILE = "program.karel"
WORLDS = 10
"""number of worlds that score a program during training, as in the paper"""

Settings = TypeVar("Settings", HRLConfig, NaiveConfig, PPOConfig, VIPERConfig)


class NaiveTrainer:
    """Trainer of the Naïve baseline, on a task or on one of the reconstruction tests."""

    done = False
    """training ends only when its steps are used up"""

    def __init__(
        self, config: NaiveConfig, name: str, seed: int, size: tuple[int, int] | None, device: str
    ) -> None:
        self.config, self.name, self.size = config, name, size
        if name in TEST_PROGRAMS:
            score = behaviour_score(TEST_PROGRAMS[name], worlds_for(TEST_PROGRAMS[name], seed, WORLDS))
        else:
            task = get(name)
            score = task_score(task, task.worlds(WORLDS, seed, size))
        self.naive = Naive(config, score, seed, device)

    @property
    def steps(self) -> int:
        return self.naive.environment_steps

    def step(self) -> list[float]:
        return [self.naive.step().mean_return]

    def state(self) -> dict[str, Any]:
        return self.naive.state()

    def restore(self, state: dict[str, Any]) -> None:
        self.naive.restore(state)

    @property
    def settings(self) -> dict[str, Any]:
        # The test's worlds are part of the training's configuration.
        worlds = {"wall_density": WALL_DENSITY} if self.name in TEST_PROGRAMS else {}
        return asdict(self.config) | worlds

    @property
    def program(self) -> NDArray[np.uint8]:
        """The best program of the trained network."""
        return self.naive.answer()[0]

    def judge(self, episodes: int, seed: int, prefer_exact: bool = False) -> ExpectedReturn:
        program = self.program[None]
        if self.name in TEST_PROGRAMS:
            wanted = TEST_PROGRAMS[self.name]
            score = behaviour_score(wanted, worlds_for(wanted, seed, episodes))
            r_mat = float(score(program)[0][0])
            return ExpectedReturn(r_mat, r_mat, None, episodes)  # one number for all worlds
        found = evaluate(
            program, self.name, episodes=episodes, seed=seed, size=self.size, prefer_exact=prefer_exact
        )
        return found.expected()

    @property
    def readable(self) -> dict[str, Any]:
        return {"program": to_line(self._parsed)}

    @property
    def _parsed(self) -> Program:
        return parse(LANGUAGE.text(self.program), LANGUAGE)

    def save(self, folder: Path, about: dict[str, Any]) -> None:  # noqa: ARG002  all is in the result
        text = to_indented(self._parsed)
        write_atomically(folder / PROGRAM_FILE, (text + "\n").encode())


def plain_name(task: str) -> str:
    """Return the name of a task, without its file, or of a reconstruction test; refuse other domains."""
    if task in TEST_PROGRAMS:
        return task
    wanted = get(task)
    check_domain(wanted)
    return str(wanted.name)


def _best_for(task: str, paper: Mapping[str, Settings], otherwise: Settings) -> Settings:
    """Return the paper's settings for a task, or for the task that it is a variant of."""
    if task in paper:  # a reconstruction test, too
        return paper[task]
    return paper.get(get(task).variant_of or task, otherwise)


def _ppo(config: BaselineConfig, options: Options, paper: Mapping[str, PPOConfig]) -> Trainer:
    _needs_no_origin(config, options)
    settings = changed(_best_for(config.task, paper, PPOConfig()), options.changes)
    return PPOTrainer(config.method, get(config.task), settings, config.seed, config.size, options.device)


def _last_action(config: BaselineConfig, options: Options) -> Trainer:
    _needs_no_origin(config, options)
    settings = changed(LastActionConfig(), options.changes)
    return PPOTrainer(config.method, get(config.task), settings, config.seed, config.size, options.device)


def _transfer(config: BaselineConfig, options: Options) -> Trainer:
    task = get(config.task)
    if options.origin is None:
        source = ppo.TRANSFER.get(task.variant_of or task.name, "maze")
        raise ValueError(
            "drl-abs-t starts from a policy trained on another task; train one, for example with "
            f"`leaps baseline drl-abs --task {source} --steps 1000000`, and give its folder with --from"
        )
    origin = load_origin(options.origin)
    settings = changed(origin.config, options.changes)  # the paper keeps the first task's settings
    return PPOTrainer(config.method, task, settings, config.seed, config.size, options.device, origin)


def _naive(config: BaselineConfig, options: Options) -> Trainer:
    _needs_no_origin(config, options)
    paper = naive.PAPER_NAIVE | naive.PAPER_NAIVE_TESTS
    settings = replace(_best_for(config.task, paper, NaiveConfig()), steps=config.steps)
    return NaiveTrainer(
        changed(settings, options.changes), config.task, config.seed, config.size, options.device
    )


def _hrl(config: BaselineConfig, options: Options, paper: Mapping[str, HRLConfig]) -> Trainer:
    settings = changed(_best_for(config.task, paper, HRLConfig()), options.changes)
    skills = None if options.origin is None else load_skills(options.origin / SKILLS_FILE)
    return HRLTrainer(
        config.method, get(config.task), settings, config.seed, config.size, options.device, skills
    )


def _viper(config: BaselineConfig, options: Options) -> Trainer:
    task = get(config.task)
    if options.origin is None:
        raise ValueError(
            "viper imitates a policy; train one, for example with "
            f"`leaps baseline drl --task {config.task}`, and give its folder with --from"
        )
    teacher = load_policy(options.origin)
    # While the tree acts, the action performed is not the last one that the teacher chose.
    if not isinstance(teacher, NeuralPolicy) or isinstance(teacher, LastActionPolicy):
        raise ValueError(
            f"viper imitates drl, drl-fcn or drl-abs; {options.origin} holds a policy of another method"
        )
    settings = changed(_best_for(config.task, viper.PAPER_VIPER, VIPERConfig()), options.changes)
    teacher_name = named(read_about(options.origin / POLICY_FILE))
    return VIPERTrainer(task, teacher, settings, config.seed, config.size, teacher_name)


def _needs_no_origin(config: BaselineConfig, options: Options) -> None:
    if options.origin is not None:
        raise ValueError(
            f"--from: {config.method} trains from scratch; expected drl-abs-t, viper, hrl or hrl-abs"
        )


BUILDERS: Mapping[str, Callable[[BaselineConfig, Options], Trainer]] = {
    "drl": lambda config, options: _ppo(config, options, ppo.PAPER_PPO),
    "drl-fcn": lambda config, options: _ppo(config, options, ppo.PAPER_PPO),
    "drl-abs": lambda config, options: _ppo(config, options, ppo.PAPER_PPO_ABS),
    "drl-abs-t": _transfer,
    ppo.LAST_ACTION: _last_action,
    "hrl": lambda config, options: _hrl(config, options, hrl.PAPER_HRL),
    "hrl-abs": lambda config, options: _hrl(config, options, hrl.PAPER_HRL_ABS),
    "naive": _naive,
    "viper": _viper,
}
