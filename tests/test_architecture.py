"""The tree shows the architecture, and these tests keep it so."""

import ast
import subprocess
import sys
from pathlib import Path

import leaps

PACKAGE = Path(leaps.__file__).parent

# Data walks from left to right; imports only point left. What is in one group may import each other.
ORDER = [
    {"base"},
    {"dsl"},
    {"domain"},
    {"tasks"},
    {"compiled"},
    {"karel", "gym"},
    {"evaluate"},
    {"embedding"},
    {"search"},
    {"analysis"},
    {"baselines"},
    {"experiments"},
    {"studio"},
    {"cli"},
]


def part_of(module: str) -> str | None:
    """Which part of the package a module belongs to: leaps.karel.world is of karel."""
    names = module.split(".")
    return names[1] if names[0] == "leaps" and len(names) > 1 else None


def imports_of(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{file}: imports are written in full"
            found |= (
                {f"{node.module}.{alias.name}" for alias in node.names}
                if node.module == "leaps"
                else {node.module}
            )
    return found


def test_imports_only_point_left() -> None:
    rank = {name: i for i, group in enumerate(ORDER) for name in group}
    wrong = []
    for file in PACKAGE.rglob("*.py"):
        inside = file.relative_to(PACKAGE)
        if inside.name in ("__init__.py", "__main__.py") and len(inside.parts) == 1:
            continue
        own = inside.parts[0].removesuffix(".py")
        assert own in rank, f"leaps/{inside}: say in ORDER where {own!r} stands"
        for module in imports_of(file):
            other = part_of(module)
            if other in rank and rank[other] > rank[own]:
                wrong.append(f"leaps/{inside} imports {module}")
    assert wrong == []


def test_language_domain_and_registry_import_no_domain() -> None:
    files = [*(PACKAGE / "dsl").glob("*.py"), *(PACKAGE / "compiled").glob("*.py")]
    for file in [*files, PACKAGE / "domain.py", PACKAGE / "tasks.py"]:
        assert not any(part_of(module) in ("karel", "gym") for module in imports_of(file)), file


def test_evaluation_search_and_repair_import_no_domain() -> None:
    files = [PACKAGE / "evaluate.py", *(PACKAGE / "analysis").glob("*.py")]
    files += [file for file in (PACKAGE / "search").glob("*.py") if file.name != "reconstruct.py"]
    for file in files:
        assert not any(part_of(module) in ("karel", "gym") for module in imports_of(file)), file


def test_the_world_of_karel_knows_no_task() -> None:
    for name in ("world", "physics", "executor", "interpreter", "observe"):
        file = PACKAGE / "karel" / f"{name}.py"
        assert not any(module.startswith("leaps.karel.tasks") for module in imports_of(file)), file


def test_tests_mirror_the_package() -> None:
    tests = PACKAGE.parent / "tests"
    without_tests = {"__init__.py", "__main__.py"}
    missing = [
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if file.name not in without_tests
        and not (tests / file.relative_to(PACKAGE).parent / f"test_{file.name}").exists()
    ]
    assert missing == []


def test_the_command_line_does_without_torch() -> None:
    code = (
        "import leaps.cli, sys; "
        "print([m for m in ('torch', 'sklearn', 'matplotlib', 'leaps.karel.env') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
