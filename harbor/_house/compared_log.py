"""A compared log supplies the replies of a sale, compares each event of the sale run again, and gives a verdict."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal

from harbor._core.asking.asks import Action, Ask, Bid, Pause, Unreadable, Withdraw
from harbor._core.log.acts import Acted, ActedSealed, Tried
from harbor._core.log.events import EVERYONE, BiddersAsked, Event, SeatFailed
from harbor._core.log.log import TURN_OPENS, Log, difference
from harbor._core.log.log_entries import Entry, event_json
from harbor._core.log.players import SeatReply
from harbor._games.mechanism import Shown
from harbor._house.auctioneer import Turn

Level = Literal["heading", "rules", "public", "deep"]
NOTHING = "nothing"  # stands for a missing event or part
LONGEST_SHOWN = 400  # characters of fields in a verdict


@dataclass(frozen=True, slots=True)
class Verdict:
    """Says whether a log follows from its rules.

    `level` says what the log was compared with: the results of the rules for all events ("rules") or for the public
    ones ("public"), the whole run, played again ("deep"), or only its opening, because the rules are unknown
    ("heading"). If they differ, `line` is the number of the first line that differs, `event` is its type, and
    `expected` and `found` are the two values, as JSON or in words. `unchecked` lists in sentences the parts that could
    not be checked.
    """

    follows: bool
    level: Level
    line: int | None = None
    event: str = ""
    expected: str = ""
    found: str = ""
    unchecked: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The result in one line, with the difference if there is one."""
        if self.follows:
            return "the log follows from its rules"
        where = "" if self.line is None else f"line {self.line}: "
        return f"the log does not follow from its rules: {where}{self.event} with {self.found}, not {self.expected}"


class Ended(Exception):
    """The log breaks off here. Up to here it follows from its rules."""


class Differs(Exception):
    """A log differs from the result of its rules; `verdict` says where."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.words)
        self.verdict = verdict


def differs(found: Entry, expected: Event | None, level: Level = "rules") -> Differs:
    """Return the difference of a log's line from the event that the rules expect there (None: no event)."""
    return Differs(differing(level, found.seq + 1, expected, found.event))


def what_differs(expected: Any, found: Any) -> tuple[Any, Any]:
    """Return two JSON values without their common parts: keys of dicts, places of lists with equal length."""
    if isinstance(expected, dict) and isinstance(found, dict):
        names = [name for name in {**expected, **found} if expected.get(name) != found.get(name)]
        pairs = {name: what_differs(expected.get(name), found.get(name)) for name in names}
        return {name: wanted for name, (wanted, _) in pairs.items()}, {
            name: given for name, (_, given) in pairs.items()
        }
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        places = [place for place, one in enumerate(expected) if one != found[place]]
        return [expected[place] for place in places], [found[place] for place in places]
    return expected, found


def differing(level: Level, line: int | None, expected: Event | None, found: Event | None) -> Verdict:
    """Return the verdict on two events in one place, of which one may be None, with the differing fields as JSON."""
    wanted, given = fields_of(expected), fields_of(found)
    if wanted and given and wanted["type"] == given["type"]:
        wanted, given = what_differs(wanted, given)
    name = fields_of(found or expected)["type"]
    return Verdict(False, level, line, name, shown(wanted), shown(given))


def fields_of(event: Event | None) -> dict[str, Any]:
    """Return the type and the fields of an event; an empty dict for None."""
    if event is None:
        return {}
    fields: dict[str, Any] = json.loads(event_json(event))
    return fields


def body_of(line: bytes) -> dict[str, Any]:
    """Return the type and the fields of the event in a line of a log, without conversion."""
    fields: dict[str, Any] = json.loads(line)
    return {name: value for name, value in fields.items() if name not in ("seq", "at", "audience", "digest")}


def shown(fields: Mapping[str, Any]) -> str:
    """Return fields as JSON, cut after `LONGEST_SHOWN` characters; "nothing" if there are none."""
    text = json.dumps(fields, ensure_ascii=False) if fields else NOTHING
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


class ComparedLog(Log):
    """Compares appended events with a recorded log, except for clocks, and writes nothing.

    Args:
        told: the entries of the recorded log, in order.
        complete: whether the sale has closed in it.
        level: the level of the check, as in `Verdict`.
        warning: a message about its missing end.
    """

    def __init__(self, told: Sequence[Entry], complete: bool, level: Level, warning: str = "") -> None:
        super().__init__()
        self.told, self.complete, self.level, self.warning = told, complete, level, warning

    @property
    def rest(self) -> Sequence[Entry]:
        """The entries of the log that have not been compared."""
        return self.told[len(self.entries) :]

    @property
    def here(self) -> Entry | None:
        """The entry that is compared next; None at the end."""
        place = len(self.entries)
        return self.told[place] if place < len(self.told) else None

    def append(self, event: Event) -> Entry:
        """Compare an event with the entry in its place. In a public log, skip events that are not public.

        Raises:
            Differs: the log has another event there.
            Ended: the log ends before.
        """
        if self.level == "public" and event.audience != EVERYONE:
            return Entry(0, 0.0, event)
        entry = self.here
        if entry is None:
            raise Ended
        if difference(entry.event, event):
            raise differs(entry, event, self.level)
        self.entries.append(entry)
        return entry

    def take(self) -> Entry:
        """Take the next entry without comparison."""
        entry = self.told[len(self.entries)]
        self.entries.append(entry)
        return entry

    def lacks(self, what: str) -> Differs | Ended:
        """Return the error for a missing part: an end, or a difference if the log goes on or is complete."""
        if self.here is None and not self.complete:
            return Ended()
        return found_at(self.here, what, NOTHING, self.level)

    def check_over(self) -> None:
        """Check that no entry is left.

        Raises:
            Differs: the log has further lines.
        """
        if self.here is not None:
            raise differs(self.here, None, self.level)


def found_at(entry: Entry | None, expected: str, found: str, level: Level = "deep") -> Differs:
    """Return the difference at a line, in words."""
    line, event = (entry.seq + 1, fields_of(entry.event)["type"]) if entry else (None, "")
    return Differs(Verdict(False, level, line, event, expected, found))


Key = tuple[str, str, int]


class ToldReplies:
    """Reads replies from a log.

    Attributes:
        untold: whether the acts of the turn under way are sealed, in a public log that never discloses them.

    Raises:
        Differs: the log has an act of a bidder that was not asked.

    Args:
        log: the compared log.
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
        """Return the replies of a turn that has just been opened.

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
        """Return the legal answer to an ask, or a stand-in for a failed answer."""
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
        """Return a failure, which any action space takes as a withdrawal, for a bidder without acts in a public log.

        Raises:
            Ended: the log breaks off in this turn.
            Differs: the log should have the act.
        """
        if self._broke_off:
            raise Ended
        if not self._may_be_untold:
            what = f"what {ask.bidder} did on {ask.item} in round {ask.round}"
            raise found_at(self._log.here, what, NOTHING, self._log.level)
        self.untold = True
        return _seat_failed(ask)

    def _later(self) -> Iterator[Event]:
        """Return the events from here on."""
        return (self._log.told[place].event for place in range(len(self._log.entries), len(self._log.told)))

    def _asked_again(self, asks: Sequence[Ask], length: int) -> Collection[str]:
        """Return the bidders of a turn that are asked again right after this block, because their answers failed."""
        after = len(self._log.entries) + length
        again = self._log.told[after].event if after < len(self._log.told) else None
        if not asks or not isinstance(again, BiddersAsked) or again.attempt != asks[0].attempt + 1:
            return ()
        return {ask.bidder for ask in asks} & set(again.bidders)


def _is_of_a_turn(event: Event) -> bool:
    """Say whether an event belongs between the first ask of a turn and the results of its acts."""
    again = isinstance(event, BiddersAsked) and event.attempt > 1
    return again or isinstance(event, Tried | SeatFailed | Acted | ActedSealed)


FAILED = SeatReply(answer=Unreadable("a failed bid"))
"""Stands for a failed answer that the log does not tell."""


def _seat_failed(ask: Ask) -> SeatReply:
    return SeatReply(failure=SeatFailed(ask.bidder, "error", ""))
