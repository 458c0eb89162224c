"""The judge's metrics, on spaces with known results."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from leaps.domain import Outcome
from leaps.dsl.text import PREFIX
from leaps.embedding import judge as module
from leaps.embedding.judge import Judge, same_programs
from leaps.embedding.model import ModelConfig, ProgramSpace
from leaps.experiments.explore import r_mat
from leaps.karel.world import KAREL, LANGUAGE
from tests.embedding.helpers import END, GRID, long_programs, tokens_of, untrained

NUMBERS = np.array([50, 3, 17, 44, 8, 29])


class Parrot(ProgramSpace):
    """A space that decodes given programs, and whose policy always predicts the same action."""

    def __init__(self, script: NDArray[np.uint8], says: int) -> None:
        super().__init__(LANGUAGE, ModelConfig(8, 8), GRID)
        self.script = torch.from_numpy(script.astype(np.int64))[:, len(PREFIX) :]
        self.written = 0
        assert self.policy is not None
        with torch.no_grad():
            last = self.policy.output[-1]
            last.weight.zero_()  # type: ignore[operator]
            last.bias.copy_(torch.eye(END + 1)[says])  # type: ignore[operator]

    def write(
        self,
        latent: Tensor,
        *,
        noise: Tensor | None = None,  # noqa: ARG002
        max_length: int | None = None,  # noqa: ARG002
        early_stop: bool = True,  # noqa: ARG002
    ) -> tuple[Tensor, Tensor]:
        self.written += len(latent)
        tokens = self.script[self.written - len(latent) : self.written]
        return tokens, torch.ones(*tokens.shape, len(LANGUAGE.tokens), dtype=torch.bool)


def half_right() -> NDArray[np.uint8]:
    """The programs, but every other one replaced by `putMarker`."""
    script = long_programs().tokens[NUMBERS].copy()
    script[::2] = tokens_of("putMarker", length=script.shape[1]).numpy()
    return np.asarray(script)


def judged(script: NDArray[np.uint8], says: int = END) -> dict[str, float]:
    space = Parrot(script, says)
    return Judge(long_programs(), NUMBERS, space)(space)


def test_exact_is_the_fraction_of_programs_reconstructed() -> None:
    assert judged(half_right())["exact"] == 0.5


def test_behaviour_is_the_mean_r_mat_of_decoded_programs() -> None:
    data = long_programs()
    worlds = data.worlds(NUMBERS)
    expected = r_mat(
        KAREL.compile(half_right()), KAREL.compile(data.tokens[NUMBERS]), worlds, own_worlds=True
    )
    assert judged(half_right())["behaviour"] == pytest.approx(expected.mean())


def test_a_space_that_reconstructs_all_programs_has_behaviour_1() -> None:
    found = judged(long_programs().tokens[NUMBERS])
    assert (found["exact"], found["behaviour"]) == (1, 1)


@pytest.mark.parametrize("action", [0, 1, 4])
def test_action_accuracy_is_the_fraction_of_steps_predicted(action: int) -> None:
    data = long_programs()
    actions = data.traces(NUMBERS).actions
    ended = int((data.outcome[NUMBERS] != Outcome.CUT_OFF).sum())
    steps = int(data.steps[NUMBERS].sum()) + ended
    right = np.count_nonzero(np.asarray(actions) == action)
    assert judged(half_right(), action)["action_accuracy"] == pytest.approx(right / steps)


def test_sequence_accuracy_is_the_fraction_of_rollouts_predicted_completely() -> None:
    at_once = long_programs().steps[NUMBERS] == 0
    assert 0 < at_once.mean() < 1
    assert judged(half_right(), END)["sequence_accuracy"] == pytest.approx(at_once.mean())


def test_the_metrics_do_not_depend_on_the_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = judged(half_right())
    monkeypatch.setattr(module, "BATCH", 4)
    assert judged(half_right()) == pytest.approx(whole)


def test_programs_are_decoded_from_their_mean_latents() -> None:
    space, data = untrained(), long_programs()
    with torch.no_grad():
        decoded = space.decode(space.encode(torch.from_numpy(data.tokens[NUMBERS]))).to(torch.uint8).numpy()
    expected = r_mat(
        KAREL.compile(decoded), KAREL.compile(data.tokens[NUMBERS]), data.worlds(NUMBERS), own_worlds=True
    )
    assert Judge(data, NUMBERS, space)(space)["behaviour"] == pytest.approx(expected.mean())


def test_judging_twice_is_the_same_and_changes_nothing() -> None:
    space = untrained()
    before = {name: tensor.clone() for name, tensor in space.state_dict().items()}
    judge = Judge(long_programs(), NUMBERS, space)
    assert judge(space) == judge(space)
    assert all(torch.equal(tensor, before[name]) for name, tensor in space.state_dict().items())


def test_without_a_policy_only_programs_are_judged() -> None:
    space = untrained(policy=False)
    assert Judge(long_programs(), NUMBERS, space)(space).keys() == {"exact", "behaviour"}


# Equal programs


def test_padding_does_not_make_programs_different() -> None:
    short, long = (tokens_of("move", length=length).numpy().astype(np.uint8) for length in (5, 9))
    assert same_programs(short, long, LANGUAGE.pad).tolist() == [True]
    assert same_programs(long, short, LANGUAGE.pad).tolist() == [True]


def test_one_token_makes_programs_different() -> None:
    one, other = (tokens_of("move", text).numpy().astype(np.uint8) for text in ("turnLeft", "turnRight"))
    assert same_programs(one, other, LANGUAGE.pad).tolist() == [True, False]


def test_a_prefix_of_a_program_is_different() -> None:
    one, other = (tokens_of(text).numpy().astype(np.uint8) for text in ("move", "move move"))
    assert same_programs(one, other, LANGUAGE.pad).tolist() == [False]
