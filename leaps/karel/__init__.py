"""What happens then: Karel's world, and two ways to run a program in it."""

from leaps.karel.world import KAREL, LANGUAGE, World, Worlds

__all__ = ["KAREL", "LANGUAGE", "World", "Worlds"]
