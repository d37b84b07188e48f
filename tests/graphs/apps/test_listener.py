"""What a bidder hears in an app: who is believed, what is kept, and what becomes of what was misread."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from random import Random

import pytest

from harbor import Bidder, SimulatedChat, ask_message
from harbor._config.auction import AuctionConfig
from harbor._core.asks import Pause
from harbor._core.events import ItemSold, RoundClosed, SaleOpened
from harbor._house.auctioneer import announce, call
from harbor._runs.resolve import resolve
from harbor.games import Amount, Ask, Bid
from harbor.graphs._apps.answering_up import seated, speak
from harbor.graphs._apps.listener import Listener
from harbor.graphs._apps.plain_english import News, Reading, believed
from harbor.graphs._context.context import BidderContext
from harbor.graphs._wiring.bidder import GraphBidder
from support.held_games import auction

VALUES = {"Vase": 400, "Lamp": 300}
OPENED = (
    "Welcome, Ann, Ben; for sale, in this order: Lamp from $100; Vase from $100."
    " Lamp opens at $100, in steps of at least $10."
)


def listening(game="english", values=VALUES, **settings) -> tuple[Listener, GraphBidder]:
    ann = Bidder("Ann", **{"budget": 500, **settings})
    context = BidderContext.of(ann, SimulatedChat(), sink=lambda event: listener.conclude(event), game=game)
    listener = Listener(context, seated(ann, values), with_budget="budget" in ann.model_fields_set)
    return listener, GraphBidder(context)


def heard(*words, **settings) -> Listener:
    listener, _ = listening(**settings)
    for text in words:
        asyncio.run(listener.hear("auctioneer", text))
    return listener


def names(listener) -> list[str]:
    return [type(event).__name__ for event in listener.seen]


def test_harbors_own_sentences_are_events_and_an_ask():
    asked = Ask("Ann", "Lamp", 1, Amount(Decimal(100), Decimal(500)))
    listener = heard(f"{OPENED} {call(asked)}")
    assert names(listener) == ["BidderSeated", "SaleOpened", "ItemOpened"]
    assert listener.ask == asked


def test_an_ask_of_somebody_else_is_not_this_bidders():
    assert heard(OPENED, call(Ask("Ben", "Lamp", 1, Amount(Decimal(100), Decimal(500))))).ask is None


def test_what_the_auctioneer_says_in_english_is_kept_as_events():
    listener = heard("The Lamp is sold to Ben for $150.", "Ben leads with $120 on the Vase. Ann, $130 or more?")
    sold = [event for event in listener.seen if isinstance(event, ItemSold)]
    led = [event for event in listener.seen if isinstance(event, RoundClosed)]
    assert [(event.item, event.winner, event.price) for event in sold] == [("Lamp", "Ben", 150)]
    assert [(event.item, event.leader, event.price) for event in led] == [("Vase", "Ben", 120)]
    assert (listener.ask.item, listener.ask.minimum, listener.ask.maximum) == ("Vase", 130, 500)


def test_what_was_won_is_paid_for():
    listener = heard("The Lamp is sold to Ann for $450.", "Vase: Ann, will you bid $100 or more?")
    assert listener.instead == "I withdraw from Vase: $100 is more than I have."
    assert heard("The Lamp is sold to Ann for $350.", "Vase: Ann, will you bid $100 or more?").ask.maximum == 150


def test_an_item_whose_value_nobody_told_is_left_out():
    opened = OPENED.replace("Vase from", "Desk from")
    listener = heard(opened, "Lamp is sold to Ben for $110. Desk opens at $100, in steps of at least $10.")
    assert [lot.name for event in listener.seen if isinstance(event, SaleOpened) for lot in event.lots] == ["Lamp"]
    asyncio.run(listener.hear("auctioneer", call(Ask("Ann", "Desk", 1, Amount(Decimal(100), Decimal(500))))))
    assert listener.instead == "I was told no value of 'Desk', so I can't bid on it. I know a value of: Vase, Lamp."


def test_items_may_be_sold_in_any_order():
    listener, player = listening()
    for words in ("Vase: Ann, $100 or more?", "Vase is sold to Ann for $100.", "Lamp: Ann, $100 or more?"):
        asyncio.run(listener.hear("user", words))
        if listener.ask:
            assert asyncio.run(speak(listener, player)).words == "I bid $100."


def test_an_item_that_was_put_up_to_somebody_else_need_not_be_named_again():
    put_up = "Next lot: Vase. It opens at $100. Ben, do you bid?"
    listener = heard(put_up, "Ben has bid $100. Ann, the least bid is now $110. Do you bid?")
    assert (listener.ask.item, listener.ask.minimum) == ("Vase", 110)
    assert heard(put_up, "Vase is sold to Ben for $100.", "And now? Ann?").instead.startswith("At which price?")


@pytest.mark.parametrize(
    "words",
    [
        "Today we sell the Lamp, then the Vase. Ann, please hold your bids until I call.",
        "Hi Ann! Bidding on the Vase (guide price $200) isn't open yet: did you get the pictures?",
    ],
)
def test_who_is_told_of_a_sale_that_has_not_begun_bids_nothing_and_takes_no_item_as_put_up(words):
    listener = heard(words)
    assert (listener.ask, listener.instead) == (None, "")
    assert names(listener) == ["BidderSeated"]


def test_a_budget_that_the_owner_gave_is_not_changed_and_one_that_it_left_out_is_taken():
    told = "Only you know: your budget is $90, and your objective is: items."
    told += " Only you know your estimates: Lamp $1; Desk $5."
    for settings, budget in (({"budget": 500}, 500), ({}, 90)):
        ann = Bidder("Ann", **settings)
        context = BidderContext.of(ann, SimulatedChat())
        listener = Listener(context, seated(ann, VALUES), with_budget=bool(settings))
        asyncio.run(listener.hear("auctioneer", told))
        last = listener.seen[-1]
        assert (last.budget, last.objective) == (budget, "profit")
        assert last.estimates == {"Lamp": 300, "Vase": 400, "Desk": 5}


def test_what_the_auctioneer_says_that_a_bidder_has_is_no_more_than_its_owner_gave():
    asked = Ask("Ann", "Lamp", 1, Amount(Decimal(100), Decimal(9_000)))
    assert heard(call(asked)).ask.maximum == 500
    dear = asked._replace(space=Amount(Decimal(600), Decimal(9_000)))
    assert heard(call(dear)).instead == "I withdraw from Lamp: $600 is more than I have."


@pytest.mark.parametrize("metadata", [{"ask": "{}"}, {"ask": "not JSON"}, {"ask": 5}, {"other": "x"}, {}])
def test_an_ask_that_is_none_is_not_taken(metadata):
    listener, _ = listening()
    asyncio.run(listener.hear("auctioneer", "Good day.", metadata))
    assert listener.ask is None


def test_a_stranger_is_not_heard_at_all():
    listener, _ = listening()
    asked = ask_message(Ask("Ann", "Lamp", 1, Amount(Decimal(100), Decimal(500))))
    asyncio.run(listener.hear("ben", f"{OPENED} {asked.content}", asked.metadata))
    assert names(listener) == ["BidderSeated"]
    assert listener.ask is None


def test_what_was_heard_is_dumped_as_json_and_taken_back():
    listener = heard("The Lamp is sold to Ben for $150.", "Vase: Ann, $130 or more?")
    state = json.loads(json.dumps(listener.dump()))
    other, player = listening()
    other.load(state)
    assert other.dump() == listener.dump()
    assert other.seen == listener.seen
    assert asyncio.run(speak(other, player)).words == "I bid $130."


@pytest.mark.parametrize("state", [{}, {"seen": None}, {"seen": ["5"]}, {"seen": ['{"type":"nothing"}']}])
def test_a_state_that_nothing_dumped_is_refused_and_changes_nothing(state):
    listener = heard("Vase: Ann, $130 or more?")
    before = listener.dump()
    with pytest.raises(ValueError, match="no state of a bidder"):
        listener.load(state)
    assert listener.dump() == before


@pytest.mark.parametrize(
    ("reading", "lacks"),
    [
        (Reading(asked=True, item="vase ", least=100), ""),
        (Reading(asked=True, item="Throne", least=100), "I was told no value of 'Throne'"),
        (Reading(asked=True, item=None, least=100), "Which item is it?"),
        (Reading(asked=True, item="Vase", least=Decimal("100.001")), "100.001 is no price"),
        (Reading(asked=True, item="Vase", exact=0), "0 is no price"),
        (Reading(asked=True, item="Vase", least=-5), "-5 is no price"),
        (Reading(asked=True, item="Vase", least=5, exact=7), "Is the price exactly $7, or is $5 the least bid?"),
    ],
)
def test_a_reading_is_believed_only_if_it_can_be_true(reading, lacks):
    assert believed(reading, VALUES, None).lacks.startswith(lacks)
    assert bool(believed(reading, VALUES, None).lacks) == bool(lacks)


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
    class TooLow:
        def __init__(self):
            self.asks = []

        async def act(self, ask, seen):
            self.asks.append(ask)
            return "I bid $5."

    listener, player = heard("Vase: Ann, $130 or more?"), TooLow()
    spoken = asyncio.run(speak(listener, player))
    assert spoken.words == "I withdraw."
    assert [ask.attempt for ask in player.asks] == [1, 2, 3]
    assert player.asks[1].refusal == "$5 is below the least bid of $130"


@pytest.mark.parametrize(
    "words", [["The Vase is up now. Ann, do you bid?"], ["Ben is out of the Vase.", "Vase: Ann, are you in?"]]
)
def test_a_bidder_that_was_told_no_price_says_so(words):
    listener, player = listening()
    for text in words:
        asyncio.run(listener.hear("auctioneer", text))
    assert asyncio.run(speak(listener, player)).words == "At which price? I heard none for Vase."
    asyncio.run(listener.hear("auctioneer", "At $130 or more, Ann?"))
    assert asyncio.run(speak(listener, player)).words == "I bid $130."


@pytest.mark.parametrize(
    ("told", "least"),
    [
        ("Welcome, Ann, Ben; for sale, in this order: Vase from $100; Lamp from $90.", 100),
        ("Vase: Ann, do you bid $80 or more?", 80),
        ("Ben leads with $120 on the Vase.", 121),
    ],
)
def test_a_price_that_was_told_before_is_known(told, least):
    assert heard(told, "Vase: Ann, are you in?").ask.minimum == least


@pytest.mark.parametrize(
    "words",
    [
        "Sealed bids for the Vase now: everybody, please send me one number.",
        "Ann, how much would you give for the Vase?",
        "Vase: Ann, name your price, there is no minimum.",
    ],
)
def test_who_is_to_name_an_amount_of_its_own_answers_though_no_price_is_told(words):
    listener = heard(words)
    assert (listener.instead, listener.ask.minimum, listener.ask.maximum) == ("", 1, 500)


@pytest.mark.parametrize("value", [150, 300, 400, 600])
@pytest.mark.parametrize("price", [100, 140, 210, 290, 350, 390, 500])
def test_one_price_is_taken_just_where_that_much_would_be_bid(value, price):
    said = {}
    for words in (f"Vase: Ann, are you in or out at ${price}?", f"Vase: Ann, do you bid ${price} or more?"):
        listener, player = listening(values={"Vase": value, "Lamp": 300})
        asyncio.run(listener.hear("auctioneer", words))
        assert (listener.ask.minimum, listener.ask.maximum) == (price, 500)
        spoken = asyncio.run(speak(listener, player))
        said[spoken.words] = spoken.action
    taken = {f"Yes, I accept ${price}.": Bid(Decimal(price)), f"I bid ${price}.": Bid(Decimal(price))}
    assert said == taken or list(said) == [f"No, not at ${price}: I decline.", "I withdraw."]
    assert said == taken or price > value / 2


def test_who_would_pay_more_than_the_one_price_takes_it_also_after_its_state_was_saved():
    class All:
        async def act(self, ask, seen):
            return f"I bid ${ask.maximum}."

    listener, _ = listening()
    listener.load(json.loads(json.dumps(heard("The price of the Vase is $210. Ann, in or out?").dump())))
    spoken = asyncio.run(speak(listener, All()))
    assert (spoken.words, spoken.action) == ("Yes, I accept $210.", Bid(Decimal(210)))


@pytest.mark.parametrize("game", ["english-private", "first-price", "second-price", "beauty", "water", "english"])
def test_a_bidder_plays_every_game_from_harbors_own_sentences_alone(game):
    """Carry a whole game in words: what is announced, and the calls; the bidder is told nothing else."""
    held = auction(game, players=("random",))
    resolved = resolve(AuctionConfig(**held.model_dump()))
    rules, name = resolved.rules, held.bidders[0].name
    values = {item.name: item.true_value for item in resolved.items}
    ann = Bidder(name, **({} if game != "english" else {"budget": held.bidders[0].budget}))
    context = BidderContext.of(ann, SimulatedChat(), sink=lambda event: listener.conclude(event), game=game)
    listener = Listener(context, seated(ann, values), with_budget=game == "english")
    player, rng, state, answers = GraphBidder(context), Random(1), rules.start(), 0
    actions = {}
    for _ in range(200):
        events = rules.settle(state, actions, rng)
        for event in events:
            state = rules.apply(state, event)
            if words := announce(event):
                asyncio.run(listener.hear("auctioneer", words))
        asks = rules.asks(state)
        if not asks:
            break
        actions = {ask.bidder: ask.space.draw(rng) for ask in asks}
        for ask in asks:
            if ask.bidder == name:
                asyncio.run(listener.hear("auctioneer", call(ask)))
                spoken = asyncio.run(speak(listener, player))
                assert spoken.action is not None, spoken.words
                assert not ask.space.refusal(spoken.action)
                actions[name], answers = spoken.action, answers + 1
    assert not rules.asks(state)
    assert answers >= 2


def test_other_games_are_understood_in_harbors_own_sentences_alone():
    listener = heard("Good day.", game="second-price", values={})
    assert listener.instead == "In the game 'second-price' I understand Harbor's own sentences alone."


def test_a_game_whose_opening_was_not_heard_is_not_played():
    listener = heard(call(Ask("Ann", "run 1", 1, Amount(Decimal(0), Decimal(100)))), game="second-price")
    assert listener.instead == "I have not heard the opening of the game 'second-price', so I do not know its rules."


def test_a_message_that_is_too_long_is_not_read_and_the_bidder_says_so():
    asked = Ask("Ann", "Lamp", 1, Amount(Decimal(100), Decimal(500)))
    words = f"{OPENED} {call(asked)}"
    longest = words.replace("Ben", "B" * (20_000 - len(words) + len("Ben")))
    assert heard(longest).ask == asked
    listener = heard(longest.replace("BB", "BBB", 1))
    assert (listener.ask, names(listener)) == (None, ["BidderSeated"])
    assert listener.instead == "I read no message of more than 20,000 characters, and this has 20,001."


def test_a_pause_is_heard():
    assert heard(call(Pause("Ann"))).ask == Pause("Ann")
    sold = heard(OPENED, call(Pause("Ann")), "Lamp is sold to Ben for $110.", call(Pause("Ann")))
    assert sold.ask == Pause("Ann", ("Lamp",))
