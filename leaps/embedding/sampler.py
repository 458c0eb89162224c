"""Sample programs from latents during training; on a GPU with a recorded CUDA graph."""

import torch
from torch import Tensor

from leaps.dsl.text import PREFIX
from leaps.embedding.model import ProgramSpace


class ProgramSampler:
    """Draw programs from a space whose weights change in place.

    On a GPU, launching a step's forty small kernels takes longer than running them. A CUDA graph launches all
    steps at once. It is recorded for the first batch size. Other sizes, such as the last batch of an epoch,
    run without a graph, and so does a CPU.
    """

    def __init__(self, space: ProgramSpace) -> None:
        self.space = space
        self._graph: torch.cuda.CUDAGraph | None = None

    @torch.no_grad()
    def draw(self, latent: Tensor, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Sample tokens [b, t]; also return the tokens that the syntax allowed at each position [b, t, v].

        The next call may overwrite both.
        """
        length = self.space.config.max_length - len(PREFIX)
        shape = len(latent), length, len(self.space.language.tokens)
        uniform = torch.rand(*shape, generator=generator, device=latent.device)
        noise = -torch.log(-torch.log(uniform.clamp(1e-20, 1 - 1e-7)))
        if latent.device.type != "cuda":
            return self.space.write(latent, noise=noise)
        if self._graph is None:
            self._record(latent, noise)
        if len(latent) != len(self._latent):
            return self.space.write(latent, noise=noise, early_stop=False)
        self._latent.copy_(latent)
        self._noise.copy_(noise)
        assert self._graph is not None
        self._graph.replay()
        return self._written

    def _record(self, latent: Tensor, noise: Tensor) -> None:
        self._latent, self._noise = latent.clone(), noise.clone()
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):  # libraries initialize in the first run
            for _ in range(2):
                self.space.write(self._latent, noise=self._noise, early_stop=False)
        torch.cuda.current_stream().wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._written = self.space.write(self._latent, noise=self._noise, early_stop=False)
