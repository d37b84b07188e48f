"""One leak for each channel and each secret is planted in the product, and the audit finds it where it is."""

from dataclasses import replace
from functools import partial

import pytest
from autogen_agentchat.messages import TextMessage

import harbor._room.room as room
from harbor import Auction, Bidder, Item
from harbor._audit.auditing import HOUSE, audited
from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Ask, Bid
from harbor._core.log.acts import ActedSealed, Signal
from harbor._core.log.events import BidderSeated, CatalogShown, Event, ItemLabelled
from harbor._core.log.thoughts import Planned
from harbor._games.english.events import SaleOpened
from harbor._games.english.rules import English
from harbor._games.policies import MinimumRaise
from harbor._games.sessions.private_games import PrivateValues
from harbor._house.auctioneer import Sale
from harbor._room.seats import AUCTIONEER, Seat, ask_message
from harbor._runs import opening
from harbor.graphs._context.context import NodeContext
from harbor.graphs._nodes.recall import RECALLS
from harbor.testing import check_secrets

KNOWN: dict[type[Event], dict[str, Event]] = {}
"""What the planted code knows and should not: the last event of each kind, by bidder or item."""


@pytest.fixture(autouse=True)
def _everything_is_known(monkeypatch):
    record, sales = Sale.record, []

    def overheard(sale, *events):
        if sales[-1:] != [sale]:  # what is known of one game says nothing of the next
            sales.append(sale)
            KNOWN.clear()
        for event in events:
            KNOWN.setdefault(type(event), {})[getattr(event, "bidder", getattr(event, "item", ""))] = event
            record(sale, event)

    monkeypatch.setattr(Sale, "record", overheard)


def english(*lots, **ann):
    """A sale of an item, or of those named, to two minds and a script."""
    items = [Item(name=name, start=1_000, true_value=2_000 + at) for at, name in enumerate(lots or ("Lot A",))]
    minds = ("Ann", "urban-dwellers", 4_000), ("Ben", "rural-home-seekers", 5_000)
    bidders = [Bidder(name, persona=persona, budget=budget, **ann) for name, persona, budget in minds]
    return Auction(items=items, bidders=[*bidders, Bidder("Cho", rule="minimum-raise", budget=6_000)])


def sealed(show="actions", game="second-price"):
    """Three runs of a sealed auction between two minds and a script."""
    bidders = [Bidder("Ann"), Bidder("Ben"), Bidder("Cho", rule="rational")]
    return Auction(rules={"game": game, "runs": 3, "show": show}, bidders=bidders)


def crossed(config, *secrets):
    """Each leak: the secret, whose it is, who is told, and over which channel."""
    return {(leak.secret, leak.whose, leak.seat, leak.channel) for leak in audited(config, secrets).leaks}


def tell_ben_in_prompts(monkeypatch, secret):
    """Tell Ben a secret, in each prompt."""
    identity = NodeContext.identity

    def telling(node, view):
        return {**identity(node, view), "leaked": repr(secret()) if view.name == "Ben" else ""}

    monkeypatch.setattr(NodeContext, "identity", telling)


def of(kind, bidder="Ann"):
    return KNOWN.get(kind, {}).get(bidder)


def budget_of_ann():
    return str(of(BidderSeated).budget)


@pytest.mark.parametrize(("secret", "config", "known"), [
    ("budget", english, budget_of_ann), ("persona", english, lambda: of(BidderSeated).personas),
    ("thoughts", english, lambda: of(Planned)), ("thoughts", english, lambda: of(Planned).priorities),
    ("bid", partial(sealed, "nothing", "first-price"), lambda: of(ActedSealed)), ("told", sealed, lambda: of(Signal)),
], ids=["budget", "persona", "plan", "its numbers", "sealed bid", "what the rules tell"])  # fmt: skip
def test_a_secret_in_the_facts_of_a_prompt_is_found(secret, config, known, monkeypatch):
    tell_ben_in_prompts(monkeypatch, known)
    assert crossed(config(), secret) == {(secret, "Ann", "Ben", "prompt")}


def test_the_first_difference_is_shown_with_the_text_around_it_and_fails_a_test_of_ones_own(monkeypatch):
    assert check_secrets(english(), ("budget",)).leaks == []
    tell_ben_in_prompts(monkeypatch, budget_of_ann)
    [leak] = audited(english(), ("budget",)).leaks
    assert ("4000" in leak.before, "6000.37" in leak.now) == (True, True)
    assert (leak.compared, leak.events) == (leak.events, leak.events)
    with pytest.raises(AssertionError, match=r"budget of 'Ann' crosses to 'Ben'"):
        check_secrets(english(), ("budget",))


def test_an_estimate_or_a_true_value_in_an_announcement_is_found(monkeypatch):
    told_to = room.told_to

    def telling(bidder, event):
        more = [f"Ann guesses {of(Signal).values}, and {of(ItemLabelled, 'Lot B')}."]
        return told_to(bidder, event) + (more if isinstance(event, SaleOpened) else [])

    monkeypatch.setattr(room, "told_to", telling)
    assert crossed(english("Lot A", "Lot B"), "true value", "estimates") == {
        *(("true value", HOUSE, seat, "message") for seat in ("Ann", "Ben", "Cho")),
        *(("estimates", "Ann", seat, "message") for seat in ("Ben", "Cho")),
    }


def test_the_ask_of_another_in_the_metadata_of_a_message_is_found(monkeypatch):
    call_on = room.Auctioneer._call_on

    def telling(auctioneer, ask):
        call_on(auctioneer, ask)
        if isinstance(ask, Ask) and ask.bidder == "Ben":
            rules, state = auctioneer._sale.rules, auctioneer._sale.state
            others = [ask_message(one).metadata["ask"] for one in rules.asks(state) if one.bidder == "Ann"]
            message = TextMessage(content="News.", source=AUCTIONEER, metadata={"others": str(others)})
            auctioneer._seats["Ben"]._heard.insert(0, message)

    monkeypatch.setattr(room.Auctioneer, "_call_on", telling)
    assert crossed(english(), "budget") == {("budget", "Ann", "Ben", "message")}


def test_a_budget_in_a_refusal_is_found(monkeypatch):
    refusal = Amount.refusal

    def telling(space, action):
        wrong = refusal(space, action)
        return f"{wrong}, and Ann has {budget_of_ann()}" if wrong else ""

    def decide(_, ask, __):
        return Bid(ask.minimum if ask.attempt > 1 else ask.maximum + 1)

    monkeypatch.setattr(Amount, "refusal", telling)
    monkeypatch.setattr(MinimumRaise, "decide", decide)
    assert {leak[:3] for leak in crossed(english(), "budget")} == {("budget", "Ann", "Cho")}


def test_a_private_event_that_goes_to_another_is_found(monkeypatch):
    events = opening.opening_events

    def telling(auction):
        return [*events(auction), CatalogShown("Ben", {"Ann": str(auction.bidders[0].settings.objective)})]

    monkeypatch.setattr(opening, "opening_events", telling)
    assert crossed(english(), "objective") == {("objective", "Ann", "Ben", "event")}


def test_the_text_of_an_error_that_tells_a_budget_is_found(monkeypatch):
    def decide(*_):
        raise RuntimeError(f"Ann has {budget_of_ann()}")

    monkeypatch.setattr(MinimumRaise, "decide", decide)
    assert crossed(english(), "budget") == {("budget", "Ann", "Cho", "error")}


@pytest.mark.parametrize(("channel", "changed"), [
    ("order", lambda rules, asks: sorted(asks, key=lambda ask: -rules.budgets[ask.bidder])),
    ("event", lambda rules, asks: [one for one in asks if one.bidder != "Cho" or rules.budgets["Ann"] < 6_000]),
])  # fmt: skip
def test_whom_the_house_asks_and_in_which_order_must_not_hang_on_a_budget(channel, changed, monkeypatch):
    asks = English.asks
    monkeypatch.setattr(English, "asks", lambda rules, state: changed(rules, asks(rules, state)))
    assert crossed(english(), "budget") >= {("budget", "Ann", seat, channel) for seat in ("Ben", "Cho")}


@pytest.mark.slow
@pytest.mark.parametrize("recalled", ["list", "episodes", "full"])
def test_a_memory_that_another_bidder_recalls_is_found(monkeypatch, recalled):
    recall = RECALLS[recalled]
    monkeypatch.setitem(RECALLS, recalled, lambda memory, view: recall(replace(memory, bidder="Ann"), view))
    assert crossed(english(memory=recalled, learning=True), "memory") == {("memory", "Ann", "Ben", "memory")}


def test_a_sealed_bid_that_another_hears_in_the_room_is_found(monkeypatch):
    answer, hear = Seat.on_messages, {}

    async def telling(seat, messages, token):
        if seat.bidder == "Ann" and not of(ActedSealed):
            hear.clear()
        if seat.bidder == "Cho":
            seat._heard.append(TextMessage(content=f"Ann says {hear.get('Ann')}", source=AUCTIONEER))
        response = await answer(seat, messages, token)
        words = response.chat_message.to_text()
        hear[seat.bidder] = words if "bid" in words else hear.get(seat.bidder)
        return response

    monkeypatch.setattr(Seat, "on_messages", telling)
    assert ("bid", "Ann", "Cho", "message") in crossed(sealed("nothing", "first-price"), "bid")


def test_a_private_value_in_the_note_of_an_ask_is_found(monkeypatch):
    worth = PrivateValues.worth

    def telling(rules, bidder, number):
        more = f"Ann's is {rules.values['Ann'][number - 1]}; " if bidder == "Ben" else ""
        return worth(rules, bidder, number) + more

    monkeypatch.setattr(PrivateValues, "worth", telling)
    assert crossed(sealed(), "value") == {("value", "Ann", "Ben", "ask")}
