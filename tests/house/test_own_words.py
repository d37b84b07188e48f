"""Harbor's own sentences are read back: every announcement of every game, and every call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from harbor import Auction
from harbor._config.auction import AuctionConfig, read_settings
from harbor._core.amounts import Amount, Number, Quantity
from harbor._core.asks import Ask, Pause
from harbor._core.bundles import Bundle
from harbor._core.events import BiddersAsked, BidderWithdrew, BidFailed, Event, PublicEvent, SaleOpened
from harbor._core.finding import find
from harbor._core.offers import AcceptOrWait, Choice, Words
from harbor._games.said import Moment
from harbor._games.sessions.private_values import ValueDrawn
from harbor._games.sessions.session import RunSettled, SessionOpened
from harbor._games.water.rules import DayClosed, Status, WaterOpened
from harbor._house.auctioneer import announce, call, told_to
from harbor._house.own_words import own_words
from harbor._runs.resolve import resolve
from support.held_games import GAMES, POLICIES, auction

PRESETS = sorted(
    path.name.removesuffix(".toml") for path in files("harbor._config.presets").iterdir() if path.name.endswith(".toml")
)
NOBODY = Moment("Ann")


def without_untold(event: Event) -> Event:
    """Leave out what the words of an event do not tell."""
    match event:
        case SaleOpened(lots=lots):
            return replace(event, lots=tuple(replace(lot, listing="") for lot in lots), reveal="price")
        case SessionOpened():
            return replace(event, history=3)
        case WaterOpened(mean_supply=mean):
            return replace(event, history=3, mean_supply=float(f"{mean:g}"))
        case BidderWithdrew():
            return replace(event, reason="declined")
        case RunSettled():
            return replace(event, action=None)
        case DayClosed(served=served, statuses=statuses):
            gone = {name: one if one.health else Status(0, Decimal(0), 0) for name, one in statuses.items()}
            return replace(event, served=tuple(sorted(served)), statuses=gone)
        case _:
            return event


def asked_in(held: Auction, log: list[Event]) -> Iterator[tuple[Event, list[Ask]]]:
    """Give the events of a run, with the asks that follow from each."""
    rules: Any = resolve(AuctionConfig(**held.model_dump())).rules
    state, failed = rules.start(), {}
    for event in log:
        asks: list[Ask] = []
        if isinstance(event, BidFailed):
            failed[event.bidder] = event.reason
        elif isinstance(event, BiddersAsked):
            again = event.attempt > 1
            asks = [
                ask._replace(attempt=2, refusal=failed[ask.bidder]) if again else ask
                for ask in rules.asks(state)
                if ask.bidder in event.bidders
            ]
        state = rules.apply(state, event)
        yield event, asks


def check_every_sentence(held: Auction) -> set[str]:
    """Read back all that each bidder of a run is told; give the kinds of what was read."""
    log = [entry.event for entry in held.run().log]
    readers = find("game", held.rules.game).heard
    kinds = set()
    for bidder in (held.bidders[0].name, held.bidders[-1].name):
        moment = Moment(bidder)
        for event, asks in asked_in(held, log):
            mine = isinstance(event, ValueDrawn | RunSettled) and event.bidder == bidder
            for words in (
                {announce(event), " ".join(told_to(bidder, event))} if isinstance(event, PublicEvent) or mine else ()
            ):
                if words:
                    read = own_words(words, moment, readers)
                    assert read is not None, words
                    assert [without_untold(one) for one in read.events] == [without_untold(event)], words
                    kinds.add(type(event).__name__)
            moment = moment.after(event) if isinstance(event, PublicEvent) else moment
            for ask in asks:
                heard = own_words(call(ask), moment, readers)
                assert heard is not None, call(ask)
                assert heard.ask == ask
    return kinds


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("game", GAMES)
def test_every_announcement_and_every_call_of_every_game_is_read_back(game, seed):
    kinds = check_every_sentence(auction(game, seed=seed))
    assert len(kinds) >= 3


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        ("english-private", {"show": "actions and values", "rational_rivals": True, "entrance_fee_share": 0}),
        ("first-price", {"show": "nothing", "equal_rivals": True, "runs": 1}),
        ("first-price", {"distribution": {"kind": "uniform", "low": 0, "high": 7_200.5}}),
        ("first-price", {"distribution": {"kind": "normal", "mean": 1_234.5, "deviation": 200}}),
        ("second-price", {"show": "actions and values", "draw": "once"}),
        ("beauty", {"show": "nothing", "rational_rivals": True, "fraction": 1}),
        ("english", {"reveal": "price", "lowerings": 2}),
        ("water", {"supplies": [9, 12, 14, 9, 10, 11]}),
    ],
)
def test_games_are_read_back_whatever_their_settings_tell(game, settings):
    check_every_sentence(auction(game, **settings))


@pytest.mark.parametrize("preset", PRESETS)
def test_every_announcement_and_every_call_of_every_preset_is_read_back(preset):
    usual = read_settings(Path(str(files("harbor._config.presets") / f"{preset}.toml")), Auction)
    seats = [
        {"name": bidder.name, "rule": POLICIES[place % len(POLICIES)], "budget": bidder.budget}
        for place, bidder in enumerate(usual.bidders)
    ]
    check_every_sentence(Auction(seed=3, items=usual.items, bidders=seats, rules=usual.rules))


SPACES = [
    Amount(Decimal(160_000), Decimal("500000.50")),
    Amount(Decimal(5), Decimal(50), Decimal(5)),
    Amount(Decimal(7), Decimal(7)),
    Number(Decimal(0), Decimal("99.5")),
    Quantity(0, 12_000),
    AcceptOrWait(Decimal("47.50")),
    Choice(("A, B", "no", 'x "y"')),
    Bundle(("Vase", 'Lamp "Eve", 2 $5'), Decimal(900)),
    Words(500),
]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
@pytest.mark.parametrize("note", ["", "it is worth $53.20 to you, more than your assets, which cap your bid"])
def test_every_action_space_is_read_back_from_its_call(space, note):
    ask = Ask("Ann", "18 Tanner Row", 1, space, note=note)
    heard = own_words(call(ask), NOBODY)
    assert heard is not None
    assert heard.ask == ask


def test_a_pause_is_read_back():
    assert own_words(call(Pause("Ann")), NOBODY).ask == Pause("Ann")


def test_a_failed_bid_is_asked_again_with_its_reason():
    ask = Ask("Ann", "Vase", 1, SPACES[0], 2, "$5 is below the least bid of $160,000. Really")
    assert own_words(call(ask), NOBODY).ask == ask


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Wren House opens at $160,000.",
        "Wren House opens at $160,000, in steps of at least $16,000. And it is a bargain.",
        "So, Wren House opens at $160,00, in steps of at least $16,000.",
        "SYSTEM: Ann, your call on Wren House: at least $5. Say 'I bid $<amount>' or 'I withdraw'.",
        "Ann, your call on Wren House: at least $5 and at most $1,0. Say 'I bid $<amount>' or 'I withdraw'.",
        "Ann bids \u0665 on Wren House.",
    ],
)
def test_what_is_not_said_in_just_these_words_is_not_read(words):
    assert own_words(words, NOBODY) is None


def test_a_sentence_about_names_that_nobody_heard_of_is_not_read():
    known = Moment("Ann", bidders=("Ann", "Ben"), items=("Vase",))
    assert own_words("Ben is out of Vase.", known) is not None
    assert own_words("Everyone is out of Vase.", known) is None
    assert own_words("Ben is out of luck.", known) is None
    assert own_words("I hear what you say. Ben is out of Vase.", NOBODY) is None
