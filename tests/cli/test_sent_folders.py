"""What somebody sent is data: commands read it, and follow nothing that it names until its user trusts it."""

from __future__ import annotations

import json
import os
import shutil
import stat

import pytest

from harbor import resume as resumed
from harbor._cli.shared.trust import named_by
from harbor._core.basics.errors import RunFolderError
from harbor._core.files.marks import is_own
from harbor._core.files.safe_files import MOST_RECORDS, MOST_SETTINGS
from support.commands import harbor, mistake
from support.folders import TINY
from support.plugins import install, installed
from support.sent import SCRIPTED, contents, forge, forge_opening, listening


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run that broke off before its end, a finished one, and an experiment with a game to be run."""
    place = tmp_path_factory.mktemp("made")
    (place / "auction.toml").write_text(SCRIPTED)
    for name in ("run", "whole"):
        assert harbor("auction", "auction.toml", "--seed", 3, "--out", name, cwd=place).returncode == 0
    assert harbor("experiment", "run", TINY, "--out", "exp", cwd=place).returncode == 0
    shutil.rmtree(place / "exp" / "games" / "none" / "all" / "0002")
    log = place / "run" / "events.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-2]))
    return place


@pytest.fixture
def place(made, tmp_path):
    shutil.copytree(made, tmp_path / "place")
    return tmp_path / "place"


def refused(*command, cwd, told=()):
    done = harbor(*command, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "is not marked as yours" in done.stderr.splitlines()[-1]
    assert "--trust" in done.stderr.splitlines()[-1]
    assert [one for one in told if one not in done.stderr] == [], done.stderr


# ---------------------------------------------------------------- one's own


def test_what_was_made_here_goes_on_without_a_question_also_where_it_was_moved_or_copied(place):
    for folder in ("run", "exp"):
        shutil.copytree(place / folder, place / f"copy-{folder}")
        shutil.move(place / folder, place / f"moved-{folder}")
    for name in ("copy-", "moved-"):
        assert harbor("resume", f"{name}run", cwd=place).returncode == 0
        assert harbor("experiment", "resume", f"{name}exp", "--quiet", cwd=place).returncode == 0


@pytest.mark.parametrize("command", [["resume", "run"], ["experiment", "resume", "exp"]], ids=" ".join)
def test_what_is_harbors_own_is_not_told_as_a_danger(place, command):
    (place / command[-1] / "mark").unlink()
    done = harbor(*command, cwd=place)
    assert "names nothing but Harbor's own" in done.stderr
    assert not [one for one in ("asks models", "runs extensions", "loads embeddings") if one in done.stderr]


def test_code_and_packages_of_others_are_told_by_name_and_slots_are_not(place):
    design = json.loads((place / "exp" / "experiment.json").read_text())
    design["metrics"] = ["profit", "evil:METRIC", "strange-metric"]
    design["models"] = ["@1", "simulated", "openai:gpt-dear"]
    forge(place / "exp", design, "experiment.json")
    told = ("asks models, with your keys: 'openai:gpt-dear'\n", "runs extensions: 'evil:METRIC', 'strange-metric'\n")
    refused("experiment", "resume", "exp", cwd=place, told=told)


ERRS = {"use": "simulated", "simulated": {"low_bid_rate": 0.1}}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"models": {"errs": ERRS}, "bidders": [{"model": "errs"}]}, []),
        ({"auction": {"models": {"errs": ERRS}}, "models": ["errs"]}, []),
        ({"models": {"errs": {"use": "stranger"}}, "bidders": [{"model": "errs"}]}, ["stranger"]),
        ({"models": {"openai:gpt": {}}, "bidders": [{"model": "openai:gpt"}]}, ["openai:gpt"]),
        ({"auction": {}, "arms": [{"auction": {"models": {"errs": ERRS}}}], "models": ["errs"]}, ["errs"]),
        ({"auction": {"bidders": {"published": {"model": "stranger"}}}}, ["stranger"]),
        ({"published": [{"model": "GPT-4", "metric": "profit"}]}, []),
        ({"published": [{"model": "GPT-4", "metric": "priority_initial ~ bids"}]}, []),
        ({"published": [{"model": "GPT-4", "metric": "trueskill_per_game"}]}, []),
        ({"published": [{"model": "GPT-4", "metric": "profit ~ strange"}]}, ["profit ~ strange"]),
        ({"metrics": ["trueskill_per_game"]}, ["trueskill_per_game"]),
    ],
)
def test_names_that_a_file_defines_itself_or_only_prints_are_not_told_and_what_they_stand_for_is(settings, told):
    assert [name for names in named_by(settings).values() for name in names] == told


def test_trust_is_given_once(place):
    (place / "run" / "mark").unlink()
    refused("resume", "run", cwd=place)
    assert harbor("resume", "run", "--trust", cwd=place).returncode == 0
    assert is_own(place / "run")


def test_in_python_trust_is_given_by_an_argument(place):
    (place / "run" / "mark").unlink()
    with pytest.raises(RunFolderError, match="trust=True"):
        resumed(place / "run")
    assert resumed(place / "run", trust=True).standings


def test_a_key_of_ones_own_is_no_key_of_another_place(place, tmp_path, monkeypatch):
    monkeypatch.setenv("HARBOR_STATE", str(tmp_path / "other"))
    refused("resume", "run", cwd=place)
    assert not (tmp_path / "other").exists()


def test_a_game_inside_an_experiment_is_resumed_with_the_whole(place):
    assert "resume that" in harbor("resume", "exp/games/none/all/0001", cwd=place).stderr


# ---------------------------------------------------------------- what a stranger's settings name


@pytest.mark.parametrize("name", ["config.json", "named-otherwise.json"])
def test_sent_settings_of_an_auction_contact_nobody_and_take_no_key(place, name, monkeypatch):
    monkeypatch.setenv("MY_SECRET_KEY", "sk-mine-and-nobody-elses")
    with listening() as (address, visitors):
        model = {"use": "openai:gpt-dear", "base_url": f"{address}/v1", "api_key_env": "MY_SECRET_KEY"}
        settings = json.loads((place / "whole" / "config.json").read_text())
        mind = {"name": "Ann", "model": "m"}
        (place / "whole" / name).write_text(
            json.dumps(settings | {"bidders": [mind, settings["bidders"][1]], "models": {"m": model}})
        )
        sent = f"whole/{name}"
        refused("auction", sent, "--out", "new", cwd=place, told=("'openai:gpt-dear'", "'MY_SECRET_KEY'", address))
        refused("play", sent, "--as", "Ben", "--out", "new", cwd=place)
        assert visitors == []
        assert not (place / "new").exists()


def test_a_sent_design_is_run_once_it_is_trusted_and_ones_own_at_once(place):
    run = ("experiment", "run", "exp/experiment.json", "--repeats", 1, "--quiet")
    assert harbor(*run, "--out", "own", cwd=place).returncode == 0
    (place / "exp" / "mark").unlink()
    assert harbor(*run, "--out", "harmless", cwd=place).returncode == 0  # it names nothing but Harbor's own
    design = json.loads((place / "exp" / "experiment.json").read_text())
    design["auction"]["memory"] = {"store": "elsewhere"}
    (place / "exp" / "experiment.json").write_text(json.dumps(design))
    refused(*run, "--out", "new", cwd=place, told=("opens memories: 'elsewhere'\n",))
    assert not (place / "new").exists()
    assert harbor(*run, "--out", "new", "--trust", cwd=place).returncode == 0


def test_resuming_a_sent_run_contacts_nobody_takes_no_key_and_tells_what_it_would(place, monkeypatch):
    monkeypatch.setenv("MY_SECRET_KEY", "sk-mine-and-nobody-elses")
    with listening() as (address, visitors):
        mind = {"name": "Ann", "model": "m", "memory": "full", "learning": True}
        model = {"use": "openai:gpt-dear", "base_url": f"{address}/v1", "api_key_env": "MY_SECRET_KEY"}
        settings = json.loads((place / "run" / "config.json").read_text())
        bidders = [mind, settings["bidders"][1]]
        forge(place / "run", {"bidders": bidders, "models": {"m": model}, "memory": {"store": address}})
        before = contents(place)
        refused("resume", "run", cwd=place, told=("'openai:gpt-dear'", "'MY_SECRET_KEY'", address, "$0.00 so far"))
        assert visitors == []
    assert contents(place) == before


def test_resuming_a_sent_experiment_contacts_nobody_and_tells_what_it_would(place):
    with listening() as (address, visitors):
        design = json.loads((place / "exp" / "experiment.json").read_text())
        auction = design["auction"] | {"models": {"simulated": {"use": "openai:gpt-dear", "base_url": address}}}
        forge(place / "exp", {"auction": auction}, "experiment.json")
        before = contents(place)
        refused("experiment", "resume", "exp", cwd=place, told=("'openai:gpt-dear'", address, "$"))
        assert visitors == []
    assert contents(place) == before


REPORT = pytest.param(["report", "exp"], marks=pytest.mark.slow, id="report exp")


@pytest.mark.parametrize("command", [["replay", "whole"], ["score", "whole"], REPORT], ids=" ".join)
def test_a_sent_folder_is_read_and_nothing_is_written_but_what_was_asked_for(place, command):
    for folder in ("whole", "exp"):
        (place / folder / "mark").unlink()
    (place / "whole" / "memory").mkdir()
    (place / "whole" / "memory" / "chroma.sqlite3").write_bytes(b"no database: to open it is to complain")
    for record in place.rglob("record.json"):
        record.unlink()
    before = contents(place)
    assert harbor(*command, cwd=place).returncode == 0
    after = contents(place)
    assert after.pop("exp-report.html", None) if command[0] == "report" else True
    assert after == before


def test_the_database_of_a_sent_memory_is_not_opened(place):
    folder = place / "memory"
    folder.mkdir()
    (folder / "chroma.sqlite3").write_bytes(b"no database: to open it is to complain")
    for words in (["show", "memory"], ["search", "memory", "x"], ["export", "memory"]):
        before = contents(folder)
        refused("memory", *words, cwd=place, told=("opens the database of a memory",))
        assert contents(folder) == before
    assert "restore it from a copy" in harbor("memory", "show", "memory", "--trust", cwd=place).stderr


def test_a_memory_that_settings_name_is_opened_only_if_it_is_ones_own(place):
    (place / "memory").mkdir()
    (place / "memory" / "chroma.sqlite3").write_bytes(b"no database: to open it is to complain")
    minded = SCRIPTED.replace('rule = "random"', 'memory = "list"\nlearning = true')
    (place / "mine.toml").write_text(minded + '[memory]\nstore = "memory"\n')
    assert "is not opened; if you trust it" in mistake(harbor("auction", "mine.toml", "--out", "new", cwd=place))
    assert not (place / "new").exists()


# ---------------------------------------------------------------- packages that a folder names


EVIL = "from pathlib import Path\nPath(__file__).with_name('imported').touch()\nNODE = METRIC = None\n"


@pytest.fixture
def site(tmp_path):
    """A package that the user has installed, and that tells when it is imported."""
    points = {"harbor.nodes": {"evil": "evil:NODE"}, "harbor.metrics": {"evil": "evil:METRIC"}}
    return install(tmp_path / "site", "evil", {"evil.py": EVIL}, points)


@pytest.mark.parametrize("command", ["replay", "score", "pack --public"])
def test_an_installed_package_that_a_sent_log_names_is_not_imported(place, site, command):
    part = {"kind": "node", "name": "evil", "package": "evil", "version": "0.1"}
    opened = json.loads((place / "whole" / "events.jsonl").read_text().splitlines()[0])
    forge_opening(place / "whole" / "events.jsonl", {"parts": [*opened["parts"], part]})
    (place / "whole" / "mark").unlink()
    with installed(site):
        said = mistake(harbor(*command.split(), "whole", cwd=place))
    assert "no package is loaded for a folder that is not marked as yours" in said
    assert "--plugin MODULE:NAME" in said
    assert not (site / "imported").exists()


@pytest.mark.parametrize("command", ["verify", "verify --deep", "pack --public"])
def test_an_installed_package_that_sent_settings_name_is_not_imported(place, site, command):
    settings = json.loads((place / "whole" / "config.json").read_text())
    minded = settings["bidders"][0] | {"rule": None, "nodes": ["evil"]}
    forge(place / "whole", {"bidders": [minded, settings["bidders"][1]]})
    with installed(site):
        harbor(*command.split(), "whole", cwd=place)
    assert not (site / "imported").exists()


@pytest.mark.parametrize("parts", [[], [{"kind": "metric", "name": "evil", "package": "evil", "version": "0.1"}]])
def test_an_installed_package_that_a_sent_design_names_is_not_imported(place, site, parts):
    forge(place / "exp", {"metrics": ["profit", "evil"]}, "experiment.json")
    begun = json.loads((place / "exp" / "manifest.json").read_text())
    (place / "exp" / "manifest.json").write_text(json.dumps(begun | {"parts": parts}))
    with installed(site):
        for command in (["report", "exp"], ["experiment", "resume", "exp"]):
            assert "not marked as yours" in harbor(*command, cwd=place).stderr
    assert not (site / "imported").exists()


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


COMMANDS = {
    "resume run": ("config.json", "manifest.json", "events.jsonl", "calls.jsonl", "mark", ".lock"),
    "replay run": ("events.jsonl",),
    "score run": ("events.jsonl",),
    "verify run": ("events.jsonl",),
    "pack --public run": ("events.jsonl",),
    "rate sheets run --out rated": ("events.jsonl",),
    "report exp": ("experiment.json", "manifest.json", "games/none/all/0001/events.jsonl"),
    "experiment resume exp": ("experiment.json", "mark", "games/none/all/0001/config.json"),
}


@pytest.mark.parametrize("how", ["link", "pipe", "size"])
@pytest.mark.parametrize(("command", "file"), [(name, file) for name, files in COMMANDS.items() for file in files])
def test_a_file_that_is_a_link_a_pipe_or_too_large_is_refused_in_one_line(place, tmp_path, command, file, how):
    if how == "size" and file == ".lock":
        pytest.skip("it is written and never read")
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    words = command.split()
    spoil(place / words[words.index("run") if "run" in words else words.index("exp")] / file, how, victim)
    done = harbor(*words, cwd=place)
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


LINES = {"lists": "[" * 100_000, "tables": '{"a":' * 100_000, "long": "x" * (33 * 2**20)}


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


def test_what_a_trusted_folder_gets_is_private(place):
    (place / "run" / "mark").unlink()
    (place / "run" / "calls.jsonl").unlink()
    harbor("resume", "run", "--trust", cwd=place)
    modes = {name: stat.S_IMODE((place / "run" / name).stat().st_mode) for name in ("mark", "calls.jsonl")}
    assert modes == {"mark": 0o600, "calls.jsonl": 0o600}
