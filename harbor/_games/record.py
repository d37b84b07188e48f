"""How a log of a game is checked without a model: the rules that it tells, and what its bidders did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harbor._config.auction import AuctionConfig
from harbor._core.asks import Action, Ask, Bid, Withdraw
from harbor._core.events import BidderSeated, BidderWithdrew, BidPlaced, Event
from harbor._core.extensions import part
from harbor._games.mechanism import Mechanism

Events = Sequence[Event]
Settings = AuctionConfig | None
"""The settings of the auction, if they are there: beside a log that has private events too."""


def bids(asks: Sequence[Ask], events: Events) -> dict[str, Action]:
    """Give what bidders did where bids and withdrawals are events, as in the ascending auction."""
    actions: dict[str, Action] = {}
    for event in events:
        match event:
            case BidPlaced(bidder=bidder, amount=amount):
                actions.setdefault(bidder, Bid(amount))
            case BidderWithdrew(bidder=bidder, reason=reason):
                actions.setdefault(bidder, Withdraw(reason))
    return {ask.bidder: actions[ask.bidder] for ask in asks if ask.bidder in actions}


def nothing(events: Events, settings: Settings) -> tuple[str, ...]:  # noqa: ARG001
    """Leave nothing unchecked."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """How a log of a game is checked without a model; all of it is pure.

    `rules` gives the rules that the events of a log tell: budgets, values and what chance has drawn are taken from
    events, and what no event tells from the settings. There may be public events alone, and no settings; then it takes
    what the events allow. `actions` tells what the bidders asked did, from the events up to the next turn: a bidder
    that it leaves out has withdrawn. `unchecked` says in sentences what is then taken as the log tells it.
    """

    rules: Callable[[Events, Settings], Mechanism[Any]] = part("what makes its rules from the events of a log")
    actions: Callable[[Sequence[Ask], Events], Mapping[str, Action]] = bids
    unchecked: Callable[[Events, Settings], tuple[str, ...]] = nothing


def budgets_of(events: Events) -> dict[str, Any]:
    """Give the budget of each bidder in dollars, in seat order; none where a log has public events alone."""
    return {event.bidder: event.budget for event in events if isinstance(event, BidderSeated)}
