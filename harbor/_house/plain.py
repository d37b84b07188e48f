"""Carries the auction loop in a plain loop if only scripted policies play: no chat, no tasks, no framework.

A policy decides at once, so there is nothing to wait for. The log is equal to the log of the room.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import count
from math import inf
from typing import Any

from harbor._core.asking.amounts import Amount, Number
from harbor._core.asking.asks import Answer, Ask, Bid, Pause, Withdraw
from harbor._core.log.events import Event
from harbor._core.log.players import Policy, SeatReply
from harbor._house.auctioneer import AuctionLoop, Sale
from harbor._house.watchdog import Overdue, Step, failed, held_up, in_words, is_not_theirs

Recorded = Callable[[int, str], SeatReply | None]
"""Returns a bidder's failed reply from an interrupted run, in the turn that this event number opened, or None."""

_PLAIN_AMOUNT = re.compile(r"(?:0|[1-9]\d{0,11})(?:\.(?!00)\d\d)?", re.ASCII)
"""An amount that its words would not change: at most twelve digits, no leading zero, no cents of 00."""
_is_plain = lru_cache(_PLAIN_AMOUNT.fullmatch)  # bidders of one sale name the same amounts
_SPACES = (Amount, Number)  # action spaces that read such answers from their words unchanged
_WITHDRAWAL = SeatReply(answer=Withdraw())


def never_waits(policy: Policy | None) -> bool:
    """Say whether a bidder has a policy that never waits: it does not override `Policy.act`."""
    return policy is not None and type(policy).act is Policy.act


def carry(
    loop: AuctionLoop,
    sale: Sale[Any],
    policies: Mapping[str, Policy],
    patience: Mapping[str, float],
    recorded: Recorded,
) -> Iterator[int]:
    """Carry questions to policies and their answers back, to the end of the sale.

    Args:
        loop: the auction loop, which asks.
        sale: the sale; policies see their part of its log.
        policies: the policies by bidder.
        patience: the seconds that each bidder may take to answer.
        recorded: returns replies that failed in an interrupted run.

    Yields:
        the number of each turn when it is answered, so that other tasks may run.

    Raises:
        LogError: the resumed run differs from its log.
    """
    said: Mapping[str, SeatReply] = {}
    for number in count(1):
        try:
            turn = loop.send(said) if said else next(loop)
        except StopIteration:
            return
        opening = len(sale.log.entries) - 1
        decided = sale.log.is_decided  # answers that the log has settled are not timed again
        said = {
            ask.bidder: recorded(opening, ask.bidder)
            or _reply(policies[ask.bidder], ask, sale.seen_by(ask.bidder), inf if decided else patience[ask.bidder])
            for ask in turn
        }
        yield number


def _reply(policy: Policy, ask: Ask | Pause, seen: Sequence[Event], seconds: float) -> SeatReply:
    step = Step(seconds)
    try:
        reply = step.run(_answer, policy, ask, seen)
    except Overdue:
        return SeatReply(failure=held_up(ask.bidder, seconds))
    return SeatReply(failure=held_up(ask.bidder, seconds)) if step.late else reply


def _answer(policy: Policy, ask: Ask | Pause, seen: Sequence[Event]) -> SeatReply:
    try:
        if isinstance(ask, Pause):
            return SeatReply(in_words(None, ask))
        answer = policy.decide(ask, seen)
        return _unspoken(answer, ask) or SeatReply(in_words(answer, ask))
    except StopIteration:  # as a coroutine turns it, which `act` is in the room
        return SeatReply(failure=failed(ask.bidder, RuntimeError("coroutine raised StopIteration")))
    except BaseException as error:  # as in the room, no error of a policy stops the auction
        if is_not_theirs(error):
            raise
        return SeatReply(failure=failed(ask.bidder, error))


def _unspoken(answer: Answer | str, ask: Ask) -> SeatReply | None:
    """Return a reply without words for an answer that its words would not change; None: put it in words."""
    if type(ask.space) not in _SPACES:
        return None
    if type(answer) is Withdraw:
        return _WITHDRAWAL
    if type(answer) is Bid and type(answer.amount) is Decimal and _is_plain(str(answer.amount)):
        return SeatReply("", (), None, answer)
    return None
