"""A game is one value: whole or refused by the name of what it lacks, found by name or reference, named by its log."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

from harbor import Auction, use
from harbor._config.auction import AuctionConfig, Bidder, read_settings
from harbor._core.basics.errors import ConfigError, LogError
from harbor._core.log.events import SCHEMA_VERSION, LogOpened, PublicEvent
from harbor._core.log.log import Log, of_type, read_log
from harbor._core.plugins.extensions import HARBOR, Found, Part, fault
from harbor._core.plugins.finding import asked, found, names
from harbor._games.water.game import WATER
from harbor._games.water.rules import WaterRules
from harbor._models.simulated.chat_model import answer_of
from support.folders import ROOT
from support.plugins import installed
from support.third_price import ThirdClosed

GAMES = ("beauty", "english", "english-private", "first-price", "second-price", "water")
REFERENCE = "toss:COIN"


@pytest.fixture
def toss(tmp_path, monkeypatch):
    """A stranger's game in the working directory, followed by nobody yet."""
    (tmp_path / "toss.py").write_text("from support.third_price import THIRD as COIN")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with installed():
        yield tmp_path
    sys.modules.pop("toss", None)


def auction(game, **rules):
    bidders = [Bidder("Alex", rule="rational"), Bidder("Bob", rule="random")]
    items = {"items": {"count": 2}} if game == "english" else {}
    return Auction(bidders=bidders, rules={"game": game, **rules}, **items)


# ---------------------------------------------------------------- Harbor's own


def test_harbors_games_come_in_by_the_door_of_everybody():
    assert sorted(names("game")) == sorted(GAMES)
    assert {found("game", name).package for name in GAMES} == {HARBOR}


def test_settings_are_those_of_the_game_that_they_name():
    with pytest.raises(ConfigError, match=r"rules: WaterRules are no settings of the game 'english'; drop game"):
        Auction(bidders=[Bidder("Alex")], rules=WaterRules(game="english"))


@pytest.mark.parametrize(("rules", "line"), [
    ({"game": 5}, "Auction: rules: game 5 is no name; write a text in quotes"),
    ({"game": "games/water.py"}, "game 'games/water.py' is no name and no 'package.module:NAME'"),
    (7, "Auction: rules 7: must be a table of settings"),
])  # fmt: skip
def test_refused_rules_name_the_place_the_value_and_the_remedy(rules, line):
    with pytest.raises(ConfigError) as refused:
        Auction(bidders=[Bidder("Alex")], rules=rules)
    assert line in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


# ---------------------------------------------------------------- what is not whole


def test_a_model_can_not_play_a_game_that_does_not_say_how():
    rules = type("MuteRules", (WaterRules,), {"__annotations__": {"game": str}, "game": "mute"})
    with installed():
        use(dataclasses.replace(WATER, name="mute", settings=rules, play=None))
        with pytest.raises(ConfigError, match="the game 'mute' has no prompts for bidders with models; give it a Play"):
            Auction(bidders=[Bidder("Alex"), Bidder("Bob")], rules={"game": "mute"}).run()


def test_parts_that_do_not_fit_together_are_refused():
    def complaint(**changes):
        return fault(Found("game", dataclasses.replace(WATER, **changes), "harbor-dry", "1"))

    twin = dataclasses.make_dataclass("LotClosed", [("item", str)], bases=(PublicEvent,), frozen=True)
    assert "lacks play.forecast: " in complaint(play=dataclasses.replace(WATER.play, forecast=None))
    assert "write in WaterRules: game: str = 'dry'" in complaint(name="dry")
    assert "two events are called 'LotClosed'" in complaint(events=(*WATER.events, twin))
    assert "lacks events: WaterOpened" in complaint(events=WATER.events[1:])
    assert "give a class that inherits from RuleSettings" in complaint(settings=AuctionConfig)


# ---------------------------------------------------------------- a stranger's


def test_a_game_is_played_by_its_reference_from_the_working_directory(toss):
    bidders = '[[bidders]]\nname = "Ann"\nrule = "rational"\n[[bidders]]\nname = "Ben"\n'
    (toss / "coin.toml").write_text(f'[rules]\ngame = "{REFERENCE}"\nruns = 3\n{bidders}')
    result = Auction(**dict(read_settings(toss / "coin.toml", AuctionConfig))).run(out=toss / "run")
    closed = of_type(result.log, ThirdClosed)
    assert len(closed) == len(result.metrics().as_json()["runs"]) == 3
    assert not any(type(entry.event).__name__ in ("SeatFailed", "Tried") for entry in result.log)
    again = read_settings(toss / "run" / "config.json", AuctionConfig)
    assert (again.rules.game, again.rules.runs) == (REFERENCE, 3)
    assert of_type(Auction(**dict(again)).run().log, ThirdClosed) == closed


@pytest.mark.parametrize("name", ["toss:COIN", "os:path"])
def test_a_prompt_never_makes_the_built_in_model_follow_a_reference(name, toss):
    facts = {"task": "contest_plan", "game": name}
    with pytest.raises(ValueError, match="a prompt names no code"):
        answer_of(facts)(facts, None, None)
    assert "toss" not in sys.modules


# ---------------------------------------------------------------- the log names its game


def written(path, *parts, schema=SCHEMA_VERSION):
    log = Log(path)
    log.append(LogOpened(schema, "0.1.0", "run", 7, parts=parts))
    log.close()
    return path


@pytest.mark.parametrize(("name", "package", "line"), [
    ("dutch", "harbor-dutch",
     "is of the game 'dutch' from the package 'harbor-dutch' 0.1, which is not installed; install it$"),
    ("water", "harbor-dry", r"from the package 'harbor-dry' 0\.1, and here that name is of the package"),
])  # fmt: skip
def test_a_log_whose_game_is_not_here_or_has_the_name_of_another_packages_is_not_read(name, package, line, tmp_path):
    with pytest.raises(LogError, match=line):
        read_log(written(tmp_path / "events.jsonl", Part("game", name, package, "0.1")))


def test_a_log_never_makes_its_reader_follow_a_reference(toss):
    path = written(toss / "events.jsonl", Part("game", REFERENCE, REFERENCE, ""))
    with pytest.raises(LogError, match=f"which only you can name; .* harbor --plugin {REFERENCE}"):
        read_log(path)
    assert "toss" not in sys.modules
    asked("game", REFERENCE)
    assert read_log(path).entries[0].event.parts[0].name == REFERENCE


def test_a_log_of_an_earlier_schema_is_refused_in_a_line(tmp_path):
    line = f"schema 1 of an earlier Harbor, and this one reads {SCHEMA_VERSION}; run the auction again"
    with pytest.raises(LogError, match=line):
        read_log(written(tmp_path / "events.jsonl", schema=1))


def test_a_log_is_read_where_its_game_has_not_been_used_yet(tmp_path):
    auction("water", days=1).run(out=tmp_path / "run")
    script = f"from harbor import read_log; print(read_log({str(tmp_path / 'run' / 'events.jsonl')!r}).complete)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
