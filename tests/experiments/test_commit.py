"""The recorded commit is that of the package's own source, and "" where git can't tell."""

import subprocess
from pathlib import Path

import pytest

from leaps.experiments import commit as module
from leaps.experiments.commit import CHANGED, commit, commit_of


def git(folder: Path, *words: str) -> str:
    author = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org")
    done = subprocess.run(["git", *author, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a repository of its own, beside another file."""
    folder = tmp_path / "repository" / "package"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder.parent / "notes.txt").write_text("one")
    (folder.parent / ".gitignore").write_text("*.pyc\n.venv\n")
    git(folder.parent, "init", "--quiet")
    git(folder.parent, "add", ".")
    git(folder.parent, "commit", "--quiet", "-m", "begin")
    return folder


def test_committed_source_has_its_hash(package: Path) -> None:
    assert commit_of(package) == git(package, "rev-parse", "HEAD")
    assert len(commit_of(package)) == 40


def test_changed_source_is_marked(package: Path) -> None:
    clean = commit_of(package)
    (package / "__init__.py").write_text("x = 1\n")
    assert commit_of(package) == clean + CHANGED
    git(package, "checkout", "--", ".")
    assert commit_of(package) == clean


def test_a_new_source_file_is_a_change(package: Path) -> None:
    (package / "more.py").write_text("")
    assert commit_of(package).endswith(CHANGED)


def test_files_outside_the_package_and_ignored_files_are_no_change(package: Path) -> None:
    (package.parent / "notes.txt").write_text("two")
    (package / "kept.pyc").write_text("")
    assert not commit_of(package).endswith(CHANGED)


def test_a_package_installed_within_another_repository_has_no_commit(package: Path) -> None:
    installed = package.parent / ".venv" / "package"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("")
    assert commit_of(installed) == ""


def test_a_folder_outside_any_repository_has_no_commit(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    assert commit_of(tmp_path) == ""
    assert commit_of(tmp_path / "missing") == ""


def test_a_repository_without_a_commit_has_none(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    assert commit_of(tmp_path) == ""


def test_without_git_the_commit_is_unknown(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit_of(package) == ""


def test_git_timeout_leaves_the_commit_unknown(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 1e-6)
    assert commit_of(package) == ""


def test_a_hooks_environment_does_not_name_the_repository(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = commit_of(package)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert commit_of(package) == expected


def test_git_runs_once_per_process(monkeypatch: pytest.MonkeyPatch) -> None:
    found = commit()
    monkeypatch.setattr(module, "commit_of", lambda package: "another")  # noqa: ARG005
    assert commit() == found
