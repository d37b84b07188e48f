"""The tools of a bidder's client: wait for a turn, answer it, and read past events. They know only one seat's view."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from harbor._core.log.events import Event
from harbor._core.log.log_entries import event_json, is_over
from harbor._doors.door import Turn
from harbor._house.auctioneer import told_to
from harbor._mcp.held_auctions import ClientSeat, HeldAuctions

LONGEST_WAIT = 50
"""The longest time in seconds that a call may wait. Most clients abandon a call after a minute."""
SEVERAL = "If you hold other seats, call it for each of them first, with seconds=0: one of them may be asked."
"""Advice to a client that waits in one call at a time, as a model does."""
MOST_EVENTS = 200
"""The greatest number of events that one call returns."""

Seat = Annotated[
    str,
    Field(
        description="The token of your seat, such as seat-4fJx.... Whoever holds the auction gives it.", max_length=200
    ),
]


class SeatTools:
    """The tools with which a client plays the seats whose tokens it has."""

    def __init__(self, held: HeldAuctions) -> None:
        self._held = held

    async def wait_for_turn(
        self,
        seat: Seat,
        seconds: Annotated[
            float, Field(description="How long to wait for your turn, in seconds.", ge=0, le=LONGEST_WAIT)
        ] = 45,
        everything: Annotated[
            bool, Field(description="True: also tell all that happened before, if you no longer know it.")
        ] = False,
    ) -> dict[str, Any]:
        """Wait until the auctioneer asks you, a bidder in an auction, for a decision; then read what is asked.

        Call it first, and again after each answer, until the status is "over". It changes nothing, and you may call it
        as often as you like; if you do not answer a turn in time, you are out of the bidding for that item.

        It returns one of these:
        - {"status":"your_turn", "turn":17, "words":"Ben bids $1,200 on House 3. Ann, your call on House 3: ...",
          "answer":{a JSON schema}, "space":{"kind":"amount","minimum":1300,"maximum":20000,"step":0.01}, ...}:
          decide now, and call `answer` with this turn number. "words" tells what is new and what you are asked;
          "answer" is the schema of your answer; "refusal" says why your last answer failed, if it did; "note" is for
          you alone; "seconds_left" is how long you have.
        - {"status":"wait", "words":"..."}: nobody asks you yet. Call wait_for_turn again at once.
        - {"status":"over", "words":"..."}: the auction is over. Stop calling.

        If you hold several seats and wait for one call at a time, go round them with seconds=0 until one is asked: the
        auction may be waiting for another of your seats, and would wait until its time is over.

        Dollar amounts are plain numbers. Do your thinking before you call `answer`.
        """
        mine = self._held.seat(seat)
        turn = await mine.door.next_turn(seconds)
        if turn is not None:
            return _turn(mine, turn, everything)
        if mine.door.is_closed:
            return {"status": "over", **_over(mine)}
        return {"status": "wait", "words": _waiting(mine)}

    async def answer(
        self,
        seat: Seat,
        turn: Annotated[int, Field(description='The number of the turn that you answer: "turn" of wait_for_turn.')],
        answer: Annotated[
            dict[str, Any] | str,
            Field(
                description='Your decision: an object of the schema that is "answer" in your turn, such as'
                ' {"action":"bid","amount":1300} or {"action":"withdraw"}; or one sentence, such as "I bid $1,300."'
            ),
        ],
    ) -> dict[str, Any]:
        """Give your decision for the turn that `wait_for_turn` gave you. You can answer each turn once.

        Call it once per turn, with the number of that turn; then call wait_for_turn for what follows.

        It returns {"status":"taken", "words":"..."}: your answer is with the auctioneer.
        It returns {"status":"refused", "words":"..."} if no decision could be read in it or it is against the rules;
        the words say why. You are asked again, a few times at most, with a new turn whose "refusal" says the same.
        An error says that this turn is not asked any more: it came too late, or was answered before.
        """
        refusal = self._held.seat(seat).door.answer(turn, answer)
        if refusal:
            words = f"Your answer does not count: {refusal}. Call wait_for_turn: you may be asked again."
            return {"status": "refused", "words": words}
        return {"status": "taken", "words": "The auctioneer has your answer. Call wait_for_turn for what follows."}

    async def what_happened(
        self,
        seat: Seat,
        since: Annotated[
            int, Field(description='How many events you have read already: "next" of your last call; 0 for all.', ge=0)
        ] = 0,
    ) -> dict[str, Any]:
        """Read what has happened in your auction so far, as far as your seat may know it. It changes nothing.

        Call it when you have lost track, when you come back after a pause, or to see how the auction ended; in the
        usual course wait_for_turn tells you what is new.

        It returns {"words":"Welcome, Ann, Ben; for sale ... Ben bids $1,200 on House 3. ...", "events":[{"type":
        "acted","bidder":"Ben","item":"House 3","round":1,"attempt":1,"act":{"action":"bid",
        "amount":1200},"unit":"dollars"}, ...], "next":42, "more":false,
        "over":false}. "words" and "events" tell the same, once in English and once as data; "more" says that there are
        more: call again with since set to "next".
        """
        mine = self._held.seat(seat)
        seen = mine.seen
        told = seen[since : since + MOST_EVENTS]
        following = min(len(seen), since + len(told)) if told else since
        return {
            "words": _words(mine, told),
            "events": _as_json(told),
            "next": following,
            "more": following < len(seen),
            "over": mine.door.is_closed,
        }


def _turn(mine: ClientSeat, turn: Turn, everything: bool) -> dict[str, Any]:
    """Describe a turn. Leave out earlier events, which would grow from turn to turn, unless `everything` is True.

    Leave out the seat's ID in the protocol as well, because a client knows its seat by the token.
    """
    whole = turn.as_json()
    left_out = {"seat"} if everything else {"seat", "seen", "so_far"}
    left = max(0, round(mine.timeout_seconds - mine.door.asked_for))
    told = {"status": "your_turn", "turn": turn.number, "seconds_left": left, "words": whole["words"]}
    return told | {name: value for name, value in whole.items() if name not in left_out}


def _over(mine: ClientSeat) -> dict[str, Any]:
    if not is_over(mine.auction.entries):
        return {"words": "The auction was stopped by its host before its end. There is nothing more to do."}
    words = _words(mine, mine.seen[mine.door.last_turn :])
    return {"words": f"{words} The auction is over. There is nothing more to do.".strip()}


def _waiting(mine: ClientSeat) -> str:
    if not mine.auction.begun:
        return f"The auction has not begun: it waits for other bidders. Call wait_for_turn again. {SEVERAL}"
    return f"Nobody asks you yet: others are deciding. Call wait_for_turn again. {SEVERAL}"


def _words(mine: ClientSeat, events: Sequence[Event]) -> str:
    return " ".join(sentence for event in events for sentence in told_to(mine.bidder, event))


def _as_json(events: Sequence[Event]) -> list[dict[str, Any]]:
    return [json.loads(event_json(event)) for event in events]
