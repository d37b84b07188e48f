"""An auction keeps its options: resuming repeats them, and a change is said and noted."""

from __future__ import annotations

import json
import shutil

import pytest

from harbor import Auction, Bidder, Item, ReplyCache, resume
from harbor._config.auction import Series
from harbor._core.basics.errors import ConfigError, LimitReached
from harbor._core.files.marks import is_own, mark
from harbor._runs.manifest import AuctionOptions, kept
from harbor._runs.series import run_series
from support.commands import harbor, mistake
from support.folders import calls, halved
from support.providers import as_openai

HOSTED = "openai:gpt-4o-mini"
SALE = {
    "seed": 5,
    "items": [Item(name="Lot A", start=1_000, true_value=1_600), Item(name="Lot B", start=500, true_value=900)],
    "bidders": [Bidder("Ann", model=HOSTED), Bidder("Ben", model=HOSTED)],
}


FREE = SALE | {"bidders": [Bidder("Ann"), Bidder("Ben", rule="random")]}


@pytest.fixture
def host(monkeypatch):
    with as_openai(monkeypatch, seed=5) as server:
        yield server


def options(run):
    return [{**one, "at": None} for one in json.loads((run / "manifest.json").read_text())["options"]]


def cached(run):
    return sum(call["cached"] for call in calls(run))


@pytest.mark.parametrize("begun_with", [True, False])
def test_an_auction_goes_on_with_the_cache_that_it_was_begun_with_or_without_one(host, tmp_path, begun_with):
    Auction(**SALE).run(out=tmp_path / "warm", cache=ReplyCache())  # it could answer everything
    run, before = tmp_path / "run", len(host.requests)
    Auction(**SALE).run(out=run, cache=ReplyCache() if begun_with else None)
    assert (len(host.requests) == before) is begun_with
    done = harbor("resume", halved(run), "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert cached(run) == (len(calls(run)) if begun_with else 0)
    assert options(run) == [{"at": None, "cache": begun_with, "max_cost": None}]


def test_a_cache_that_is_given_or_taken_away_is_said_and_noted(host, tmp_path):
    run = tmp_path / "run"
    Auction(**SALE).run(out=run, cache=ReplyCache())
    done = harbor("resume", halved(run), "--no-cache", "--max-cost", "3", "--quiet", cwd=tmp_path)
    change = "was played with --cache and no --max-cost; from now on with --no-cache and --max-cost 3"
    assert (done.returncode, done.stderr) == (0, f"harbor: run {str(run)!r} {change}\n")
    assert kept(run, AuctionOptions) == AuctionOptions(cache=False, max_cost=3.0)
    assert (len(options(run)), is_own(run)) == (2, True)


def test_a_cache_in_a_place_of_ones_own_is_given_again(host, tmp_path):
    mine, run = ReplyCache(tmp_path / "mine"), tmp_path / "run"
    Auction(**SALE).run(out=run, cache=mine)
    before = len(host.requests)
    assert str(tmp_path / "mine") not in (halved(run) / "manifest.json").read_text()
    with pytest.raises(ConfigError, match=r"begun with a ReplyCache of your own; give it again"):
        resume(run)
    assert "choose with --cache or --no-cache" in mistake(harbor("resume", run))
    resume(run, cache=mine)
    assert (len(host.requests), len(options(run))) == (before, 1)


def test_python_repeats_what_is_left_out_and_drops_what_is_given_as_none(tmp_path):
    Auction(**FREE).run(out=tmp_path / "run", cache=ReplyCache(), max_cost=4.0)
    repeated, dropped = (halved(shutil.copytree(tmp_path / "run", tmp_path / name)) for name in ("one", "two"))
    resume(repeated)
    assert options(repeated) == options(tmp_path / "run")
    resume(dropped, cache=None, max_cost=None)
    assert options(dropped)[1:] == [{"at": None, "cache": False, "max_cost": None}]


def test_a_limit_that_is_used_up_is_said_before_anything_is_played(host, tmp_path):
    with pytest.raises(LimitReached, match="is reached"):
        Auction(**SALE).run(out=tmp_path / "run", max_cost=0.0005)
    before, heard = len(host.requests), []
    with pytest.raises(LimitReached, match=r"the limit of \$0.0005 is used up, as \$0.000\d are spent$"):
        resume(tmp_path / "run", listen=heard.append)
    assert (len(host.requests), heard) == (before, [])
    assert harbor("resume", "run", cwd=tmp_path).returncode == 75
    assert harbor("resume", "run", "--max-cost", "9", "--quiet", cwd=tmp_path).returncode == 0


def test_the_auctions_of_a_series_have_the_options_of_the_whole(host, tmp_path):
    run = tmp_path / "run"
    run_series(Auction(**SALE, series=Series(auctions=2)), out=run, max_cost=5.0, cache=ReplyCache())
    assert options(run) == [{"at": None, "cache": True, "max_cost": 5.0}]
    assert "options" not in json.loads((run / "1" / "manifest.json").read_text())
    shutil.rmtree(run / "2")
    log, before = (run / "events.jsonl").read_bytes().splitlines(keepends=True), len(host.requests)
    (run / "events.jsonl").write_bytes(b"".join(log[:3]))
    resume(run)
    assert len(host.requests) == before
    assert cached(run / "2") == len(calls(run / "2")) > 0


@pytest.fixture
def run(tmp_path):
    """A run that costs nothing, and was stopped."""
    Auction(**FREE).run(out=tmp_path / "run", max_cost=4)
    return halved(tmp_path / "run")


def vouch(run, **changes):
    """Change a manifest, as an editor would, and vouch for it; None leaves a field out."""
    manifest = json.loads((run / "manifest.json").read_text()) | changes
    (run / "manifest.json").write_text(json.dumps({k: value for k, value in manifest.items() if value is not None}))
    mark(run)


NONE = "has options that can't be read ("


@pytest.mark.parametrize(("has", "words", "complaint"), [
    ([{"cache": "always"}], "", f"{NONE}'cache"),
    ([{"max_cost": "5"}], "", f"{NONE}'max_cost': input should be a valid number)"),
    ([{"lane": "batch"}], "", f"{NONE}'lane': unexpected keyword argument)"),
    ([{"max_cost": -2.0}], "", "a limit of -2.0 dollars can't be kept"),
    ({}, "", f"{NONE}they are no list of options)"),
    ([], "--max-cost 0", "a limit of 0.0 dollars can't be kept"),
    ([], "--max-cost nan", "a limit of nan dollars can't be kept"),
])  # fmt: skip
def test_options_that_are_none_are_refused_in_a_line(run, has, words, complaint):
    vouch(run, options=has)
    before = (run / "manifest.json").read_bytes()
    assert complaint in mistake(harbor("resume", run, *words.split()))
    assert (run / "manifest.json").read_bytes() == before


def test_a_run_of_an_earlier_harbor_has_the_defaults(run):
    vouch(run, options=None)
    assert harbor("resume", run, "--quiet").returncode == 0
    assert kept(run, AuctionOptions) == AuctionOptions()


def test_the_run_of_a_stranger_tells_with_which_options_it_would_go_on(run):
    (run / "mark").unlink()
    assert "run: resumes with: '--no-cache --max-cost 4'\n" in harbor("resume", run).stderr
