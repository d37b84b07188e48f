"""Every game by the same driver, room, log and command line; and the suite that holds rules to their promises."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import count

import pytest

from harbor import Auction, Bidder, Item, read_log
from harbor._core.basics.errors import ConfigError
from harbor._core.log.acts import Allocated, AllocatedSealed, Tried
from harbor._core.log.events import LotClosed, PublicEvent, SaleClosed, SeatFailed
from harbor._core.plugins.finding import names
from harbor._games.sessions.measures import past_runs
from harbor._games.water.play import past_days
from harbor._games.water.rules import DayClosed, Water, WaterRules
from harbor._house.auctioneer import announce
from harbor.games import Amount, Bid, of_type
from harbor.testing import check_rules
from support.commands import harbor

GAMES = sorted(names("game"))
FIVE = ("Alex", "Bob", "Cindy", "David", "Eric")
ITEMS = [Item(name=name, start=100, true_value=200) for name in ("Vase", "Lamp")]
FEW = {game: {"runs": 3} for game in GAMES} | {"english": {}, "water": {"days": 6}}


def auction(game, *kinds, seed=3, **rules):
    bidders = [Bidder(name, rule=kind) for name, kind in zip(FIVE, kinds, strict=False)]
    items = {"items": ITEMS} if game == "english" else {}
    return Auction(bidders=bidders, rules={"game": game, **FEW[game], **rules}, seed=seed, **items)


def events_of(result):
    return [entry.event for entry in result.log]


# ---------------------------------------------------------------- one driver, one room, one log

COUNTED = {"english": ("items", {"spent", "profit"}), "water": ("days", {"survived", "health", "balance"})}
"""What is shown of a game, as its parts and the columns of its standings; others have runs."""


@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_told_to_its_end_and_its_log_read_back_is_the_run_and_gives_the_same_measures(game, tmp_path):
    result = auction(game, "rational", "random", "adversary", "minimum-raise").run(out=tmp_path / "run")
    read = read_log(tmp_path / "run" / "events.jsonl")
    assert [entry.event for entry in read.entries] == events_of(result)
    assert (read.warning, read.entries[-1].event, of_type(read.entries, SeatFailed)) == ("", SaleClosed(), [])
    told = [*map(announce, events_of(result))]
    assert next(filter(None, told)).startswith("Welcome")
    assert all(words for event, words in zip(events_of(result), told, strict=True) if isinstance(event, LotClosed))
    shown = json.loads(harbor("replay", "run", "--json", cwd=tmp_path).stdout)
    assert shown == json.loads(json.dumps(result.metrics().as_json()))
    parts, columns = COUNTED.get(game, ("runs", {"payoff", "payoff_ratio"}))
    assert shown[parts]
    assert columns <= shown["standings"][0].keys()


@pytest.mark.parametrize(("settings", "line"), [
    ({"items": ITEMS}, "the game 'water' has no use for items; drop it"),
    ({"bidders": [Bidder("Alex", strategy="fused")]},
     "bidder 'Alex': the game 'water' has no words for the node 'fused'; drop strategy 'fused'"),
    ({"bidders": [Bidder("Alex", rule="truthful")]},
     "can't be played by the rule 'truthful', which needs a game that reads overestimate; give it rule ="),
    ({"bidders": [Bidder("Zed", rule="random")]}, "bidder 'Zed' is not a resident"),
    ({"bidders": [Bidder("Alex", budget=70)]},
     "bidder 'Alex' of the game 'water' has no use for budget: neither the game nor a node of its mind"),
    ({"profile_over": ["urban-dwellers", "downsizing"]}, "the game 'water' has no use for profile_over; drop it"),
])  # fmt: skip
def test_what_does_not_belong_to_a_game_is_refused_before_anything_is_written(settings, line, tmp_path):
    values = {"bidders": [Bidder("Alex", rule="random")], "rules": WaterRules(), **settings}
    with pytest.raises(ConfigError) as refused:
        Auction(**values).run(out=tmp_path / "run")
    assert line in str(refused.value)
    assert not (tmp_path / "run").exists()


# ---------------------------------------------------------------- the promises of rules


def asks_with(**changes):
    return lambda self, state: [ask._replace(**changes) for ask in Water.asks(self, state)]


def scribbles(self, state, actions, chance):
    closed = Water._close(self, state, actions, chance)
    state.statuses["Zed"] = state.statuses["Alex"]
    return closed


def tosses(self, state, actions, chance):
    return Water._close(self, state, {} if next(TOSSES) % 2 else actions, chance)


TOSSES = count()
BROKEN = {
    "before the doors open": {"asks": lambda self, state: Water.asks(self, state._replace(open=True))},
    "order in which answers arrive": {"_close": lambda self, state, actions, chance: Water._close(
        self, state, dict.fromkeys(list(actions)[:1], Bid(Decimal(0))), chance)},
    "give different events": {"_close": tosses},
    "settling changed the state": {"_close": scribbles},
    "asked twice in one turn": {"asks": lambda self, state: Water.asks(self, state) * 2},
    "is not legal": {"asks": asks_with(space=Amount(Decimal("0.001"), Decimal(70)))},
    "the rules ask again": {"asks": asks_with(attempt=2)},
    "has not ended after 50 turns": {"settle": lambda self, state, actions, chance: (
        [PublicEvent()] if state.day else Water.settle(self, state, actions, chance))},
    "has not ended after 50 turns|out of range": {"apply": lambda self, state, event: (
        state if isinstance(event, DayClosed) else Water.apply(self, state, event))},
}  # fmt: skip
"""What is said of rules of water of which one method is another."""


@pytest.mark.parametrize("promise", BROKEN)
def test_a_broken_promise_is_named(promise):
    broken = type("Broken", (Water,), BROKEN[promise])
    with pytest.raises((AssertionError, IndexError), match=promise):
        check_rules(broken(WaterRules().residents, (15, 15, 15), (15, 15)), most_turns=50)


# ---------------------------------------------------------------- scripted bidders


@pytest.mark.parametrize("game", GAMES)
def test_the_adversary_never_wins_by_a_failed_bid_and_never_stops_the_game(game):
    events = events_of(auction(game, "adversary", "rational", "rational", reasks=0).run())
    assert {event.bidder for event in events if isinstance(event, Tried)} == {"Alex"}
    winners = [one.bidder for past in past_runs(events) for one in past.results if one.won]
    winners += [event.bidder for event in events if isinstance(event, Allocated | AllocatedSealed)]
    assert "Alex" not in winners


def test_a_rational_resident_bids_its_salary_and_everything_on_its_last_day():
    result = auction("water", "rational", "minimum-raise", supplies=[0, 0, 0, 9], days=4).run()
    bids = [day.bids["Alex"] for day in past_days(events_of(result))]
    assert bids == [70, 70, 70, 280]
