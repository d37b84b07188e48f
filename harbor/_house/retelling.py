"""A sale told again from its log: the auction loop runs as it ran, and each event is compared instead of written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Any

from harbor._core.asks import Action, Ask, Bid, Pause, Unreadable, Withdraw
from harbor._core.events import EVERYONE, BiddersAsked, BidderWithdrew, BidFailed, Event, Paused, SaleClosed, SeatFailed
from harbor._core.log import Log
from harbor._core.log_lines import Entry
from harbor._core.players import SeatReply
from harbor._games.mechanism import Mechanism
from harbor._games.record import Record
from harbor._house.auctioneer import Turn
from harbor._house.sale import Sale
from harbor._house.verdict import Ended, differs

MOST_DRAWS = 2_000
"""How many draws of ties are tried where the seed is not known: of 120 orders of equals, all but surely the one."""

ENOUGH_DRAWS = 30
"""Draws that all give the same: two equals alone would differ in one of them but for one time in 10^9."""


class Retelling(Sale[Any]):
    """A sale whose every event is compared with those of a log.

    Args:
        rules: as the log tells them.
        record: what bidders did, by the events of a turn.
        told: the entries of the house and of the game, in order.
        ties: the stream that ties were drawn from (None: not known).
        public: whether the log has public events alone; others are then not compared.
    """

    def __init__(
        self, rules: Mechanism[Any], record: Record, told: Sequence[Entry], ties: Random | None, public: bool
    ) -> None:
        super().__init__(rules, (), Log(), ties or Random(0))
        self.told = told
        self.place = 0
        self._record = record
        self._drawn = ties is not None
        self._public_only = public
        self._asks: Sequence[Ask] = ()
        self._turn_place = 0
        self._actions: Mapping[str, Action] = {}
        self._all_told = True

    def record(self, event: Event) -> None:
        """Compare an event with the next one of the log, and fold it.

        Raises:
            Ended: the log has no more.
            Differs: it has another.
        """
        if event.audience == EVERYONE or not self._public_only:
            if self.place == len(self.told):
                raise Ended
            if not _equal(event, self.told[self.place].event):
                raise differs(self.told[self.place], event)
            self.place += 1
        self.state = self.rules.apply(self.state, event)

    def settle(self, actions: Mapping[str, Action]) -> list[Event]:
        """Compare what follows from the actions; where draws are not known, with one that gives what is told."""
        events = self.rules.settle(self.state, actions, self._ties)
        if not self._drawn and not self._fits(events):
            events = next(filter(self._fits, self._draws(actions, events)), events)
        for event in events:
            self.record(event)
        return events

    def _draws(self, actions: Mapping[str, Action], first: list[Event]) -> Iterator[list[Event]]:
        """Settle with one draw after another, until it is clear that there is nothing to draw."""
        differ = False
        for draw in range(MOST_DRAWS):
            events = self.rules.settle(self.state, actions, Random(draw))
            differ = differ or events != first
            if draw == ENOUGH_DRAWS and not differ:
                return
            yield events

    def _fits(self, events: Sequence[Event]) -> bool:
        compared = [event for event in events if event.audience == EVERYONE or not self._public_only]
        found = self.told[self.place : self.place + len(compared)]
        return all(_equal(event, entry.event) for event, entry in zip(compared, found, strict=False))

    @property
    def broke_off(self) -> bool:
        """Whether the log ends within this turn: all that it still tells are acts, each of a bidder that was asked."""
        events = [entry.event for entry in self.told[self._turn_place :]]
        known = len(self._acts(events[: self.place - self._turn_place]))
        for end in range(self.place - self._turn_place + 1, len(events) + 1):
            before, known = known, len(self._acts(events[:end]))
            # in public, only a later bid tells that a bidder can afford more: who is out may be another
            out = self._public_only and isinstance(events[end - 1], BidderWithdrew)
            if not out and (self._all_told or known <= before):
                return False
        return True

    def _acts(self, events: Sequence[Event]) -> Mapping[str, Action]:
        return self._record.actions(self._asks, events)

    def replies(self, turn: Turn) -> dict[str, SeatReply]:
        """Give the replies that the log tells of a turn, which has just been opened."""
        faults = {event.bidder: event for event in self._faults() if isinstance(event, SeatFailed)}
        failed = {event.bidder for event in self._faults() if isinstance(event, BidFailed)}
        asks = [ask for ask in turn if isinstance(ask, Ask)]
        if asks and asks[0].attempt == 1:
            self._asks, self._turn_place = asks, self.place
            self._actions = self._acts(self._until_next_turn())
            self._all_told = all(ask.bidder in self._actions for ask in asks)
        failed |= self._asked_again(asks)
        return {
            one.bidder: SeatReply(failure=faults[one.bidder])
            if one.bidder in faults
            else SeatReply()
            if isinstance(one, Pause)
            else self._reply(one, one.bidder in failed)
            for one in turn
        }

    def _reply(self, ask: Ask, failed: bool) -> SeatReply:
        action = self._actions.get(ask.bidder, Withdraw())
        reason = action.reason if isinstance(action, Withdraw) else ""
        if reason == "fault" and not failed:
            return SeatReply(failure=SeatFailed(ask.bidder, "error", ""))
        if failed or reason == "failed bids":
            offered = action.offered if isinstance(action, Withdraw) else None
            return SeatReply(answer=Unreadable("a failed bid") if offered is None else Bid(Decimal(offered)))
        return SeatReply(answer=action)

    def _faults(self) -> list[Event]:
        """Give the failures that the log tells right after a turn was opened."""
        found: list[Event] = []
        for place in range(self.place, len(self.told)):
            event = self.told[place].event
            if not isinstance(event, SeatFailed | BidFailed):
                break
            found.append(event)
        return found

    def _asked_again(self, asks: Sequence[Ask]) -> set[str]:
        """Name the bidders of a turn that are asked again: their answers have failed."""
        after = self.place + len(self._faults())
        again = self.told[after].event if after < len(self.told) else None
        if not asks or not isinstance(again, BiddersAsked) or again.attempt != asks[0].attempt + 1:
            return set()
        return set(again.bidders) & {ask.bidder for ask in asks}

    def _until_next_turn(self) -> list[Event]:
        """Give the events up to the next turn."""
        found: list[Event] = []
        for place in range(self.place, len(self.told)):
            event = self.told[place].event
            if _opens_turn(event):
                break
            found.append(event)
        return found


def _opens_turn(event: Event) -> bool:
    return isinstance(event, Paused | SaleClosed) or (isinstance(event, BiddersAsked) and event.attempt == 1)


def _equal(expected: Event, found: Event) -> bool:
    """Tell whether two events are equal; why a bid failed is words, which no rule gives."""
    if isinstance(expected, BidFailed) and isinstance(found, BidFailed):
        return _failure(expected) == _failure(found)
    return expected == found


def _failure(event: BidFailed) -> tuple[str, str, int, int]:
    return event.bidder, event.item, event.round, event.attempt
