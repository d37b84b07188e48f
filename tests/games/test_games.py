"""Every game by the same driver, room, log and command line; and the suite that holds rules to their promises."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import count

import pytest

from harbor import Auction, Bidder, Item, read_log
from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Bid
from harbor._core.basics.errors import ConfigError
from harbor._core.log.acts import HOUSE, Acted, ActedSealed, Allocated, AllocatedSealed, Paid, PaidSealed, Signal, Tried
from harbor._core.log.events import LotClosed, PublicEvent, SaleClosed, SeatFailed
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import is_seen_by
from harbor._core.plugins.finding import names
from harbor._games.english.events import ItemSold
from harbor._games.sessions.measures import past_runs
from harbor._games.water.play import past_days
from harbor._games.water.rules import DayClosed, Water, WaterRules
from harbor._house.auctioneer import announce
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


@pytest.mark.parametrize("game", GAMES)
def test_a_run_is_repeated_from_its_own_config_and_another_seed_gives_another(game, tmp_path):
    first = auction(game, "random", "rational").run(out=tmp_path / "run")
    settings = json.loads((tmp_path / "run" / "config.json").read_text())
    assert events_of(Auction(**settings).run())[1:] == events_of(first)[1:]
    assert events_of(auction(game, "random", "rational", seed=4).run())[1:] != events_of(first)[1:]


# ---------------------------------------------------------------- one driver, one room, one log


@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_told_to_its_end_and_its_log_read_back_is_the_run_and_gives_the_same_measures(game, tmp_path):
    result = auction(game, "rational", "random", "adversary", "minimum-raise").run(out=tmp_path / "run")
    read = read_log(tmp_path / "run" / "events.jsonl")
    assert [entry.event for entry in read.entries] == events_of(result)
    assert (read.warning, read.entries[-1].event, of_type(read.entries, SeatFailed)) == ("", SaleClosed(), [])
    told = [*map(announce, events_of(result))]
    assert next(filter(None, told)).startswith("Welcome")
    assert all(words for event, words in zip(events_of(result), told, strict=True) if isinstance(event, LotClosed))
    replayed = harbor("replay", "run", "--json", cwd=tmp_path)
    assert json.loads(replayed.stdout) == json.loads(json.dumps(result.metrics().as_json()))


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


# ---------------------------------------------------------------- what others may see


@pytest.mark.parametrize("game", ["second-price", "first-price", "beauty"])
def test_with_nothing_shown_no_bidder_sees_anything_of_another(game):
    result = auction(game, "random", "rational", "adversary", show="nothing").run()
    own = (ActedSealed, Signal, AllocatedSealed, PaidSealed)
    told = [event for event in events_of(result) if isinstance(event, own)]
    assert {type(event) for event in told} >= {ActedSealed, PaidSealed}
    for event in told:
        for name in {getattr(event, "bidder", ""), getattr(event, "payer", ""), getattr(event, "payee", "")} - {HOUSE}:
            assert [one for one in FIVE[:3] if is_seen_by(one, event)] == [name]
    for event in events_of(result):
        assert not isinstance(event, Acted | Allocated | Paid), event
        if isinstance(event, LotClosed):
            assert event.winners == ()


def test_a_refusal_is_for_its_bidder_alone_and_tells_nothing_of_another():
    result = auction("second-price", "adversary", "rational", show="nothing", values={"Alex": [61.37], "Bob": [59.83]})
    events = events_of(result.run())
    for failed in (event for event in events if isinstance(event, Tried)):
        assert failed.audience == "bidder:Alex"
        assert "59.83" not in failed.reason


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
    winners += [name for event in events if isinstance(event, DayClosed) for name in event.served]
    winners += [event.winner for event in events if isinstance(event, ItemSold)]
    assert "Alex" not in winners


def test_a_rational_resident_bids_its_salary_and_everything_on_its_last_day():
    result = auction("water", "rational", "minimum-raise", supplies=[0, 0, 0, 9], days=4).run()
    bids = [day.bids["Alex"] for day in past_days(events_of(result))]
    assert bids == [70, 70, 70, 280]


# ---------------------------------------------------------------- the command line


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "key", "columns"), [
    ("water", "days", {"survived", "health", "balance"}), ("beauty", "runs", {"payoff", "payoff_ratio"}),
])  # fmt: skip
def test_a_preset_is_run_by_name_and_shows_what_counts_in_its_game(preset, key, columns, tmp_path):
    named = ["--preset", preset] if preset == "water" else [preset]  # either names it
    printed = json.loads(harbor("auction", *named, "--json", cwd=tmp_path).stdout)
    assert columns <= printed["standings"][0].keys()
    assert printed[key]
