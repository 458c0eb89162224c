"""An environment that caches its episodes, so that the same steps are not run again.

The same seed and the same actions lead to the same episode. Programs of a search often repeat the actions of
earlier ones. A lookup is much faster than a step that takes 0.1 ms.
"""

from copy import deepcopy
from typing import Any

MOST = 100_000
"""maximum number of cached steps, about 1 KB each; when it is reached, the cache is cleared"""


class Node:
    """The result of a sequence of actions, in a tree of sequences."""

    __slots__ = ("found", "next")

    def __init__(self, found: Any) -> None:
        self.found = found
        """result of `reset` or of the last `step`"""
        self.next: dict[Any, Node] = {}
        """next nodes by action"""


class Remembering:
    """An environment with a cache, for `GymScene`. It is run only where the cache has no result."""

    def __init__(self, environment: Any, most: int = MOST) -> None:
        self.environment, self.most = environment, most
        self._roots: dict[int, Node] = {}
        self._nodes = 0
        self._node = Node(None)
        self._seed = 0
        self._actions: list[Any] = []
        """actions of this episode"""
        self._played: int | None = None
        """number of these actions that the environment has done; None if it is in another episode"""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.environment, name)

    @property
    def unwrapped(self) -> Any:
        """The environment itself, in the present state of the episode."""
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
        """Run the steps of this episode that came from the cache."""
        if self._played is None:
            self.environment.reset(seed=self._seed)
            self._played = 0
        for action in self._actions[self._played :]:
            self.environment.step(action)
        self._played = len(self._actions)
