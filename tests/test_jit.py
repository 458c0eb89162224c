import shutil
import subprocess
import sys
from pathlib import Path

import leaps

ANSWER = """
from leaps.karel.executor import run
from leaps.evaluate import compile_programs
from leaps.karel.world import World, Worlds
world = World.parse("####\\n#>.#\\n####")
rollouts = run(compile_programs("DEF run m( turnRight m)"), Worlds.stack([world]), 9, want_final=True)
print(rollouts.final.world(0).place[2])
"""


def test_a_kernel_is_compiled_again_when_what_it_calls_has_changed(tmp_path: Path) -> None:
    """Karel's physics is compiled into the executor, from another file."""
    package = tmp_path / "leaps"
    shutil.copytree(Path(leaps.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))

    def heading() -> str:
        return subprocess.run(
            [sys.executable, "-c", ANSWER], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout.strip()

    assert heading() == "2"
    assert heading() == "2"  # from the cache
    physics = package / "karel" / "physics.py"
    source = physics.read_text()
    changed = source.replace(
        "return position, (heading + _ONE) & _THREE, NOTHING", "return position, heading, NOTHING"
    )
    assert changed != source
    physics.write_text(changed)
    assert heading() == "1"
