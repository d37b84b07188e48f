"""Random games of every kind. Each settlement is checked against the rules of the game, from its events alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

from harbor._config.auction import AuctionConfig
from harbor._core.asking.asks import Action, Ask, Bid
from harbor._core.log.acts import HOUSE, Acted, Allocated, AllocatedSealed, Paid, PaidSealed
from harbor._core.log.events import Event
from harbor._core.plugins.finding import find
from harbor._games.beauty.rules import PrizeAwarded
from harbor._games.english.events import ItemOpened, ItemSold, ItemUnsold, PriceLowered
from harbor._games.game import build
from harbor._games.mechanism import Chance, acts_of, drawn
from harbor._games.sessions.measures import Sessions
from harbor._games.sessions.private_games import ItemAllotted
from harbor._games.sessions.session import broke_a_rule
from harbor._games.water.rules import DayClosed

Actions = Mapping[str, Action]
MOST_TURNS = 20_000
PLAYERS = ("Zoe", "Alex", "Moe", "Bob", "Lea", "Ann")


def settle_games(game: str, settlements: int, seed: int) -> int:
    """Play games until `settlements` settlements are checked. Return the number of games.

    Raises:
        AssertionError: a settlement breaks a rule, or a game does not end.
    """
    rng, games = Random(f"{game} {seed}"), 0
    while settlements > 0:
        settlements -= _play(game, rng)
        games += 1
    return games


def _play(game: str, rng: Random) -> int:
    config = _config(game, rng)
    rules, check = build(config), CHECKS[game](config)
    state, turns, actions = rules.start(), 0, dict[str, Action]()
    while True:
        asks = rules.asks(state)
        if turns and not asks:
            return turns
        assert turns or not asks, "somebody is asked before the opening"
        assert turns < MOST_TURNS, f"{config!r} does not end"
        actions = {ask.bidder: drawn(ask, rng) for ask in asks}
        acts = acts_of(asks, actions, find("game", game).acts)
        for act in acts:
            state = rules.apply(state, act)
        events = [*acts, *rules.settle(state, actions, Chance(rng))]
        check(asks, actions, events)
        for event in events[len(acts) :]:
            state = rules.apply(state, event)
        turns += 1


def _config(game: str, rng: Random) -> AuctionConfig:
    names = PLAYERS[: rng.randint(2, 5)]
    seats: list[dict[str, Any]] = [{"name": name, "rule": "rational"} for name in names]
    rules: dict[str, Any] = {"game": game}
    given: dict[str, Any] = {}
    if game == "english":
        for seat in seats:
            seat["budget"] = rng.choice([rng.randint(1, 400), rng.randint(400, 6_000)])
        rules |= {"lowerings": rng.randint(0, 3), "increment_share": rng.choice([0.05, 0.1, 0.5])}
        given["items"] = [
            {"name": f"Item {number}", "start": rng.randint(1, 900), "true_value": rng.randint(1, 2_000)}
            for number in range(rng.randint(1, 5))
        ]
    elif game == "water":
        least = rng.randint(0, 20)
        rules |= {"days": rng.randint(1, 20), "supply": (least, max(12, least + rng.randint(0, 20)))}
        rules["residents"] = {
            name: {"need": rng.randint(1, 12), "salary": rng.choice([1, 10, 70, 100])} for name in names
        }
    else:
        rules |= {"runs": rng.randint(1, 8), "show": rng.choice(["nothing", "actions", "actions and values"])}
        if game == "beauty":
            rules |= {"fraction": rng.choice(["1/2", "2/3", "1"]), "prize": rng.choice([Decimal("0.01"), 1, 100])}
    return AuctionConfig(seed=rng.getrandbits(32), bidders=seats, rules=rules, **given)


def _english(config: AuctionConfig) -> Callable[[Sequence[Ask], Actions, Sequence[Event]], None]:
    """Keep the books of an ascending auction: the money of each bidder, the bids on the item, and the sales."""
    left = {bidder.name: bidder.budget for bidder in config.bidders}
    bids, settled, start = dict[str, Decimal](), set[str](), Decimal(0)

    def check(asks: Sequence[Ask], actions: Actions, events: Sequence[Event]) -> None:
        nonlocal start
        highest = max(bids.values(), default=Decimal(0))
        for event in events:
            match event:
                case ItemOpened(item=item, start=price) | PriceLowered(item=item, start=price):
                    assert isinstance(event, ItemOpened) or price < start, event
                    start = price
                    bids.clear()
                case Acted(bidder=bidder, act=Bid(amount=amount)):
                    assert Bid(amount) == actions[bidder], event
                    assert max(start, highest + 1) <= amount <= left[bidder], event
                    bids[bidder] = amount
                case ItemSold(item=item, winner=winner, price=price):
                    assert item not in settled, event
                    traded = [one for one in events if isinstance(one, Allocated | Paid)]
                    assert traded == [Allocated(winner, item), Paid(winner, HOUSE, item, price)], events
                    assert price == bids[winner] == max(bids.values()), event
                    settled.add(item)
                    left[winner] -= price
                    assert left[winner] >= 0, event
                case ItemUnsold(item=item):
                    assert item not in settled, event
                    assert not bids, event
                    settled.add(item)

    return check


def _sealed(config: AuctionConfig) -> Callable[[Sequence[Ask], Actions, Sequence[Event]], None]:
    """Check the winner of an item under private values and its payment, and that others pay nothing but a fee."""
    rules: Any = config.rules
    names = [bidder.name for bidder in config.bidders]
    clock, accepted, broke = rules.game == "english-private", dict[str, Decimal](), set[str]()
    sessions = Sessions()

    def check(asks: Sequence[Ask], actions: Actions, events: Sequence[Event]) -> None:
        for ask in asks:
            if isinstance(action := actions[ask.bidder], Bid):
                assert action.amount <= ask.maximum, ask
                accepted[ask.bidder] = action.amount
            elif broke_a_rule(action):
                broke.add(ask.bidder)
        closed = [event for event in events if isinstance(event, ItemAllotted)]
        past = [past for event in events if (past := sessions.note(event)) is not None]
        assert len(past) == len(closed) <= 1, events
        if not past:
            assert not _moved(events), events
            return
        settled = past[0].results
        assert [one.bidder for one in settled] == names, settled
        assert {one.bidder for one in settled if one.fee} == broke, settled
        is_shown = clock or rules.shown != "nothing"  # all bidders hear a clock
        _check_outcomes(events, closed[0].item, {one.bidder: one.paid for one in settled if one.won}, is_shown)
        bids = sorted(accepted.items(), key=lambda bid: (-bid[1], names.index(bid[0])))
        winners = [one for one in settled if one.won]
        assert [one.bidder for one in winners] == [name for name, _ in bids[:1]], (bids, settled)
        for one in settled:
            assert one.action == accepted.get(one.bidder), one
            assert one.fee >= 0, one
            assert one.won or one.paid == 0, one
        if winners:
            second = bids[1][1] if len(bids) > 1 else None
            price = _price(rules.game, bids[0][1], second, winners[0].paid if clock else Decimal(0))
            assert winners[0].paid == price <= bids[0][1], (bids, winners)
        accepted.clear()
        broke.clear()

    return check


def _moved(events: Sequence[Event]) -> list[Event]:
    """Return the events by which units or money change hands."""
    return [one for one in events if isinstance(one, Allocated | AllocatedSealed | Paid | PaidSealed)]


def _check_outcomes(events: Sequence[Event], item: str, won: Mapping[str, Decimal], is_shown: bool) -> None:
    """Check that only the item, its price and a fee change hands, and who learns of it."""
    of_trade = [one for one in _moved(events) if not getattr(one, "fee", False)]
    for name, price in won.items():
        [got, paid] = of_trade
        assert (got.bidder, got.item, got.units) == (name, item, 1), got
        assert (paid.payer, paid.payee, paid.item, paid.amount) == (name, HOUSE, item, price), paid
    assert len(of_trade) == 2 * len(won), events
    for one in _moved(events):
        who = getattr(one, "bidder", "") or one.payer
        is_sealed = not is_shown or getattr(one, "fee", False)
        assert getattr(one, "seats", None) == ((who,) if is_sealed else None), one


def _price(game: str, first: Decimal, second: Decimal | None, least: Decimal) -> Decimal:
    """Return the winner's payment. `least` is the payment of a single bidder, the first price of a clock."""
    if game == "first-price":
        return first
    return least if second is None else second


def _water(config: AuctionConfig) -> Callable[[Sequence[Ask], Actions, Sequence[Event]], None]:
    """Check that a day's water goes to the highest bids that fit, and that salaries are the only new money."""
    rules: Any = config.rules
    money = {bidder.name: Decimal(0) for bidder in config.bidders}
    supply = 0

    def check(asks: Sequence[Ask], actions: Actions, events: Sequence[Event]) -> None:
        nonlocal supply
        closed = [event for event in events if isinstance(event, DayClosed)]
        for day in closed:
            for name in day.statuses:
                money[name] += rules.residents[name].salary
            needs = {name: rules.residents[name].need for name in day.statuses}
            legal = {ask.bidder: one.amount for ask in asks if isinstance(one := actions[ask.bidder], Bid)}
            assert set(day.served) <= set(legal), day
            assert sum(needs[name] for name in day.served) <= supply, day
            for name in day.served:
                money[name] -= legal[name]
            of_day = [one for name in day.served for one in _served(name, needs[name], legal[name], day.item)]
            assert _moved(events) == of_day, events
            left = supply - sum(needs[name] for name in day.served)
            for name in set(legal) - set(day.served):  # an unserved bidder was not ahead of one that fit
                above = sum(needs[one] for one in day.served if legal[one] >= legal[name])
                assert needs[name] > supply - above or needs[name] > left, day
            for name, status in day.statuses.items():
                assert status.balance == money[name] >= 0, day
                assert 0 <= status.health <= 10, day
        supply = next((event.supply for event in events if hasattr(event, "supply")), supply)

    return check


def _served(name: str, need: int, bid: Decimal, item: str) -> list[Event]:
    """Return the events about a resident that is served."""
    return [Allocated(name, item, Decimal(need)), Paid(name, HOUSE, item, bid)]


def _beauty(config: AuctionConfig) -> Callable[[Sequence[Ask], Actions, Sequence[Event]], None]:
    """Check that the whole prize goes to the numbers closest to the target."""
    rules: Any = config.rules
    sessions = Sessions()

    def check(asks: Sequence[Ask], actions: Actions, events: Sequence[Event]) -> None:
        settled = [one for event in events if (past := sessions.note(event)) is not None for one in past.results]
        assert len([event for event in events if isinstance(event, PrizeAwarded)]) == bool(settled), events
        assert [one.bidder for one in settled] in ([], [bidder.name for bidder in config.bidders]), settled
        paid = {one.payee: one.amount for one in _moved(events) if one.payer == HOUSE}
        assert paid == {one.bidder: one.assets for one in settled if one.won}, events
        assert len(paid) == len(_moved(events)), events
        picked = {one.bidder: one.action for one in settled if one.action is not None}
        assert picked == {
            ask.bidder: one.amount for ask in asks if settled and isinstance(one := actions[ask.bidder], Bid)
        }
        if settled:
            assert sum(one.assets for one in settled) == (rules.prize if picked else 0), settled
        if picked:
            aim = rules.fraction * sum(map(Fraction, picked.values())) / len(picked)
            nearest = min(abs(Fraction(number) - aim) for number in picked.values())
            for one in settled:
                near = one.action is not None and abs(Fraction(one.action) - aim) == nearest
                assert one.won == near, (one, aim)

    return check


CHECKS = {
    "english": _english,
    "water": _water,
    "beauty": _beauty,
    "first-price": _sealed,
    "second-price": _sealed,
    "english-private": _sealed,
}
