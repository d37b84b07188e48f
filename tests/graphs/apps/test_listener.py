"""What a bidder hears in an app: who is believed, what is kept, and what becomes of what was misread."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from harbor import Bidder, SimulatedChat
from harbor._core.asking.asks import Pause
from harbor._core.log.events import ItemLabelled
from harbor._core.log.log_entries import event_json
from harbor._core.log.message_metadata import MOST_CARRIED, carried
from harbor._games.english.facts import bidding_on
from harbor._house.auctioneer import call
from harbor.events import Acted, BidderSeated, ItemOpened, ItemUnsold, Lot, Planned, RoundClosed, SaleOpened, Signal
from harbor.games import Amount, Ask, Bid, Withdraw
from harbor.graphs._apps.app_bidder import brought, speak
from harbor.graphs._apps.listener import NO_READER, Listener
from harbor.graphs._apps.plain_english import News, Reading, believed
from harbor.graphs._context.context import BidderContext
from harbor.graphs._wiring.bidder import GraphBidder
from support.reader import Reader
from support.sold import sold

VALUES = {"Vase": 400, "Lamp": 300}
OPENED = (
    SaleOpened(("Ann", "Ben"), (Lot("Lamp", Decimal(100)), Lot("Vase", Decimal(100))), "price"),
    ItemOpened("Lamp", Decimal(100), Decimal(10)),
)
LAMP = Ask("Ann", "Lamp", 1, Amount(Decimal(100), Decimal(500)))
VASE = Ask("Ann", "Vase", 1, Amount(Decimal(130), Decimal(500)))
LAMP_TO_BEN = sold("Lamp", "Ben", Decimal(150))
ASKS = "Vase: Ann, do you bid $130 or more?"
ASKED = {ASKS: {"asked": True, "item": "Vase", "least": 130}}


def listening(game="english", values=VALUES, chat=None, **settings) -> tuple[Listener, GraphBidder]:
    ann = Bidder("Ann", **{"budget": 500, **settings})
    sink = lambda event: listener.conclude(event)  # noqa: E731
    context = BidderContext.of(ann, chat or SimulatedChat(), sink=sink, game=game)
    listener = Listener(context, brought(ann, values), with_budget="budget" in ann.model_fields_set)
    return listener, GraphBidder(context)


def data(*events, ask=None) -> dict[str, str]:
    return carried([event_json(event) for event in events], ask)


def hear(listener: Listener, *told: Any) -> Listener:
    """Let it hear words, or what a message carries."""
    for one in told:
        words, metadata = ("The news.", one) if isinstance(one, dict) else (one, None)
        asyncio.run(listener.hear("auctioneer", words, metadata))
    return listener


def heard(*told, readings=None, **settings) -> Listener:
    chat = None if readings is None else Reader(readings=readings)
    return hear(listening(chat=chat, **settings)[0], *told)


def names(listener) -> list[str]:
    return [type(event).__name__ for event in listener.seen]


def told(kind: str, item: str, bidder: str, amount: int | None = None) -> dict[str, Any]:
    """What a model reads in a sentence of news."""
    return {"kind": kind, "item": item, "bidder": bidder} | ({"amount": amount} if amount else {})


BEGUN = ["BidderSeated", "Signal"]
BOTH_OPENED = [*BEGUN, "SaleOpened", "ItemOpened"]


def test_an_ask_is_an_object_as_a_turn_of_the_protocol_has_it_and_what_has_a_default_may_be_left_out():
    for left_out in ("round", "attempt", "refusal", "note"):
        told = json.loads(data(ask=LAMP)["ask"])
        assert told["space"] == {"minimum": 100, "maximum": 500, "step": 0.01, "kind": "amount"}
        del told[left_out]
        assert heard(data(*OPENED) | {"ask": json.dumps(told)}).ask == LAMP


def test_an_ask_of_somebody_else_is_not_this_bidders_and_takes_none_away():
    bens = LAMP._replace(bidder="Ben")
    assert heard(data(*OPENED), data(ask=bens)).ask is None
    assert heard(data(*OPENED), data(ask=LAMP), data(ask=bens)).ask == LAMP


def test_who_hears_by_data_and_whose_model_reads_the_sentences_knows_the_same():
    first, second, last = "Sold: the Lamp, to Ben!", "Up now: the Vase. Ben leads with $120; Cho has left.", ASKS
    put_up = [
        ItemOpened("Vase", Decimal(120), Decimal(1)),
        Acted("Ben", "Vase", Bid(Decimal(120))),
        RoundClosed("Vase", 1, "Ben", Decimal(120)),
        Acted("Cho", "Vase", Withdraw(), 2),
    ]
    led, out = told("bid", "Vase", "Ben", 120), told("out", "Vase", "Cho")
    readings = {first: {"news": [told("sold", "Lamp", "Ben", 150)]}, second: {"item": "Vase", "news": [led, out]}}
    chat = Reader(readings={**readings, **ASKED})
    by_ear = hear(listening(chat=chat)[0], first, second, last)
    silent = Reader(readings={})
    by_data = listening(chat=silent)[0]
    hear(by_data, data(*OPENED, *LAMP_TO_BEN), data(*put_up), data(ask=VASE._replace(round=2)))
    assert (chat.read, silent.asked) == ([first, second, last], [])
    assert known(by_ear) == known(by_data)


def known(listener: Listener) -> list[Any]:
    """Return what sentences can tell of a sale, and what is asked."""
    view = listener._sale.view
    bidding = bidding_on(view.part)
    results = [(one.item, one.winner, one.price) for one in view.results]
    withdrawn = {name: one.reason for name, one in bidding.withdrawn.items()}
    led = bidding.leader, bidding.price, bidding.minimum
    return [results, view.budget, view.part.item, bidding.bids, led, withdrawn, listener.ask]


def test_what_was_won_is_paid_for():
    assert heard(data(*OPENED, *sold("Lamp", "Ann", Decimal(350))), data(ask=VASE)).ask.maximum == 150
    dear = VASE._replace(space=Amount(Decimal(600), Decimal(9_000)))  # whatever money the auctioneer believes in
    assert heard(data(ask=dear)).instead == "I withdraw from Vase: $600 is more than I have."


def test_an_item_whose_value_nobody_told_is_left_out():
    opened = replace(OPENED[0], lots=(Lot("Lamp", Decimal(100)), Lot("Desk", Decimal(100))))
    listener = heard(data(opened, OPENED[1]), data(*LAMP_TO_BEN, ItemOpened("Desk", Decimal(100), Decimal(10))))
    assert [lot.name for event in listener.seen if isinstance(event, SaleOpened) for lot in event.lots] == ["Lamp"]
    hear(listener, data(ask=LAMP._replace(item="Desk")))
    assert listener.instead == "I was told no value of 'Desk', so I can't bid on it. I know a value of: Vase, Lamp."


def test_items_may_be_sold_in_any_order():
    listener, player = listening()
    hammer = data(*sold("Vase", "Ann", Decimal(130)))
    for told, least in ((data(ask=VASE), 130), (hammer, 0), (data(ask=LAMP), 100)):
        hear(listener, told)
        if least:
            assert asyncio.run(speak(listener, player)).words == f"I bid ${least}."


def test_an_item_that_was_put_up_to_somebody_else_need_not_be_named_again():
    put_up, bid, again, hammer = "Next lot: Vase. Ben?", "Ben: $100. Ann, $110?", "And now? Ann?", "Vase to Ben: $100."
    asked = {bid: {"asked": True, "least": 110}, again: {"asked": True}}
    readings = {put_up: {"item": "Vase"}, hammer: {"news": [told("sold", "Vase", "Ben", 100)]}, **asked}
    listener = heard(put_up, bid, readings=readings)
    assert (listener.ask.item, listener.ask.minimum) == ("Vase", 110)
    assert heard(put_up, hammer, again, readings=readings).instead.startswith("At which price?")


WAYS = [
    "Ladies and gentlemen, the Vase: at least $100. Ann, would you care to open the bidding?",
    f"{call(VASE)} Or more.",
    call(VASE).replace("$500", "\u0665"),
    call(Pause("Ann")),
    '{"ask": {"bidder": "Ann", "item": "Vase", "round": 1}}',
]


@pytest.mark.parametrize("words", WAYS)
def test_without_a_language_model_other_english_is_not_read_and_the_bidder_says_that_it_needs_one(words):
    listener, player = listening()
    hear(listener, words)
    assert names(listener) == BEGUN
    assert asyncio.run(speak(listener, player)) == (NO_READER, None, None)


def test_without_a_language_model_harbors_own_call_is_understood_and_one_to_others_or_on_another_item_makes_no_bid():
    for least in ("130", "130.50", "1300"):
        ask = VASE._replace(space=Amount(Decimal(least), Decimal("2000.25")))
        assert heard(data(*OPENED), call(ask), budget=5_000).ask == ask
    for words in (f"So, {call(VASE)}", call(VASE).replace("Vase", "Vase: at least $1")):
        listener, player = listening()
        assert asyncio.run(speak(hear(listener, words), player)).action is None


@pytest.mark.parametrize(("settings", "budget"), [({"budget": 500}, 500), ({}, 90)])
def test_a_budget_that_the_owner_gave_is_not_changed_and_one_that_it_left_out_is_taken(settings, budget):
    values = Signal("Ann", {"Lamp": Decimal(1), "Desk": Decimal(5)}, noisy=True)
    ann = Bidder("Ann", **settings)
    listener = Listener(BidderContext.of(ann, SimulatedChat()), brought(ann, VALUES), with_budget=bool(settings))
    *_, last, signal = hear(listener, data(BidderSeated("Ann", Decimal(90), {"I am Eve.": 1.0}, "items"), values)).seen
    assert (last.budget, last.objective, last.personas) == (budget, "profit", {})
    assert signal.values == {"Lamp": 300, "Vase": 400, "Desk": 5}


def drawn(item: str) -> Signal:
    return Signal("Ann", {item: Decimal(7)})


def test_a_value_that_the_owner_gave_is_not_changed_and_one_that_it_left_out_is_taken():
    listener = heard(data(drawn("run 1"), drawn("run 2")), game="second-price", values={"run 1": 300})
    assert [[*event.values] for event in listener.seen if isinstance(event, Signal)] == [["run 2"]]
    both = Signal("Ann", {"run 1": Decimal(999), "run 2": Decimal(7)})
    listener = heard(data(both), game="second-price", values={"run 1": 300})
    assert [event.values for event in listener.seen if isinstance(event, Signal)] == [{"run 1": 300, "run 2": 7}]


def test_an_event_of_another_audience_or_game_or_of_none_is_ignored_and_those_beside_it_are_taken():
    for events in (
        [event_json(BidderSeated("Ben", Decimal(31_337), {}, "profit"))],
        [event_json(ItemLabelled("Lamp", Decimal(31_337), ""))],
        [event_json(Planned("Ann", "Give up.", {}))],
        [event_json(drawn("Lamp"))],  # which the owner gave
        [event_json(OPENED[1])],  # of a sale that has not begun
        ["{}", "5", "null", '"item_sold"', '{"type":[]}', '{"type":{"a":1}}', '{"type":"rumour_heard"}'],
        ['{"type":"item_sold"}', '{"type":"item_sold","item":"Lamp","winner":"Ben","price":"NaN"}'],
        ['{"type":"item_sold","item":"Lamp","winner":"Ben","price":1e999}'],
    ):
        listener = heard(carried([*events, *map(event_json, OPENED)]))
        assert names(listener) == BOTH_OPENED
        assert "31337" not in str(listener.dump())


def test_what_is_no_list_of_events_is_as_if_it_were_not_there():
    deep, long = "[" * 100_000, f'["{"x" * MOST_CARRIED}"]'
    for events in ("", "not JSON", "{}", "5", deep, "\ud800", b"[]", ["{}"], None, long):
        listener, _ = listening(chat=Reader(readings=ASKED))
        asyncio.run(listener.hear("auctioneer", ASKS, {"events": events}))
        assert names(listener) == BOTH_OPENED  # what was read
        assert listener.ask.item == "Vase"


def test_an_ask_that_is_none_is_not_taken():
    half, long = '{"bidder":"Ann"', " " * MOST_CARRIED + "{}"
    for ask in ("{}", f'{half},"item":"Lamp"}}', half, "\ud800", "not JSON", 5, None, "[" * 100_000, "9" * 9_999, long):
        listener, _ = listening()
        asyncio.run(listener.hear("auctioneer", "", {"ask": ask, "other": "x"}))
        assert (listener.ask, listener.instead) == (None, "")


def test_what_was_heard_is_dumped_as_json_and_taken_back_and_a_state_that_nothing_dumped_is_refused():
    listener = heard(data(*OPENED, *LAMP_TO_BEN), data(ask=VASE))
    other, player = listening()
    other.load(json.loads(json.dumps(listener.dump())))
    assert (other.dump(), other.seen) == (listener.dump(), listener.seen)
    assert asyncio.run(speak(other, player)).words == "I bid $130."
    before = other.dump()
    for state in ({}, {"seen": None}, {"seen": ["5"]}, {"seen": ['{"type":"nothing"}']}):
        with pytest.raises(ValueError, match="no state of a bidder"):
            other.load(state)
        assert other.dump() == before


def test_a_reading_is_believed_only_if_it_can_be_true():
    for item, price, lacks in (
        ("vase ", {"least": 100}, ""),
        ("Throne", {"least": 100}, "I was told no value of 'Throne'"),
        (None, {"least": 100}, "Which item is it?"),
        ("Vase", {"least": Decimal("100.001")}, "100.001 is no price"),
        ("Vase", {"exact": 0}, "0 is no price"),
        ("Vase", {"least": 5, "exact": 7}, "Is the price exactly $7, or is $5 the least bid?"),
    ):
        said = believed(Reading(asked=True, item=item, **price), VALUES, None).lacks
        assert (said.startswith(lacks), bool(said)) == (True, bool(lacks))


def test_news_that_can_not_be_true_is_left_out():
    news = [
        News(kind="sold", item="VASE", bidder="Ben", amount=5),
        News(kind="sold", item="Vase", bidder="Ben"),
        News(kind="bid", item="Throne", bidder="Ben", amount=5),
        News(kind="bid", item="Vase", bidder="B" * 101, amount=5),
        News(kind="out", item="Vase"),
    ]
    assert [one.item for one in believed(Reading(asked=False, news=news), VALUES, None).news] == ["Vase"]


def test_a_bid_that_is_not_legal_is_decided_again_and_never_said():
    listener, player = heard(data(ask=VASE)), Saying("I bid $5.")
    assert asyncio.run(speak(listener, player)).words == "I withdraw."
    assert [ask.attempt for ask in player.asks] == [1, 2, 3]
    assert player.asks[1].refusal == "$5 is below the least bid of $130"


class Saying:
    """A player that says this to an ask."""

    def __init__(self, words):
        self.words, self.asks = words, []

    async def act(self, ask, seen):
        self.asks.append(ask)
        return self.words.format(ask.maximum)


@pytest.mark.parametrize("before", [[], [data(Acted("Ben", "Vase", Withdraw()))]])
def test_a_bidder_that_was_told_no_price_says_so(before):
    first, second = "The Vase is up now. Ann, do you bid?", "At $130 or more, Ann?"
    chat = Reader(readings={first: {"asked": True, "item": "Vase"}, second: {"asked": True, "least": 130}})
    listener, player = listening(chat=chat)
    hear(listener, *before)
    said = [asyncio.run(speak(hear(listener, words), player)).words for words in (first, second)]
    assert said == ["At which price? I heard none for Vase.", "I bid $130."]


def test_a_price_that_was_told_before_is_known():
    led, asked = "Ben leads with $120 on the Vase.", "Vase: Ann, are you in?"
    readings = {led: {"news": [told("bid", "Vase", "Ben", 120)]}, asked: {"asked": True, "item": "Vase"}}
    opened = data(replace(OPENED[0], lots=OPENED[0].lots[::-1]))
    for before, least in ((opened, 100), (data(ask=VASE), 130), (led, 121)):
        assert heard(before, asked, readings=readings).ask.minimum == least


def test_who_is_to_name_an_amount_of_its_own_answers_though_no_price_is_told():
    words = "Sealed bids for the Vase now, please."
    listener = heard(words, readings={words: {"asked": True, "item": "Vase", "any_amount": True}})
    assert (listener.instead, listener.ask.minimum, listener.ask.maximum) == ("", 1, 500)


@pytest.mark.parametrize("value", [150, 400, 600])
def test_one_price_is_taken_just_where_that_much_would_be_bid(value):
    for price in (100, 140, 290, 390, 500):
        said = {}
        for words in ("exact", "least"):
            chat = Reader(readings={words: {"asked": True, "item": "Vase", words: price}})
            listener, player = listening(values={"Vase": value, "Lamp": 300}, chat=chat)
            hear(listener, words)
            assert (listener.ask.minimum, listener.ask.maximum) == (price, 500)
            spoken = asyncio.run(speak(listener, player))
            said[spoken.words] = spoken.action
        taken = dict.fromkeys((f"Yes, I accept ${price}.", f"I bid ${price}."), Bid(Decimal(price)))
        assert said == taken or list(said) == [f"No, not at ${price}: I decline.", "I withdraw."]
        assert said == taken or price > value / 2


def test_who_would_pay_more_than_the_one_price_takes_it_also_after_its_state_was_saved():
    listener, _ = listening()
    before = heard("In or out?", readings={"In or out?": {"asked": True, "item": "Vase", "exact": 210}})
    listener.load(json.loads(json.dumps(before.dump())))
    spoken = asyncio.run(speak(listener, Saying("I bid ${}.")))
    assert (spoken.words, spoken.action) == ("Yes, I accept $210.", Bid(Decimal(210)))


def test_other_games_are_understood_as_data_alone_and_not_played_before_their_opening_was_heard():
    asked = data(ask=Ask("Ann", "run 1", 1, Amount(Decimal(0), Decimal(100))))
    for told, said in (
        ("Good day.", "In the game 'second-price' I understand events and asks as JSON alone."),
        (asked, "I have not heard the opening of the game 'second-price', so I do not know its rules."),
    ):
        assert heard(told, game="second-price", values={}).instead == said


def test_english_that_is_too_long_is_not_read_and_the_bidder_says_so():
    longest = "x" * 20_000
    assert heard(longest, readings={longest[:8_000]: {}}).instead == ""
    listener = heard(f"{longest}x", readings={})
    assert (listener.ask, names(listener)) == (None, BEGUN)
    assert listener.instead == "I read no message of more than 20,000 characters, and this has 20,001."


def test_a_pause_is_heard():
    assert heard(data(ask=Pause("Ann"))).ask == Pause("Ann")
    unsold = heard(data(*OPENED), data(ask=Pause("Ann")), data(ItemUnsold("Lamp")), data(ask=Pause("Ann")))
    assert unsold.ask == Pause("Ann", ("Lamp",))
