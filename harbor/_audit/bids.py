"""Changes a bidder's sealed bids where that changes nothing that the rules tell others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from random import Random
from typing import Any

from harbor._audit.holding import Change
from harbor._audit.tape import Settled, Tape
from harbor._core.asks import Action, Ask, Bid
from harbor._core.events import EVERYONE, Event
from harbor._core.log_lines import seats_of
from harbor._games.mechanism import Mechanism

DRAWS = 5
NEAR = (Decimal("0.01"), Decimal(1))


def bid_changes(rules: Mechanism[Any], tape: Tape, bidders: Sequence[str]) -> Iterator[Change]:
    """Give a change of bids for each bidder that bids.

    Every bid that others learn nothing of is changed. Where others learn of each, the first is changed: it is public
    from its settlement on, and secret up to there.
    """
    for bidder in bidders:
        acted = [(number, one) for number, one in enumerate(tape.settled, 1) if bidder in one.places]
        acted = [(number, one) for number, one in acted if one.places[bidder] not in tape.failed[bidder]]
        quiet, first = {}, None
        for number, one in acted:
            place = one.places[bidder]
            ask = tape.asks[bidder][place]
            for other in _others(ask, one.actions[bidder]):
                first = first or (number, place, ask.space.say(other))
                if _unheard(rules, one, bidder, other):
                    quiet[place] = ask.space.say(other)
                    break
        if quiet:
            yield Change("bid", bidder, said=quiet)
        elif first is not None:
            yield Change("bid", bidder, said={first[1]: first[2]}, public_at=first[0])


def _others(ask: Ask, action: Action) -> list[Action]:
    """List other legal actions, those far off first: what hangs on a bid shows more."""
    chance, found = Random(0), []
    near = [Bid(action.amount + sign * by) for by in NEAR for sign in (-1, 1)] if isinstance(action, Bid) else []
    for other in (*(ask.space.draw(chance) for _ in range(DRAWS)), *ask.space.edges(), *near):
        if other != action and other not in found and not ask.space.refusal(other):
            found.append(other)
    return found


def _unheard(rules: Mechanism[Any], settled: Settled, bidder: str, other: Action) -> bool:
    """Say whether the rules tell others the same whichever the action is."""
    then, now = (
        [event for event in settled.again(rules, actions) if _is_for_others(event, bidder)]
        for actions in (settled.actions, {**settled.actions, bidder: other})
    )
    return repr(then) == repr(now)


def _is_for_others(event: Event, bidder: str) -> bool:
    return event.audience == EVERYONE or any(seat != bidder for seat in seats_of(event))
