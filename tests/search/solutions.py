"""Compare solutions."""

from leaps.search.solve import Solution


def assert_same(one: Solution, other: Solution) -> None:
    """Check that two solutions agree in everything but times."""
    for name in ("program", "found", "evaluations", "rollouts", "worlds", "history", "elsewhere"):
        assert getattr(one, name) == getattr(other, name), name
    assert (one.unseen_return, one.search_return) == (other.unseen_return, other.search_return)
