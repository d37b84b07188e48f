"""`harbor new`: a folder to begin from, which passes its conformance suite as it is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands import harbor, mistake
from support.plugins import install, installed

WRITES = {
    "game": {"pyproject.toml", "auction.toml", "test_game.py", "{}/__init__.py", "{}/game.py", "{}/system.md",
             "{}/bid.md"},
    "metric": {"pyproject.toml", "test_metric.py", "{}/__init__.py", "{}/metric.py"},
    "experiment": {"experiment.toml", "test_experiment.py"},
}  # fmt: skip


def begun(what: str, name: str, place: Path) -> Path:
    """Begin an extension, or an experiment."""
    done = harbor("new", what, name, cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    files = {str(path.relative_to(place)) for path in (place / name).rglob("*") if path.is_file()}
    assert set(done.stdout.splitlines()) == files
    return place / name


def suite(folder: Path) -> str:
    """Run the suite of a folder, as its author does."""
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("what", WRITES)
def test_a_folder_has_its_files_and_the_name_in_every_spelling(what, tmp_path):
    folder = begun(what, "lowest-unique", tmp_path)
    texts = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert set(texts) == {name.format("lowest_unique") for name in WRITES[what]}
    whole = "".join(texts.values()).lower()
    assert "lowest-unique" in whole
    assert not [old for old in (f"my-{what}", f"my_{what}", f"my{what}", f"my {what}") if old in whole]


@pytest.mark.studies
@pytest.mark.parametrize("what", WRITES)
def test_its_suite_passes(what, tmp_path):
    assert "1 passed" in suite(begun(what, "lowest-unique", tmp_path))


@pytest.mark.slow
def test_its_suite_fails_once_a_game_is_spoilt(tmp_path):
    file = begun("game", "nim", tmp_path) / "nim" / "game.py"
    text = file.read_text()
    assert "return Bid(ask.minimum)" in text
    file.write_text(text.replace("return Bid(ask.minimum)", "return Bid(ask.maximum + 1)"))
    told = suite(tmp_path / "nim")
    assert ("1 failed" in told, "gives answers that are not legal" in told) == (True, True)


def test_its_auction_is_run_in_it_also_if_it_was_begun_beside_a_bad_package(tmp_path):
    install(tmp_path / "site", "bad", {"bad.py": "1 / 0"}, {"harbor.games": {"bad": "bad:IT"}})
    with installed(tmp_path / "site"):
        assert harbor("new", "game", "lowest-unique", cwd=tmp_path).returncode == 0
    with installed():
        done = harbor("auction", "auction.toml", cwd=tmp_path / "lowest-unique")
    assert (done.returncode, done.stderr) == (0, "")
    assert "$10" in done.stdout.partition("Standings")[2]


def test_its_metric_is_measured_in_it(tmp_path):
    folder = begun("metric", "answered", tmp_path)
    harbor("auction", "demo", "--items", "1", "--quiet", "--out", "run", cwd=folder)
    with installed():
        done = harbor("score", "run", "--metric", "answered.metric:answered", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "answered.metric:answered" in done.stdout


@pytest.mark.slow
def test_its_experiment_is_run_in_it(tmp_path):
    done = harbor("experiment", "run", "experiment.toml", "--quiet", cwd=begun("experiment", "rivalry", tmp_path))
    assert (done.stderr, "8 of 8 games finished, 0 failed" in done.stdout) == ("", True)


@pytest.mark.parametrize("name", ["", "Lowest", "../lowest", "/lowest", "lowest.game", "2-lowest", "-lowest", "a--b"])
def test_what_is_no_name_is_refused_in_one_line(name, tmp_path):
    for what in WRITES:
        assert re.search(f"{name!r}.*such as 'lowest-unique'", mistake(harbor("new", what, "--", name, cwd=tmp_path)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("words", "why"), [
    *((words, "Python has something of that name") for words in ("game class", "game random", "metric numpy")),
    ("game english", "there is a game 'english'"),
    ("metric profit-ratio", "there is a metric 'profit-ratio'"),
    ("gam nim", "'gam' is not one of 'game', 'metric', 'experiment'"),
    ("game old", "folder 'old' exists; choose another name, or remove it"),
    ("prompts mine --game water --protocol aucarena", "does not know the game 'water'"),
])  # fmt: skip
def test_what_can_not_be_begun_is_refused_in_one_line_and_changes_nothing(words, why, tmp_path):
    (tmp_path / "old").mkdir()
    assert why in mistake(harbor("new", *words.split(), cwd=tmp_path))
    assert list(tmp_path.rglob("*")) == [tmp_path / "old"]


def test_prompts_of_ones_own_begin_as_a_copy_that_plays(tmp_path):
    done = harbor("new", "prompts", "meine", "--game", "water", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.split()) == {f"meine/{path.name}" for path in (tmp_path / "meine").iterdir()}
    sale = "[rules]\ngame = 'water'\ndays = 2\n[[bidders]]\nname = 'Alex'\nprompts = 'meine'\n"
    (tmp_path / "sale.toml").write_text(sale, encoding="utf-8")
    assert harbor("auction", "sale.toml", cwd=tmp_path).returncode == 0
