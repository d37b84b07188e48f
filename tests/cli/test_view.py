"""`harbor view`: where it writes, what it refuses, and that a page of one seat has nothing of another's."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest

from harbor import Auction, Bidder, Item
from harbor._cli.reading.view import _page_name
from harbor._view.experiment_page import _write_games
from harbor.evaluation._report.tabular.listings import place_of
from support.commands import harbor, mistake

LOTS = [Item(name=name, start=1_000, true_value=2_000) for name in ("Lot A", "Lot B")]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("view") / "sale"
    Auction(items=LOTS, bidders=[Bidder(name, rule="minimum-raise") for name in ("Ann", "Ben")]).run(out=folder)
    return folder


def test_the_page_goes_into_the_folder_of_a_run_of_ones_own_and_its_path_is_printed(run):
    done = harbor("view", run, "--no-open")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{run / 'view.html'}\n", "")
    assert harbor("view", run, "--seat", "Ann", "--no-open").stdout == f"{run / 'view-Ann.html'}\n"
    assert (run / "view.html").stat().st_mode & 0o077 == 0  # what is in it is as private as the log


def test_the_page_of_a_folder_that_somebody_sent_goes_into_the_working_directory(run, tmp_path):
    sent = tmp_path / "theirs"
    shutil.copytree(run, sent, ignore=shutil.ignore_patterns("mark", "*.html"))
    before = sorted(sent.iterdir())
    assert harbor("view", sent, "--no-open", cwd=tmp_path).stdout == "theirs-view.html\n"
    assert (tmp_path / "theirs-view.html").is_file()
    assert sorted(sent.iterdir()) == before


def test_seats_whose_names_look_alike_have_pages_of_their_own():
    assert len({_page_name(seat) for seat in (None, "A b", "A-b", "A_20_b", "A.b")}) == 5


def test_what_is_no_run_or_no_seat_of_one_is_refused_in_a_line(run, tmp_path):
    assert "does not exist" in mistake(harbor("view", tmp_path / "nothing"))
    assert "contains no run" in mistake(harbor("view", tmp_path))
    unknown = mistake(harbor("view", run, "--seat", "An", "--no-open"))
    assert unknown == "unknown bidder 'An'; did you mean 'Ann'?"
    assert "no bidder has an empty name" in mistake(harbor("view", run, "--seat", "", "--no-open"))
    assert "--follow: it writes nothing" in mistake(harbor("view", run, "--follow", "--out", "page.html"))
    for at in (".", "1", "2"):
        (tmp_path / "series" / at).mkdir(parents=True, exist_ok=True)
        shutil.copy(run / "events.jsonl", tmp_path / "series" / at)
    told = mistake(harbor("view", tmp_path / "series", "--seat", "Ann"))
    assert "is a series; give the folder of one of its auctions, such as" in told


def test_a_place_that_can_not_be_written_is_refused_in_a_line(run, tmp_path):
    (tmp_path / "folder.html").mkdir()
    for place in (tmp_path / "folder.html", tmp_path / "nowhere" / "page.html"):
        told = mistake(harbor("view", run, "--out", place, "--no-open"))
        assert told.startswith(f"{str(place)!r} can't be written (")
        assert told.endswith("; name another with --out")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.html"]


def test_a_page_is_not_written_over_a_log_or_anything_else_that_is_no_page(run):
    before = (run / "events.jsonl").read_bytes()
    for command in ("view", "report"):
        told = mistake(harbor(command, run, "--out", run / "events.jsonl"))
        assert told == f"--out {str(run / 'events.jsonl')!r} doesn't end in .html; name it so"
    assert (run / "events.jsonl").read_bytes() == before


def test_every_folder_of_the_pages_of_games_is_private(run, tmp_path):
    game = SimpleNamespace(arm="one", condition="all", repeat=1)
    results = SimpleNamespace(records=[game], experiment=SimpleNamespace(arms=(), arms_left_out=(), conditions=()))
    shutil.copytree(run, tmp_path / place_of(game))
    assert len(_write_games(tmp_path, tmp_path / "page.html", results, 1).addresses) == 1
    folders = [tmp_path / "page_files", *(path for path in (tmp_path / "page_files").rglob("*") if path.is_dir())]
    assert [path.stat().st_mode & 0o777 for path in folders] == [0o700] * 3
