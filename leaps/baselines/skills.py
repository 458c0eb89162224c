"""Skills: a VAE of the action sequences that programs perform, for HRL to choose among.

Appendix "HRL", "Pretraining stage"; `leaps.baselines.skill_training` trains them. A latent of ten dimensions
decodes to a sequence of up to 100 actions, including its end. Shapes: n sequences, t actions, l latent,
h hidden.

The decoder is implemented twice: as a network for training, and as compiled code for use. HRL decodes few
latents per decision, so calling the network for every token would take most of the time.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from leaps import __version__
from leaps.base.files import write_atomically
from leaps.base.jit import jit
from leaps.base.parallel import run_sliced
from leaps.base.tensors import metadata, read_about
from leaps.baselines.settings import check_finite
from leaps.embedding.compiled_layers import (
    GROUP,
    PANEL,
    Floats,
    Linear,
    apply,
    contracted,
    dot,
    in_panels,
    in_whole_panels,
    padded,
    sigmoid,
    tanh,
)
from leaps.karel.world import LANGUAGE

SHIPPED = Path(__file__).parent / "skills.safetensors"
"""trained on the data set of 50,000 programs"""
ACTIONS = len(LANGUAGE.actions)
END = ACTIONS
"""token after the last action of a sequence, used as padding and as the token before the first action"""
TOKENS = ACTIONS + 1
EMBEDDING = 16
"""dimensions of the embedding of each of the six tokens"""
_GRAIN = 16  # latents per slice, so that a thread is worth its overhead
_GATES = 4

Actions = NDArray[np.uint8]
"""sequences [n, t], padded with END"""


@dataclass(frozen=True)
class SkillsConfig:
    """Hyperparameters of the networks and of their training; the defaults are the paper's."""

    latent: int = 10
    """dimensions of a latent; few, so that choosing a skill stays easy"""
    hidden: int = 128
    """units of every layer"""
    layers: int = 2
    """layers of each LSTM"""
    max_length: int = 100
    """maximum number of actions in a sequence"""
    beta: float = 1.0
    """weight of the KL divergence relative to the reconstruction loss. The divergence is a mean over the
    latent's dimensions, as in the program space's loss; the reconstruction loss is a sum over actions. With
    the divergence summed over the dimensions, the bound of a VAE, the latent carried no information: an
    autoregressive decoder can do without it"""
    warm_up: float = 0.25
    """fraction of the updates during which beta rises from 0, so that the decoder learns to use the latent"""
    learning_rate: float = 3e-4
    """falls to 0 over the last quarter of the updates"""
    batch: int = 128
    """sequences per update; more are faster on a GPU"""
    epochs: int = 20
    seed: int = 0
    judged: int = 5000
    """maximum number of held-out sequences on which an epoch is evaluated"""

    def __post_init__(self) -> None:
        check_finite(self)
        for name in ("latent", "hidden", "max_length", "batch", "epochs", "judged"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")
        if self.layers != 2:
            raise ValueError(f"the compiled decoder has 2 layers, found layers={self.layers}")
        if self.latent > self.hidden:
            raise ValueError(f"expected latent ≤ hidden, found {self.latent} and {self.hidden}")
        if self.beta < 0 or self.learning_rate <= 0 or not 0 <= self.warm_up <= 1:
            raise ValueError(
                "expected beta ≥ 0, learning_rate > 0 and warm_up from 0 to 1, found "
                f"{self.beta}, {self.learning_rate} and {self.warm_up}"
            )
        if not 0 <= self.seed < 2**31:
            raise ValueError(f"seed must be from 0 to 2^31 - 1, found {self.seed}")


def lengths_of(sequences: Actions) -> NDArray[np.int64]:
    """Count the actions of each sequence, [n]."""
    return np.asarray((sequences != END).sum(axis=1), np.int64)


def _packed(sequences: Tensor, lengths: Tensor) -> PackedSequence:
    """Pack padded sequences [n, t, …] for an LSTM."""
    return pack_padded_sequence(sequences, lengths, batch_first=True, enforce_sorted=False)


class Encoder(nn.Module):
    """Encode a sequence as the mean and log-variance of its latent."""

    def __init__(self, config: SkillsConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, EMBEDDING)
        self.lstm = nn.LSTM(EMBEDDING, config.hidden, config.layers, batch_first=True)
        self.output = nn.Sequential(
            nn.Linear(config.hidden, config.hidden), nn.ReLU(), nn.Linear(config.hidden, 2 * config.latent)
        )

    def forward(self, previous: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """END and the actions [n, t + 1], number of tokens to read [n] → mean and log-variance [n, l]."""
        packed = _packed(previous, lengths)
        _, (last, _) = self.lstm(packed._replace(data=self.embedding(packed.data)))
        mean, log_variance = self.output(last[-1]).chunk(2, dim=1)
        return mean, log_variance


class Decoder(nn.Module):
    """Decode a sequence; the latent's features are an input at every step."""

    def __init__(self, config: SkillsConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, EMBEDDING)
        self.features = nn.Linear(config.latent, config.hidden)
        self.lstm = nn.LSTM(EMBEDDING + config.hidden, config.hidden, config.layers, batch_first=True)
        self.output = nn.Linear(config.hidden, TOKENS)

    def forward(self, latents: Tensor, previous: Tensor, lengths: Tensor) -> Tensor:
        """Latents [n, l], previous tokens [n, t], lengths [n] → logits, packed [all steps, tokens]."""
        packed = _packed(previous, lengths)
        owner = torch.arange(len(latents), device=latents.device)[:, None].expand_as(previous)
        features = self.features(latents).relu()[_packed(owner, lengths).data]
        states, _ = self.lstm(packed._replace(data=torch.cat([self.embedding(packed.data), features], dim=1)))
        return torch.as_tensor(self.output(states.data))


class Skills(nn.Module):
    """The VAE of action sequences."""

    def __init__(self, config: SkillsConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder, self.decoder = Encoder(config), Decoder(config)

    def encode(self, sequences: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Sequences [n, t], padded with END → mean and log-variance [n, l].

        lengths: [n] on the CPU; counted if not given, which waits for the GPU.
        """
        lengths = _lengths(sequences) if lengths is None else lengths
        mean, log_variance = self.encoder(_previous(sequences), lengths + 1)
        return mean, log_variance

    def loss(self, sequences: Tensor, noise: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Reconstruction loss −log p(sequence | latent) and KL divergence, means over the sequences.

        noise: [n, l] standard normal.
        """
        lengths = _lengths(sequences) if lengths is None else lengths
        mean, log_variance = self.encode(sequences, lengths)
        latents = mean + (log_variance / 2).exp() * noise
        divergence = (mean**2 + log_variance.exp() - 1 - log_variance).sum(dim=1) / 2
        # A sequence of the maximum length has no END after it.
        written = (lengths + 1).clamp(max=self.config.max_length)
        logits = self.decoder(latents, _previous(sequences), written)
        following = _packed(nn.functional.pad(sequences.long(), (0, 1), value=END), written).data
        cost = nn.functional.cross_entropy(logits, following, reduction="sum") / len(sequences)
        return cost, divergence.mean()


def _lengths(sequences: Tensor) -> Tensor:
    return (sequences != END).sum(dim=1).cpu()


def _previous(sequences: Tensor) -> Tensor:
    """Prepend END to sequences: [n, t] → [n, t + 1]."""
    return nn.functional.pad(sequences.long(), (1, 0), value=END)


class Weights(NamedTuple):
    """The decoder's weights in the layout of the compiled decoder, with every gate in panels."""

    features: Linear
    first_of_latent: Linear
    first_of_state: Linear
    first_of_token: Floats
    """[tokens, panels, PANEL]"""
    second_of_input: Linear
    second_of_state: Linear
    logit_weight: Floats
    """[tokens, units]"""
    logit_bias: Floats
    """[tokens]"""


@contracted
def _remember(
    inward: Floats, kept: Floats, new: Floats, outward: Floats, cell: Floats, state: Floats
) -> None:
    """Advance a panel of an LSTM's state by one step, given the sums of its gates."""
    for i in range(np.uint64(PANEL)):
        cell[i] = sigmoid(kept[i]) * cell[i] + sigmoid(inward[i]) * tanh(new[i])
        state[i] = sigmoid(outward[i]) * tanh(cell[i])


@contracted
def _add(sums: Floats, more: Floats) -> None:
    for i in range(np.uint64(PANEL)):
        sums[i] += more[i]


@jit
def _advance(
    sums: Floats, rows: NDArray[np.uint64], count: int, cells: Floats, states: Floats, panels: int
) -> None:
    """Advance an LSTM by one step in each row."""
    for slot in range(count):
        row = rows[slot]
        for panel in range(panels):
            here = slice(panel * PANEL, (panel + 1) * PANEL)
            _remember(  # the gates in torch's order
                sums[panel, slot],
                sums[panels + panel, slot],
                sums[2 * panels + panel, slot],
                sums[3 * panels + panel, slot],
                cells[row, here],
                states[row, here],
            )


@jit
def _decode_range(
    weights: Weights, latents: Floats, sequences: Actions, shortest: int, start: int, stop: int
) -> None:
    """Decode latents [n, units] from `start` to `stop` into `sequences`, which must be filled with END."""
    units, max_length = latents.shape[1], sequences.shape[1]
    panels = units // PANEL
    features = np.empty((GROUP, units), np.float32)
    feature_sums = np.empty((panels, GROUP, PANEL), np.float32)
    of_latent = np.empty((_GATES * panels, GROUP, PANEL), np.float32)
    sums, more = np.empty_like(of_latent), np.empty_like(of_latent)
    first, second = np.empty((GROUP, units), np.float32), np.empty((GROUP, units), np.float32)
    first_cell, second_cell = np.empty((GROUP, units), np.float32), np.empty((GROUP, units), np.float32)
    tokens = np.empty(GROUP, np.int64)
    rows = np.empty(GROUP, np.uint64)  # rows of unfinished sequences

    for begin in range(start, stop, GROUP):
        count = min(GROUP, stop - begin)
        rows[:] = 0  # rows after the last one are computed too, but never used
        features[:] = 0.0
        for row in range(count):
            rows[row] = row
            tokens[row] = END
            features[row] = latents[begin + row]
        apply(weights.features, features, rows, count, feature_sums)
        for row in range(count):
            for panel in range(panels):
                for i in range(PANEL):
                    features[row, panel * PANEL + i] = max(feature_sums[panel, row, i], np.float32(0.0))
        apply(weights.first_of_latent, features, rows, count, of_latent)
        first[:], second[:], first_cell[:], second_cell[:] = 0.0, 0.0, 0.0, 0.0

        for index in range(max_length):
            apply(weights.first_of_state, first, rows, count, sums)
            for slot in range(count):
                row = rows[slot]
                for panel in range(_GATES * panels):
                    _add(sums[panel, slot], of_latent[panel, row])
                    _add(sums[panel, slot], weights.first_of_token[tokens[row], panel])
            _advance(sums, rows, count, first_cell, first, panels)
            apply(weights.second_of_input, first, rows, count, sums)
            apply(weights.second_of_state, second, rows, count, more)
            for slot in range(count):
                for panel in range(_GATES * panels):
                    _add(sums[panel, slot], more[panel, slot])
            _advance(sums, rows, count, second_cell, second, panels)

            unfinished = 0
            for slot in range(count):
                row = rows[slot]
                likeliest, highest = 0, np.float32(-np.inf)
                for token in range(TOKENS if index >= shortest else ACTIONS):
                    logit = weights.logit_bias[token] + dot(weights.logit_weight[token], second[row])
                    if logit > highest:
                        likeliest, highest = token, logit
                tokens[row] = likeliest
                if likeliest != END:
                    sequences[begin + np.int64(row), index] = likeliest
                    rows[unfinished] = row
                    unfinished += 1
            count = unfinished
            if count == 0:
                break


def _weights(decoder: Decoder, hidden: int, units: int) -> Weights:
    numbers = {
        name: tensor.detach().cpu().numpy().astype(np.float32)
        for name, tensor in decoder.state_dict().items()
    }

    def gates(name: str, *biases: str) -> Linear:
        weight = numbers[name].reshape(_GATES, hidden, hidden)
        bias = sum((numbers[bias] for bias in biases), np.zeros(_GATES * hidden, np.float32))
        return in_panels(weight, bias.reshape(_GATES, hidden), units)

    of_token, of_latent = np.split(numbers.pop("lstm.weight_ih_l0"), [EMBEDDING], axis=1)
    numbers["first_of_latent"] = of_latent
    token_sums = numbers["embedding.weight"] @ of_token.T
    return Weights(
        features=in_panels(numbers["features.weight"][None], numbers["features.bias"][None], units),
        first_of_latent=gates("first_of_latent", "lstm.bias_ih_l0", "lstm.bias_hh_l0"),
        first_of_state=gates("lstm.weight_hh_l0"),
        first_of_token=padded(token_sums.reshape(TOKENS, _GATES, hidden), TOKENS, _GATES, units).reshape(
            TOKENS, -1, PANEL
        ),
        second_of_input=gates("lstm.weight_ih_l1", "lstm.bias_ih_l1", "lstm.bias_hh_l1"),
        second_of_state=gates("lstm.weight_hh_l1"),
        logit_weight=padded(numbers["output.weight"], TOKENS, units),
        logit_bias=numbers["output.bias"],
    )


class SkillDecoder:
    """Decode latents on the CPU in compiled code, with a copy of the decoder's current weights.

    The result for a latent depends neither on the rest of its batch nor on the number of threads.
    """

    def __init__(self, skills: Skills) -> None:
        self.config = skills.config
        self._units = in_whole_panels(self.config.hidden)
        self._weights = _weights(skills.decoder, self.config.hidden, self._units)

    def __call__(self, latents: NDArray[np.floating[Any]], shortest: int = 0) -> Actions:
        """Latents [n, l] → sequences of `shortest` to max_length actions, [n, max_length]."""
        if latents.ndim != 2 or latents.shape[1] != self.config.latent:
            raise ValueError(f"expected latents [n, {self.config.latent}], found {list(latents.shape)}")
        sequences = np.full((len(latents), self.config.max_length), END, np.uint8)
        inputs = padded(latents.astype(np.float32), len(latents), self._units)
        run_sliced(
            lambda first, last: _decode_range(self._weights, inputs, sequences, shortest, first, last),
            len(latents),
            grain=_GRAIN,
        )
        return sequences


def save_skills(skills: Skills, file: Path, extra: dict[str, Any] | None = None) -> None:
    """Write the weights with metadata: the actions' names, the configuration, the version and `extra`."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in skills.state_dict().items()}
    about = {
        **(extra or {}),
        "actions": LANGUAGE.actions,
        "skills": asdict(skills.config),
        "version": __version__,
    }
    write_atomically(file, save(tensors, metadata(about)))


def load_skills(file: Path = SHIPPED) -> Skills:
    """Read skills. Raise ValueError if the file is missing, damaged or has other actions."""
    if not file.exists():
        raise ValueError(f"no skills: {file} is missing")
    about = read_about(file)
    if about.get("actions") != list(LANGUAGE.actions):
        raise ValueError(
            f"{file}: expected skills of the actions {', '.join(LANGUAGE.actions)}, "
            f"found {about.get('actions')}"
        )
    try:
        skills = Skills(SkillsConfig(**about["skills"]))
        skills.load_state_dict(load_file(file))
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[-1].strip()
        raise ValueError(f"{file} is damaged or of another version ({reason})") from None
    return skills.eval()
