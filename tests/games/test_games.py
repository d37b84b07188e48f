"""Every game by the same driver, room, log and command line; and the suite that holds rules to their promises."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from decimal import Decimal
from itertools import count

import pytest

from harbor import Auction, Bidder, Item, read_log
from harbor._config.auction import AuctionConfig
from harbor._core.asking.amounts import Amount, Number
from harbor._core.asking.asks import Ask, Bid
from harbor._core.basics.errors import ConfigError, LogError
from harbor._core.log.acts import HOUSE, Acted, ActedSealed, Allocated, AllocatedSealed, Paid, PaidSealed, Signal, Tried
from harbor._core.log.events import ANALYST, EVERYONE, LotClosed, PublicEvent, SaleClosed, SeatFailed
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry, is_seen_by, named
from harbor._core.plugins.finding import names
from harbor._games.beauty.rules import Beauty
from harbor._games.beauty.settings import BeautyRules
from harbor._games.english.events import ItemSold
from harbor._games.mechanism import Chance, fold
from harbor._games.second_price.game import SecondPrice, SecondPriceRules
from harbor._games.sessions.measures import past_runs
from harbor._games.water.play import past_days
from harbor._games.water.rules import DayClosed, Water, WaterRules
from harbor._house.auctioneer import announce
from harbor.testing import check_rules
from support.commands import harbor
from support.folders import ROOT

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
def test_a_run_is_repeated_from_its_own_config(game, tmp_path):
    first = auction(game, "random", "rational").run(out=tmp_path / "run")
    settings = json.loads((tmp_path / "run" / "config.json").read_text())
    assert events_of(Auction(**settings).run())[1:] == events_of(first)[1:]


# ---------------------------------------------------------------- one driver, one room, one log


@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_held_by_the_same_room_to_its_end(game):
    events = events_of(auction(game, "rational", "random", "adversary", "minimum-raise", "rational").run())
    assert events[-1] == SaleClosed()
    assert of_type([Entry(0, 0, event) for event in events], SeatFailed) == []
    assert any(isinstance(event, LotClosed) for event in events)


@pytest.mark.parametrize("game", GAMES)
def test_the_log_of_a_game_read_back_is_the_run_and_gives_the_same_measures(game, tmp_path):
    result = auction(game, "rational", "random", "adversary").run(out=tmp_path / "run")
    read = read_log(tmp_path / "run" / "events.jsonl")
    assert [entry.event for entry in read.entries] == events_of(result)
    assert read.warning == ""
    replayed = harbor("replay", "run", "--json", cwd=tmp_path)
    assert json.loads(replayed.stdout) == json.loads(json.dumps(result.metrics().as_json()))


@pytest.mark.parametrize("game", GAMES)
def test_equal_seeds_give_equal_logs_and_others_do_not(game):
    def hold(seed):
        return events_of(auction(game, "random", "adversary", "random", "rational", seed=seed).run())[1:]

    assert hold(3) == hold(3) != hold(4)


@pytest.mark.parametrize("game", GAMES)
def test_who_only_has_ears_hears_that_the_game_begins_and_how_each_part_ends(game):
    events = events_of(auction(game, "rational", "random").run())
    assert next(filter(None, map(announce, events))).startswith("Welcome")
    assert all(announce(event) for event in events if isinstance(event, LotClosed))
    assert not any(announce(event) for event in events if event.audience != EVERYONE)


def test_rules_without_a_game_are_those_of_the_ascending_auction():
    config = AuctionConfig(bidders=[Bidder("Ann")], rules={"lowerings": 2})
    assert (config.rules.game, config.rules.lowerings) == ("english", 2)


@pytest.mark.parametrize(("settings", "line"), [
    ({"items": ITEMS}, "the game 'water' has no use for items; drop it"),
    ({"bidders": [Bidder("Alex", strategy="fused")]},
     "bidder 'Alex': the game 'water' has no words for the node 'fused'; drop strategy 'fused'"),
    ({"bidders": [Bidder("Alex", rule="truthful")]},
     "can't be played by the rule 'truthful', which needs a game that reads overestimate; give it rule ="),
    ({"bidders": [Bidder("Zed", rule="random")]}, "bidder 'Zed' is not a resident"),
    ({"bidders": [Bidder("Alex", budget=70)]},
     "bidder 'Alex' of the game 'water' has no use for budget: neither the game nor a node of its mind"),
    ({"bidders": [Bidder("Alex", objective="items")]},
     "has no use for objective: neither the game nor a node of its mind reads it; drop it"),
    ({"bidders": [Bidder("Alex", overestimate=0)]}, "has no use for overestimate: neither"),
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


@pytest.mark.slow
def test_the_example_game_keeps_its_promises_in_under_60_lines():
    example = ROOT / "examples" / "game.py"
    assert len(example.read_text().splitlines()) < 60
    subprocess.run([sys.executable, str(example)], check=True, cwd=ROOT)


def test_an_event_of_yours_may_not_take_the_name_of_another():
    twin = dataclasses.make_dataclass("LotClosed", [("item", str)], bases=(PublicEvent,), frozen=True)
    with pytest.raises(LogError, match="two events are called 'LotClosed'"):
        named([twin])


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


def test_a_rational_first_price_bid_is_shaded_by_the_number_of_rivals():
    values = {name: [80] for name in FIVE[:4]}
    uniform = {"kind": "uniform", "low": 0, "high": 100}
    result = auction("first-price", *["rational"] * 4, runs=1, values=values, distribution=uniform).run()
    assert {event.act for event in events_of(result) if isinstance(event, ActedSealed)} == {Bid(Decimal(60))}


def test_a_random_bidder_bids_within_the_limits():
    result = auction("second-price", "random", "random", runs=50).run()
    bids = [event.act.amount for event in events_of(result) if isinstance(event, ActedSealed)]
    assert len(bids) == 100
    assert all(0 <= bid <= 100 for bid in bids)
    assert len(set(bids)) > 90


# ---------------------------------------------------------------- the command line


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "key", "columns"), [
    ("water", "days", {"survived", "health", "balance"}),
    ("water-personas", "days", {"survived", "persona"}),
    ("second-price", "runs", {"payoff", "deviation", "broken_share"}),
    ("english-private", "runs", {"payoff", "deviation"}),
    ("beauty", "runs", {"payoff", "payoff_ratio"}),
])  # fmt: skip
def test_a_preset_is_run_by_name_and_shows_what_counts_in_its_game(preset, key, columns, tmp_path):
    named = ["--preset", preset] if preset == "water" else [preset]  # either names it
    done = harbor("auction", *named, "--json", cwd=tmp_path)
    printed = json.loads(done.stdout)
    assert columns <= printed["standings"][0].keys()
    assert printed[key]


@pytest.mark.slow
def test_the_table_of_a_game_has_its_own_columns_and_no_empty_ones(tmp_path):
    table = harbor("auction", "--preset", "water", "--quiet", cwd=tmp_path).stdout
    assert "survived" in table
    assert "resource satisfaction rate at the start 0.4" in table
    assert "persona" not in table


def test_a_preset_beside_a_config_or_an_unknown_one_is_refused(tmp_path):
    done = harbor("auction", "demo", "--preset", "water", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "harbor: error: config 'demo' and --preset 'water' are both given; drop one\n"
    done = harbor("auction", "--preset", "watre", cwd=tmp_path)
    assert "unknown preset 'watre'; did you mean 'water'?" in done.stderr


def test_an_agent_of_any_make_hears_what_a_seat_may_know():
    """What a bidder needs for its choice is in the words of its own call."""
    rules = SecondPrice(
        ("Ann", "Ben"), SecondPriceRules(), {"Ann": (Decimal(61),) * 6, "Ben": (Decimal(59),) * 6}, Decimal(100)
    )
    state = fold(rules, rules.settle(rules.start(), {}, Chance(None)))
    assert [ask.note for ask in rules.asks(state)] == ["it is worth $61 to you", "it is worth $59 to you"]
    contest = Beauty(("Ann",), BeautyRules(), Decimal(100))
    state = fold(contest, contest.settle(contest.start(), {}, Chance(None)))
    assert contest.asks(state) == [Ask("Ann", "run 1", 1, Number(Decimal(0), Decimal(100)))]
    assert ANALYST not in {event.audience for event in contest.settle(contest.start(), {}, Chance(None))}
