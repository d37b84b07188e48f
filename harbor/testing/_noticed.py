"""Who notices that one thing of a game was changed: whose it is, and who learns of it and should not."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from math import inf
from typing import NamedTuple

from harbor._audit.differing import Difference, differences
from harbor._audit.holding import Change
from harbor._audit.tape import Channel, Happened, Tape
from harbor._audit.varying import told_by_rules
from harbor._core.events import AnalystEvent, Event
from harbor._core.log_lines import Entry
from harbor._games.game import Game

OF_A_SEAT = {"budget": "budget", "estimates": "overestimate", "objective": "objective"}
"""The secrets that are settings of a seat, with the setting of each; the house tells the seat of them at once."""
THOUGHT: tuple[Channel, ...] = ("prompt", "answer", "page")
"""The channels whose contents follow from what a seat was told before."""
OWN: tuple[Channel, ...] = ("ask", "prompt", "answer")
"""The channels in which a game makes use of a setting; over the others the house tells a seat of itself."""
REMEDY = "tell it to nobody else, or let the event that tells it have `discloses`"


class Pair(NamedTuple):
    """A game, and the same acts with one thing changed: of a kind, kept by the rules for one bidder (empty: for none).

    A moment is the number of a settlement; what follows from that one, such as an ask, is half a settlement later.
    """

    game: Game
    base: Tape
    now: Tape
    kind: str
    keeper: str

    def leak(self) -> str:
        """Say who notices the change and should not; empty if nobody does."""
        seats = list(self.base.told)
        noticed = differences(self.base, self.now, Change(self.kind), seats)
        for seat, one in noticed.items():
            if seat != self.keeper and one.channel in THOUGHT:
                return f"the {one.channel} of {seat!r} hangs on what it is not told: {_shown(one)}; take it from events"
        told = {seat: first for seat in seats if (first := self._first_alone(seat))}
        owner = self.keeper or (next(iter(told)) if len(told) == 1 else "")
        if not owner:
            return ""  # it is the house's, or several bidders are told of it
        own = noticed.pop(owner, None)
        since = 0.0 if self.kind in OF_A_SEAT else _since(told.get(owner), own)
        for other, first in told.items():
            if other != owner and first.settled <= since and not _discloses(first.event):
                return f"{other!r} alone is told what the rules keep for {owner!r}: {first.event!r}; tell {owner!r}"
        if self.kind not in OF_A_SEAT and told.keys() - {owner}:
            return ""  # what several are told is nobody's own
        if not self.keeper and self._is_public_first(told.get(owner)):
            return ""  # one bidder is told again what all have just been told
        return self._crossed(owner, since, noticed)

    def is_used(self) -> bool:
        """Say whether it matters to anything but what the house tells a seat of itself."""
        if self.now.differs is not None or self.now.parted is not None:
            return True
        rows = [
            repr(self.game.measures.standings([Entry(number, 0.0, one.event) for number, one in enumerate(tape.log)]))
            for tape in (self.base, self.now)
        ]
        seats = list(self.base.told)
        return (
            rows[0] != rows[1]
            or any(map(self._first_alone, seats))
            or any(_own(self.base, seat) != _own(self.now, seat) for seat in seats)
        )

    def _crossed(self, owner: str, since: float, noticed: Mapping[str, Difference]) -> str:
        """Say what others notice from the moment on at which its owner is told; what they know before is no secret."""
        first = min(noticed, key=lambda seat: _moment(noticed[seat]), default="")
        moment = _moment(noticed[first]) if first else inf
        told_all, settled = self._public()
        if min(moment, settled) < since:
            return ""
        if told_all and settled <= moment:
            return f"all are told what only {owner!r} should know: {told_all}; {REMEDY}"
        if not first:
            return ""
        one = noticed[first]
        return f"{first!r} notices in its {one.channel} what only {owner!r} should know: {_shown(one)}; {REMEDY}"

    def _public(self) -> tuple[str, float]:
        """Give the first public difference that follows from the same acts and discloses nothing; and its moment."""
        at, parted = self.now.differs, self.now.parted
        if at is None or (parted is not None and parted <= at):
            return "", inf
        pair = [tape.public[at] for tape in (self.base, self.now) if at < len(tape.public)]
        if any(map(_discloses, pair)):
            return "", inf
        return " became ".join(map(repr, pair)), self.now.settled_at(at)

    def _is_public_first(self, told: Happened | None) -> bool:
        at = self.now.differs
        return told is not None and at is not None and told.public > at

    def _first_alone(self, seat: str) -> Happened | None:
        """Give the first event that the rules tell this seat alone and that differs."""
        for then, now in zip_longest(self._alone(self.base, seat), self._alone(self.now, seat)):
            if then is None or now is None or repr(then.event) != repr(now.event):
                return now or then
        return None

    def _alone(self, tape: Tape, seat: str) -> list[Happened]:
        ends = [end for end in (self.now.differs, self.now.parted and self.now.parted - 1) if end is not None]
        until = min(map(self.now.settled_at, ends), default=len(self.now.settled))
        of_rules = (one for one in tape.log if 0 < one.settled <= until)
        return [one for one in of_rules if seat in told_by_rules(self.game, one.event)]


def _discloses(event: Event) -> bool:
    return not isinstance(event, AnalystEvent) and event.discloses


def _since(told: Happened | None, noticed: Difference | None) -> float:
    """Give the moment at which a bidder is told what is its own."""
    return min(told.settled if told else inf, _moment(noticed) if noticed else inf)


def _shown(found: Difference) -> str:
    return f"{found.before!r} became {found.now!r}"


def _moment(found: Difference) -> float:
    return found.settled if found.channel == "event" else found.settled + 1 / 2


def _own(tape: Tape, seat: str) -> list[str]:
    return [one.text for one in tape.told[seat] if one.channel in OWN]
