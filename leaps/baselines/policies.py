"""Read a trained policy of any baseline."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError

from leaps.base.tensors import read_about
from leaps.baselines.evaluate import Policy
from leaps.baselines.hrl import SkillPolicy, read_skill_policy
from leaps.baselines.ppo import LAST_ACTION, NeuralPolicy, Origin, read_neural_policy, read_origin
from leaps.baselines.train import POLICY_FILE
from leaps.baselines.viper import read_tree_policy

Read = TypeVar("Read")
Reader = Callable[[Path, dict[str, Any]], Read]
"""reads a file, given its metadata"""

POLICIES: dict[str, Reader[Policy]] = {
    "drl": read_neural_policy,
    "drl-fcn": read_neural_policy,
    "drl-abs": read_neural_policy,
    "drl-abs-t": read_neural_policy,
    LAST_ACTION: read_neural_policy,
    "hrl": read_skill_policy,
    "hrl-abs": read_skill_policy,
    "viper": read_tree_policy,
}
"""reader for each training method"""

ORIGINS: dict[str, Reader[Origin]] = {"drl-abs": read_origin}
"""reader for each method whose policies can be transferred to another task"""


def load_policy(folder: Path, device: str = "cpu") -> Policy:
    """Read the policy trained in this folder for acting, and move its network to a device."""
    policy = _load(folder, POLICIES)
    if isinstance(policy, NeuralPolicy):
        policy.network.to(device)
    elif isinstance(policy, SkillPolicy):  # the decoder is compiled code and stays on the CPU
        policy.actor.to(device)
    return policy


def load_origin(folder: Path) -> Origin:
    """Read the policy trained in this folder, to continue training it on another task."""
    return _load(folder, ORIGINS)


def _load(folder: Path, readers: dict[str, Reader[Read]]) -> Read:
    file = folder / POLICY_FILE
    if not file.exists():
        raise ValueError(
            f"no policy in {str(folder)!r}; expected a folder written by `leaps baseline` with {POLICY_FILE}"
        )
    about = read_about(file)
    method = about.get("method")
    if method not in readers:
        raise ValueError(f"{file}: expected a policy of {', '.join(readers)}, found one of {method!r}")
    try:
        return readers[method](file, about)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[-1].strip()
        raise ValueError(f"{file} is damaged or of another version ({reason})") from None
