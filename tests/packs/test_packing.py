"""Packs of one's own: whole, without SQLite; of experiments, for everyone; and what packing refuses."""

from __future__ import annotations

import json
import shutil
import stat
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from harbor import Bidder, Item, run_series
from harbor._config.auction import AuctionConfig
from harbor._core.files.marks import mark
from harbor._packs import packing
from harbor.evaluation import load
from support.commands import harbor, mistake
from support.folders import contents, cut, shared

DESIGN = """
name = "packed"
title = "A *small* title"
question = "Does a test pass?"
source = "made up"
repeats = 3
seed = 918273645
note = "canary-note"
metrics = ["profit", "revenue", "failed_bid_rate", "rank"]
trueskill = true
comparisons = [{ metric = "revenue", of = { arm = "plain" }, against = { arm = "richer" } }]
deviations = [{ what = "It is small.", why = "It is a test.", effect = "None." }]

arms = [{ name = "plain", label = "canary-label", repeats = 2, auction.rules.reveal = "price" },
        { name = "richer", repeats = 2, auction = { rules.reveal = "price", bidders.Ann.budget = 9182736 } }]
[auction]
name = "canary-name"
items = [{ name = "A", start = 1000, true_value = 1987613 }, { name = "B", start = 1000, true_value = 2143837 }]
bidders = [{ name = "Ann", rule = "minimum-raise", budget = 7351829 },
           { name = "Ben", rule = "random", budget = 8462917, objective = "canary-objective" }]
"""
CANARIES = ("canary", "918273645", "7351829", "8462917", "9182736", "1987613")


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment of four games, of which one failed."""
    folder = tmp_path_factory.mktemp("packed")
    (folder / "design.toml").write_text(DESIGN)
    assert harbor("experiment", "run", folder / "design.toml", "--out", folder / "made", "--quiet").returncode == 0
    failed = folder / "made" / "games" / "richer" / "all" / "0002" / "failure.json"
    failed.write_text('{"failure": "canary-failure"}')
    manifest = json.loads((folder / "made" / "manifest.json").read_text())
    manifest["options"][0] |= {"executor": "ray", "address": "ray://canary-address:10001", "max_cost": 7351829}
    (folder / "made" / "manifest.json").write_text(json.dumps(manifest))
    mark(folder / "made")
    return folder / "made"


@pytest.fixture(scope="module")
def public(experiment: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A public pack of the experiment, unpacked."""
    place = tmp_path_factory.mktemp("public")
    names = ("--author", 'Ann "A" Lee', "--author", "Zo\u00eb \U0001f3e0", "--license", "cc-by-4.0")
    done = harbor("pack", experiment, "--public", *names, "--out", place / "public.harbor.zip")
    assert (done.returncode, "names no authors" in done.stderr) == (0, False), done.stderr
    done = harbor("unpack", place / "public.harbor.zip", "--out", place / "unpacked")
    assert done.returncode == 0, done.stderr
    assert "the public copy of an experiment; check it with: harbor verify" in done.stderr
    with shared(place / "unpacked") as folder:
        yield folder


@pytest.fixture
def unpacked(public: Path, tmp_path: Path) -> Path:
    """A copy of it, to forge."""
    return shutil.copytree(public, tmp_path / "unpacked")


def verified(folder: Path, code: int, *said: str) -> None:
    """Check the exit of `harbor verify`, and that it says something."""
    done = harbor("verify", folder)
    assert (done.returncode, [words for words in said if words not in done.stdout]) == (code, []), done.stdout


def change_results(folder: Path, change: Callable[[Any], object]) -> None:
    results = json.loads((folder / "results.json").read_text())
    change(results["games"])
    (folder / "results.json").write_text(json.dumps(results))


def test_no_canary_of_a_design_is_in_its_public_pack(public):
    text = "".join(content.decode("latin-1") for content in contents(public).values())
    text += "".join(json.dumps(pq.read_table(path).to_pylist()) for path in public.glob("*.parquet"))
    assert [canary for canary in CANARIES if canary in text] == []


def test_a_public_experiment_has_just_these_fields(public):
    design = json.loads((public / "experiment.json").read_text())
    assert set(design) == {
        *("arms", "arms_left_out", "auction", "comparisons", "conditions", "correlations", "crossing", "deviations"),
        *("factors", "figures", "metrics", "models", "name", "published", "question", "repeats", "rotate_seats"),
        *("same_seed", "source", "stand_ins", "temperature", "title", "trueskill"),
    }
    assert design["arms"] == [{"name": "plain", "repeats": 2}, {"name": "richer", "repeats": 2}]
    assert design["auction"] == {}
    manifest = json.loads((public / "manifest.json").read_text())
    assert set(manifest) == {"config_digest", "experiment", "harbor", "options", "public", "python", "versions"}
    assert manifest["options"] == [{"cache": True, "lane": "live"}]
    games = json.loads((public / "results.json").read_text())["games"]
    fields = {"arm", "condition", "repeat", "seed", "status", "detail", "players", "measurements"}
    assert all(set(game) <= fields and game["seed"] is None for game in games)


def test_a_failed_game_is_listed_without_the_reason_and_without_its_events(public):
    games = json.loads((public / "results.json").read_text())["games"]
    assert [game["detail"] for game in games if game["status"] == "failed"] == ["the game failed; why is private"]
    assert len(list(public.rglob("events.jsonl"))) == 3
    card = (public / "README.md").read_text()
    assert [words for words in ("3 games (english)", "1 more failed") if words not in card] == []


def test_the_report_of_a_public_experiment_says_what_is_missing_and_measures_its_logs_alone(
    unpacked, experiment, tmp_path
):
    change_results(unpacked, lambda games: [one.update(value=1.0) for one in games[0]["measurements"]])
    assert harbor("report", unpacked, cwd=tmp_path).stdout == f"{unpacked.name}-report.html\n"
    page = (tmp_path / f"{unpacked.name}-report.html").read_text()
    assert "A public copy." in page
    assert [words for words in ("The seed of each game", 'id="cost"', "canary") if words in page] == []
    theirs, own = load(unpacked), load(experiment)
    assert list(theirs.games.columns) == ["arm", "condition", "repeat", "status", "detail", "players"]
    revenue = [frame[frame.metric == "revenue"].value.tolist() for frame in (theirs.measurements, own.measurements)]
    assert revenue[0] == revenue[1]
    rates = theirs.measurements[theirs.measurements.metric == "failed_bid_rate"]
    assert rates.value.isna().all()
    assert set(rates.missing) == {"it needs private events, and this log has public ones alone"}


def test_a_changed_result_of_a_public_experiment_does_not_follow(unpacked):
    change_results(unpacked, lambda games: games[0]["measurements"][0].update(metric="rank"))
    verified(unpacked, 1, "results.json, game plain/all/0001")


FIRST = "games/plain/all/0001"
FORGED: dict[str, Callable[[list[Any], Path], object]] = {
    "listed twice": lambda games, _: games.__setitem__(1, games[0]),
    "left out": lambda games, folder: (games.pop(0), shutil.rmtree(folder / FIRST)),
    "called failed": lambda games, _: games[0].update(status="failed", measurements=[]),
    "played by others": lambda games, _: games[0].update(players=[["Ann", "openai:gpt-5"], ["Zed", "person"]]),
    "cut": lambda _, folder: cut(folder / FIRST / "events.jsonl", -1),
    "of no game": lambda _, folder: shutil.copytree(folder / "games" / "plain", folder / "games" / "other"),
}


@pytest.mark.parametrize("forged", FORGED)
def test_games_of_a_public_experiment_are_those_of_its_design_and_end_as_their_logs_do(forged, unpacked):
    change_results(unpacked, lambda games: FORGED[forged](games, unpacked))
    done = harbor("verify", unpacked)
    assert (done.returncode, done.stdout.splitlines()[1]) == (1, "results.json")
    done = harbor("report", unpacked)
    assert (done.returncode, f"{str(unpacked / 'results.json')!r} has " in done.stderr) == (2, True)


def test_a_public_experiment_is_verified_without_settings_and_a_table_that_is_not_what_the_pack_had_does_not_follow(
    unpacked,
):
    told = json.loads(harbor("verify", unpacked, "--json").stdout)
    assert (told["follows"], told["level"], told["checked"]) == (True, "public", 5)
    verified(unpacked, 0, "README.md, events.parquet, measurements.parquet: they are not")
    (unpacked / "events.parquet").write_bytes(b"x")
    verified(unpacked, 1, "\nevents.parquet\n")
    (unpacked / "events.parquet").unlink()
    verified(unpacked, 1, "found:    no file")


def test_results_that_are_none_are_one_line(unpacked):
    for broken in ("{", "[]", '{"games": [{}]}', '{"games": [{"arm": "../x"}]}'):
        (unpacked / "results.json").write_text(broken)
        assert "unpack the pack again" in mistake(harbor("report", unpacked))


def test_a_public_copy_is_neither_resumed_nor_packed_again(public):
    assert "public copy" in mistake(harbor("experiment", "resume", public))
    assert "public copy" in mistake(harbor("pack", public / FIRST, "--public"))
    assert harbor("score", public / FIRST).returncode == 0


def test_the_card_and_the_citation_say_what_it_is_and_whose(public, experiment, tmp_path):
    citation, card = ((public / name).read_text() for name in ("CITATION.cff", "README.md"))
    assert card.startswith("---\nlicense: cc-by-4.0\n")
    assert "# A \\*small\\* title" in card
    assert "license: cc-by-4.0" in citation
    assert '\nauthors:\n- name: "Ann \\"A\\" Lee"\n- name: "Zo\u00eb \U0001f3e0"\n' in citation
    done = harbor("pack", experiment, "--public", "--title", "Two small: auctions", "--out", tmp_path / "titled.zip")
    assert "pack it again with --author" in done.stderr
    with ZipFile(tmp_path / "titled.zip") as archive:
        citation, card = (archive.read(name).decode() for name in ("CITATION.cff", "README.md"))
    assert '\ntitle: "Two small: auctions"\n' in citation
    assert '\npretty_name: "Two small: auctions"\n' in card
    assert "\n# Two small: auctions\n" in card


def test_the_tables_have_a_row_for_each_event_and_measurement(public):
    lines = [line for log in public.rglob("events.jsonl") for line in log.read_text().splitlines()]
    events, measured = (pq.read_table(public / f"{name}.parquet").to_pylist() for name in ("events", "measurements"))
    assert len(events) == len(lines)
    cells = ("plain/all/0001", "plain/all/0002", "richer/all/0001")
    assert {row["game"] for row in events} == {f"games/{cell}" for cell in cells}
    games = json.loads((public / "results.json").read_text())["games"]
    assert len(measured) == sum(len(game.get("measurements", ())) for game in games)


def test_without_pyarrow_a_public_pack_has_json_lines_alone_and_says_so(experiment, tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "find_spec", lambda _: None)
    done = harbor("pack", experiment, "--public", "--out", tmp_path / "plain.harbor.zip")
    assert "harbor-auctions[parquet]" in done.stderr
    with ZipFile(tmp_path / "plain.harbor.zip") as archive:
        assert not [name for name in archive.namelist() if name.endswith(".parquet")]
        assert b'data_files: "games/*/*/*/events.jsonl"' in archive.read("README.md")


def test_a_private_pack_comes_back_as_it_was_and_may_go_on(experiment, tmp_path):
    one, two, back = tmp_path / "one.zip", tmp_path / "two.zip", tmp_path / "back"
    shutil.copytree(experiment, own := tmp_path / "own")
    shutil.copytree(own / FIRST, own / f"{FIRST}-failed-1")  # an earlier try
    for name in ("events-cut.jsonl", "calls-damaged.jsonl"):  # what was lost of a log
        (own / FIRST / name).write_text("{}\n")
    (own / "batches.jsonl").touch()
    done = harbor("pack", own, "--out", one)
    assert "everything private" in done.stderr
    assert "leaves out" not in done.stderr
    assert stat.S_IMODE(one.stat().st_mode) == 0o600
    assert harbor("pack", own, "--out", two).returncode == 0
    assert one.read_bytes() == two.read_bytes()
    assert harbor("unpack", one, "--out", back).returncode == 0
    found, packed = (
        {name: content for name, content in contents(folder).items() if Path(name).name not in (".lock", "mark")}
        for folder in (back, own)
    )
    assert found.pop("pack.json")
    assert found == packed
    (back / "games" / "richer" / "all" / "0002" / "failure.json").unlink()
    verified(back, 0, "not checked: 1 of ")


def test_a_pack_leaves_out_what_harbor_does_not_read_again_and_says_so(experiment, tmp_path):
    shutil.copytree(experiment, own := tmp_path / "own")
    assert "leaves out" not in harbor("pack", own, "--out", tmp_path / "clean.zip").stderr
    (own / "games" / ".env").write_text("KEY=mine")
    said = harbor("pack", own, "--out", tmp_path / "notes.zip").stderr
    assert said.startswith("harbor: warning: the pack leaves out 'games/.env': it has what Harbor reads again; ")
    for name in ("report.html", "view_files/games.html", "csv/games.csv"):
        (own / name).parent.mkdir(exist_ok=True)
        (own / name).touch()
    assert "the pack leaves out '" in harbor("pack", own, "--out", tmp_path / "pages.zip").stderr
    assert len({(tmp_path / f"{name}.zip").read_bytes() for name in ("clean", "notes", "pages")}) == 1


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A series whose bidders remember."""
    folder = tmp_path_factory.mktemp("series") / "run"
    items = (Item(name="A", start=1000, true_value=2000),)
    bidders = (Bidder("Ann", memory="list", learning=True), Bidder("Ben", rule="random"))
    with warnings.catch_warnings(action="ignore"):
        run_series(AuctionConfig(items=items, bidders=bidders, series={"auctions": 2}), folder)
    return folder


def test_memories_travel_as_json_lines_and_can_be_imported(series, tmp_path):
    assert harbor("pack", series, "--out", tmp_path / "run.harbor.zip").returncode == 0
    with ZipFile(tmp_path / "run.harbor.zip") as archive:
        assert not [name for name in archive.namelist() if b"SQLite format 3" in archive.read(name)]
        assert not [name for name in archive.namelist() if name.startswith("memory/") or name.endswith(".lock")]
    done = harbor("unpack", tmp_path / "run.harbor.zip", "--out", back := tmp_path / "back")
    assert (done.returncode, "a series with everything private; check it with" in done.stderr) == (0, True)
    lines = back / "memory.jsonl"
    assert lines.read_text() == harbor("memory", "export", series).stdout
    again = f"harbor memory import {back / 'memory'} {lines}"
    assert again in mistake(harbor("memory", "show", back))
    assert harbor("memory", "import", back, lines).returncode == 0
    assert (back / "memory").is_dir()
    assert harbor("memory", "export", back).stdout == lines.read_text()


def test_a_public_series_names_its_auctions_and_counts_those_that_are_not_there(series, tmp_path):
    run = tmp_path / "run"
    assert harbor("pack", series, "--public", "--out", tmp_path / "run.harbor.zip").returncode == 0
    assert harbor("unpack", tmp_path / "run.harbor.zip", cwd=tmp_path).returncode == 0
    assert "give the folder of one of its auctions" in mistake(harbor("replay", run))
    assert harbor("replay", run / "1").returncode == 0
    verified(run, 0, "(2 logs and the results checked)")
    shutil.rmtree(run / "2")
    verified(run, 1, "found:    no file")
    (run / "pack.json").unlink()
    verified(run, 0, "not checked: 1 of 2 auctions have no log")


def test_what_can_t_be_packed_is_one_line(experiment, series, tmp_path):
    (there := tmp_path / "there.zip").touch()
    linked = shutil.copytree(series, tmp_path.parent / f"{tmp_path.name}-linked")
    (linked / "notes.txt").symlink_to("/etc/hostname")
    new = ("--out", tmp_path / "x.zip")
    for says, *words in (
        ("exists", experiment, "--out", there),
        ("can't be written", experiment, "--out", tmp_path / "none" / "x.zip"),
        ("contains no run", tmp_path), ("does not exist", tmp_path / "nowhere"), ("is a link", linked, *new),
        ("no name of a license", experiment, "--public", "--license", "a: b"),
        ("author", experiment, "--public", "--author", "", *new),
        ("author", experiment, "--public", "--author", "Ann\nLee", *new),
        ("title", experiment, "--public", "--title", "x" * 201, *new),
    ):  # fmt: skip
        assert says in mistake(harbor("pack", *words))
    with FileLock(experiment / ".lock"):
        assert "being run by another process" in mistake(harbor("pack", experiment, *new))
    assert list(tmp_path.iterdir()) == [there]
