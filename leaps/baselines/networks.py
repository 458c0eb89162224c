"""What the neural baselines see a grid with."""

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

SMALLEST = 5
"""cells along a side of the smallest world that the two convolutions fit into"""


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
        """[worlds, height, width, planes] → [worlds, features]"""
        return torch.as_tensor(self.layers(grids.permute(0, 3, 1, 2)))


class FullyConvolutional(BaseFeaturesExtractor):
    """Convolutions and the strongest answer to each anywhere: takes worlds of any size."""

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
        return torch.as_tensor(self.layers(grids.permute(0, 3, 1, 2)).amax(dim=(2, 3)))
