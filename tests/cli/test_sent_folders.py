"""What somebody sent is data: commands read it, and follow nothing that it names until its user trusts it."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat

import pytest

from harbor import resume as resumed
from harbor._cli.shared.trust import named_by
from harbor._core.basics.errors import RunFolderError
from harbor._core.files.marks import is_own
from harbor._core.files.safe_files import MOST_RECORDS, MOST_SETTINGS
from support.commands import harbor, mistake
from support.folders import TINY, contents, cut
from support.forging import lines_of, write
from support.plugins import install, installed
from support.sent import SCRIPTED, forge, listening


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run that broke off before its end, a finished one, and an experiment with a game to be run."""
    place = tmp_path_factory.mktemp("made")
    (place / "auction.toml").write_text(SCRIPTED)
    for name in ("run", "whole"):
        assert harbor("auction", "auction.toml", "--seed", 3, "--out", name, cwd=place).returncode == 0
    assert harbor("experiment", "run", TINY, "--out", "exp", cwd=place).returncode == 0
    shutil.rmtree(place / "exp" / "games" / "none" / "all" / "0002")
    cut(place / "run" / "events.jsonl", -2)
    return place


@pytest.fixture
def place(made, tmp_path):
    shutil.copytree(made, tmp_path / "place")
    return tmp_path / "place"


def refused(*command, cwd, told=()):
    done = harbor(*command, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert re.search("is not marked as yours.*--trust", done.stderr.splitlines()[-1])
    assert [one for one in told if one not in done.stderr] == [], done.stderr


ERRS = {"errs": {"use": "simulated", "simulated": {"low_bid_rate": 0.1}}}


@pytest.mark.parametrize(("settings", "told"), [
    ({"models": ERRS, "bidders": [{"model": "errs"}]}, []),
    ({"auction": {"models": ERRS}, "models": ["errs"]}, []),
    ({"models": {"errs": {"use": "stranger"}}, "bidders": [{"model": "errs"}]}, ["stranger"]),
    ({"models": {"openai:gpt": {}}, "bidders": [{"model": "openai:gpt"}]}, ["openai:gpt"]),
    ({"auction": {}, "arms": [{"auction": {"models": ERRS}}], "models": ["errs"]}, ["errs"]),
    ({"auction": {"bidders": {"published": {"model": "stranger"}}}}, ["stranger"]),
    ({"published": [{"model": "GPT-4", "metric": "priority_initial ~ bids"}]}, []),
    ({"published": [{"model": "GPT-4", "metric": "trueskill_per_game"}]}, []),
    ({"published": [{"model": "GPT-4", "metric": "profit ~ strange"}]}, ["profit ~ strange"]),
    ({"metrics": ["trueskill_per_game"]}, ["trueskill_per_game"]),
    ({"metrics": ["profit", "evil:METRIC"], "models": ["@1", "simulated", "openai:x"]}, ["openai:x", "evil:METRIC"]),
])  # fmt: skip
def test_names_that_a_file_defines_itself_or_only_prints_are_not_told_and_what_they_stand_for_is(settings, told):
    assert [name for names in named_by(settings).values() for name in names] == told


def test_trust_is_given_once_with_an_option_or_in_python_with_an_argument(place):
    (place / "run" / "mark").unlink()
    (place / "run" / "calls.jsonl").unlink()
    shutil.copytree(place / "run", place / "again")
    refused("resume", "run", cwd=place, told=("names nothing but Harbor's own",))
    assert harbor("resume", "run", "--trust", cwd=place).returncode == 0
    assert is_own(place / "run")
    modes = {name: stat.S_IMODE((place / "run" / name).stat().st_mode) for name in ("mark", "calls.jsonl")}
    assert modes == {"mark": 0o600, "calls.jsonl": 0o600}
    with pytest.raises(RunFolderError, match="trust=True"):
        resumed(place / "again")
    assert resumed(place / "again", trust=True).standings


# ---------------------------------------------------------------- what a stranger's settings name

NO_DATABASE = b"no database: to open it is to complain"


@pytest.fixture
def dear(monkeypatch):
    """Settings of a model that would send a key of the user's to an address, which nobody asks."""
    monkeypatch.setenv("MY_SECRET_KEY", "sk-mine-and-nobody-elses")
    with listening() as (address, visitors):
        yield {"use": "openai:gpt-dear", "base_url": address, "api_key_env": "MY_SECRET_KEY"}
        assert visitors == []


def read(path):
    return json.loads(path.read_text())


@pytest.mark.parametrize("name", ["config.json", "named-otherwise.json"])
def test_sent_settings_of_an_auction_contact_nobody_and_take_no_key(place, name, dear):
    settings = read(place / "whole" / "config.json")
    bidders = [{"name": "Ann", "model": "m"}, settings["bidders"][1]]
    (place / "whole" / name).write_text(json.dumps(settings | {"bidders": bidders, "models": {"m": dear}}))
    sent = f"whole/{name}"
    refused("auction", sent, "--out", "new", cwd=place, told=("'openai:gpt-dear'", "'MY_SECRET_KEY'", dear["base_url"]))
    refused("play", sent, "--as", "Ben", "--out", "new", cwd=place)
    assert not (place / "new").exists()


def test_a_sent_design_is_run_once_it_is_trusted_and_ones_own_at_once(place):
    run = ("experiment", "run", "exp/experiment.json", "--repeats", 1, "--quiet")
    assert harbor(*run, "--out", "own", cwd=place).returncode == 0
    assert "resume that" in harbor("resume", "exp/games/none/all/0001", cwd=place).stderr
    (place / "exp" / "mark").unlink()
    assert harbor(*run, "--out", "harmless", cwd=place).returncode == 0  # it names nothing but Harbor's own
    refused("experiment", "resume", "exp", cwd=place, told=("names nothing but Harbor's own",))
    design = read(place / "exp" / "experiment.json")
    design["auction"]["memory"] = {"store": "elsewhere"}
    (place / "exp" / "experiment.json").write_text(json.dumps(design))
    refused(*run, "--out", "new", cwd=place, told=("opens memories: 'elsewhere'\n",))
    assert not (place / "new").exists()
    assert harbor(*run, "--out", "new", "--trust", cwd=place).returncode == 0


def test_resuming_what_was_sent_contacts_nobody_takes_no_key_and_tells_what_it_would(place, dear):
    mind = {"name": "Ann", "model": "m", "memory": "full", "learning": True}
    bidders = [mind, read(place / "run" / "config.json")["bidders"][1]]
    memory = {"store": dear["base_url"]}
    forge(place / "run", {"bidders": bidders, "models": {"m": dear}, "memory": memory})
    auction = read(place / "exp" / "experiment.json")["auction"] | {"models": {"simulated": dear}}
    forge(place / "exp", {"auction": auction}, "experiment.json")
    before = contents(place)
    told = ("'openai:gpt-dear'", "'MY_SECRET_KEY'", dear["base_url"])
    refused("resume", "run", cwd=place, told=(*told, "$0.00 so far"))
    refused("experiment", "resume", "exp", cwd=place, told=(*told, "$"))
    assert contents(place) == before


REPORT = pytest.param(["report", "exp"], marks=pytest.mark.slow, id="report exp")


@pytest.mark.parametrize("command", [["replay", "whole"], ["score", "whole"], REPORT], ids=" ".join)
def test_a_sent_folder_is_read_and_nothing_is_written_but_what_was_asked_for(place, command):
    for folder in ("whole", "exp"):
        (place / folder / "mark").unlink()
    (place / "whole" / "memory").mkdir()
    (place / "whole" / "memory" / "chroma.sqlite3").write_bytes(NO_DATABASE)
    for record in place.rglob("record.json"):
        record.unlink()
    before = contents(place)
    assert harbor(*command, cwd=place).returncode == 0
    after = contents(place)
    if command[0] == "report":
        assert after.pop("exp-report.html", None)
    assert after == before


def test_the_database_of_a_memory_that_was_sent_or_that_settings_name_is_not_opened(place):
    folder = place / "memory"
    folder.mkdir()
    (folder / "chroma.sqlite3").write_bytes(NO_DATABASE)
    before = contents(folder)
    for words in (["show", "memory"], ["search", "memory", "x"], ["export", "memory"]):
        refused("memory", *words, cwd=place, told=("opens the database of a memory",))
        assert contents(folder) == before
    minded = SCRIPTED.replace('rule = "random"', 'memory = "list"\nlearning = true')
    (place / "mine.toml").write_text(minded + '[memory]\nstore = "memory"\n')
    assert "is not opened; if you trust it" in mistake(harbor("auction", "mine.toml", "--out", "new", cwd=place))
    assert not (place / "new").exists()
    assert "restore it from a copy" in harbor("memory", "show", "memory", "--trust", cwd=place).stderr


# ---------------------------------------------------------------- packages that a folder names


EVIL = "from pathlib import Path\nPath(__file__).with_name('imported').touch()\nNODE = METRIC = None\n"


@pytest.fixture
def evil(tmp_path):
    """An installed package that tells when it is imported, which nothing does."""
    points = {"harbor.nodes": {"evil": "evil:NODE"}, "harbor.metrics": {"evil": "evil:METRIC"}}
    site = install(tmp_path / "site", "evil", {"evil.py": EVIL}, points)
    with installed(site):
        yield
    assert not (site / "imported").exists()


PART = {"name": "evil", "package": "evil", "version": "0.1"}


@pytest.mark.usefixtures("evil")
def test_an_installed_package_that_a_sent_log_names_is_not_imported(place):
    log = place / "whole" / "events.jsonl"
    opening, *others = lines_of(log)
    write(log, [opening | {"parts": [*opening["parts"], PART | {"kind": "node"}]}, *others])
    (place / "whole" / "mark").unlink()
    for command in ("replay", "score", "pack --public"):
        said = mistake(harbor(*command.split(), "whole", cwd=place))
        assert re.search("no package is loaded for a folder that is not marked as yours.*--plugin MODULE:NAME", said)


@pytest.mark.usefixtures("evil")
@pytest.mark.parametrize("parts", [[], [PART | {"kind": "metric"}]])
def test_an_installed_package_that_sent_settings_or_a_sent_design_name_is_not_imported(place, parts):
    [mind, other] = read(place / "whole" / "config.json")["bidders"]
    forge(place / "whole", {"bidders": [mind | {"rule": None, "nodes": ["evil"]}, other]})
    for command in ("verify", "verify --deep", "pack --public"):
        harbor(*command.split(), "whole", cwd=place)
    forge(place / "exp", {"metrics": ["profit", "evil"]}, "experiment.json")
    begun = read(place / "exp" / "manifest.json")
    (place / "exp" / "manifest.json").write_text(json.dumps(begun | {"parts": parts}))
    for command in (["report", "exp"], ["experiment", "resume", "exp"]):
        assert "not marked as yours" in harbor(*command, cwd=place).stderr


# ---------------------------------------------------------------- links, pipes and sizes


def spoil(path, how, victim):
    path.unlink(missing_ok=True)
    if how == "link":
        path.symlink_to(victim)
    elif how == "pipe":
        os.mkfifo(path)
    else:
        path.touch()
        os.truncate(path, max(MOST_RECORDS, MOST_SETTINGS) + 1)


FILES = {
    "resume": "run/config.json run/manifest.json run/events.jsonl run/calls.jsonl run/mark run/.lock",
    **dict.fromkeys(("replay", "score", "verify", "pack --public", "rate sheets --out rated"), "run/events.jsonl"),
    "report": "exp/experiment.json exp/manifest.json exp/games/none/all/0001/events.jsonl",
    "experiment resume": "exp/experiment.json exp/mark exp/games/none/all/0001/config.json",
}
"""The files that a command reads."""
READ = [(name, file, how) for name, files in FILES.items() for file in files.split() for how in ("link", "pipe")]
LARGE = [("resume", file, "size") for file in FILES["resume"].split() if file != "run/.lock"]  # which nobody reads


@pytest.mark.parametrize(("command", "file", "how"), READ + LARGE)
def test_a_file_that_is_a_link_a_pipe_or_too_large_is_refused_in_one_line(place, tmp_path, command, file, how):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    spoil(place / file, how, victim)
    done = harbor(*command.split(), file[:3], cwd=place)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "Traceback" not in done.stderr
    assert victim.read_bytes() == b"precious"


def test_a_folder_behind_a_link_inside_a_sent_one_is_not_read(place, tmp_path):
    shutil.move(place / "exp" / "games", tmp_path / "elsewhere")
    (place / "exp" / "games").symlink_to(tmp_path / "elsewhere")
    before = contents(tmp_path / "elsewhere")
    for command in (["report", "exp"], ["experiment", "resume", "exp"], ["rate", "sheets", "exp", "--out", "rated"]):
        assert "is a link, which may lead anywhere" in mistake(harbor(*command, cwd=place))
    assert contents(tmp_path / "elsewhere") == before


LINES = {"tables": '{"a":' * 100_000, "long": "x" * (33 * 2**20)}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize("file", ["config.json", "manifest.json", "events.jsonl", "calls.jsonl"])
def test_deep_json_and_huge_lines_are_refused_or_passed_over_as_damaged(place, file, line):
    with (place / "run" / file).open("a") as opened:
        opened.write(line + "\n")
    done = harbor("resume", "run", "--trust", cwd=place)
    assert done.returncode == (0 if file.endswith(".jsonl") and "damaged" in done.stderr else 2)
    assert "Traceback" not in done.stderr


def test_the_key_of_sent_ratings_names_no_file_outside_them(place):
    (place / "secret.txt").write_text("the budget is 9,000")
    (place / "rated" / "transcripts").mkdir(parents=True)
    one = {"run": "r", "bidder": "Ann", "player": "p", "arm": "", "condition": "", "game": "g", "persona": False}
    key = {"seed": 0, "raters": [], "records": {"../../secret": one | {"raters": []}}}
    (place / "rated" / "key.json").write_text(json.dumps(key))
    assert "records" in mistake(harbor("rate", "judge", "rated", "--model", "simulated", cwd=place))
    assert not (place / "rated" / "judges").exists()
