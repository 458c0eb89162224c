"""Lookup of tasks by name; a plain name never imports a file."""

from pathlib import Path

import pytest

from leaps.karel.tasks import FEATURED
from leaps.karel.world import KAREL
from leaps.tasks import default_domain, featured, full_name, get, listed, named, plain_name, shipped
from tests.karel.tasks.corridor import corridor_in, edit


@pytest.fixture
def corridor(tmp_path: Path) -> Path:
    return corridor_in(tmp_path)


def written(folder: Path, source: str, name: str = "mine.py") -> Path:
    file = folder / name
    file.write_text(source)
    return file


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_task_is_found_by_its_name(name: str) -> None:
    assert get(name) is shipped()[name]
    assert get(name).name == name


def test_tasks_are_listed_without_variants() -> None:
    assert {"maze", "CartPole-v1"} <= set(listed()) < set(shipped())
    assert all(task.variant_of is None for task in listed().values())
    assert featured() == FEATURED


def test_default_domain_is_karel() -> None:
    assert default_domain() is KAREL


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("topoff", "top-off"), ("Maze", "maze"), ("stair_climber", "stair-climber"), ("snak", "snake")],
)
def test_misspelt_task_raises_with_a_suggestion(wrong: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"unknown task '{wrong}'; did you mean '{meant}'"):
        get(wrong)


def test_unknown_task_raises_with_the_known_tasks() -> None:
    with pytest.raises(ValueError, match="expected one of stair-climber, four-corner"):
        get("zzzzzzzz")


def test_named_never_imports_a_file(tmp_path: Path) -> None:
    trace = tmp_path / "imported"
    file = written(tmp_path, f"open({str(trace)!r}, 'w').close()\n")
    with pytest.raises(ValueError, match="unknown task"):
        named(f"{file}:CORRIDOR")
    assert not trace.exists()


def test_plain_name_finds_a_task_from_any_folder(corridor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corridor.parent)
    name, own = plain_name("corridor.py:CORRIDOR~100")
    monkeypatch.chdir("/")
    assert (name, own) == ("corridor~100", {"corridor": f"{corridor}:CORRIDOR"})
    assert named(name, own).horizon() == 100
    assert named("corridor", own) is get(f"{corridor}:CORRIDOR")
    assert full_name(name, own) == f"{corridor}:CORRIDOR~100"


def test_shipped_tasks_keep_their_names_beside_user_defined_ones(corridor: Path) -> None:
    assert plain_name("maze~50") == ("maze~50", {})
    _, own = plain_name(f"{corridor}:CORRIDOR")
    assert named("maze~50", own).name == full_name("maze~50", own) == "maze~50"
    with pytest.raises(ValueError, match="did you mean 'corridor'"):
        named("Coridor", own)
    with pytest.raises(ValueError, match=r"expected one of .*, inf-harvester, .*, corridor$"):
        named("?", own)


@pytest.mark.parametrize("name", ["maze", "harvester-subsets"])
def test_name_of_a_shipped_task_raises(corridor: Path, name: str) -> None:
    edit(corridor, 'name="corridor"', f'name="{name}"')
    with pytest.raises(ValueError, match=f"CORRIDOR has the name of a built-in task, '{name}'"):
        plain_name(f"{corridor}:CORRIDOR")


@pytest.mark.parametrize("name", ["corridor~9", "a@b"])
def test_name_with_the_syntax_of_a_variant_raises(corridor: Path, name: str) -> None:
    edit(corridor, 'name="corridor"', f'name="{name}"')
    with pytest.raises(ValueError, match=f"expected a name of CORRIDOR without @ and ~, found '{name}'"):
        plain_name(f"{corridor}:CORRIDOR")


def test_text_after_the_name_of_a_file_must_be_a_number(corridor: Path) -> None:
    _, own = plain_name(f"{corridor}:CORRIDOR")
    trace = corridor.parent / "imported"
    other = written(corridor.parent, f"open({str(trace)!r}, 'w').close()\n", "other.py")
    for name in ("corridor~1/../other.py:A", f"corridor~:{other}:A", f"{other}:A", f"{corridor}:CORRIDOR"):
        with pytest.raises(ValueError, match=r"unknown task|expected a number of actions, .* after ~"):
            named(name, own)
        with pytest.raises(ValueError, match=r"unknown task|expected a number of actions, .* after ~"):
            full_name(name, own)
    assert not trace.exists()
