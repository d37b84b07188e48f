"""Packs of one's own: whole, without SQLite; of experiments, for everyone; and what packing refuses."""

from __future__ import annotations

import json
import shutil
import stat
import warnings
from pathlib import Path
from zipfile import ZipFile

import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from harbor import Bidder, Item, run_series
from harbor._config.auction import AuctionConfig
from harbor._packs import packing
from harbor.evaluation import load
from support import forging
from support.commands import harbor, mistake

DESIGN = """
name = "packed"
title = "A *small* title"
question = "Does a test pass?"
source = "made up"
repeats = 2
seed = 918273645
note = "canary-note"
metrics = ["profit", "revenue", "failed_bid_rate", "rank"]
trueskill = true

[auction]
name = "canary-name"
items = [{ name = "A", start = 1000, true_value = 1987613 }, { name = "B", start = 1000, true_value = 2143837 }]

[[auction.bidders]]
name = "Ann"
rule = "minimum-raise"
budget = 7351829
[[auction.bidders]]
name = "Ben"
rule = "random"
budget = 8462917
objective = "canary-objective"

[[arms]]
name = "plain"
label = "canary-label"
auction.rules.reveal = "price"
[[arms]]
name = "richer"
auction.rules.reveal = "price"
auction.bidders.Ann = { budget = 9182736 }

[[comparisons]]
metric = "revenue"
of = { arm = "plain" }
against = { arm = "richer" }

[[deviations]]
what = "It is small."
why = "It is a test."
effect = "None."
"""
CANARIES = ("canary-n", "canary-o", "canary-l", "canary-f", "918273645", "7351829", "8462917", "9182736", "1987613")


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment of four games, of which one failed."""
    folder = tmp_path_factory.mktemp("packed")
    (folder / "design.toml").write_text(DESIGN)
    assert harbor("experiment", "run", folder / "design.toml", "--out", folder / "made", "--quiet").returncode == 0
    failed = folder / "made" / "games" / "richer" / "all" / "0002" / "failure.json"
    failed.write_text('{"failure": "canary-failure"}')
    return folder / "made"


@pytest.fixture
def public(experiment: Path, tmp_path: Path) -> Path:
    """A public pack of the experiment."""
    done = harbor("pack", experiment, "--public", "--license", "cc-by-4.0", "--out", tmp_path / "public.harbor.zip")
    assert done.returncode == 0, done.stderr
    return tmp_path / "public.harbor.zip"


@pytest.fixture
def unpacked(public: Path, tmp_path: Path) -> Path:
    """The same, unpacked."""
    done = harbor("unpack", public, "--out", tmp_path / "unpacked")
    assert done.returncode == 0, done.stderr
    assert "the public copy of an experiment; check it with: harbor verify" in done.stderr
    return tmp_path / "unpacked"


def test_no_canary_of_a_design_is_in_its_public_pack(unpacked):
    text = "".join(path.read_bytes().decode("latin-1") for path in unpacked.rglob("*") if path.is_file())
    tables = [pq.read_table(path) for path in unpacked.glob("*.parquet")]
    text += "".join(json.dumps(table.to_pylist()) for table in tables)
    assert [canary for canary in CANARIES if canary in text] == []


def test_a_public_experiment_has_just_these_fields(unpacked):
    design = json.loads((unpacked / "experiment.json").read_text())
    assert set(design) == {
        *("arms", "arms_left_out", "auction", "comparisons", "conditions", "correlations", "crossing", "deviations"),
        *("factors", "figures", "metrics", "models", "name", "published", "question", "repeats", "rotate_seats"),
        *("same_seed", "source", "stand_ins", "temperature", "title", "trueskill"),
    }
    named = [{"name": "plain"}, {"name": "richer"}]
    assert (design["arms"], design["auction"]) == ([one | {"repeats": None} for one in named], {})
    manifest = json.loads((unpacked / "manifest.json").read_text())
    assert set(manifest) == {"config_digest", "experiment", "harbor", "options", "public", "python", "versions"}
    assert manifest["options"] == [{"cache": True, "lane": "live"}]
    games = json.loads((unpacked / "results.json").read_text())["games"]
    fields = {"arm", "condition", "repeat", "seed", "status", "detail", "players", "measurements"}
    assert all(set(game) <= fields and game["seed"] is None for game in games)


def test_a_failed_game_is_listed_without_the_reason_and_without_its_events(unpacked):
    games = json.loads((unpacked / "results.json").read_text())["games"]
    assert [game["status"] for game in games].count("failed") == 1
    assert [game["detail"] for game in games if game["status"] == "failed"] == ["the game failed; why is private"]
    assert len(list(unpacked.rglob("events.jsonl"))) == 3


def test_the_report_of_a_public_experiment_says_what_is_missing(unpacked, experiment, tmp_path):
    assert harbor("report", unpacked, cwd=tmp_path).stdout == f"{unpacked.name}-report.html\n"
    page = (tmp_path / f"{unpacked.name}-report.html").read_text()
    assert "A public copy." in page
    assert "The seed of each game" not in page
    assert 'id="cost"' not in page
    assert "canary" not in page
    public, own = load(unpacked), load(experiment)
    assert list(public.games.columns) == ["arm", "condition", "repeat", "status", "detail", "players"]
    revenue = [frame[frame.metric == "revenue"].value.tolist() for frame in (public.measurements, own.measurements)]
    assert revenue[0] == revenue[1]
    rates = public.measurements[public.measurements.metric == "failed_bid_rate"]
    assert rates.value.isna().all()
    assert set(rates.missing) == {"it needs private events, and this log has public ones alone"}


def test_what_is_measured_of_a_public_experiment_follows_from_its_logs_alone(unpacked):
    results = json.loads((unpacked / "results.json").read_text())
    for game in results["games"]:
        for one in game.get("measurements", ()):
            one["value"] = 1.0
    (unpacked / "results.json").write_text(json.dumps(results))
    table = load(unpacked).measurements
    assert 1.0 not in table[table.metric == "revenue"].value.tolist()


def test_a_public_experiment_is_verified_without_settings(unpacked):
    done = harbor("verify", unpacked, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert (told["follows"], told["level"], told["checked"]) == (True, "public", 5)


def test_a_changed_result_of_a_public_experiment_does_not_follow(unpacked):
    text = (unpacked / "results.json").read_text()
    found = json.loads(text)["games"][0]["measurements"][0]
    (unpacked / "results.json").write_text(text.replace(f'"metric": "{found["metric"]}"', '"metric": "rank"', 1))
    done = harbor("verify", unpacked)
    assert (done.returncode, "results.json, game plain/all/0001" in done.stdout) == (1, True)


def _listed_twice(games, folder):
    games[1] = games[0]


def _left_out(games, folder):
    del games[0]
    shutil.rmtree(folder / "games" / "plain" / "all" / "0001")


def _called_failed(games, folder):
    games[0].update(status="failed", measurements=[])


def _played_by_others(games, folder):
    games[0]["players"] = [["Ann", "openai:gpt-5"], ["Zed", "person"]]


def _cut(games, folder):
    log = folder / "games" / "plain" / "all" / "0001" / "events.jsonl"
    forging.write(log, forging.lines_of(log)[:-1])


def _of_no_game(games, folder):
    shutil.copytree(folder / "games" / "plain", folder / "games" / "other")


@pytest.mark.parametrize("forged", [_listed_twice, _left_out, _called_failed, _played_by_others, _cut, _of_no_game])
def test_games_of_a_public_experiment_are_those_of_its_design_and_end_as_their_logs_do(forged, unpacked):
    results = json.loads((unpacked / "results.json").read_text())
    forged(results["games"], unpacked)
    (unpacked / "results.json").write_text(json.dumps(results))
    done = harbor("verify", unpacked)
    assert (done.returncode, done.stdout.splitlines()[1]) == (1, "results.json")
    done = harbor("report", unpacked)
    assert (done.returncode, f"{str(unpacked / 'results.json')!r} has " in done.stderr) == (2, True)


def test_a_table_of_a_public_copy_that_is_not_what_the_pack_had_does_not_follow(unpacked):
    assert "README.md, events.parquet, measurements.parquet: they are not" in harbor("verify", unpacked).stdout
    (unpacked / "events.parquet").write_bytes(b"x")
    done = harbor("verify", unpacked)
    assert (done.returncode, done.stdout.splitlines()[1]) == (1, "events.parquet")
    (unpacked / "events.parquet").unlink()
    assert "found:    no file" in harbor("verify", unpacked).stdout


def test_a_pack_of_ones_own_may_go_on_and_verify_says_that_it_has_changed(experiment, tmp_path):
    harbor("pack", experiment, "--out", tmp_path / "own.harbor.zip")
    unpacked = tmp_path / "unpacked"
    harbor("unpack", tmp_path / "own.harbor.zip", "--out", unpacked)
    (unpacked / "games" / "richer" / "all" / "0002" / "failure.json").unlink()
    done = harbor("verify", unpacked)
    assert (done.returncode, "not checked: 1 of " in done.stdout) == (0, True), done.stdout


def test_arms_with_repeats_of_their_own_have_them_in_a_public_copy_too(tmp_path):
    (tmp_path / "design.toml").write_text(DESIGN.replace('name = "richer"\n', 'name = "richer"\nrepeats = 1\n'))
    harbor("experiment", "run", tmp_path / "design.toml", "--out", tmp_path / "made", "--quiet")
    harbor("pack", tmp_path / "made", "--public", "--out", tmp_path / "public.harbor.zip")
    harbor("unpack", tmp_path / "public.harbor.zip", "--out", tmp_path / "unpacked")
    done = harbor("verify", tmp_path / "unpacked")
    assert (done.returncode, done.stderr) == (0, "")
    assert "the player of each bidder, and the reason why a game has no log, are as the copy says" in done.stdout


@pytest.mark.parametrize("broken", ["{", "[]", '{"games": [{}]}', '{"games": [{"arm": "../x"}]}'])
def test_results_that_are_none_are_one_line(unpacked, broken):
    (unpacked / "results.json").write_text(broken)
    assert "unpack the pack again" in mistake(harbor("report", unpacked))


def test_a_public_copy_is_neither_resumed_nor_packed_again(unpacked):
    game = unpacked / "games" / "plain" / "all" / "0001"
    assert "public copy" in mistake(harbor("experiment", "resume", unpacked))
    assert "public copy" in mistake(harbor("pack", game, "--public"))
    assert harbor("score", game).returncode == 0


def test_the_card_says_what_it_is(unpacked):
    card = (unpacked / "README.md").read_text()
    assert card.startswith("---\nlicense: cc-by-4.0\n")
    assert "# A \\*small\\* title" in card
    assert "3 games (english)" in card
    assert "1 more failed" in card
    assert "does not play" not in card
    assert "license: cc-by-4.0" in (unpacked / "CITATION.cff").read_text()


def test_the_tables_have_a_row_for_each_event_and_measurement(unpacked):
    lines = [line for log in unpacked.rglob("events.jsonl") for line in log.read_text().splitlines()]
    events = pq.read_table(unpacked / "events.parquet").to_pylist()
    assert len(events) == len(lines)
    assert {row["game"] for row in events} == {f"games/{cell}" for cell in GAMES}
    games = json.loads((unpacked / "results.json").read_text())["games"]
    measured = pq.read_table(unpacked / "measurements.parquet").to_pylist()
    assert len(measured) == sum(len(game.get("measurements", ())) for game in games)


GAMES = ("plain/all/0001", "plain/all/0002", "richer/all/0001")


def test_without_pyarrow_a_public_pack_has_json_lines_alone_and_says_so(experiment, tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "find_spec", lambda _: None)
    done = harbor("pack", experiment, "--public", "--out", tmp_path / "plain.harbor.zip")
    assert "harbor-auctions[parquet]" in done.stderr
    with ZipFile(tmp_path / "plain.harbor.zip") as archive:
        assert not [name for name in archive.namelist() if name.endswith(".parquet")]
        assert b'data_files: "games/*/*/*/events.jsonl"' in archive.read("README.md")


def test_a_private_pack_comes_back_as_it_was(experiment, tmp_path):
    done = harbor("pack", experiment, "--out", tmp_path / "whole.harbor.zip")
    assert "everything private" in done.stderr
    assert stat.S_IMODE((tmp_path / "whole.harbor.zip").stat().st_mode) == 0o600
    assert harbor("unpack", tmp_path / "whole.harbor.zip", "--out", tmp_path / "back").returncode == 0
    there, back = (
        {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (experiment, tmp_path / "back")
    )
    assert {name for name in there if name not in back} <= {".lock", "mark"}
    assert {name for name in back if name not in there} == {"pack.json"}
    assert all(there[name] == back[name] for name in there if name in back)


def test_a_pack_leaves_out_what_harbor_does_not_read_again_and_says_so(experiment, tmp_path):
    shutil.copytree(experiment, tmp_path / "own")
    pages = [("view", "own", "--no-open"), ("report", "own"), ("report", "own", "--format", "csv")]
    assert [harbor(*words, cwd=tmp_path).returncode for words in pages] == [0, 0, 0]
    assert harbor("pack", "own", "--out", "pages.harbor.zip", cwd=tmp_path).stderr.startswith(
        "harbor: warning: the pack leaves out 'report.html' and "
    )
    for made in ("csv", "view_files"):
        shutil.rmtree(tmp_path / "own" / made)
    for made in ("report.html", "view.html"):
        (tmp_path / "own" / made).unlink()
    (tmp_path / "own" / "games" / ".env").write_text("KEY=mine")
    done = harbor("pack", "own", "--out", "notes.harbor.zip", cwd=tmp_path)
    assert done.stderr.splitlines()[0] == (
        "harbor: warning: the pack leaves out 'games/.env': it has what Harbor reads again; pages and tables can be"
        " made anew, and files of yours sent beside it"
    )
    assert harbor("unpack", "pages.harbor.zip", cwd=tmp_path).returncode == 0
    assert (tmp_path / "notes.harbor.zip").read_bytes() == (tmp_path / "pages.harbor.zip").read_bytes()
    assert "leaves out" not in harbor("pack", experiment, "--out", tmp_path / "whole.harbor.zip").stderr


def test_games_that_were_tried_again_and_what_was_lost_of_a_log_come_with_a_pack(experiment, tmp_path):
    shutil.copytree(experiment, tmp_path / "own")
    game = tmp_path / "own" / "games" / "plain" / "all"
    shutil.copytree(game / "0001", game / "0001-failed-1")
    for name in ("events-cut.jsonl", "calls-damaged.jsonl"):
        (game / "0001" / name).write_text("{}\n")
    (tmp_path / "own" / "batches.jsonl").touch()
    assert "leaves out" not in harbor("pack", "own", cwd=tmp_path).stderr
    assert harbor("unpack", "own.harbor.zip", "--out", "back", cwd=tmp_path).returncode == 0
    back = tmp_path / "back" / "games" / "plain" / "all"
    files, unpacked = ({path.relative_to(one) for path in one.rglob("*") if path.is_file()} for one in (game, back))
    assert files == unpacked


def test_equal_folders_make_equal_packs(experiment, tmp_path):
    for name in ("one", "two"):
        assert harbor("pack", experiment, "--out", tmp_path / f"{name}.zip").returncode == 0
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A series whose bidders remember."""
    folder = tmp_path_factory.mktemp("series") / "run"
    items = (Item(name="A", start=1000, true_value=2000),)
    ann = Bidder("Ann", memory="list", learning=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_series(
            AuctionConfig(items=items, bidders=(ann, Bidder("Ben", rule="random")), series={"auctions": 2}), folder
        )
    return folder


def test_memories_travel_as_json_lines_and_can_be_imported(series, tmp_path):
    assert harbor("pack", series, "--out", tmp_path / "run.harbor.zip").returncode == 0
    with ZipFile(tmp_path / "run.harbor.zip") as archive:
        assert not [name for name in archive.namelist() if b"SQLite format 3" in archive.read(name)]
        assert not [name for name in archive.namelist() if name.startswith("memory/") or name.endswith(".lock")]
    done = harbor("unpack", tmp_path / "run.harbor.zip", "--out", tmp_path / "back")
    assert (done.returncode, "a series with everything private; check it with" in done.stderr) == (0, True)
    lines = tmp_path / "back" / "memory.jsonl"
    assert lines.read_text() == harbor("memory", "export", series).stdout
    again = f"harbor memory import {tmp_path / 'back' / 'memory'} {lines}"
    assert again in mistake(harbor("memory", "show", tmp_path / "back"))
    assert harbor("memory", "import", tmp_path / "back", lines).returncode == 0
    assert (tmp_path / "back" / "memory").is_dir()
    assert harbor("memory", "export", tmp_path / "back").stdout == lines.read_text()


def test_a_public_series_names_its_auctions_where_a_single_run_is_wanted(series, tmp_path):
    assert harbor("pack", series, "--public", "--out", tmp_path / "run.harbor.zip").returncode == 0
    assert harbor("unpack", tmp_path / "run.harbor.zip", cwd=tmp_path).returncode == 0
    assert "give the folder of one of its auctions" in mistake(harbor("replay", tmp_path / "run"))
    assert harbor("replay", tmp_path / "run" / "1").returncode == 0
    assert "(2 logs and the results checked)" in harbor("verify", tmp_path / "run").stdout


def test_auctions_of_a_public_series_that_are_not_there_are_counted(series, tmp_path):
    harbor("pack", series, "--public", "--out", tmp_path / "run.harbor.zip")
    harbor("unpack", tmp_path / "run.harbor.zip", cwd=tmp_path)
    assert "have no log" not in harbor("verify", tmp_path / "run").stdout
    shutil.rmtree(tmp_path / "run" / "2")
    assert "found:    no file" in harbor("verify", tmp_path / "run").stdout
    (tmp_path / "run" / "pack.json").unlink()
    done = harbor("verify", tmp_path / "run")
    assert (done.returncode, "not checked: 1 of 2 auctions have no log" in done.stdout) == (0, True)


def test_a_run_that_another_process_is_running_is_not_packed(experiment, tmp_path):
    with FileLock(experiment / ".lock"):
        assert "being run by another process" in mistake(harbor("pack", experiment, "--out", tmp_path / "x.zip"))
    assert not list(tmp_path.iterdir())


def test_a_link_is_not_followed_into_a_pack(series, tmp_path):
    link = series / "notes.txt"
    link.symlink_to("/etc/hostname")
    try:
        assert "is a link" in mistake(harbor("pack", series, "--out", tmp_path / "x.zip"))
    finally:
        link.unlink()


def test_what_can_t_be_packed_is_one_line(experiment, tmp_path):
    (tmp_path / "there.zip").touch()
    assert "exists" in mistake(harbor("pack", experiment, "--out", tmp_path / "there.zip"))
    assert "can't be written" in mistake(harbor("pack", experiment, "--out", tmp_path / "none" / "x.zip"))
    assert "contains no run" in mistake(harbor("pack", tmp_path))
    assert "does not exist" in mistake(harbor("pack", tmp_path / "nowhere"))
    assert "no name of a license" in mistake(harbor("pack", experiment, "--public", "--license", "a: b"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["there.zip"]


def test_whoever_publishes_a_pack_is_cited_in_it(experiment, tmp_path):
    names = ("--author", 'Ann "A" Lee', "--author", "Zo\u00eb \U0001f3e0", "--title", "Two small: auctions")
    done = harbor("pack", experiment, "--public", *names, "--out", tmp_path / "cited.harbor.zip")
    assert done.returncode == 0
    assert "names no authors" not in done.stderr
    with ZipFile(tmp_path / "cited.harbor.zip") as archive:
        citation, card = (archive.read(name).decode() for name in ("CITATION.cff", "README.md"))
    assert '\nauthors:\n- name: "Ann \\"A\\" Lee"\n- name: "Zo\u00eb \U0001f3e0"\n' in citation
    assert '\ntitle: "Two small: auctions"\n' in citation
    assert '\npretty_name: "Two small: auctions"\n' in card
    assert "\n# Two small: auctions\n" in card


def test_a_pack_that_names_no_authors_says_how_to_name_them(experiment, tmp_path):
    done = harbor("pack", experiment, "--public", "--out", tmp_path / "uncited.harbor.zip")
    assert "pack it again with --author" in done.stderr


@pytest.mark.parametrize("words", [("--author", ""), ("--author", "Ann\nLee"), ("--title", "x" * 201)])
def test_an_author_or_a_title_that_is_no_line_is_refused(experiment, tmp_path, words):
    said = mistake(harbor("pack", experiment, "--public", *words, "--out", tmp_path / "new.harbor.zip"))
    assert words[0].removeprefix("--") in said
    assert list(tmp_path.iterdir()) == []
