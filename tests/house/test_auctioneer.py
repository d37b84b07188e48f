"""The auctioneer's script, driven by hand: whom it asks, what it does with the answers, and what it says aloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor._core.asking.asks import Pause
from harbor._core.basics.errors import ConfigError
from harbor._core.log.acts import HOUSE, Acted, ActedSealed, PaidSealed, Tried
from harbor._core.log.events import EVERYONE, ItemLabelled, Lot, LotClosed, Paused, PublicEvent, SaleClosed, SeatFailed
from harbor._core.log.log import Log, of_type
from harbor._core.log.log_entries import event_json, event_of, is_seen_by
from harbor._core.log.players import SeatReply
from harbor._games.english.events import ItemSold, ItemUnsold, PriceLowered, SaleOpened, ValueRevealed, rules_in_words
from harbor._games.english.rules import English, EnglishRules, ValuedLot
from harbor._games.mechanism import fold
from harbor._house.auctioneer import Sale, announce, answer_to, auction_loop, call, judged, told_to
from harbor.events import BidderLabelled, BiddersAsked, BidderSeated, BidderWithdrew, Decided, Planned
from harbor.games import Accept, AcceptOrWait, Amount, Ask, Bid, Chance, Withdraw
from harbor.testing import check_rules

OUT = SeatReply("I withdraw.")


def sale_of(*starts, budgets=None, acts="open", **options):
    lots = enumerate(map(Decimal, starts), start=1)
    items = tuple(ValuedLot(Lot(f"Item {number}", start), 2 * start) for number, start in lots)
    purses = {name: Decimal(budget) for name, budget in (budgets or {"Ann": 1000, "Ben": 1000, "Cho": 1000}).items()}
    return Sale(English(items, purses, EnglishRules(**options)), tuple(purses), Log(), Random(7), acts, "open")


def hold(sale, answer, thinkers=(), reasks=3):
    """Conduct a sale to its end; `answer` gives what a bidder says to an ask or a pause. Give the turns."""
    script, turns, said = auction_loop(sale, thinkers, reasks), [], None
    while True:
        try:
            turn = script.send(said)
        except StopIteration:
            return turns
        turns.append(tuple(turn))
        said = {ask.bidder: answer(ask) for ask in turn}


def events_of(sale):
    return [entry.event for entry in sale.log.entries]


def picked(sale, kind):
    return of_type(sale.log.entries, kind)


def minimum_once(ask):
    """Bid the minimum in the first round, withdraw later."""
    return SeatReply(f"I bid ${ask.minimum}") if isinstance(ask, Ask) and ask.round == 1 else OUT


def only(bidder, words):
    """Everyone withdraws but one, who says this to every ask."""
    return lambda ask: SeatReply(words) if ask.bidder == bidder and isinstance(ask, Ask) else OUT


# ---------------------------------------------------------------- asking


def test_all_who_must_act_are_asked_at_the_same_moment_which_is_written_down_before_their_answers():
    sale = sale_of(100)
    turns = hold(sale, minimum_once)
    assert [ask.bidder for ask in turns[0]] == ["Ann", "Ben", "Cho"]
    assert len(turns[1]) == 2
    first = picked(sale, BiddersAsked)[0]
    assert first == BiddersAsked("Item 1", 1, 1, ("Ann", "Ben", "Cho"))
    assert events_of(sale).index(first) < events_of(sale).index(picked(sale, Acted)[0])


# ---------------------------------------------------------------- failed bids


@pytest.mark.parametrize("words", ["I bid $1", "I bid $5,000", "I bid $100 or $200", "", "I bid -$100", "9" * 23 + "m"])
def test_a_failed_bid_is_asked_again_a_bounded_number_of_times_and_then_withdraws(words):
    for reasks in (0, 1, 3):
        sale, attempts = sale_of(100), [*range(1, reasks + 2)]
        turns = hold(sale, only("Ben", words), reasks=reasks)
        assert len(turns) == 1 + reasks
        assert [ask.attempt for turn in turns for ask in turn if ask.bidder == "Ben"] == attempts
        assert [(failed.bidder, failed.attempt) for failed in picked(sale, Tried)] == [("Ben", one) for one in attempts]
        assert Acted("Ben", "Item 1", Withdraw("failed bids"), attempt=reasks + 1) in events_of(sale)
        assert picked(sale, ItemUnsold) == [ItemUnsold("Item 1")]


def test_a_bid_that_is_put_right_counts_like_any_other():
    sale = sale_of(100)
    hold(sale, lambda ask: SeatReply("I bid $120.50!" if ask.attempt == 2 else "$1") if ask.bidder == "Cho" else OUT)
    assert picked(sale, ItemSold) == [ItemSold("Item 1", "Cho", Decimal("120.50"))]
    assert [event.act for event in picked(sale, Tried)] == [Bid(Decimal(1))]


@pytest.mark.parametrize("acts", ["open", "sealed"])
def test_what_everyone_did_is_written_once_the_whole_turn_is_legal_in_seat_order(acts):
    """Nobody that is asked again has seen a rival's act of the same moment."""
    sale = sale_of(100, acts=acts)
    seen_at_asks = {}

    def answer(ask):
        seen_at_asks[ask.bidder, ask.attempt] = list(sale.seen_by(ask.bidder))
        return SeatReply("$1" if (ask.bidder, ask.attempt) in {("Ann", 1), ("Ann", 2), ("Cho", 1)} else "I bid $150")

    script = auction_loop(sale, (), 3)
    turn = next(script)
    while turn[0].round == 1:
        turn = script.send({ask.bidder: answer(ask) for ask in turn})
    assert seen_at_asks.keys() == {("Ann", 1), ("Ben", 1), ("Cho", 1), ("Ann", 2), ("Cho", 2), ("Ann", 3)}
    for (bidder, _), seen in seen_at_asks.items():
        assert not any(isinstance(event, Acted | ActedSealed) for event in seen)
        assert all(event.bidder == bidder for event in seen if isinstance(event, Tried))
    first = [event for event in events_of(sale) if isinstance(event, Acted | ActedSealed)][:3]
    kind = Acted if acts == "open" else ActedSealed
    assert first == [kind(name, "Item 1", Bid(Decimal(150)), 1, n) for name, n in (("Ann", 3), ("Ben", 1), ("Cho", 2))]
    last_try = max(place for place, event in enumerate(events_of(sale)) if isinstance(event, Tried))
    assert events_of(sale).index(first[0]) > last_try


@pytest.mark.parametrize(("said", "is_told"), [
    *((f"I bid ${amount}", True) for amount in ("99.1230", "0.10", "5,000.00", "100.001")),
    *((f"I bid {words}", False) for words in ("$1e3", "$100 or withdraw")),
    *((Bid(Decimal(amount)), False) for amount in ("NaN", "sNaN", "-Infinity", "99.12345678901234567890")),
])  # fmt: skip
def test_why_an_attempt_failed_is_said_of_its_act_as_the_log_tells_it_if_json_can(said, is_told):
    """Else whoever checks the log finds another reason."""
    sale, reply = sale_of(100), SeatReply(said) if isinstance(said, str) else SeatReply(answer=said)
    turns = hold(sale, lambda ask: reply if ask.bidder == "Ben" else OUT, reasks=0)
    [ask] = [ask for ask in turns[0] if ask.bidder == "Ben"]
    [tried] = picked(sale, Tried)
    assert event_of(event_json(tried), ()) == tried
    assert (tried.act is not None, bool(tried.reason)) == (is_told, True)
    if isinstance(said, str):
        assert tried.reason == (ask.space.refusal(tried.act) if tried.act else judged(ask, answer_to(ask, said)))


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(max_size=30), min_size=1, max_size=8), st.integers(0, 3))
def test_whatever_is_said_the_sale_comes_to_its_end(phrases, reasks):
    sale, number = sale_of(100, 50), iter(range(10**6))
    turns = hold(sale, lambda _: SeatReply(phrases[next(number) % len(phrases)]), thinkers=("Ann",), reasks=reasks)
    assert [*map(type, events_of(sale))].index(SaleClosed) == len(events_of(sale)) - 1
    assert len(turns) <= 300
    assert fold(sale.rules, events_of(sale)) == sale.state


# ---------------------------------------------------------------- seats that fail


@pytest.mark.parametrize("kind", ["error", "timeout"])
def test_a_seat_that_fails_withdraws_without_a_failed_bid_and_nobody_is_told_why(kind):
    failure = SeatFailed("Ann", kind, "broken")
    sale = sale_of(100, 50)
    hold(sale, lambda ask: SeatReply("I bid $500", failure=failure) if ask.bidder == "Ann" else minimum_once(ask))
    assert picked(sale, SeatFailed) == [failure] * 2
    withdrawn = [Acted("Ann", item, Withdraw("fault")) for item in ("Item 1", "Item 2")]
    assert [event for event in picked(sale, Acted) if event.bidder == "Ann"] == withdrawn
    assert [sold.winner in ("Ben", "Cho") for sold in picked(sale, ItemSold)] == [True, True]
    assert picked(sale, Tried) == []
    assert not any(isinstance(event, SeatFailed) for name in sale.bidders for event in sale.seen_by(name))


def test_a_seat_that_fails_at_a_pause_still_bids():
    sale = sale_of(100)

    def answer(ask):
        failure = SeatFailed("Ann", "timeout", "slow") if isinstance(ask, Pause) else None
        return SeatReply("I bid $100" if ask.bidder == "Ann" and not failure else "I withdraw.", failure=failure)

    hold(sale, answer, thinkers=("Ann",))
    assert picked(sale, ItemSold) == [ItemSold("Item 1", "Ann", Decimal(100))]
    assert len(picked(sale, SeatFailed)) == 2


# ---------------------------------------------------------------- pauses and notes


def test_there_is_a_pause_before_the_first_ask_and_after_each_hammer_for_those_who_think():
    sale = sale_of(100, 50, 25)
    turns = hold(sale, minimum_once, thinkers=("Ann", "Cho"))
    pauses = [turn for turn in turns if isinstance(turn[0], Pause)]
    assert turns[0] is pauses[0]
    assert [turn[0].closed for turn in pauses] == [(), ("Item 1",), ("Item 2",), ("Item 3",)]
    assert all([pause.bidder for pause in turn] == ["Ann", "Cho"] for turn in pauses)
    assert [paused.closed for paused in picked(sale, Paused)] == [turn[0].closed for turn in pauses]
    hold(hasty := sale_of(100, 50), minimum_once)
    assert picked(hasty, Paused) == []


def test_the_last_thought_is_written_before_the_sale_closes():
    sale, over = sale_of(100), Planned("Ann", "over", {})
    hold(sale, lambda ask: SeatReply(notes=(over,)) if isinstance(ask, Pause) and ask.closed else OUT, ("Ann",))
    assert events_of(sale)[-2:] == [over, SaleClosed()]


def test_items_that_close_together_are_thought_about_together_also_before_the_first_ask():
    poor = {"Ann": 120, "Ben": 120}
    turns = hold(sale_of(100, 900, 950, 50, budgets=poor), minimum_once, thinkers=("Ann",))
    pauses = [turn[0].closed for turn in turns if isinstance(turn[0], Pause)]
    assert pauses == [(), ("Item 1", "Item 2", "Item 3"), ("Item 4",)]
    turns = hold(sale_of(900, 50, budgets=poor), minimum_once, thinkers=("Ann",))
    assert [ask.closed for (ask,) in turns[:2]] == [(), ("Item 1",)]
    assert isinstance(turns[2][0], Ask)


@settings(max_examples=30)
@given(st.permutations(["Ann", "Ben", "Cho"]))
def test_notes_are_written_in_seat_order_whatever_the_order_of_the_answers(arrival):
    sale, seats, item = sale_of(100), ("Ann", "Ben", "Cho"), "Item 1"
    script = auction_loop(sale, seats, 3)
    next(script)
    script.send({name: SeatReply(notes=(Planned(name, "plan", {}),)) for name in arrival})
    decided = {name: Decided(name, item, 1, 1, "so", Decimal(100)) for name in arrival}
    script.send({name: SeatReply("I bid $100", (decided[name],)) for name in arrival})
    assert [plan.bidder for plan in picked(sale, Planned)] == [*seats]
    assert [decision.bidder for decision in picked(sale, Decided)] == [*seats]
    assert picked(sale, Acted) == [Acted(name, item, Bid(Decimal(100))) for name in seats]


def test_a_note_stands_before_the_failed_bid_that_it_explains():
    sale = sale_of(100)
    note = Decided("Ben", "Item 1", 1, 1, "cheap", Decimal(1))
    hold(sale, lambda ask: SeatReply("$1", (note,)) if ask.bidder == "Ben" and ask.attempt == 1 else OUT)
    events = events_of(sale)
    assert events.index(note) + 1 == events.index(picked(sale, Tried)[0])


# ---------------------------------------------------------------- aloud

BUDGETS = {"Ann": "987.61", "Ben": "876.52", "Cho": "111.43"}


def test_no_announcement_and_no_public_event_holds_a_budget():
    sale = sale_of(100, 50, 50, budgets=BUDGETS, lowerings=1)
    for name, budget in BUDGETS.items():
        sale.record(BidderSeated(name, Decimal(budget), {}, "profit"))
    dear = SeatReply("I bid $99,999")
    hold(sale, lambda ask: dear if isinstance(ask, Ask) and ask.attempt == 1 else minimum_once(ask))
    public = [repr(event) for event in events_of(sale) if event.audience == EVERYONE]
    spoken = " ".join(map(announce, events_of(sale)))
    assert "Item 1 is sold to" in spoken
    assert not any(budget in text for budget in BUDGETS.values() for text in (spoken, *public))


def test_a_withdrawal_for_want_of_money_sounds_like_any_other():
    reasons = ("declined", "cannot afford", "failed bids", "fault")
    assert {announce(BidderWithdrew("Item 1", 1, "Ann", reason)) for reason in reasons} == {"Ann is out of Item 1."}
    assert {announce(Acted("Ann", "Item 1", Withdraw(reason))) for reason in reasons} == {"Ann is out of Item 1."}


def test_nothing_private_is_said_aloud():
    private = [BidderSeated("Ann", Decimal(5), {}, "profit"), ActedSealed("Ann", "Item 1", Bid(Decimal(150)))]
    private += [Planned("Ann", "plan", {}), Decided("Ann", "Item 1", 1, 1, "so", None)]
    private += [Tried("Ann", "Item 1", 1, 1, "above your budget", Bid(Decimal(5_000)))]
    analysts = [ItemLabelled("Item 1", Decimal(200), "downsizing"), SeatFailed("Ann", "error", "broken")]
    analysts += [BidderLabelled("Ann", {"downsizing": 1.0}, "simulated")]
    assert "".join(map(announce, private + analysts)) == ""


def test_what_happens_in_public_is_said_aloud():
    happened = {
        SaleOpened(("Ann",), (Lot("Vase", Decimal(1250)),), "price"):
            f"Welcome, Ann; for sale, in this order: Vase from $1,250. {rules_in_words('price')}",
        PriceLowered("Vase", Decimal("12.5"), Decimal(1)):
            "Nobody bid on Vase: it is offered again to all bidders from $12.50, in steps of at least $1.",
        Acted("Ann", "Vase", Bid(Decimal(1250))): "Ann bids $1,250 on Vase.",
        ItemSold("Vase", "Ann", Decimal(1250)): "Vase is sold to Ann for $1,250.",
        ValueRevealed("Vase", Decimal(2500)): "Vase was worth $2,500.",
    }  # fmt: skip
    assert [*map(announce, happened)] == [*happened.values()]


# ---------------------------------------------------------------- what a bidder has seen of a sale

PAIR = ("Ann", "Ben")


def a_sale(names=PAIR) -> Sale:
    return sale_of(100, budgets=dict.fromkeys(names, 1000))


@pytest.mark.parametrize("seats", [(), ("Ann", "Ann"), ("Ann", HOUSE), ("Ann", "Zed")])
def test_what_is_told_to_other_seats_than_those_of_bidders_is_refused_before_it_is_written(seats):
    sale = a_sale()
    with pytest.raises(ConfigError, match=r"rules tell PaidSealed to .*; name bidders, each once, and not the house: "):
        sale.record(PaidSealed(seats, "Ann", HOUSE, "Item 1", Decimal(5)))
    assert sale.log.entries == []


def test_what_is_seen_is_a_sequence_that_grows_to_read_only():
    sale = a_sale()
    seen = sale.seen_by("Ann")
    sale.settle({})
    events = [entry.event for entry in sale.log.entries]
    assert sale.seen_by("Ann") is seen
    assert isinstance(seen, Sequence)
    assert (len(seen), seen[0], seen[-1], seen[1:]) == (len(events), events[0], events[-1], events[1:])
    assert (list(seen), list(reversed(seen))) == (events, events[::-1])
    seen[1:].clear()
    with pytest.raises(TypeError):
        seen[0] = events[1]
    assert list(seen) == events


def test_what_is_seen_of_private_and_shared_events_stands_in_its_place_whenever_it_is_looked_at():
    names = ("Ann", "Ben", "Cho")
    looked, late = a_sale(names), a_sale(names)
    mine, theirs = (Tried(name, "Item 1", 1, 1, "so") for name in ("Ann", "Ben"))
    trade = PaidSealed(("Ann", "Cho"), "Ann", "Cho", "Item 1", Decimal(5))
    bid, unsold = Acted("Ben", "Item 1", Bid(Decimal(100))), ItemUnsold("Item 1")
    for event in (bid, mine, theirs, trade, unsold):
        looked.record(event)
        late.record(event)
        looked.seen_by("Ann")
    for sale in (looked, late):
        seen = [list(sale.seen_by(name)) for name in names]
        assert seen == [[bid, mine, trade, unsold], [bid, theirs, unsold], [bid, trade, unsold]]


# ---------------------------------------------------------------- a falling price, and offers of sellers


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
        return [Ask(name, "Vase", int(6 - price / 100), AcceptOrWait(price)) for name in PAIR] if price else []

    def settle(self, price, actions, chance):
        accepted = [name for name in PAIR if isinstance(actions.get(name), Accept)]
        left = tuple(name for name in PAIR if isinstance(actions.get(name), Withdraw))
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


def log_of(rules, answer):
    """Hold a sale in which `answer` gives the words of a bidder. Give its log."""
    sale = Sale(rules, PAIR, Log(), Random(7))
    hold(sale, lambda ask: SeatReply(answer(ask)), reasks=1)
    return sale.log.entries


def test_rules_with_these_spaces_keep_the_promises_of_all_rules():
    check_rules(Dutch())
    check_rules(Procurement(COSTS))


@pytest.mark.parametrize(("method", "gives", "said"), [
    ("refusal", "", "beyond the bounds of an ask and is legal"), ("say", "Well.", "is not read as what was said"),
])  # fmt: skip
def test_a_space_larger_than_its_bounds_or_whose_words_are_not_heard_is_refused_by_the_suite(method, gives, said):
    class Careless(Dutch):
        def asks(self, price):
            space = type("Space", (AcceptOrWait,), {method: lambda *_: gives})
            return [ask._replace(space=space(ask.space.price)) for ask in super().asks(price)]

    with pytest.raises(AssertionError, match=said):
        check_rules(Careless())


def test_a_falling_price_goes_to_whom_accepts_and_who_never_answers_plainly_counts_as_withdrawn():
    said = {("Ben", 1): "I wait.", ("Ben", 2): "I wait.", ("Ben", 3): "I accept."}
    log = log_of(Dutch(), lambda ask: said.get((ask.bidder, ask.round), "I bid $5, or not"))
    assert [event.price for event in of_type(log, PriceCalled)] == [500, 400, 300]
    assert of_type(log, FirstTaken) == [FirstTaken("Vase", "Ben", ("Ann",))]
    assert [event.bidders for event in of_type(log, BiddersAsked)] == [PAIR, ("Ann",)] * 3
    assert [event.reason for event in of_type(log, Tried)] == ["not a plain 'I accept' or 'I wait'"] * 6


@pytest.mark.parametrize("attempts", [1, 2])
def test_the_bounds_of_an_ask_are_told_to_its_bidder_alone(attempts):
    offers = {"Ann": "I bid $60.", "Ben": "I bid $40."}
    log = log_of(Procurement(COSTS), lambda ask: offers[ask.bidder] if ask.attempt == attempts else "I bid $1.")
    for name, other in (PAIR, PAIR[::-1]):
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
