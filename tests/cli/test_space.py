"""Commands for the program space, with a small data set and a short training."""

import json
import sys
from pathlib import Path

import pytest

from leaps.cli import main
from leaps.karel.dataset import DataConfig, Dataset
from leaps.karel.world import KAREL, LANGUAGE
from tests.cli.harness import Leaps, assert_refused
from tests.gym import corridor

WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"
TURN = "DEF run m( turnLeft turnLeft m)"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A data set and a training of one epoch."""
    data = tmp_path_factory.mktemp("space") / "data"
    training = data.parent / "training"
    for words in (
        ["data", "--programs", "40", "--out", data],
        ["train", "--data", data, "--out", training, "--preset", "quick", "--epochs", "1", "--variant", "pl"],
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["leaps", *map(str, words)])
            with pytest.raises(SystemExit) as end:
                main()
            assert end.value.code in (0, None)
    return data, training


def test_data_are_written_with_a_manifest_and_a_histogram(folders: tuple[Path, Path]) -> None:
    data, _ = folders
    assert {file.name for file in data.iterdir()} == {"dataset.safetensors", "manifest.json", "lengths.png"}
    manifest = json.loads((data / "manifest.json").read_text())
    assert manifest["programs"] == Dataset.load(data).count == 40
    assert manifest["train"] + manifest["validation"] + manifest["test"] == 40


def test_the_same_seed_gives_the_same_bytes(leaps: Leaps, folders: tuple[Path, Path], tmp_path: Path) -> None:
    data, _ = folders
    assert leaps("data", "--programs", 40, "--out", tmp_path / "again", "--json").json["programs"] == 40
    for name in ("dataset.safetensors", "manifest.json"):
        assert (tmp_path / "again" / name).read_bytes() == (data / name).read_bytes()


def test_non_empty_folder_is_not_changed(leaps: Leaps, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    assert_refused(leaps("data", "--programs", 40, "--out", tmp_path), "already holds something")
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]


def test_training_does_not_overwrite_other_files(
    leaps: Leaps, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    done = leaps("train", "--data", folders[0], "--out", tmp_path, "--preset", "quick", "--epochs", 1)
    assert_refused(done, "already holds something else")
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]


def test_finished_training_prints_its_result_again(leaps: Leaps, folders: tuple[Path, Path]) -> None:
    data, training = folders
    words = (
        "train",
        "--data",
        data,
        "--out",
        training,
        "--preset",
        "quick",
        "--epochs",
        1,
        "--variant",
        "pl",
    )
    report = leaps(*words, "--json").json
    assert report["epoch"] == 1
    assert 0 <= report["validation_behaviour"] <= 1
    assert 0 <= report["test_behaviour"] <= 1
    flat = " ".join(leaps(*words).out.split())
    assert f"R_mat of what is decoded {report['test_behaviour']:.3f}" in flat
    assert len((training / "metrics.jsonl").read_text().splitlines()) == 1


def test_other_configuration_is_refused_in_the_folder_of_a_training(
    leaps: Leaps, folders: tuple[Path, Path]
) -> None:
    data, training = folders
    done = leaps(
        "train", "--data", data, "--out", training, "--preset", "quick", "--epochs", 1, "--variant", "p"
    )
    assert_refused(done, "holds a training with variant='pl', not 'p'")


def test_settings_of_data_and_training_can_be_overridden(leaps: Leaps, tmp_path: Path) -> None:
    data, training = tmp_path / "data", tmp_path / "training"
    words = ("--set", "keep=complete", "--set", "pool=50", "--set", "more=0")
    assert leaps("data", "--programs", 60, "--out", data, *words, "--json").json["programs"] == 60
    assert Dataset.load(data).config == DataConfig(60, pool=50, keep="complete")
    report = leaps(
        *("train", "--data", data, "--out", training, "--preset", "quick", "--epochs", 2, "--variant", "p"),
        *("--set", "kl=sum", "--set", "model.embedding=50"),
        *("--set", "select=search", "--set", "search_programs=2", "--set", "search_iterations=2"),
        "--json",
    ).json
    assert (report["epoch"], 0 <= report["search_score"] <= 1) == (2, True)
    config = json.loads((training / "config.json").read_text())
    assert (config["kl"], config["model"]["embedding"], config["select"]) == ("sum", 50, "search")
    assert len(leaps("encode", "-e", WALK, "--space", training).out.split()) == 256


def test_unknown_setting_is_refused(leaps: Leaps, folders: tuple[Path, Path], tmp_path: Path) -> None:
    done = leaps("train", "--data", folders[0], "--out", tmp_path / "t", "--set", "speed=9")
    assert_refused(done, "unknown setting 'speed'")


def test_encoded_program_can_be_decoded(leaps: Leaps, folders: tuple[Path, Path], tmp_path: Path) -> None:
    _, training = folders
    encoded = leaps("encode", "-e", WALK, "--space", training)
    assert len(encoded.out.split()) == 256
    file = tmp_path / "latent.txt"
    file.write_text(encoded.out)
    as_json = tmp_path / "latent.json"
    as_json.write_text(leaps("encode", "-e", WALK, "--space", training, "--json").out)
    programs = [
        leaps("decode", name, "--space", training, "--json").json["programs"] for name in (file, as_json)
    ]
    assert programs[0] == programs[1]
    assert KAREL.compile(LANGUAGE.encode(programs[0][0].split())[None]).entry[0] >= 0


def test_decoded_program_has_at_most_the_maximum_length(
    leaps: Leaps, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    file = tmp_path / "latents.txt"
    file.write_text(" ".join(["0.5"] * 512))
    programs = leaps("decode", file, "--space", folders[1], "--max-length", 7, "--json").json["programs"]
    assert len(programs) == 2
    assert all(len(program.split()) <= 7 for program in programs)


def test_interpolation_has_all_its_points(leaps: Leaps, folders: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "turn.karel"
    file.write_text(TURN)
    report = leaps("interpolate", WALK, file, "--steps", 3, "--space", folders[1], "--json").json
    assert len(report["programs"]) == 5
    assert (report["start"], report["end"]) == (WALK, TURN)


def test_smoothness_is_measured_per_space_and_split(leaps: Leaps, folders: tuple[Path, Path]) -> None:
    data, training = folders
    rows = leaps("smoothness", "--data", data, "--space", training, "--split", "train", "--json").json
    assert list(rows) == [str(training)]
    assert 0 <= rows[str(training)]["train"] <= 1


def test_the_latent_map_is_drawn(leaps: Leaps, folders: tuple[Path, Path], tmp_path: Path) -> None:
    data, training = folders
    picture = tmp_path / "map.svg"
    words = ("latent-map", "--data", data, "--space", training, "--iterations", 2, "--out", picture)
    report = leaps(*words, "--json").json
    assert len(report["r_mat"]) == 4
    assert picture.read_text().lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["train", "--data", "DATA", "--out", "new", "--variant", "best"],
            "expected one of leaps, p, pr, pl",
        ),
        (["train", "--data", "DATA", "--out", "new", "--preset", "slow"], "expected one of paper, quick"),
        (["train", "--data", "DATA", "--out", "new", "--device", "tpu"], "expected cpu or cuda, found 'tpu'"),
        (["train", "--data", "nowhere", "--out", "new"], "nowhere holds no data set"),
        (["encode", "-e", "DEF run m( m)", "--space", "TRAINING"], "expected an action"),
        (["encode", "-e", WALK, "--space", "nowhere"], "no weights at 'nowhere'"),
        (["decode", "nowhere.txt", "--space", "TRAINING"], "No such file"),
        (
            ["latent-map", "--data", "DATA", "--space", "TRAINING", "--out", "map.pdf"],
            "saved as .png or .svg",
        ),
        (
            ["smoothness", "--data", "DATA", "--space", "TRAINING", "--split", "all"],
            "expected one of train, validation, test",
        ),
    ],
)
def test_misuse_is_an_error(
    leaps: Leaps,
    folders: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    places = {"DATA": str(folders[0]), "TRAINING": str(folders[1])}
    assert_refused(leaps(*(places.get(word, word) for word in words)), message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "hello", "1 2 3", " ".join(["nan"] * 256), '{"point": "x"}'])
def test_invalid_latent_is_refused(
    leaps: Leaps, folders: tuple[Path, Path], tmp_path: Path, text: str
) -> None:
    file = tmp_path / "latent.txt"
    file.write_text(text)
    assert_refused(leaps("decode", file, "--space", folders[1]), "expected")


def test_cuda_is_refused_without_a_gpu(leaps: Leaps, folders: tuple[Path, Path], tmp_path: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is one here")
    done = leaps("train", "--data", folders[0], "--out", tmp_path / "new", "--device", "cuda")
    assert_refused(done, "no CUDA device is available")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "command", ["data", "train", "encode", "decode", "interpolate", "latent-map", "smoothness"]
)
def test_every_command_has_help_and_json(leaps: Leaps, command: str) -> None:
    done = leaps(command, "--help")
    assert done.code == 0
    assert "--json" in done.out


# Spaces of other domains


CORRIDOR = f"{corridor.__file__}:CORRIDOR"
TINY = (
    *("--preset", "quick", "--epochs", "2", "--variant", "leaps", "--set", "batch=10"),
    *("--set", "model.latent=16", "--set", "model.hidden=16"),
)
FEW = ("--set", "data.programs=60", "--set", "data.max_length=20", "--set", "data.horizon=8")


def test_space_is_trained_for_a_gymnasium_task_and_solves_it(leaps: Leaps, tmp_path: Path) -> None:
    words = (
        *("train", "--task", CORRIDOR, "--out", tmp_path / "space", "--preset", "quick", "--epochs", 8),
        *("--variant", "pl", "--set", "batch=20", "--set", "learning_rate=0.005", "--set", "beta=0.01"),
        *("--set", "model.latent=32", "--set", "model.hidden=32", "--set", "data.programs=600"),
        *("--set", "data.max_length=16", "--set", "data.horizon=8", "--json"),
    )
    report = leaps(*words).json
    assert report["test_action_accuracy"] > 0.5
    assert leaps(*words).json == report  # the training is finished, so nothing is trained
    config = json.loads((tmp_path / "space" / "data" / "manifest.json").read_text())["config"]
    assert (config["task"], config["programs"], config["horizon"]) == (CORRIDOR, 600, 8)
    for method in ("cebs", "leaps+"):
        done = leaps(
            *("solve", CORRIDOR, "--method", method, "--space", tmp_path / "space", "--budget", 1500),
            *("--out", tmp_path / method, "--json"),
        ).json
        assert done["solved"], method
        assert done["config"]["space"] == str(tmp_path / "space")


def test_data_set_of_a_task_is_made_once_and_reused(leaps: Leaps, tmp_path: Path) -> None:
    words = ("--set", "max_length=20", "--set", "horizon=8", "--json")
    made = leaps("data", "--task", CORRIDOR, "--out", tmp_path / "data", "--programs", 60, *words).json
    assert (made["programs"], made["rollouts"]) == (60, 240)
    again = leaps("data", "--task", CORRIDOR, "--out", tmp_path / "2", "--programs", 60, *words).json
    assert made["mean_steps"] == again["mean_steps"]
    bytes_of = [(tmp_path / name / "dataset.safetensors").read_bytes() for name in ("data", "2")]
    assert bytes_of[0] == bytes_of[1]
    leaps("train", "--data", tmp_path / "data", "--out", tmp_path / "space", *TINY)
    encoded = leaps("encode", "-e", "DEF run m( right m)", "--space", tmp_path / "space")
    assert len(encoded.out.split()) == 16
    (tmp_path / "point.txt").write_text(encoded.out)
    decoded = leaps("decode", tmp_path / "point.txt", "--space", tmp_path / "space", "--json")
    corridor.CORRIDOR.domain.parse(decoded.json["programs"][0])


def test_space_of_another_language_is_refused_with_the_words(
    leaps: Leaps, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    words = ("solve", CORRIDOR, "--space", folders[1], "--out", tmp_path / "found")
    assert_refused(leaps(*words), "is a program space of another language: it has move, turnRight")
    assert not (tmp_path / "found").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "expected either --data with a data set, or --task"),
        (("--data", "data", "--task", CORRIDOR), "expected either --data with a data set, or --task"),
        (("--task", "corridr"), "unknown task 'corridr'"),
        (("--task", CORRIDOR, "--set", "data.speed=3"), "unknown setting 'speed'"),
        (("--task", CORRIDOR, *FEW, "--set", "select=search"), "needs a data set of Karel's random worlds"),
    ],
)
def test_invalid_training_is_refused(
    leaps: Leaps, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    assert_refused(leaps("train", "--out", tmp_path / "space", *words), message)


def test_other_data_in_the_folder_of_a_training_is_refused(leaps: Leaps, tmp_path: Path) -> None:
    words = ("train", "--task", CORRIDOR, "--out", tmp_path / "space", *TINY, *FEW)
    assert leaps(*words, "--variant", "p").code == 0
    assert_refused(leaps(*words, "--variant", "p", "--set", "data.programs=61"), "use another --out")
