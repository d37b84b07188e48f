"""Recorded calls answer in the place of models when a run is played again, and each prompt is compared with the record.

Minds get recorded replies, and other seats repeat recorded words. No model, agent or person is made or asked, and
nothing is opened.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from harbor._config.models import GIVEN, ModelSettings
from harbor._core.asking.asks import Ask, Pause
from harbor._core.basics.errors import LogError
from harbor._core.files.layout import CALLS
from harbor._core.files.safe_files import MOST_RECORDS, read_sent
from harbor._core.log.events import Answered, BiddersAsked, ModelCalled, Paused
from harbor._core.log.log_entries import DIGEST, Entry, encode
from harbor._core.log.players import AGENT, EventBuffer, Player, SeatReply
from harbor._house.auctioneer import AuctionLoop, Sale
from harbor._house.compared_log import ComparedLog, Differs, Ended, body_of, differs, found_at, shown
from harbor._house.watchdog import FATAL, failed, in_words
from harbor._models.calls.client import ModelClient
from harbor._models.calls.forms import Forms
from harbor._models.calls.reply_shapes import without_shape
from harbor._models.calls.requests import Pool, Way
from harbor._models.replies.replay import RawCall, ReplayCache
from harbor._runs.resolve import ResolvedAuction, ResolvedBidder
from harbor.graphs._context.context import BidderContext
from harbor.graphs._wiring.steps import PlainBidder
from harbor.memory._bidder.bidder_memory import BidderMemory

Seat = Callable[[Ask | Pause], Awaitable[SeatReply]]


class NotRecorded(LogError):
    """A call to a model, an agent or a person is missing in the record.

    Attributes:
        what: the call, in words.
        asked: the words of the prompt; empty for an agent or a person.
        recorded: the bidder's next recorded call with the same purpose; None if there is none.
    """

    def __init__(self, what: str, asked: Sequence[str] = (), recorded: RawCall | None = None) -> None:
        super().__init__(f"{what} is not recorded")
        self.what, self.asked, self.recorded = what, asked, recorded


class RecordedCalls(ReplayCache):
    """The calls of a run that is played again; a call that is not recorded raises an error.

    Args:
        entries: entries of the log.
        calls: calls from the file that lies beside the log.
        untold: purposes of calls whose prompts are not compared, because they contain facts that the log does not have.
    """

    def __init__(self, entries: Sequence[Entry], calls: Sequence[RawCall], untold: Collection[str] = ()) -> None:
        super().__init__(entries, calls)
        self._untold = untold

    def call(self, bidder: str, purpose: str, attempt: int, prompts: Sequence[Sequence[str]]) -> RawCall:
        """Return the first recorded call of a bidder with exactly one of these prompts, once.

        Raises:
            NotRecorded: there is none.
        """
        near = (call for call in self.left(bidder) if (call.purpose, call.attempt) == (purpose, attempt))
        try:
            found = super().call(bidder, purpose, attempt, prompts)
        except LogError:
            found = None
        if found is None and (call := next(near, None)) is not None and self._counts_as(call, prompts[0]):
            found = super().call(bidder, purpose, attempt, [call.prompt])
        if found is None:
            raise NotRecorded(f"the {purpose!r} prompt of {bidder!r}, attempt {attempt}", prompts[0], call)
        return found

    def may_have(self, bidder: str) -> bool:
        """Return true, so that a call that is not recorded is reported."""
        return True

    def _counts_as(self, call: RawCall, prompt: Sequence[str]) -> bool:
        """Return whether a call with another prompt still matches: its facts are unknown, or only its form differs."""
        if call.purpose in self._untold:
            return True
        return without_shape(call.prompt) == without_shape(prompt) and call.form != self.form(
            call.fallback or call.model, [call.bidder]
        )


class _Unasked:
    """Stand-in for a chat model: it takes any form, and is never asked."""

    def bind_tools(self, *_: Any, **__: Any) -> _Unasked:
        return self

    with_structured_output = bind_tools

    async def ainvoke(self, _: Any) -> Any:
        raise AssertionError("no model is asked when a run is played again")


def seats(
    auction: ResolvedAuction, sale: Sale[Any], replay: RecordedCalls, memories: Mapping[str, BidderMemory]
) -> dict[str, Seat]:
    """Return the seat of each bidder."""
    made = {}
    for bidder in auction.bidders:
        name, notes = bidder.settings.name, EventBuffer()
        player: Player | None = bidder.policy
        if player is None and bidder.settings.uses_model:
            player = PlainBidder(
                BidderContext(
                    _client(auction, bidder, replay),
                    bidder.settings,
                    notes.begin,
                    memories.get(name),
                    auction.config.rules.game,
                    auction.config.seed,
                    judged=auction.config.judges(bidder.settings),
                )
            )
        made[name] = _seat(name, player, notes, sale, replay)
    return made


def _client(auction: ResolvedAuction, bidder: ResolvedBidder, replay: RecordedCalls) -> ModelClient:
    """Return a client that asks in the recorded form, because settings may leave the form to the first call."""
    name, model = bidder.settings.name, bidder.settings.model
    chat: Any = _Unasked()

    def recorded(model: str) -> Pool:
        settings = auction.models[model]
        forms = Forms(chat, ModelSettings(use=GIVEN), recorded=replay.form(model, [name]) or "tool")
        return Pool(model, (Way(settings, forms),), recorded(settings.fallback) if settings.fallback else None)

    return ModelClient(name, model, chat, auction.models[model], replay=replay, pool=recorded(model))


def _seat(name: str, player: Player | None, notes: EventBuffer, sale: Sale[Any], replay: RecordedCalls) -> Seat:
    """Return a seat of a bidder; without a player it repeats the recorded words."""

    async def reply(ask: Ask | Pause) -> SeatReply:
        if (said := replay.turn(len(sale.log.entries) - 1, name)) is not None:
            return said if said.failure else said._replace(notes=(Answered(name, said.words), *said.notes))
        if player is None:
            raise NotRecorded(f"what {name!r} answered")
        try:
            words = in_words(await player.act(ask, sale.seen_by(name)), ask)
        except (NotRecorded, *FATAL):
            raise
        except Exception as error:  # as in the room, the seat fails; the log then shows the difference
            return SeatReply(notes=notes.take(), failure=failed(name, error))
        return SeatReply(words, notes.take())

    return reply


async def carry_again(loop: AuctionLoop, seated: Mapping[str, Seat]) -> None:
    """Pass asks to seats and answers back, to the end of the sale.

    Raises:
        NotRecorded: a call is not recorded; of several, the first in the order of seats.
    """
    said: Mapping[str, SeatReply] = {}
    while True:
        try:
            turn = loop.send(said) if said else next(loop)
        except StopIteration:
            return
        replies = await asyncio.gather(*(seated[ask.bidder](ask) for ask in turn), return_exceptions=True)
        said = {ask.bidder: _given(reply) for ask, reply in zip(turn, replies, strict=True)}


def _given(reply: SeatReply | BaseException) -> SeatReply:
    if isinstance(reply, BaseException):
        raise reply
    return reply


AROUND = 40
"""Characters of a prompt that are shown before and after the first difference."""


def not_recorded(error: NotRecorded, log: ComparedLog) -> Differs | Ended:
    """Return where a prompt first differs from the recorded one, or that none is recorded."""
    call = error.recorded
    told = [entry for entry in log.rest if call is not None and entry.event == call.event]
    if call is None or not told:
        return log.lacks(error.what)
    pairs = enumerate(zip_longest(error.asked, call.prompt, fillvalue=""), start=1)
    number, (now, then) = next((number, pair) for number, pair in pairs if pair[0] != pair[1])
    at = next((at for at, (one, other) in enumerate(zip(now, then, strict=False)) if one != other), len(min(now, then)))
    place = f"{error.what}, message {number}, character {at + 1}: "
    around = slice(max(0, at - AROUND), at + AROUND)
    return found_at(told[0], place + repr(now[around]), place + repr(then[around]))


def check_fields(path: Path, log: ComparedLog) -> None:
    """Refuse a line that reading changes: reading drops an unknown field, and fills in a missing one.

    Raises:
        Differs: there is one.
    """
    for line, entry in zip(read_sent(path, MOST_RECORDS).splitlines(), log.told, strict=False):
        again = encode(entry, "")[0]
        if line.rpartition(DIGEST)[0] == again.rpartition(DIGEST)[0]:
            continue
        stands, written = body_of(line), body_of(again)
        if changed := sorted(name for name in stands | written if stands.get(name) != written.get(name)):
            expected, found = ({name: one[name] for name in changed if name in one} for one in (written, stands))
            raise found_at(entry, shown(expected), shown(found))


def check_calls(log: ComparedLog, calls: Sequence[RawCall], replay: ReplayCache) -> None:
    """Compare the calls in a log with the raw calls: each is there exactly once.

    Three kinds may be missing. A failed call outside the log was cut short by an interruption. An interrupted log lacks
    the calls of its last turn. A power cut may have lost the calls of a failed seat, as nothing needs them.

    Raises:
        Differs: a call is missing, differs, or is there too often.
    """
    left = Counter(call.event for call in calls if call.purpose != AGENT)
    told, opening = {}, 0
    for entry in log.told:
        if isinstance(entry.event, BiddersAsked | Paused):
            opening = entry.seq
        if isinstance(entry.event, ModelCalled) and entry.event.purpose != AGENT:
            told[entry.event] = entry
            if not left[entry.event]:
                if (said := replay.turn(opening, entry.event.bidder)) and said.failure:
                    continue
                like = _like(entry.event, calls)
                raise differs(entry, like, "deep") if like else _lost(entry, entry.event)
            left[entry.event] -= 1
    for event, times in left.items():
        if times and (event in told or (log.complete and event.outcome != "failed")):
            raise found_at(told.get(event), f"each call once in {CALLS}", f"{_words(event)}, {times} times too often")


def _lost(entry: Entry, call: ModelCalled) -> Differs:
    found = f"{CALLS} lacks it: a line of that file was lost, or this one of the log was added"
    return found_at(entry, f"the answer to {_words(call)}, in {CALLS}", found)


def _words(call: ModelCalled) -> str:
    return f"{call.purpose!r} of {call.bidder!r}, attempt {call.attempt}"


def _like(event: ModelCalled, calls: Sequence[RawCall]) -> ModelCalled | None:
    """Return the recorded call that belongs to a line: the bidder's call with the same start."""
    return next((call.event for call in calls if (call.bidder, call.began) == (event.bidder, event.began)), None)
