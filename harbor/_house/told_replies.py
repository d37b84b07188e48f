"""What bidders answered in each turn, as a log tells it: the loop that runs a sale is carried again with it."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile

from harbor._core.acts import Acted, ActedSealed, Tried
from harbor._core.asks import Action, Ask, Bid, Pause, Unreadable, Withdraw
from harbor._core.events import BiddersAsked, Event, SeatFailed
from harbor._core.log import TURN_OPENS
from harbor._core.players import SeatReply
from harbor._games.mechanism import Shown
from harbor._house.auctioneer import Turn
from harbor._house.compared_log import ComparedLog, found_at
from harbor._house.verdict import NOTHING, Ended

Key = tuple[str, str, int]


class ToldReplies:
    """The replies that a log tells.

    Attributes:
        untold: whether the acts of the turn under way are sealed, in a public log that never discloses them.

    Raises:
        Differs: it tells an act of a bidder that was not asked.

    Args:
        log: which is compared.
        acts: whether the game shows acts at once.
    """

    def __init__(self, log: ComparedLog, acts: Shown) -> None:
        self._log = log
        self._may_be_untold = acts == "sealed" and log.level == "public"
        self._acts: dict[Key, deque[tuple[int, Action]]] = defaultdict(deque)
        kind = Acted if acts == "open" or self._may_be_untold else ActedSealed
        asked = set[Key]()
        for place, entry in enumerate(log.told):
            event = entry.event
            if isinstance(event, BiddersAsked):
                asked |= {(bidder, event.item, event.round) for bidder in event.bidders}
            elif isinstance(event, kind):
                key = (event.bidder, event.item, event.round)
                if key not in asked:
                    raise found_at(
                        entry, "an act of a bidder that was asked for it", " ".join(map(str, key)), log.level
                    )
                self._acts[key].append((place, event.act))
        self.untold = self._broke_off = False

    def of(self, turn: Turn) -> dict[str, SeatReply]:
        """Give the replies of a turn, which has just been opened.

        Raises:
            Ended: the log ends within the turn.
            Differs: an answer is missing.
        """
        block = list(takewhile(lambda event: not isinstance(event, TURN_OPENS), self._later()))
        self._broke_off = not self._log.complete and all(map(_is_of_a_turn, self._later()))
        self.untold = False
        failures = {event.bidder: event for event in block if isinstance(event, SeatFailed)}
        tried = {event.bidder: event for event in block if isinstance(event, Tried)}
        again = self._asked_again([ask for ask in turn if isinstance(ask, Ask)], len(block))
        return {one.bidder: self._reply(one, failures.get(one.bidder), tried.get(one.bidder), again) for one in turn}

    def _reply(
        self, one: Ask | Pause, failure: SeatFailed | None, tried: Tried | None, again: Collection[str]
    ) -> SeatReply:
        if failure is not None:
            return SeatReply(failure=failure)
        if isinstance(one, Pause):
            return SeatReply()
        if tried is not None:
            return SeatReply(answer=tried.act or Unreadable(tried.reason))
        return FAILED if one.bidder in again else self._act(one)

    def _act(self, ask: Ask) -> SeatReply:
        """Give the legal answer to an ask, or in public what stands for one that failed."""
        places = self._acts[ask.bidder, ask.item, ask.round]
        while places and places[0][0] < len(self._log.entries):
            places.popleft()
        if not places:
            return self._none(ask)
        _, act = places[0]
        if isinstance(act, Withdraw) and act.reason == "fault":
            return _seat_failed(ask)
        if isinstance(act, Withdraw) and act.reason == "failed bids":
            return FAILED if act.offered is None else SeatReply(answer=Bid(act.offered))
        return SeatReply(answer=Withdraw() if isinstance(act, Withdraw) else act)  # nobody else chooses a reason

    def _none(self, ask: Ask) -> SeatReply:
        """Reply for a bidder of which nothing is told, in a public log: any space takes a fault for a withdrawal."""
        if self._broke_off:
            raise Ended
        if not self._may_be_untold:
            what = f"what {ask.bidder} did on {ask.item} in round {ask.round}"
            raise found_at(self._log.here, what, NOTHING, self._log.level)
        self.untold = True
        return _seat_failed(ask)

    def _later(self) -> Iterator[Event]:
        """Give the events from here on."""
        return (self._log.told[place].event for place in range(len(self._log.entries), len(self._log.told)))

    def _asked_again(self, asks: Sequence[Ask], length: int) -> Collection[str]:
        """Name the bidders of a turn that are asked again right after this block: their answers have failed."""
        after = len(self._log.entries) + length
        again = self._log.told[after].event if after < len(self._log.told) else None
        if not asks or not isinstance(again, BiddersAsked) or again.attempt != asks[0].attempt + 1:
            return ()
        return {ask.bidder for ask in asks} & set(again.bidders)


def _is_of_a_turn(event: Event) -> bool:
    """Say whether an event stands between the first ask of a turn and what follows from its acts."""
    again = isinstance(event, BiddersAsked) and event.attempt > 1
    return again or isinstance(event, Tried | SeatFailed | Acted | ActedSealed)


FAILED = SeatReply(answer=Unreadable("a failed bid"))


def _seat_failed(ask: Ask) -> SeatReply:
    return SeatReply(failure=SeatFailed(ask.bidder, "error", ""))
