"""Carries the auction loop in a plain loop, where nothing but scripted policies sits: no chat, no tasks, no framework.

A policy decides at once, so there is nothing to wait for. The log equals that of the room.
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
"""Gives the reply of a bidder in the turn that the event of this number opened, if it failed in an interrupted run."""

_PLAIN_AMOUNT = re.compile(r"(?:0|[1-9]\d{0,11})(?:\.(?!00)\d\d)?", re.ASCII)
_is_plain = lru_cache(_PLAIN_AMOUNT.fullmatch)  # bidders of one sale name the same amounts
_SPACES = (Amount, Number)
_WITHDRAWAL = SeatReply(answer=Withdraw())


def never_waits(policy: Policy | None) -> bool:
    """Say whether a bidder is played by a policy, and one whose `act` is that of all policies: it only decides."""
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
        loop: asks.
        sale: policies receive their views of it.
        policies: by bidder.
        patience: how many seconds each may take to answer.
        recorded: gives the answers that failed in an interrupted run.

    Yields:
        the number of each turn when it is answered, so that others may work.

    Raises:
        LogError: the run that is resumed goes otherwise than its log.
    """
    said: Mapping[str, SeatReply] = {}
    for number in count(1):
        try:
            turn = loop.send(said) if said else next(loop)
        except StopIteration:
            return
        opening = len(sale.log.entries) - 1
        decided = sale.log.is_decided  # a decision made in time is not timed again
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
    except StopIteration:  # its result in a coroutine, as `act` is in the room
        return SeatReply(failure=failed(ask.bidder, RuntimeError("coroutine raised StopIteration")))
    except BaseException as error:  # as in the room: an error of a policy does not end the auction
        if is_not_theirs(error):
            raise
        return SeatReply(failure=failed(ask.bidder, error))


def _unspoken(answer: Answer | str, ask: Ask) -> SeatReply | None:
    """Return the reply that needs no words: an answer that is read from its words unchanged. None: put it in words."""
    if type(ask.space) not in _SPACES:
        return None
    if type(answer) is Withdraw:
        return _WITHDRAWAL
    if type(answer) is Bid and type(answer.amount) is Decimal and _is_plain(str(answer.amount)):
        return SeatReply("", (), None, answer)
    return None
