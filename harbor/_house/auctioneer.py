"""The auction loop: whom to ask at the same moment, what to do with the answers, and what to announce.

It is a generator, so that it knows no framework: AutoGen's group chat (`harbor._room`) only carries the words, and
where scripted policies alone sit, a plain loop (`plain`) carries the answers.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from harbor._core.acts import Tried, as_told
from harbor._core.asks import Action, Answer, Ask, Bid, Pause, Unreadable, Withdraw
from harbor._core.events import AnalystEvent, BiddersAsked, Event, LotClosed, Paused, PublicEvent, SaleClosed
from harbor._core.players import SeatReply
from harbor._house.sale import Sale

Turn = Sequence[Ask | Pause]
"""Bidders to be asked at the same moment, in seat order."""

AuctionLoop = Generator[Turn, Mapping[str, SeatReply], None]


def auction_loop(sale: Sale[Any], thinkers: Sequence[str], reasks: int, learners: Sequence[str] = ()) -> AuctionLoop:
    """Run a sale from opening to close.

    Args:
        sale: not yet open.
        thinkers: the bidders that think at a pause.
        learners: the bidders that think when the auction is over.
        reasks: how often a bidder is asked again after a failed bid, before it counts as a withdrawal.

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
    """Ask everyone of a round, and those without a legal answer again, up to `reasks` times.

    This is the only loop over bad bids: an unreadable bid is a failed bid, and the model client does not repair it.
    What everyone did is written down, in seat order, once the whole turn is legal: nobody who is asked again reads
    another's answer of the same moment.
    """
    answered = asks
    latest: dict[str, Ask] = {}  # of those that were asked again
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
    """Write down a failed attempt with the act, where it could be read; why it failed is said of the act as told."""
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
    """Give the legal action, or say why there is none."""
    if said.failure is not None:
        return Withdraw("fault")
    return judged(ask, _heard(ask, said))


def judged(ask: Ask, answer: Answer) -> Action | str:
    """Give the legal action that an answer is, or say why it is none."""
    return answer.reason if isinstance(answer, Unreadable) else ask.space.refusal(answer) or answer


def _heard(ask: Ask, said: SeatReply) -> Answer:
    return said.answer or answer_to(ask, said.words)


def answer_to(ask: Ask, words: str) -> Answer:
    """Read what a bidder said to an ask."""
    return ask.space.read(words, ask.item)


# ---------------------------------------------------------------- calls and announcements


def call(ask: Ask | Pause) -> str:
    """Put an ask in words for its bidder."""
    if isinstance(ask, Pause):
        return f"{ask.bidder}, take a moment to think."
    again = f"Your {ask.space.answer_name} failed: {ask.refusal}. " if ask.refusal else ""
    note = ask.note.rstrip(" .,:;")
    return f"{again}{ask.bidder}, your call on {ask.item}: {note}{note and '; '}{ask.space.call}"


def announce(event: Event) -> str:
    """Put a public event in one sentence for everyone; empty if it needs no words."""
    return event.words if isinstance(event, PublicEvent) else ""


def told_to(bidder: str, event: Event) -> list[str]:
    """Tell a bidder an event that its seat may see; nothing, if it needs no words or the next call speaks of it."""
    if isinstance(event, AnalystEvent):
        return []
    return [*event.sentences(bidder)] or [line for line in [announce(event)] if line]
