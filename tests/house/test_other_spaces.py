"""Games whose answers are no single amount: a falling price and offers of sellers, by the one script of all games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from random import Random

import pytest
from autogen_core import CancellationToken

from harbor._core.asking.action_space import AcceptOrWait
from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Ask
from harbor._core.basics.actions import Accept, Bid, Wait, Withdraw
from harbor._core.log.acts import Tried
from harbor._core.log.events import BiddersAsked, LotClosed, PublicEvent
from harbor._core.log.log import Log, of_type
from harbor._core.log.log_entries import is_seen_by
from harbor._core.log.players import SeatReply
from harbor._games.mechanism import Chance
from harbor._games.policies import AtRandom
from harbor._house.auctioneer import Sale, auction_loop, call, told_to
from harbor._room.seats import PlayerAgent, ask_message
from harbor.testing import check_rules

PLAYERS = ("Ann", "Ben")


@dataclass(frozen=True, slots=True)
class PriceCalled(PublicEvent):
    """The price falls, or is called for the first time."""

    price: Decimal


@dataclass(frozen=True, slots=True)
class FirstTaken(LotClosed):
    """The vase is sold to the first who accepts."""

    winner: str | None
    left: tuple[str, ...]


@dataclass(frozen=True)
class Dutch:
    """The price falls by $100 from $500 until somebody accepts; the state is the price (None: closed)."""

    def start(self):
        return None

    def asks(self, price):
        return [Ask(name, "Vase", int(6 - price / 100), AcceptOrWait(price)) for name in PLAYERS] if price else []

    def settle(self, price, actions, chance):
        accepted = [name for name in PLAYERS if isinstance(actions.get(name), Accept)]
        left = tuple(name for name in PLAYERS if isinstance(actions.get(name), Withdraw))
        if accepted:
            return [FirstTaken("Vase", chance.pick("who was first", accepted), left)]
        if price == 100:
            return [FirstTaken("Vase", None, left)]
        return [PriceCalled(price - 100 if price else Decimal(500))]

    def apply(self, price, event):
        return event.price if isinstance(event, PriceCalled) else None if isinstance(event, FirstTaken) else price


@dataclass(frozen=True, slots=True)
class OffersWanted(PublicEvent):
    """Sellers may offer."""


@dataclass(frozen=True)
class Procurement:
    """Sellers offer once, each from its own cost up to what the buyer has; the state is whether offers are wanted."""

    costs: Mapping[str, Decimal]

    def start(self):
        return False

    def asks(self, wanted):
        costs = self.costs.items() if wanted else ()
        return [Ask(name, "the job", 1, Amount(cost, Decimal(200)), note="say what you want.") for name, cost in costs]

    def settle(self, wanted, actions: Mapping, chance: Chance):
        return [FirstTaken("the job", None, ())] if wanted else [OffersWanted()]

    def apply(self, wanted, event):
        return isinstance(event, OffersWanted) or (wanted and not isinstance(event, FirstTaken))


COSTS = {"Ann": Decimal("54.95"), "Ben": Decimal("31.07")}
GAMES = [Dutch(), Procurement(COSTS)]


def hold(rules, answer, reasks=1):
    """Hold a sale by the auctioneer's script; `answer` gives the words of a bidder. Give its log."""
    sale = Sale(rules, PLAYERS, Log(), Random(7))
    script, said = auction_loop(sale, (), reasks), None
    while True:
        try:
            turn = script.send(said)
        except StopIteration:
            return sale.log.entries
        said = {ask.bidder: SeatReply(answer(ask)) for ask in turn}


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: type(rules).__name__)
def test_rules_with_these_spaces_keep_the_promises_of_all_rules(rules):
    check_rules(rules)


class Endless(AcceptOrWait):
    def refusal(self, action):
        return ""


class Mumbling(AcceptOrWait):
    def say(self, answer):
        return "Well."


@pytest.mark.parametrize(
    ("space", "said"),
    [(Endless, "beyond the bounds of an ask and is legal"), (Mumbling, "is not read as what was said")],
)
def test_a_space_larger_than_its_bounds_or_whose_words_are_not_heard_is_refused_by_the_suite(space, said):
    class Careless(Dutch):
        def asks(self, price):
            return [ask._replace(space=space(ask.space.price)) for ask in super().asks(price)]

    with pytest.raises(AssertionError, match=said):
        check_rules(Careless())


def test_a_falling_price_goes_to_whom_accepts_and_nobody_withdraws():
    log = hold(Dutch(), lambda ask: "I accept." if (ask.bidder, ask.round) == ("Ben", 3) else "I wait.")
    assert [event.price for event in of_type(log, PriceCalled)] == [500, 400, 300]
    assert of_type(log, FirstTaken) == [FirstTaken("Vase", "Ben", ())]
    assert [event.bidders for event in of_type(log, BiddersAsked)] == [PLAYERS] * 3
    assert of_type(log, Tried) == []


@pytest.mark.parametrize("attempts", [1, 2])
def test_the_bounds_of_an_ask_are_told_to_its_bidder_alone(attempts):
    offers = {"Ann": "I bid $60.", "Ben": "I bid $40."}
    log = hold(Procurement(COSTS), lambda ask: offers[ask.bidder] if ask.attempt == attempts else "I bid $1.")
    for name, other in (PLAYERS, PLAYERS[::-1]):
        seen = [one.event for one in log if is_seen_by(name, one.event)]
        told = " ".join(line for event in seen for line in told_to(name, event))
        assert str(COSTS[other]) not in repr(seen) + told


def test_a_call_tells_a_seller_its_bounds_and_not_what_money_it_has():
    first, second = (call(ask) for ask in Procurement(COSTS).asks(True))
    said = "Ann, your call on the job: say what you want; at least $54.95 and at most $200."
    assert first == f"{said} Say 'I bid $<amount>' or 'I withdraw'."
    assert "$31.07" in second
    refused = Amount(Decimal(50), Decimal(200)).refusal(Bid(Decimal(201)))
    assert refused == "$201 is above the greatest bid of $200"


def test_who_never_answers_plainly_is_asked_again_and_then_counts_as_withdrawn():
    log = hold(Dutch(), lambda ask: "I bid $5, or not" if ask.bidder == "Ann" else "I wait.")
    assert of_type(log, FirstTaken) == [FirstTaken("Vase", None, ("Ann",))]
    assert {event.reason for event in of_type(log, Tried)} == {"not a plain 'I accept' or 'I wait'"}
    assert len(of_type(log, Tried)) == 10


async def test_a_bidder_of_harbor_answers_in_a_stock_team_in_the_words_of_the_space():
    agent = PlayerAgent("ann", AtRandom(1), lambda: ())
    asked = ask_message(Ask("Ann", "Vase", 2, AcceptOrWait(Decimal(950))))
    said = (await agent.on_messages([asked], CancellationToken())).chat_message.to_text()
    assert said in (Accept().words, Wait().words)
