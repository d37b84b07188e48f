"""The ascending auction is one value, with its board. Its bidders think with nodes that have their own prompts.

The board shows the item, its price, the active bidders and the purchases. The rules of a sale can also be built from
its log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from harbor._config.auction import AuctionConfig
from harbor._core.asking.asks import Ask, Bid, Withdraw
from harbor._core.asking.decisions import BidReply
from harbor._core.basics.numbers import dollars
from harbor._core.log.acts import Acted, Allocated, Paid, Signal
from harbor._core.log.events import (
    BiddersAsked,
    BidderSeated,
    BidderWithdrew,
    Event,
    ItemLabelled,
    Lot,
    Paused,
    SaleClosed,
)
from harbor._games.board import Mark, Picture, Rows, Shown, bids_of, doing
from harbor._games.english import measures, policy
from harbor._games.english.events import (
    ItemOpened,
    ItemSold,
    ItemUnsold,
    PriceLowered,
    RoundClosed,
    SaleOpened,
    ValueRevealed,
)
from harbor._games.english.rules import English, EnglishRules, ValuedLot
from harbor._games.english.thought_facts import STAYS, explains, standing
from harbor._games.english.thoughts import PROMPTS, THOUGHTS
from harbor._games.game import Game, Measures, Play, Seen
from harbor._games.outcomes import estimates_of, truth_per_estimate, values_of

PICTURES = (
    Picture("bids", "Price and bids", x="round", y="price", of_part=True),
    Picture("items", "Items: price, worth and profit", x="item", y="price"),
    Picture("money", "Budgets left", x="items closed", y="budget left"),
    Picture("profits", "Profits", x="items closed", y="profit so far"),
)
COLUMNS = ("bidder", "now", "items", "spent", "budget left")


class EnglishBoard:
    """The board of a sale for one viewer; the cells of budgets that the viewer does not know stay empty."""

    pictures = PICTURES

    def __init__(self) -> None:
        self._items = self._opened = 0
        self._estimates: dict[str, Mapping[str, Decimal]] = {}
        self._worths: dict[str, Decimal] = {}
        self._sold: dict[str, ItemSold] = {}
        self._profits: dict[str, Decimal] = {}
        self._bidders: tuple[str, ...] = ()
        self._headline = self._state = self._leader = ""
        self._least = self._increment = Decimal(0)
        self._rows = Rows(COLUMNS)
        self._budgets: dict[str, Decimal] = {}
        self._spent: dict[str, Decimal] = {}
        self._won: Counter[str] = Counter()

    def note(self, event: Event) -> None:
        """Process one event."""
        self._rows.put("now", doing(event))
        match event:
            case ItemLabelled(item=item, true_value=worth):
                self._worths[item] = worth
            case BidderSeated(bidder=bidder, budget=budget):
                self._budgets[bidder] = budget
                self._buy(bidder)
            case Signal(bidder=bidder, values=estimates):
                self._estimates[bidder] = estimates
            case SaleOpened(bidders=bidders, lots=lots):
                self._items, self._bidders = len(lots), bidders
                self._rows.seat(bidders)
                self._rows.fill("now", "")
                for bidder in bidders:
                    self._buy(bidder)
            case ItemOpened(item=item, start=start, increment=increment):
                self._least, self._increment = start, increment
                self._opened += 1
                self._headline = f"Item {self._opened} of {self._items}: {item}"
                self._begin(f"from {dollars(start)}, no bid yet")
            case PriceLowered(start=start, increment=increment):
                self._least, self._increment = start, increment
                self._begin(f"offered again from {dollars(start)}, no bid yet")
            case BiddersAsked(round=round):
                led = f"; {self._leader} {self._rows.of('now', self._leader)}" if self._leader else ""
                self._state = f"round {round}: at least {dollars(self._least)}{led}"
            case RoundClosed(leader=leader, price=price, round=round):
                self._least = price + self._increment
                self._state = f"round {round}: {leader} leads with {dollars(price)}"
                self._rows.put("now", {leader: f"leads with {dollars(price)}"} | self._outbid(leader))
                self._leader = leader
            case ItemSold(item=item, winner=winner, price=price):
                self._sold[item] = event
                self._won[winner] += 1
                self._spent[winner] = self._spent.get(winner, Decimal(0)) + price
                self._state = f"sold to {winner} for {dollars(price)}"
                self._rows.put("now", {winner: f"buys it for {dollars(price)}"})
                self._buy(winner)
            case ItemUnsold():
                self._state = "not sold"
            case ValueRevealed(true_value=true_value):
                self._state += f"; it was worth {dollars(true_value)}"
            case Paused(closed=closed):
                self._state += "; the bidders think" + (f" about {', '.join(closed)}" if closed else "")
            case SaleClosed():
                self._headline, self._state = "The sale is over", f"{sum(self._won.values())} of {self._items} sold"
                self._rows.fill("now", "")

    def _begin(self, state: str) -> None:
        self._state, self._leader = state, ""
        self._rows.fill("now", "in")

    def _outbid(self, leader: str) -> dict[str, str]:
        return {self._leader: "outbid"} if self._leader not in ("", leader) else {}

    def _buy(self, name: str) -> None:
        """Update the cells of a bidder: number of items, dollars spent, dollars left."""
        spent, budget = self._spent.get(name, Decimal(0)), self._budgets.get(name)
        self._rows.put("items", {name: str(self._won[name])})
        self._rows.put("spent", {name: dollars(spent)})
        self._rows.put("budget left", {name: "" if budget is None else dollars(budget - spent)})

    def marks(self, event: Event) -> Iterator[Mark]:
        """Yield the marks of an event: bids, exits and prices, items, budgets and profits."""
        yield from bids_of(event, self._least)
        match event:
            case SaleOpened():
                yield from (self._left(bidder, 0) for bidder in self._budgets)
            case ItemOpened(item=item, start=start):
                yield _level("starting price", start)
                for bidder, estimates in self._estimates.items():
                    if item in estimates:
                        yield Mark("bids", bidder, "estimate", "line", estimates[item])
                if item in self._worths:
                    yield _level("worth", self._worths[item])
            case PriceLowered(start=start):
                yield _level("starting price", start)
            case RoundClosed(price=price, round=round):
                yield Mark("bids", "price", "price", "step", price, round)
            case ItemSold(item=item, winner=winner, price=price):
                yield Mark("items", winner, "price", "bar", price, item)
                yield from (self._left(bidder, self._opened) for bidder in self._budgets)
                yield from self._valued(item)
            case ItemUnsold(item=item):
                yield Mark("items", "unsold", "starting price", "point", self._least, item)
                yield from self._valued(item)
            case ValueRevealed(item=item, true_value=worth):
                yield _level("worth", worth)
                if item not in self._worths:
                    self._worths[item] = worth
                    yield from self._valued(item)

    def _left(self, bidder: str, closed: int) -> Mark:
        left = self._budgets[bidder] - self._spent.get(bidder, Decimal(0))
        return Mark("money", bidder, "budget", "line", left, closed)

    def _valued(self, item: str) -> Iterator[Mark]:
        """Yield the worth of a closed item and the profits after it, once that worth is known."""
        if item not in self._worths:
            return
        worth, sale = self._worths[item], self._sold.get(item)
        yield Mark("items", "worth", "worth", "point", worth, item)
        if sale is not None:
            profit = worth - sale.price
            self._profits[sale.winner] = self._profits.get(sale.winner, Decimal(0)) + profit
            yield Mark("items", sale.winner, "profit", "bar", profit, item)
        for bidder in self._bidders:
            yield Mark("profits", bidder, "profit", "line", self._profits.get(bidder, Decimal(0)), self._opened)

    def shown(self) -> Shown:
        """Return the item under the hammer and the bidders."""
        return self._rows.shown(self._headline, self._state)


def _level(role: str, amount: Decimal) -> Mark:
    return Mark("bids", role, role, "line", amount)


def from_public(rules: EnglishRules, events: Sequence[Event]) -> English:
    """Make the rules of a sale from its events, with the budgets in them, or else the least budgets they allow."""
    opened = next(event for event in events if isinstance(event, SaleOpened))
    values = {event.item: event.true_value for event in events if isinstance(event, ItemLabelled)}
    values = values or {event.item: event.true_value for event in events if isinstance(event, ValueRevealed)}
    budgets = {event.bidder: event.budget for event in events if isinstance(event, BidderSeated)}
    items = tuple(ValuedLot(lot, values.get(lot.name, Decimal(0))) for lot in opened.lots)
    return English(items, budgets or least_budgets(events, opened.bidders), rules)


def least_budgets(events: Iterable[Event], bidders: Sequence[str]) -> Mapping[str, Decimal]:
    """Return the least budgets in dollars that the events allow: each bidder could pay its asks and its bids.

    Bidders that can't pay the minimum are withdrawn in seat order. So an active bidder that sits before a withdrawn one
    can pay the minimum. No smaller budget is possible. If a bidder was withdrawn although its least budget covers the
    minimum, the log contradicts itself.
    """
    least = dict.fromkeys(bidders, Decimal(0))
    spent: Counter[str] = Counter()
    minimum = increment = Decimal(0)
    active, leader = set(bidders), ""

    def could_pay(names: Iterable[str], amount: Decimal) -> None:
        for name in names:
            least[name] = max(least.get(name, amount), spent[name] + amount)

    for event in events:
        match event:
            case ItemOpened() | PriceLowered():
                minimum, increment, active, leader = event.start, event.increment, set(bidders), ""
            case RoundClosed(price=price):
                minimum, leader = price + increment, event.leader
            case BiddersAsked(bidders=asked):
                could_pay(asked, minimum)
            case Acted(bidder=bidder, act=Bid(amount=amount)):
                could_pay([bidder], amount)
            case Acted(bidder=bidder):
                active.discard(bidder)
            case BidderWithdrew(bidder=bidder):
                could_pay([name for name in _before(bidder, bidders) if name in active - {leader}], minimum)
                active.discard(bidder)
            case ItemSold(winner=winner, price=price):
                spent[winner] += price  # type: ignore[assignment]
    return {name: least[name] for name in bidders}


def _before(bidder: str, bidders: Sequence[str]) -> Sequence[str]:
    return bidders[: bidders.index(bidder)] if bidder in bidders else ()


def build(rules: EnglishRules, config: AuctionConfig) -> English:
    """Build the rules for the listed items of an auction."""
    listed = config.items if isinstance(config.items, tuple) else ()
    items = tuple(ValuedLot(Lot(item.name, item.start, item.listing), item.true_value) for item in listed)
    return English(items, {bidder.name: bidder.budget for bidder in config.bidders}, rules)


def rational(ask: Ask, seen: Seen) -> Bid | Withdraw:
    """Bid the minimum up to the expected worth of the item; never buy at a foreseeable loss.

    True values are common to all bidders. All estimates of a bidder miss them by one unknown share, so a bidder that
    bids up to its estimate falls to the winner's curse. The first revealed true value, over the estimate of that item,
    shows the share. From then on the expected worth is known except for rounding. Before that, the policy bids only
    the starting price in the first round, if the estimate is not below it, and raises nobody. If true values are
    never revealed, this holds for the whole sale. The policy ignores budgets; see the policy "knapsack".
    """
    estimates = estimates_of(seen)
    share = truth_per_estimate(estimates, values_of(seen))
    worth = estimates[ask.item] * (1 if share is None else share)
    willing = ask.minimum <= worth and (share is not None or ask.round == 1)
    return Bid(ask.minimum) if willing else Withdraw()


ENGLISH = Game(
    name="english",
    description="items are sold one after another to the highest bid, under budgets",
    settings=EnglishRules,
    build=build,
    opening=SaleOpened,
    events=(SaleOpened, ItemOpened, PriceLowered, RoundClosed, Allocated, Paid, ItemSold, ItemUnsold, ValueRevealed),
    types=(),
    play=Play(
        facts=lambda name, seen: {},  # noqa: ARG005 its thoughts tell all themselves
        system=PROMPTS / "system.md",
        prompt=PROMPTS / "bid.md",
        policy=policy.bid,
        plan="Spend the money on the items that are worth most for their probable price.",
        thoughts=THOUGHTS,
        tells=("objective", "persona_value", "recall", "profile", "mirror", "predict", "strategize"),
        reply=BidReply,
        stays=STAYS,
        explains=explains,
        standing=standing,
    ),
    rational=rational,
    measures=Measures("items", measures.standings, measures.items, public=True),
    uses=("items", "profile_over", "series", "budget", "objective", "overestimate"),
    from_public=from_public,
    acts="open",
    draws="open",
    board=EnglishBoard,
)
