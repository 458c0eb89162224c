"""The networks of the neural baselines: grid encoders and a recurrent policy."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from stable_baselines3.common.policies import ActorCriticCnnPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, MlpExtractor
from torch import Tensor, nn
from torch.nn.functional import linear

from leaps.karel.tasks import KarelTask

SMALLEST = 5
"""side of the smallest world into which the two convolutions fit, in cells"""


Fuse = Callable[[Callable[..., Any]], Callable[..., Any]]
"""returns an equivalent function with fewer operations"""


@contextmanager
def compiling(backend: Any = "inductor") -> Iterator[Fuse]:
    """Fuse functions with torch's compiler, or leave them unchanged if it fails (e.g. no C compiler).

    A process may train several policies with different optimizers and sizes. Each needs its own compiled
    variant, so the compiler's default limit of eight variants per function is raised.
    """
    with torch._dynamo.config.patch(suppress_errors=True, recompile_limit=10_000):
        yield lambda function: torch.compile(function, dynamic=False, backend=backend)


@contextmanager
def fast_products() -> Iterator[None]:
    """Multiply matrices on a GPU with 10 bits of mantissa, as torch computes convolutions by default."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def check_seen(seen: tuple[int, int] | None, task: KarelTask, size: tuple[int, int]) -> None:
    """Raise ValueError if a policy for worlds of size `seen` can't act in worlds of `size`; None fits any."""
    if seen is not None and size != seen:
        raise ValueError(
            f"this policy accepts only grids of {seen[0]}x{seen[1]}; found {task.name} at {size[0]}x{size[1]}"
        )


class GridEncoder(BaseFeaturesExtractor):
    """The paper's two convolutions, for worlds of one size."""

    def __init__(self, space: spaces.Box) -> None:
        height, width, planes = space.shape
        super().__init__(space, 32 * (height - 4) * (width - 4))
        self.layers = nn.Sequential(
            nn.Conv2d(planes, 32, kernel_size=2),
            nn.ReLU(),
            nn.Conv2d(32, 32, kernel_size=4),
            nn.ReLU(),
            nn.Flatten(),
        )

    def forward(self, grids: Tensor) -> Tensor:
        """[worlds, height, width, planes] of zeros and ones, any type → [worlds, features]"""
        if grids.is_cuda:  # the gradient of such a small convolution is slow on a GPU
            first = self.layers[0]
            assert isinstance(first, nn.Conv2d)
            return torch.as_tensor(self.layers[1:](by_product(grids.float(), first)))
        return torch.as_tensor(self.layers(grids.permute(0, 3, 1, 2).float()))


class LoweredGridEncoder(GridEncoder):
    """`GridEncoder` in bfloat16 on a GPU.

    In 100x100 worlds convolutions take nearly all of the training time.
    """

    def forward(self, grids: Tensor) -> Tensor:
        """Compute features as `GridEncoder` does; they are bfloat16 on a GPU."""
        if not grids.is_cuda:
            return super().forward(grids)
        if not torch.is_grad_enabled():
            return self.lowered(grids)
        with compiling() as fuse:
            return torch.as_tensor(fuse(self.lowered)(grids))

    def lowered(self, grids: Tensor) -> Tensor:
        """Compute features [worlds, features] in bfloat16, on any device."""
        # A cached copy of a weight would miss the optimizer's updates.
        with torch.autocast(grids.device.type, torch.bfloat16, cache_enabled=False):
            return torch.as_tensor(self.layers(grids.permute(0, 3, 1, 2).to(torch.bfloat16)))


def by_product(grids: Tensor, convolution: nn.Conv2d) -> Tensor:
    """Compute a convolution of grids [n, height, width, planes] → [n, outputs, …] as one matrix product."""
    assert convolution.bias is not None
    height, width = convolution.kernel_size
    rows, columns = grids.shape[1] - height + 1, grids.shape[2] - width + 1
    patches = torch.cat(
        [grids[:, y : y + rows, x : x + columns] for y in range(height) for x in range(width)], dim=3
    )
    weight = convolution.weight.permute(2, 3, 1, 0).flatten(0, 2)
    return (patches @ weight + convolution.bias).permute(0, 3, 1, 2)


class FullyConvolutional(BaseFeaturesExtractor):
    """Convolutions with global max pooling, for worlds of any size."""

    def __init__(self, space: spaces.Box, features: int = 64) -> None:
        super().__init__(space, features)
        self.layers = nn.Sequential(
            nn.Conv2d(space.shape[-1], 32, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, features, kernel_size=3, padding=1),
            nn.ReLU(),
        )

    def forward(self, grids: Tensor) -> Tensor:
        """[worlds, height, width, planes] → [worlds, features]"""
        return torch.as_tensor(self.layers(grids.permute(0, 3, 1, 2).float()).amax(dim=(2, 3)))


class OneLayer(MlpExtractor):
    """One hidden layer each for policy and value, computed by one matrix product."""

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        (policy, activation), (value, _) = self.policy_net, self.value_net
        assert isinstance(policy, nn.Linear)
        assert isinstance(value, nn.Linear)
        weights = torch.cat([policy.weight, value.weight]).to(features.dtype)
        biases = torch.cat([policy.bias, value.bias]).to(features.dtype)
        hidden = activation(linear(features, weights, biases).float())
        return hidden[:, : self.latent_dim_pi], hidden[:, self.latent_dim_pi :]

    def forward_actor(self, features: Tensor) -> Tensor:
        return super().forward_actor(features.float())

    def forward_critic(self, features: Tensor) -> Tensor:
        return super().forward_critic(features.float())


class GridPolicy(ActorCriticCnnPolicy):
    """The CNN policy of stable-baselines3 with `OneLayer`; it passes observations on as bytes."""

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = OneLayer(self.features_dim, self.net_arch, self.activation_fn, self.device)

    def extract_features(self, obs: Any, features_extractor: Any = None) -> Any:
        return (features_extractor or self.features_extractor)(obs)


class Remembering(RecurrentActorCriticPolicy):
    """The recurrent policy of sb3-contrib, with one LSTM call per sequence.

    The library splits its data into sequences where an episode begins, so an episode can only begin at the
    first step of a sequence. Yet as soon as any sequence begins an episode, it calls the LSTM step by step.
    """

    @staticmethod
    def _process_sequence(
        features: Tensor, lstm_states: tuple[Tensor, Tensor], episode_starts: Tensor, lstm: nn.LSTM
    ) -> tuple[Tensor, Tensor]:  # the library's annotation; it returns the output and the LSTM's two states
        count = lstm_states[0].shape[1]
        sequences = features.reshape(count, -1, lstm.input_size).swapaxes(0, 1)
        remembers = 1.0 - episode_starts.reshape(count, -1)[:, 0].view(1, count, 1)
        output, states = lstm(sequences, (remembers * lstm_states[0], remembers * lstm_states[1]))
        return output.transpose(0, 1).flatten(0, 1), states
