"""What a run that is played again is compared with beside its events: prompts, and the calls of its models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from harbor._core.events import BiddersAsked, ModelCalled, Paused
from harbor._core.layout import CALLS
from harbor._core.log_lines import DIGEST, Entry, encode
from harbor._core.players import AGENT
from harbor._core.sent_files import MOST_RECORDS, read_sent
from harbor._house.compared_log import ComparedLog, found_at
from harbor._house.verdict import Differs, Ended, body_of, differs, shown
from harbor._models.replies.replay import RawCall, ReplayCache
from harbor._runs.recorded import NotRecorded

AROUND = 40
"""How many characters of a prompt are shown before and after the place where it differs."""


def not_recorded(error: NotRecorded, log: ComparedLog) -> Differs | Ended:
    """Say where a prompt first differs from the one that is recorded; if there is none, that it is missing."""
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
    """Refuse a line that reading changes: it drops a field that no event has, and fills in one that is left out.

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
    """Compare the calls that a log tells of with those that are recorded word for word: each is there once.

    A call that failed and that the log does not have was cut short by an interruption; a log that was interrupted
    lacks the calls of its last turn; and those of a seat that failed are not needed, so a power cut may have lost them.

    Raises:
        Differs: one is missing, differs, or is there too often.
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
    """Find the recorded call that a line should tell of: the one that began then."""
    return next((call.event for call in calls if (call.bidder, call.began) == (event.bidder, event.began)), None)
