"""An environment that remembers its episodes: what is known is not played again.

The same seed and the same actions lead to the same episode. Programs of a search often do what others did
before, and an environment that takes 0.1 ms for a step is slow beside a look into a tree.
"""

from copy import deepcopy
from typing import Any

MOST = 100_000
"""steps that are remembered, about 1 KB each; then all are forgotten"""


class Node:
    """Where a sequence of actions leads to."""

    __slots__ = ("found", "next")

    def __init__(self, found: Any) -> None:
        self.found = found
        """what `reset` or the last `step` returned"""
        self.next: dict[Any, Node] = {}
        """by action"""


class Remembering:
    """An environment, as far as episodes need one. It is played only where nothing is remembered."""

    def __init__(self, environment: Any, most: int = MOST) -> None:
        self.environment, self.most = environment, most
        self._roots: dict[int, Node] = {}
        self._nodes = 0
        self._node = Node(None)
        self._seed = 0
        self._actions: list[Any] = []
        """of this episode"""
        self._played: int | None = None
        """how many of them the environment was played; None if it has another episode"""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.environment, name)

    @property
    def unwrapped(self) -> Any:
        """The environment itself, where this episode has come to."""
        self._catch_up()
        return self.environment.unwrapped

    def render(self) -> Any:
        self._catch_up()
        return self.environment.render()

    def reset(self, *, seed: int) -> Any:
        self._seed, self._actions, self._played = seed, [], None
        if self._nodes > self.most:
            self._roots.clear()
            self._nodes = 0
        if seed not in self._roots:
            self._played = 0
            self._roots[seed] = self._remember(self.environment.reset(seed=seed))
        self._node = self._roots[seed]
        return self._node.found

    def step(self, action: Any) -> Any:
        key = action if isinstance(action, int) else repr(action)
        if key not in self._node.next:
            self._catch_up()
            self._node.next[key] = self._remember(self.environment.step(action))
            self._played = len(self._actions) + 1
        self._actions.append(action)
        self._node = self._node.next[key]
        return self._node.found

    def _remember(self, found: Any) -> Node:
        self._nodes += 1
        return Node(deepcopy(found))  # some environments change their observations

    def _catch_up(self) -> None:
        """Play what of this episode was only remembered."""
        if self._played is None:
            self.environment.reset(seed=self._seed)
            self._played = 0
        for action in self._actions[self._played :]:
            self.environment.step(action)
        self._played = len(self._actions)
