"""Evaluate a program on a task, and print a world where it fails."""

from leaps.evaluate import evaluate

PROGRAM = """
DEF run m(
  WHILE c( frontIsClear c) w(
    IF c( markersPresent c) i(
      putMarker
    i)
    move
  w)
m)
"""


def main() -> None:
    for size in ((12, 12), (100, 100)):
        result = evaluate(PROGRAM, "top-off", episodes=1000, seed=0, size=size)
        print(f"top-off, {size[0]}x{size[1]}: mean return {result.mean_return[0]:.3f}")

    forgetful = evaluate("DEF run m( REPEAT R=9 r( move r) m)", "top-off", episodes=1000, seed=0)
    worst = int(forgetful.returns[0].argmin())
    print(f"just walking: {forgetful.mean_return[0]:.3f}; its worst world:")
    print(forgetful.worlds.world(worst))


if __name__ == "__main__":
    main()
