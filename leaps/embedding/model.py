"""The whole network: program encoder q, program decoder p, and the policy π that acts as a program would.

Appendix "Program Embedding Space VAE Model". The vocabulary is that of a language, and what π observes has a
shape that the data set names. Every program begins with `DEF run m(`, so neither encoder nor decoder sees
those three tokens.

Shapes: b programs, t tokens, l latent, h hidden, e token embedding,
v tokens of the vocabulary.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import linear as linear_layer

from leaps.dsl.language import Language
from leaps.dsl.mask import SHORTEST
from leaps.dsl.text import PREFIX, PREFIX_IDS
from leaps.embedding.recurrent import Layout, Part, linear, run_gru, step_gru, weights_of
from leaps.embedding.syntax import SyntaxTables, TensorMask


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of the network; the paper's by default."""

    latent: int = 256
    """dimensions of the program space"""
    hidden: int = 256
    """units of every hidden layer"""
    max_length: int = 45
    """maximum length of a decoded program in tokens"""
    policy: bool = True
    """whether the network has a π (only the loss L needs it; searching doesn't)"""
    embedding: int = 51
    """dimensions of a token's embedding; the authors' code has one per token of Karel's language"""

    def __post_init__(self) -> None:
        if self.max_length < SHORTEST:
            raise ValueError(
                f"max_length={self.max_length} is too short; the shortest program has {SHORTEST} tokens"
            )
        if self.latent != self.hidden:
            raise ValueError(
                f"the decoder's initial state is the latent: expected hidden={self.latent}, "
                f"found {self.hidden}"
            )
        if self.embedding < 1:
            raise ValueError(f"embedding must be at least 1, found {self.embedding}")


def mlp(*sizes: int) -> nn.Sequential:
    """Linear layers with tanh between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


class Encoder(nn.Module):
    """q(z | ρ): a GRU reads the tokens; its last state gives the mean and the log standard deviation."""

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, config.embedding)
        self.gru = nn.GRU(config.embedding, config.hidden, batch_first=True)
        self.mean = nn.Linear(config.hidden, config.latent)
        self.log_deviation = nn.Linear(config.hidden, config.latent)

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Tokens [b, t], lengths [b] → mean and log standard deviation [b, l]."""
        layout = Layout.of(lengths)
        parts = [Part(self.embedding.weight, tokens[layout.sequence, layout.time])]
        start = torch.zeros(len(tokens), self.gru.hidden_size, device=tokens.device)
        last = run_gru(self.gru, parts, start, layout.batch_sizes)[layout.last]
        return self.mean(last).float(), self.log_deviation(last).float()


class Decoder(nn.Module):
    """p(ρ | z): a GRU that starts from z and reads the previous token's embedding joined with z.

    The next token comes from a two-layer tanh network over its output, the token's embedding and z.
    """

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, config.embedding)
        self.gru = nn.GRU(config.embedding + config.latent, config.hidden, batch_first=True)
        self.output = mlp(config.hidden + config.embedding + config.latent, config.hidden, vocabulary)

    def forward(self, latent: Tensor, previous: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Latent [b, l], the token before each [b, t] → logits of each [b, t, v], unmasked.

        lengths: [b] number of tokens of each program; the logits after them are 0.
        """
        if lengths is None:
            lengths = torch.full((len(previous),), previous.shape[1], device=previous.device)
        layout = Layout.of(lengths)
        where = layout.sequence, layout.time
        parts = [Part(self.embedding.weight, previous[where]), Part(latent, layout.sequence)]
        states = run_gru(self.gru, parts, latent[layout.order], layout.batch_sizes)
        first, last = self._layers
        hidden = torch.tanh(linear(first.weight, first.bias, parts, states))
        logits: Tensor = last(hidden).float()
        return logits.new_zeros(*previous.shape, logits.shape[1]).index_put(where, logits)

    @property
    def _layers(self) -> tuple[nn.Linear, nn.Linear]:
        """The two layers of the output."""
        first, _, last = self.output
        assert isinstance(first, nn.Linear)
        assert isinstance(last, nn.Linear)
        return first, last

    def stepper(self, latent: Tensor) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Prepare single steps from latent [b, l]: token before [b], state [b, h] → logits [b, v], state."""
        weights, (first, last) = weights_of(self.gru), self._layers
        sizes = [self.embedding.embedding_dim, latent.shape[1]]
        of_token, of_latent = torch.split(weights.of_inputs, sizes, dim=1)
        output_of_state, output_of_token, output_of_latent = torch.split(
            first.weight, [self.gru.hidden_size, *sizes], dim=1
        )
        token_gates = linear_layer(self.embedding.weight, of_token)
        latent_gates = linear_layer(latent, of_latent, weights.input_bias)
        token_output = linear_layer(self.embedding.weight, output_of_token)
        latent_output = linear_layer(latent, output_of_latent, first.bias)

        def step(before: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
            gates = token_gates[before] + latent_gates
            state = step_gru(gates, state, weights.of_state, weights.state_bias)
            sums = linear_layer(state, output_of_state) + token_output[before] + latent_output
            return last(torch.tanh(sums)).float(), state

        return step


class Policy(nn.Module):
    """π(a | z, s): reads z, an observation and the previous action; outputs the next action or the end.

    A grid [height, width, planes] goes through convolutions, a vector of senses through a small MLP.
    """

    def __init__(self, config: ModelConfig, actions: int, observation: tuple[int, ...]) -> None:
        super().__init__()
        # Called `grid` also for senses, since checkpoints have this name.
        self.grid = observer(observation, config.hidden)
        self.action = nn.Embedding(actions + 1, config.hidden)
        self.gru = nn.GRU(config.latent + 2 * config.hidden, config.hidden)
        self.output = mlp(config.hidden, config.hidden, config.hidden, actions + 1)

    def forward(self, latents: Part, observed: Part, previous: Tensor, batch_sizes: Tensor) -> Tensor:
        """Compute logits [n, actions + 1] for the n steps of a packed batch of rollouts, the longest first.

        latents: values [b, l]; observed: values [m, *observation], each used by many steps; previous [n]: the
        action before; batch_sizes: as in torch's PackedSequence.
        """
        values = observed.values
        if values.dim() == 4:  # convolutions want the planes first
            values = values.permute(0, 3, 1, 2).contiguous()
        parts = [
            latents,
            Part(self.grid(values), observed.rows),
            Part(self.action.weight, previous),
        ]
        start = torch.zeros(int(batch_sizes[0]), self.gru.hidden_size, device=previous.device)
        logits: Tensor = self.output(run_gru(self.gru, parts, start, batch_sizes))
        return logits.float()


def observer(observation: tuple[int, ...], hidden: int) -> nn.Sequential:
    """Build the layers from an observation of this shape to hidden units."""
    if len(observation) == 1:
        return nn.Sequential(*mlp(*observation, hidden, hidden), nn.Tanh())
    if len(observation) != 3 or min(observation[:2]) < 5:
        raise ValueError(
            "expected observations of shape [senses] or [height, width, planes], at least 5 high and wide, "
            f"found {list(observation)}"
        )
    height, width, planes = observation
    return nn.Sequential(
        nn.Conv2d(planes, 32, 3),
        nn.Tanh(),
        nn.Conv2d(32, 32, 3),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(32 * (height - 4) * (width - 4), hidden),
        nn.Tanh(),
    )


class Coordinates(nn.Module):
    """The coordinates in which the space is searched: z = centre + point · axes. Before `fit`, z itself.

    A VAE leaves most dimensions nearly unused, and its loss does not determine how far a step of 0.1 reaches.
    The new coordinates are the principal axes of the programs' latents, in units of their standard deviation.
    So all directions have equal weight, and trainings are comparable (docs/methods/embedding.md).
    """

    UNIT = 2.0
    """standard deviations of the training programs per unit. With 2, the paper's sigmas of a search, 0.1 to
    0.5, change about as many programs in every training"""
    FLATTEST = 1e-3
    """length of the shortest axis relative to the longest: with few programs, some directions have no
    variance"""

    def __init__(self, dimensions: int) -> None:
        super().__init__()
        self.register_buffer("centre", torch.zeros(dimensions))
        self.register_buffer("axes", torch.eye(dimensions))
        self.centre: Tensor
        self.axes: Tensor
        """[l, l] one axis per row, orthogonal, the longest first"""

    def fit(self, latents: Tensor) -> None:
        """Take the principal axes of latents [n, l]."""
        centred = latents.double() - latents.double().mean(dim=0)
        variances, directions = torch.linalg.eigh(centred.T @ centred / max(len(latents) - 1, 1))
        stds = variances.clamp(min=0).sqrt()
        largest_std = float(stds.max()) or 1.0  # 0 if all latents are equal
        lengths = self.UNIT * stds.clamp(min=self.FLATTEST * largest_std)
        axes = (directions * lengths).T.flip(0)
        # The sign of an axis is arbitrary: make its largest component positive, so that all machines agree.
        largest = axes.gather(1, axes.abs().argmax(dim=1, keepdim=True))
        self.axes.copy_(axes * largest.sign())
        self.centre.copy_(latents.double().mean(dim=0))

    def latent(self, points: Tensor) -> Tensor:
        """Convert points [b, l] of the space to latents [b, l] of the networks."""
        return self.centre + points @ self.axes

    def point(self, latents: Tensor) -> Tensor:
        """Convert latents [b, l] to points [b, l]: the inverse of `latent`."""
        return (latents - self.centre) @ (self.axes / (self.axes**2).sum(dim=1, keepdim=True)).T


class ProgramSpace(nn.Module):
    """Encoder, decoder and policy for a language's programs, and the syntax mask of the decoder.

    observation: shape of the policy's observations; default: the language's senses.
    """

    def __init__(
        self,
        language: Language,
        config: ModelConfig | None = None,
        observation: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__()
        self.language, self.config = language, config or ModelConfig()
        self.observation = observation or (len(language.senses),)
        vocabulary = len(language.tokens)
        self.encoder = Encoder(self.config, vocabulary)
        self.decoder = Decoder(self.config, vocabulary)
        self.policy = (
            Policy(self.config, len(language.actions), self.observation) if self.config.policy else None
        )
        self.coordinates = Coordinates(self.config.latent)
        self.syntax = SyntaxTables(language)

    @property
    def device(self) -> torch.device:
        return self.syntax.legal.device

    def encode(self, tokens: Tensor) -> Tensor:
        """Encode whole programs [b, length], padded with `<pad>`, as points in the space [b, l]."""
        body = tokens[:, len(PREFIX) :].long()
        mean, _ = self.encoder(body, (body != self.language.pad).sum(dim=1))
        return self.coordinates.point(mean)

    def write(
        self,
        latent: Tensor,
        *,
        noise: Tensor | None = None,
        max_length: int | None = None,
        early_stop: bool = True,
    ) -> tuple[Tensor, Tensor]:
        """Write programs from latents [b, l], masked by the syntax at every step.

        Takes the most likely tokens or, with Gumbel noise [b, t, v], samples tokens by their probabilities.
        Returns the tokens after the prefix [b, t], padded with `<pad>`, and the syntax mask at each position
        [b, t, v].
        """
        mask = TensorMask(self.syntax, len(latent), max_length or self.config.max_length)
        step = self.decoder.stepper(latent)
        token = torch.full((len(latent),), PREFIX_IDS[-1], device=latent.device)
        state = latent
        tokens: list[Tensor] = []
        masks: list[Tensor] = []
        while mask.left > 0:
            logits, state = step(token, state)
            allowed = mask.allowed()
            if noise is not None:
                logits = logits + noise[:, len(tokens)]
            token = logits.masked_fill(~allowed, -torch.inf).argmax(dim=1)
            mask.advance(token)
            tokens.append(token)
            masks.append(allowed)
            # Check only every eighth step whether all are done, since the check stalls a GPU.
            if early_stop and len(tokens) % 8 == 0 and bool(mask.done.all()):
                break
        return torch.stack(tokens, 1), torch.stack(masks, 1)

    @torch.no_grad()
    def decode(self, points: Tensor, *, max_length: int | None = None) -> Tensor:
        """Decode points [b, l] to their most likely whole programs [b, length], padded with `<pad>`."""
        tokens, _ = self.write(self.coordinates.latent(points), max_length=max_length)
        return with_prefix(tokens)


def make_orthogonal(space: ProgramSpace) -> None:
    """Initialise as the authors' code does: GRUs and output layers with orthogonal weights and no biases.

    Output layers have gain √2. Embeddings and the encoder's two linear layers keep torch's defaults.
    """
    modules = list(space.decoder.output.modules())
    if space.policy is not None:
        modules += [*space.policy.grid.modules(), *space.policy.output.modules()]
    for module in modules:
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.orthogonal_(module.weight, 2**0.5)
            assert module.bias is not None
            nn.init.zeros_(module.bias)
    for module in space.modules():
        if isinstance(module, nn.GRU):
            for name, parameter in module.named_parameters():
                if name.startswith("bias"):
                    nn.init.zeros_(parameter)
                else:
                    nn.init.orthogonal_(parameter)


def previous_tokens(tokens: Tensor) -> Tensor:
    """Return, for each token [b, t] after the prefix, the token before it."""
    first = torch.full_like(tokens[:, :1], PREFIX_IDS[-1])
    return torch.cat([first, tokens[:, :-1]], dim=1)


def with_prefix(tokens: Tensor) -> Tensor:
    """Put `DEF run m(` before the tokens [b, t]."""
    prefix = torch.tensor(PREFIX_IDS, dtype=tokens.dtype, device=tokens.device)
    return torch.cat([prefix.expand(len(tokens), -1), tokens], dim=1)
