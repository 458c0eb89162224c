"""The package's layers: which module may import which."""

import ast
import subprocess
import sys
from pathlib import Path

import leaps

PACKAGE = Path(leaps.__file__).parent

# Data flows from left to right; imports only point left. Parts of one group may import each other.
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


DOMAINS = {"karel", "gym"}

# Modules outside the domains, the baselines and the experiments that import a domain; and why they still do.
IMPORT_A_DOMAIN = {
    # `import leaps` registers Karel's Gymnasium environments, and offers the classes of `leaps.gym` by name.
    "__init__.py",
}

# Modules of the search that import torch or what learns a program space.
IMPORT_THE_EMBEDDING = {
    # Loads a space for the methods that search in one, inside a function: torch takes seconds to import.
    "methods.py",
    # Program reconstruction compares behaviour in a space's worlds.
    "reconstruct.py",
    # Reads which language a file's weights are for, before it loads them.
    "run.py",
}


def part_of(module: str) -> str | None:
    """Return the part of the package that a module belongs to: leaps.karel.world belongs to karel."""
    names = module.split(".")
    return names[1] if names[0] == "leaps" and len(names) > 1 else None


def imports_of(file: Path, *, for_types: bool = True) -> set[str]:
    """Return the modules that a file imports anywhere; for_types: also those under `if TYPE_CHECKING`."""
    found: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(file.read_text())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not for_types:
            continue
        nodes += ast.iter_child_nodes(node)
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
        if inside.name == "__init__.py" and len(inside.parts) == 1:
            continue
        own = inside.parts[0].removesuffix(".py")
        assert own in rank, f"leaps/{inside}: say in ORDER where {own!r} stands"
        for module in imports_of(file):
            other = part_of(module)
            if other in rank and rank[other] > rank[own]:
                wrong.append(f"leaps/{inside} imports {module}")
    assert wrong == []


def test_only_domains_baselines_and_experiments_import_a_domain() -> None:
    found = set()
    for file in PACKAGE.rglob("*.py"):
        inside = file.relative_to(PACKAGE)
        if inside.parts[0] in DOMAINS | {"baselines", "experiments"}:
            continue
        if any(part_of(module) in DOMAINS for module in imports_of(file)):
            found.add(str(inside))
    assert found - IMPORT_A_DOMAIN == set(), "take it from the task's domain instead"
    assert IMPORT_A_DOMAIN - found == set(), "remove from IMPORT_A_DOMAIN: these no longer import a domain"


def test_no_search_imports_torch_or_the_embedding() -> None:
    found = set()
    for file in (PACKAGE / "search").glob("*.py"):
        modules = imports_of(file, for_types=False)
        assert "torch" not in {module.split(".")[0] for module in modules}, file
        if any(part_of(module) == "embedding" for module in modules):
            found.add(file.name)
    assert found == IMPORT_THE_EMBEDDING


def test_searches_are_imported_without_torch() -> None:
    modules = [
        f"leaps.search.{file.stem}"
        for file in (PACKAGE / "search").glob("*.py")
        if file.name not in ("__init__.py", "reconstruct.py")
    ]
    assert loaded_by(modules, ["torch", "leaps.karel.tasks", "leaps.gym.task"]) == []


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


def test_the_command_line_starts_without_slow_libraries_and_tasks() -> None:
    slow = ["torch", "sklearn", "matplotlib", "PIL", "minigrid", "leaps.karel.env", "leaps.karel.tasks"]
    assert loaded_by(["leaps.cli"], slow) == []


def loaded_by(imported: list[str], watched: list[str]) -> list[str]:
    """Import modules in a new process, and return those of the watched modules that were loaded."""
    code = (
        f"import sys, importlib; [importlib.import_module(name) for name in {imported}]; "
        f"print(*[name for name in {watched} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()
