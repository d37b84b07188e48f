"""Tests that a game keeps its secrets: it changes each draw and each setting of a seat, and nobody else may notice."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from math import inf
from typing import NamedTuple

from harbor._audit.auditing import Audit, audited, draw_changes, prepared
from harbor._audit.changes import changes, house_values, in_need, told_by_rules
from harbor._audit.tape import Channel, Happened, Tape, Told
from harbor._audit.taped_games import NOTHING_CHANGED, Change, Difference, differences, hold
from harbor._config.auction import AuctionConfig
from harbor._core.basics.errors import HarborError
from harbor._core.log.acts import Worth
from harbor._core.log.events import EVERYONE, AnalystEvent, Event, ItemLabelled
from harbor._core.log.log_entries import Entry, is_seen_by
from harbor._games.game import Game
from harbor._games.mechanism import require
from harbor._runs.auction import Auction
from harbor._runs.inputs import RunInputs
from harbor._runs.resolve import ResolvedAuction, resolve

OF_A_SEAT = {"budget": "budget", "estimates": "overestimate", "objective": "objective"}
"""The secrets that are settings of a seat, with the setting of each; the house tells them to the seat at once."""
THOUGHT: tuple[Channel, ...] = ("prompt", "answer", "page")
"""The channels whose contents follow from earlier information of a seat."""
OWN: tuple[Channel, ...] = ("ask", "prompt", "answer")
"""The channels in which a game uses a setting; over the others the house tells a seat its own settings."""
REMEDY = "tell it to nobody else, or let the event that tells it have `discloses`"


def check_secrets(auction: AuctionConfig, secrets: Collection[str] = ()) -> Audit:
    """Check that no bidder of an auction is told a secret of another bidder.

    A secret is a fact that only one bidder may know, such as its budget. Each secret of each bidder is changed, one at
    a time, and the game is played again. All that the other bidders are told has to stay the same.

    Args:
        auction: the settings of the auction; the built-in model plays in place of any other model, and the policy
            "rational" in place of a person, or of an agent that the settings do not name by an extension or reference.
        secrets: the kinds of secrets that are changed, such as "budget" and "estimates"; by default, all kinds.

    Returns:
        The audit; its `rows` tell, for each secret and each other bidder, how much was compared.

    Raises:
        AssertionError: another bidder is told something else, or there is nothing to compare. The message names the
            secret, its owner, the other bidder, and the way by which that bidder was told, such as "event" or "prompt".
        ConfigError: a setting is refused, there is no such kind of secret, or two games with the same settings differ.

    Example:
        >>> from harbor import Auction, Bidder, Item
        >>> bidders = [Bidder(name="Ann", budget=500), Bidder(name="Ben", budget=500)]
        >>> check_secrets(Auction(items=[Item(name="Vase", start=100, true_value=300)], bidders=bidders)).leaks
        []
    """
    found = audited(auction, secrets)
    require(found.compared, "there is nothing to compare: no bidder has such a secret in this game, or all is public")
    for one in found.leaks:
        difference = f"before {one.before!r}, now {one.now!r}"
        raise AssertionError(f"{one.secret} of {one.whose!r} crosses to {one.seat!r}, by {one.channel}: {difference}")
    return found


class Pair(NamedTuple):
    """A game, and the same acts with one change of a `kind`; `keeper` is the bidder that owns the secret, or "".

    A moment is the number of a settlement; a consequence of it, such as an ask, is half a settlement later.
    """

    game: Game
    base: Tape
    now: Tape
    kind: str
    keeper: str

    def leak(self) -> str:
        """Name the seat that wrongly notices the change, and how; return "" if there is none."""
        seats = list(self.base.told)
        noticed = differences(self.base, self.now, Change(self.kind), seats)
        if leak := self._of_worth(noticed):
            return leak
        for seat, one in noticed.items():
            if seat != self.keeper and one.channel in THOUGHT:
                return f"the {one.channel} of {seat!r} hangs on what it is not told: {_shown(one)}; take it from events"
        told = {seat: first for seat in seats if (first := self._first_alone(seat))}
        owner = self.keeper or (next(iter(told)) if len(told) == 1 else "")
        if not owner:
            return ""  # it is the house's, or several bidders are told
        own = noticed.pop(owner, None)
        since = 0.0 if self.kind in OF_A_SEAT else _since(told.get(owner), own)
        for other, first in told.items():
            if other != owner and first.settled <= since and not _discloses(first.event):
                return f"{other!r} alone is told what the rules keep for {owner!r}: {first.event!r}; tell {owner!r}"
        if self.kind not in OF_A_SEAT and told.keys() - {owner}:
            return ""  # a fact that several bidders are told is nobody's own
        if not self.keeper and self._is_public_first(told.get(owner)):
            return ""  # one bidder is told a public fact again
        return self._crossed(owner, since, noticed)

    def _of_worth(self, noticed: Mapping[str, Difference]) -> str:
        """Say whose asks or thoughts depend on the true worth of items, which only the analyst is told."""
        pairs = zip(_worths(self.base), _worths(self.now), strict=False)
        if all(then == now for then, now in pairs):
            return ""
        for seat, one in noticed.items():
            if one.channel != "event" and self._first_alone(seat) is None:
                return (
                    f"the {one.channel} of {seat!r} hangs on the worth of items, which only the analyst is told:"
                    f" {_shown(one)}; tell it with a Signal, or leave it out"
                )
        return ""

    def is_used(self) -> bool:
        """Say whether the setting changes more than the seat's own information from the house."""
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
        """Name the first other that notices the change once the owner is told; earlier public facts are no secret."""
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
        """Return the first public difference that follows from the same acts and discloses nothing, and its moment."""
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
        """Return the first event that the rules tell this seat alone and that differs; None if there is none."""
        for then, now in zip_longest(self._alone(self.base, seat), self._alone(self.now, seat)):
            if then is None or now is None or repr(then.event) != repr(now.event):
                return now or then
        return None

    def _alone(self, tape: Tape, seat: str) -> list[Happened]:
        ends = [end for end in (self.now.differs, self.now.parted and self.now.parted - 1) if end is not None]
        until = min(map(self.now.settled_at, ends), default=len(self.now.settled))
        of_rules = (one for one in tape.log if 0 < one.settled <= until)
        return [one for one in of_rules if seat in told_by_rules(self.game, one.event)]


def _worths(tape: Tape) -> list[Event]:
    return [one.event for one in tape.log if isinstance(one.event, Worth | ItemLabelled)]


def _discloses(event: Event) -> bool:
    return not isinstance(event, AnalystEvent) and event.discloses


def _since(told: Happened | None, noticed: Difference | None) -> float:
    """Return the moment at which a bidder is told its own fact; infinity if never."""
    return min(told.settled if told else inf, _moment(noticed) if noticed else inf)


def _shown(found: Difference) -> str:
    return f"{found.before!r} became {found.now!r}"


def _moment(found: Difference) -> float:
    return found.settled if found.channel == "event" else found.settled + 1 / 2


def _own(tape: Tape, seat: str) -> list[str]:
    return [one.text for one in tape.told[seat] if one.channel in OWN]


def check_leaks(game: Game, *auctions: Auction) -> None:
    """Require that nobody else notices a fact of one bidder, and that the game uses each setting that it claims to use.

    Each draw of `build` and each setting of a seat is changed in turn, and the same acts are played again. A change of
    the worth of items (`Worth`) that the bidder is not told changes no ask, prompt or answer of that bidder. A change
    that only one bidder is told belongs to that bidder: up to the first act that is no longer legal, or to an event
    that `discloses` it, nobody else may be asked, told or shown anything else, nor answer otherwise.

    Raises:
        AssertionError: it names the bidder that notices, and by which channel.
    """
    asyncio.run(_check(game, [prepared(auction)[0] for auction in auctions]))


async def _check(game: Game, configs: Sequence[AuctionConfig]) -> None:
    used = {setting: False for setting in OF_A_SEAT.values() if setting in game.uses}
    for config in configs:
        resolved = resolve(config, RunInputs())
        base = await _held(game, config)
        for change in _changes(game, config, resolved, base):
            now = await _held(game, config, change, base)
            pair = Pair(game, base, now, change.kind, change.owner)
            require(not (leak := pair.leak()), leak)
            if setting := OF_A_SEAT.get(change.kind):
                used[setting] = used[setting] or pair.is_used()
        if used.get("budget") is False:  # perhaps none binds: bidders may have more than they can bid
            used["budget"] = await _binds(game, config, resolved, base)
    idle = [setting for setting, something in used.items() if not something]
    require(not idle, "these settings are in its `uses` and change nothing; leave them out", idle)


async def _binds(game: Game, config: AuctionConfig, resolved: ResolvedAuction, base: Tape) -> bool:
    """Say whether it matters that a bidder has hardly any money; rules that refuse such a bidder count as yes."""
    change = in_need(resolved)
    try:
        now = await _held(game, config, change, base)
    except HarborError:
        return True
    return Pair(game, base, now, change.kind, change.owner).is_used()


def _changes(game: Game, config: AuctionConfig, resolved: ResolvedAuction, base: Tape) -> Iterator[Change]:
    """Yield a change for each draw, for each private fact of a bidder without a draw of its own, and for each setting.

    A deck that is shuffled deals to all: no draw of it belongs to one bidder. If bidders are not told the worth of
    items, there is also a change of true values, and of the numbers that the rules keep for nobody.
    """
    drawn = list(draw_changes(config))
    yield from drawn
    owners = {change.owner for change in drawn}
    for change in changes(resolved, game, base):
        if change.kind in (*OF_A_SEAT, "true value") or (change.kind == "value" and change.owner not in owners):
            yield change
    if Worth in game.events:
        yield from house_values(resolved)


async def _held(game: Game, config: AuctionConfig, change: Change = NOTHING_CHANGED, like: Tape | None = None) -> Tape:
    """Hold the game, and show its board to each seat at each moment, before another game is held."""
    [tape] = await hold(config, 1, change, [like] if like else None)
    for bidder in config.bidders:
        board = game.board()
        for one in tape.log:
            if is_seen_by(bidder.name, one.event):
                board.note(one.event)
                public = one.public + (one.event.audience == EVERYONE)
                tape.told[bidder.name].append(Told("page", repr(board.shown()), public, one.settled))
    return tape
