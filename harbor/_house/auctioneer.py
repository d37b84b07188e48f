"""The auctioneer runs a sale: it asks bidders at the same moment, takes their answers, and announces the results.

The loop is a generator, so that it knows no framework. AutoGen's group chat (`harbor._room`) only carries the words. A
plain loop (`plain`) carries the answers if only scripted policies play.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Generic, TypeVar, overload

from harbor._core.asking.asks import Action, Answer, Ask, Bid, Pause, Unreadable, Withdraw
from harbor._core.basics.errors import ConfigError
from harbor._core.basics.redaction import of_strangers
from harbor._core.log.acts import Tried, as_told
from harbor._core.log.events import (
    EVERYONE,
    AnalystEvent,
    BiddersAsked,
    Event,
    LotClosed,
    Paused,
    PublicEvent,
    SaleClosed,
    SharedEvent,
)
from harbor._core.log.log import Log
from harbor._core.log.log_entries import seats_of
from harbor._core.log.players import SeatReply
from harbor._games.mechanism import Chance, Draw, Mechanism, Shown, Told, acts_of, kind_of

S = TypeVar("S")


class Seen(Sequence[Event]):
    """A read-only view of the events that one bidder has seen, in order.

    The view is never copied, and grows as the sale goes on. Take a snapshot with `tuple(seen)`.
    """

    __slots__ = ("_events", "_heard")

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._heard = 0

    def __len__(self) -> int:
        return len(self._events)

    @overload
    def __getitem__(self, place: int) -> Event: ...
    @overload
    def __getitem__(self, place: slice) -> list[Event]: ...
    def __getitem__(self, place: int | slice) -> Event | list[Event]:
        return self._events[place]

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events)

    def __reversed__(self) -> Iterator[Event]:
        return reversed(self._events)

    def _hear(self, public: list[Event]) -> None:
        if self._heard < len(public):
            self._events += public[self._heard :]
            self._heard = len(public)

    def _hear_alone(self, public: list[Event], private: Event) -> None:
        self._hear(public)
        self._events.append(private)


class Sale(Generic[S]):
    """The log, the state of the rules folded from it, and the part of the log that each bidder may see.

    Args:
        rules: the rules of the game.
        bidders: the names in seat order.
        log: takes the events.
        ties: the random stream for the draws of the rules (None: `told` returns the draws).
        acts: whether everyone learns an act at once ("open"), or its bidder alone.
        draws: whether everyone learns nature's draws ("open"), or the analyst alone.
        told: returns the next draw in a recorded log.
    """

    def __init__(
        self,
        rules: Mechanism[S],
        bidders: Sequence[str],
        log: Log,
        ties: Random | None,
        acts: Shown = "sealed",
        draws: Shown = "sealed",
        told: Told = lambda: None,
    ) -> None:
        self.rules = rules
        self.bidders = tuple(bidders)
        self.log = log
        self.state = rules.start()
        self._acts, self._draws = acts, draws
        self._drawn: list[Draw] = []
        self._chance = Chance(ties, self._drawn.append, told, kind_of(draws))
        self._public: list[Event] = []
        self._seen = {name: Seen() for name in bidders}

    def record(self, *events: Event) -> None:
        """Write events to the log and fold them. Nothing else changes a sale."""
        append, apply, public = self.log.append, self.rules.apply, self._public
        for event in events:
            is_public = isinstance(event, PublicEvent) and event.audience == EVERYONE
            alone = () if is_public else self._alone(event)
            append(event)
            self.state = apply(self.state, event)
            if is_public:
                public.append(event)  # bidders catch up when they are asked, so it costs the same for any number
            for seen in alone:
                seen._hear_alone(public, event)

    def _alone(self, event: Event) -> Sequence[Seen]:
        """Return the views of the bidders who alone learn of an event.

        Raises:
            ConfigError: its seats are not bidders, each named once.
        """
        seats = seats_of(event)
        if len(self._seen.keys() & seats) < (len(seats) or isinstance(event, SharedEvent)):
            named = f"the rules tell {type(event).__name__} to {seats!r}"
            raise ConfigError(f"{named}; name bidders, each once, and not the house: {', '.join(self.bidders)}")
        return [self._seen[name] for name in seats]

    def asks(self) -> Sequence[Ask]:
        """Return the asks of this moment; none before the sale opens and after its end."""
        return self.rules.asks(self.state)

    def act(self, asks: Sequence[Ask], actions: Mapping[str, Action]) -> None:
        """Record the actions of a turn's bidders in the order of these answered asks."""
        self.record(*acts_of(asks, actions, self._acts))

    def settle(self, actions: Mapping[str, Action]) -> list[Event]:
        """Record nature's draws and the results of the actions; open the sale if there are no actions."""
        events = of_strangers("the rules: settle", lambda: self.rules.settle(self.state, actions, self._chance))
        self.record(*self._drawn, *events)
        self._drawn.clear()
        return events

    def seen_by(self, bidder: str) -> Seen:
        """Return the part of the log that a bidder may see, in order, up to now."""
        seen = self._seen[bidder]
        seen._hear(self._public)
        return seen


Turn = Sequence[Ask | Pause]
"""Bidders to be asked at the same moment, in seat order."""

AuctionLoop = Generator[Turn, Mapping[str, SeatReply], None]


def auction_loop(sale: Sale[Any], thinkers: Sequence[str], reasks: int, learners: Sequence[str] = ()) -> AuctionLoop:
    """Run a sale from opening to close.

    Args:
        sale: the sale, not yet open.
        thinkers: the bidders that think at a pause.
        reasks: how often a bidder is asked again after a failed bid, before the bid counts as a withdrawal.
        learners: the bidders that think when the auction is over.

    Yields:
        a turn; send back the reply of each of its bidders.
    """
    opening = sale.settle({})
    yield from _pause(sale, thinkers, ())
    if closed := _closed(opening):
        yield from _pause(sale, thinkers, closed)
    while asks := sale.asks():
        actions = yield from _round(sale, asks, reasks)
        if closed := _closed(sale.settle(actions)):
            yield from _pause(sale, thinkers, closed)
    yield from _pause(sale, learners, (), over=True)
    sale.record(SaleClosed())


def _closed(events: Sequence[Event]) -> tuple[str, ...]:
    return tuple([event.item for event in events if isinstance(event, LotClosed)])


def _pause(sale: Sale[Any], thinkers: Sequence[str], closed: tuple[str, ...], over: bool = False) -> AuctionLoop:
    if not thinkers:
        return
    sale.record(Paused(closed, over))
    said = yield [Pause(bidder, closed, over) for bidder in thinkers]
    for bidder in thinkers:
        _write_down(sale, said[bidder])


def _round(
    sale: Sale[Any], asks: Sequence[Ask], reasks: int
) -> Generator[Turn, Mapping[str, SeatReply], dict[str, Action]]:
    """Ask all bidders of a round, and ask those without a legal answer again, up to `reasks` times.

    This is the only loop over bad bids: an unreadable bid is a failed bid, and the model client does not repair it.
    Actions are recorded in seat order once the whole turn is legal, so that a bidder that is asked again reads no other
    answer of the same moment.
    """
    answered = asks
    latest: dict[str, Ask] = {}  # the last ask of each bidder that was asked again
    actions: dict[str, Action] = {}
    while asks:
        first = asks[0]
        bidders = tuple([ask.bidder for ask in asks])
        sale.record(BiddersAsked(first.item, first.round, first.attempt, bidders))
        said = yield asks
        again = []
        for ask in asks:
            reply = said[ask.bidder]
            if reply.notes or reply.failure:
                _write_down(sale, reply)
            action = _judge(ask, reply)
            if isinstance(action, str):
                tried = _record_attempt(sale, ask, reply, action)
                if ask.attempt <= reasks:
                    latest[ask.bidder] = ask._replace(attempt=ask.attempt + 1, refusal=tried.reason)
                    again.append(latest[ask.bidder])
                    continue
                action = Withdraw("failed bids", tried.act.amount if isinstance(tried.act, Bid) else None)
            actions[ask.bidder] = action
        asks = again
    if latest:
        answered = [latest.get(ask.bidder, ask) for ask in answered]
        actions = {ask.bidder: actions[ask.bidder] for ask in answered}
    sale.act(answered, actions)
    return actions


def _record_attempt(sale: Sale[Any], ask: Ask, said: SeatReply, reason: str) -> Tried:
    """Record a failed attempt, with the act if it could be read; the reason of the failure is for the act as logged."""
    act = as_told(_heard(ask, said))
    tried = Tried(ask.bidder, ask.item, ask.round, ask.attempt, reason if act is None else ask.space.refusal(act), act)
    sale.record(tried)
    return tried


def _write_down(sale: Sale[Any], said: SeatReply) -> None:
    for note in said.notes:
        sale.record(note)
    if said.failure is not None:
        sale.record(said.failure)


def _judge(ask: Ask, said: SeatReply) -> Action | str:
    """Return the legal action, or the reason why there is none."""
    if said.failure is not None:
        return Withdraw("fault")
    return judged(ask, _heard(ask, said))


def judged(ask: Ask, answer: Answer) -> Action | str:
    """Return an answer as a legal action, or the reason why it is none."""
    return answer.reason if isinstance(answer, Unreadable) else ask.space.refusal(answer) or answer


def _heard(ask: Ask, said: SeatReply) -> Answer:
    return said.answer or answer_to(ask, said.words)


def answer_to(ask: Ask, words: str) -> Answer:
    """Read a bidder's words as an answer to an ask."""
    return ask.space.read(words, ask.item)


# ---------------------------------------------------------------- calls and announcements


def call(ask: Ask | Pause) -> str:
    """Return an ask in words for its bidder."""
    if isinstance(ask, Pause):
        return f"{ask.bidder}, take a moment to think."
    again = f"Your {ask.space.answer_name} failed: {ask.refusal}. " if ask.refusal else ""
    note = ask.note.rstrip(" .,:;")
    return f"{again}{ask.bidder}, your call on {ask.item}: {note}{note and '; '}{ask.space.call}"


def announce(event: Event) -> str:
    """Return a public event as one sentence for everyone; empty if it needs no words."""
    return event.words if isinstance(event, PublicEvent) else ""


def told_to(bidder: str, event: Event) -> list[str]:
    """Return an event that a bidder may see as sentences; none if it needs no words or the next call states it."""
    if isinstance(event, AnalystEvent):
        return []
    return list(event.sentences(bidder))
