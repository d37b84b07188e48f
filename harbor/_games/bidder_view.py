"""A `View` holds all that a bidder has observed of a game, and a `Part` its observations of one item, run or day.

Views and parts are computed from the events that the bidder has seen, and from nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from harbor._config.thinking import MindSettings
from harbor._core.asking.asks import Ask, Pause
from harbor._core.basics.actions import Accept, Bid, BundleBid
from harbor._core.basics.numbers import to_cents
from harbor._core.log.acts import HOUSE, Acted, ActedSealed, Allocated, AllocatedSealed, Paid, PaidSealed, Signal
from harbor._core.log.events import (
    BiddersAsked,
    BidderSeated,
    CatalogShown,
    Event,
    Listed,
    Lot,
    LotClosed,
    LotOpened,
    PublicEvent,
    WorthTold,
)
from harbor._core.log.thoughts import Belief, Win

Fields = dict[str, Any]
V = TypeVar("V")
A = TypeVar("A", Acted, ActedSealed)
OUTCOMES = (Allocated, AllocatedSealed, Paid, PaidSealed, Acted, WorthTold)
"""The events that may add facts to a part that is over."""


@dataclass(frozen=True, slots=True)
class Part:
    """A bidder's observations of one part of a game: an item, a run or a day.

    `item` is the name of the item, run or day. `events` are the events of this part that the bidder has seen. `got` has
    the units that each bidder got, and `paid` the dollars that each bidder paid, as far as this bidder was told.
    `true_value` is None unless it was revealed.

    >>> Part("vase", got={"Ann": Decimal(1)}, paid={"Ann": Decimal(30)}).price
    Decimal('30')
    """

    item: str
    events: tuple[Event, ...] = ()
    got: Mapping[str, Decimal] = field(default_factory=dict)
    paid: Mapping[str, Decimal] = field(default_factory=dict)
    true_value: Decimal | None = None

    @property
    def winner(self) -> str | None:
        """The bidder that got units of the item; None if no bidder or more than one bidder got any."""
        return next(iter(self.got)) if len(self.got) == 1 else None

    @property
    def price(self) -> Decimal | None:
        """The dollars that the winner paid; None if there is no single winner."""
        return None if self.winner is None else self.paid.get(self.winner, Decimal(0))

    @property
    def bids(self) -> tuple[tuple[int, str, Decimal], ...]:
        """The public bids in this part, each as (round, bidder, amount).

        A bidder that accepts a price which the auctioneer called has made a bid of that price.
        """
        return tuple((one.round, one.bidder, amount) for one, amount in self._amounts(Acted))

    def bids_of(self, bidder: str) -> list[tuple[int, Decimal]]:
        """List the bids that `bidder` made in this part, each as (round, amount).

        The bidder's sealed bids, as far as they were seen, are listed only if it made no public bid.
        """
        shown = [(turn, amount) for turn, name, amount in self.bids if name == bidder]
        return shown or [(one.round, amount) for one, amount in self._amounts(ActedSealed) if one.bidder == bidder]

    @property
    def asked(self) -> frozenset[str]:
        """The bidders that were asked in this part."""
        return frozenset(name for one in self.events if isinstance(one, BiddersAsked) for name in one.bidders)

    def _amounts(self, kind: type[A]) -> Iterator[tuple[A, Decimal]]:
        called: Decimal | None = None
        for event in self.events:
            if isinstance(event, kind):
                amount = called if isinstance(event.act, Accept) else getattr(event.act, "amount", None)
                if isinstance(event.act, Bid | BundleBid | Accept) and amount is not None:
                    yield event, amount
            elif isinstance(event, PublicEvent) and event.called is not None:
                called = event.called

    def highest_bid(self, bidder: str) -> Decimal | None:
        """Return the highest bid in this part that `bidder` was seen to make; None if it was seen to make none."""
        return max((amount for _, amount in self.bids_of(bidder)), default=None)


def after_event(part: Part, event: Event) -> Part:
    """Return a part after an event about it."""
    changes: Fields = {"events": (*part.events, event)}
    match event:
        case Allocated(bidder=bidder, units=units) | AllocatedSealed(bidder=bidder, units=units):
            changes["got"] = {**part.got, bidder: part.got.get(bidder, Decimal(0)) + units}
        case Paid(payer=payer, amount=amount, fee=False) | PaidSealed(payer=payer, amount=amount, fee=False) if (
            payer != HOUSE
        ):
            changes["paid"] = {**part.paid, payer: part.paid.get(payer, Decimal(0)) + amount}
        case WorthTold(true_value=value):
            changes["true_value"] = value
    return changed(part, changes)


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    names = tuple(one.name for one in fields(kind))
    return names, attrgetter(*names)


def changed(value: V, changes: Fields) -> V:
    """Return a copy with other fields, in half the time of `replace`, since most events change a view."""
    kind: Any = type(value)
    names, get = _fields(kind)
    made: V = kind(**dict(zip(names, get(value), strict=True)) | changes)
    return made


USUAL = MindSettings()
E = TypeVar("E", bound=Event)
Seen = Sequence[Event]
"""The events that one bidder has seen, in order."""


class Outlook(NamedTuple):
    """The future of a player in a game.

    `rivals` are the rivals whose next action is worth a forecast. `goes_on` says whether the player will act again.

    >>> Outlook(("Ben",)).goes_on
    True
    """

    rivals: tuple[str, ...] = ()
    goes_on: bool = True


def no_outlook(name: str, seen: Seen) -> Outlook:  # noqa: ARG001
    """Return an outlook without rivals: no rival is forecast."""
    return Outlook()


Yardstick = Callable[[str, Seen, str, str], Mapping[str, Any]]
"""Returns a player's facts on the amount with which types compare a bid. Arguments: player, seen, part, bidder."""


def no_yardstick(name: str, seen: Seen, item: str, bidder: str) -> Mapping[str, Any]:  # noqa: ARG001
    """Return no facts."""
    return {}


def by_estimate(name: str, seen: Seen, item: str, bidder: str) -> Mapping[str, Any]:  # noqa: ARG001
    """Return one's own estimate in dollars as `mean`, and 1/5 of it as `scatter`; empty without an estimate."""
    told = [event.values[item] for event in seen if isinstance(event, Signal) and item in event.values]
    return {"mean": told[-1], "scatter": to_cents(told[-1] / 5)} if told else {}


Fold = Callable[[Any, Any], Any]
"""Returns the note of a node, from the note before (None at first) and an event."""
Folds = Mapping[type[Event], tuple[str, Fold]]
"""The folds of a bidder's nodes by type of event, each with the name of its note."""


@dataclass(frozen=True, slots=True)
class View:
    """All that a bidder knows: its own facts, the items for sale, and the acts and outcomes that it has seen.

    `personas` maps the texts of the bidder's own personas to their weights. `estimates` are the worths of items in
    dollars that the bidder was told. A game has parts, such as items, runs or days: `open` has the parts that are not
    over, by name, and `results` the parts that are over. The last part in `open` is the one with the latest event.
    `catalog` maps the id of each type that a rival may have to the text that describes the type. `seen` has all events
    that the bidder has seen, in order.

    Each thought of the bidder, such as a plan, adds an event. `notes` has the conclusions of the thoughts, by the name
    of the note. `folds` has a function for each type of these events, which computes the note from the note before and
    the event. `mind` has the settings of the thoughts. `now` is the question that the bidder has to answer at present:
    an ask for an action, or a pause of the auctioneer, in which the bidder may think (None: there is no question).
    `judged` is true if a metric or the bidder's memory will read the last profiles that the bidder makes of its rivals.

    `outlook` and `yardstick` are functions that belong to the game. `outlook` returns the rivals whose next action is
    worth a forecast, and whether the bidder will act again. `yardstick` returns the amount with which a rival of some
    type would compare its bid.

    >>> View(name="Ann", bidders=("Ann", "Ben")).rivals
    ('Ben',)
    """

    name: str = ""
    personas: Mapping[str, float] = field(default_factory=dict)
    objective: str = "profit"
    initial_budget: Decimal = Decimal(0)
    estimates: Mapping[str, Decimal] = field(default_factory=dict)
    bidders: tuple[str, ...] = ()
    lots: tuple[Lot, ...] = ()
    values_revealed: bool = False
    open: Mapping[str, Part] = field(default_factory=dict)
    results: tuple[Part, ...] = ()
    catalog: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    seen: tuple[Event, ...] = field(default=(), repr=False)
    now: Ask | Pause | None = None
    mind: MindSettings = USUAL
    judged: bool = True
    folds: Folds = field(default_factory=dict, repr=False, compare=False)
    outlook: Callable[[str, Seen], Outlook] = field(default=no_outlook, repr=False, compare=False)
    yardstick: Yardstick = field(default=no_yardstick, repr=False, compare=False)

    def after(self, events: Iterable[Event]) -> View:
        """Return the view after these events; each is added to `seen`."""
        news = tuple(events)
        view = self
        for event in news:
            view = view._in_part(event)
            if new := [name for name in _named(event) if name not in view.bidders]:
                view = changed(view, {"bidders": (*view.bidders, *new)})
            kind: Any = type(event)
            if change := _change_of(kind):
                view = changed(view, change(view, event))
            if (node := self.folds.get(kind)) is not None:
                name, fold = node
                view = changed(view, {"notes": {**view.notes, name: fold(view.notes.get(name), event)}})
        return changed(view, {"seen": (*self.seen, *news)}) if news else view

    @property
    def part(self) -> Part | None:
        """The part of the game that is not over; None if there is none.

        If several parts are not over, it is the part with the latest event.
        """
        return next(reversed([*self.open.values()]), None)

    @property
    def in_play(self) -> tuple[str, ...]:
        """The rivals that were asked to act in the current part, or else in the part that ended last.

        The part that ended last counts if there is no current part, or if nobody has been asked in it yet. If the game
        lists its items in advance, or if no part is over yet, the result has all rivals.
        """
        if self.lots or not self.results:
            return self.rivals
        last = self.part.asked if self.part and self.part.asked else self.results[-1].asked
        return tuple(rival for rival in self.rivals if rival in last or not last)

    @property
    def ahead(self) -> Outlook:
        """The bidder's outlook, which the game derives from the events that the bidder has seen so far.

        The outlook has the rivals whose next action is worth a forecast, and says whether the bidder will act again.
        """
        return self.outlook(self.name, self.seen)

    @property
    def goes_on(self) -> bool:
        """True if the bidder will act again, so that a thought can be of use."""
        return bool(self.coming) if self.lots else self.ahead.goes_on

    @property
    def plan(self) -> str:
        """The bidder's plan in words; empty if it has none."""
        return self.notes["plan"].text if "plan" in self.notes else ""

    @property
    def priorities(self) -> Mapping[str, int]:
        """The priority of each item in the bidder's plan; empty if it has no plan."""
        return self.notes["plan"].priorities if "plan" in self.notes else {}

    @property
    def profiles(self) -> Mapping[str, Mapping[str, float]]:
        """The bidder's profiles of its rivals, by rival: a weight for each type that the rival may have.

        The bidder was told its profiles at the start, or has made them from what it has seen.
        """
        found: Mapping[str, Mapping[str, float]] = self.notes.get("profile", {})
        return found

    @property
    def mirrors(self) -> Mapping[str, Mapping[str, float]]:
        """The profile that each rival has of this bidder, as the bidder expects; by rival."""
        found: Mapping[str, Mapping[str, float]] = self.notes.get("mirror", {})
        return found

    @property
    def budget(self) -> Decimal:
        """The dollars that the bidder has left."""
        return self.initial_budget - self.spent(self.name)

    @property
    def coming(self) -> tuple[Lot, ...]:
        """The listed items that are not over, including the item on sale."""
        return self.lots[len(self.results) :]

    @property
    def rivals(self) -> tuple[str, ...]:
        """The other bidders that events have named, in seat order."""
        return tuple(bidder for bidder in self.bidders if bidder != self.name)

    def wins(self, bidder: str) -> tuple[Win, ...]:
        """List the items that `bidder` has won so far, each with the price in dollars that `bidder` paid."""
        won = (result for result in self.results if result.winner == bidder)
        return tuple(Win(result.item, result.paid.get(bidder, Decimal(0))) for result in won)

    def spent(self, bidder: str) -> Decimal:
        """Return the dollars that `bidder` has paid so far for items, runs or days that are over.

        Only payments of which this bidder was told count, and fines do not count.
        """
        return sum((result.paid.get(bidder, Decimal(0)) for result in self.results), Decimal(0))

    def profit(self, bidder: str) -> Decimal:
        """Return the profit in dollars that `bidder` made on the items whose true values were revealed."""
        won = (result for result in self.results if result.winner == bidder and result.true_value is not None)
        return sum((result.true_value - result.paid.get(bidder, Decimal(0)) for result in won), Decimal(0))  # type: ignore[operator]

    def lot(self, item: str) -> Lot:
        """Return an item by its name; an item that was not listed gets the starting price 0."""
        return next((lot for lot in self.lots if lot.name == item), Lot(item, Decimal(0)))

    def result(self, item: str) -> Part:
        """Return the finished part with this name; the last one if several parts have the name."""
        return next(result for result in reversed(self.results) if result.item == item)

    def last(self, kind: type[E], **wanted: object) -> E | None:
        """Return the last event of this type that the bidder has seen; None if it has seen none.

        With `wanted`, such as `item="Vase"`, only events whose fields have these values count.
        """
        found = (event for event in reversed(self.seen) if isinstance(event, kind))
        return next((one for one in found if all(getattr(one, name) == value for name, value in wanted.items())), None)

    def place(self, item: str) -> int:
        """Return the position of an item among the finished parts, counted from 1; 0 if the item is not over."""
        places = range(len(self.results), 0, -1)
        return next((place for place in places if self.results[place - 1].item == item), 0)

    def truth(self) -> Belief:
        """Return the belief about the auction that this bidder would state if it made no mistake.

        The belief has the dollars that the bidder has left, the items that each bidder has won, and each bidder's
        profit. It has no profits unless the auction reveals true values. Its `wins` leave out bidders that have won
        nothing.
        """
        return Belief(
            budget=self.budget,
            profits={name: self.profit(name) for name in self.bidders} if self.values_revealed else {},
            wins={name: wins for name in self.bidders if (wins := self.wins(name))},
        )

    def _in_part(self, event: Event) -> View:
        """Add an event to its part; open that part first if the event asks bidders or is an act."""
        item = getattr(event, "item", None)
        if not isinstance(item, str):
            return self
        begins = isinstance(event, LotOpened | BiddersAsked) or (isinstance(event, Acted) and not self.place(item))
        if item in self.open or begins:
            others = {name: part for name, part in self.open.items() if name != item}
            return changed(self, {"open": {**others, item: after_event(self.open.get(item) or Part(item), event)}})
        if isinstance(event, OUTCOMES) and (number := self.place(item)):
            before, over, later = self.results[: number - 1], self.results[number - 1], self.results[number:]
            return changed(self, {"results": (*before, after_event(over, event), *later)})
        return self


def _named(event: Event) -> tuple[str, ...]:
    """Return the bidders in the field `bidders` of an event; empty if there is none."""
    names = getattr(event, "bidders", ())
    return names if isinstance(names, tuple) and all(isinstance(name, str) for name in names) else ()


# ---------------------------------------------------------------- which fields an event changes


def _seated(_: View, event: BidderSeated) -> Fields:
    return {
        "name": event.bidder,
        "initial_budget": event.budget,
        "personas": event.personas,
        "objective": event.objective,
        **({"notes": {"profile": event.rivals}} if event.rivals else {}),
    }


def _closed(view: View, event: LotClosed) -> Fields:
    over = view.open.get(event.item) or after_event(Part(event.item), event)
    still = {name: part for name, part in view.open.items() if name != event.item}
    return {"open": still, "results": (*view.results, over)}


CHANGES: Mapping[type[Event], Callable[[View, Any], Fields]] = {
    BidderSeated: _seated,
    Signal: lambda view, event: {"estimates": {**view.estimates, **event.values}},
    CatalogShown: lambda _, event: {"catalog": event.personas},
    Listed: lambda _, event: {"lots": event.lots, "values_revealed": event.reveals},
    LotClosed: _closed,
}


@cache
def _change_of(kind: type[Any]) -> Callable[[View, Any], Fields] | None:
    """Return the change for events of this type or of a base class; None if there is none."""
    return next((CHANGES[one] for one in kind.__mro__ if one in CHANGES), None)
