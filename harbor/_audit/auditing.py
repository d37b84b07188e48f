"""The audit of a game: each secret of each bidder is changed in turn, and whatever others are told must be equal.

This is non-interference: who bids as before may differ in what it has, wants, thinks and remembers, and nobody else can
tell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from harbor._audit.bids import bid_changes
from harbor._audit.differing import Difference, differences
from harbor._audit.holding import NOTHING_CHANGED, Change, hold
from harbor._audit.preparing import prepared
from harbor._audit.secrets import SECRETS
from harbor._audit.tape import OF_THE_HOUSE, Tape
from harbor._audit.varying import changes
from harbor._config.auction import AuctionConfig
from harbor._core.errors import ConfigError, unknown
from harbor._core.finding import find
from harbor._games.mechanism import Mechanism
from harbor._house.verdict import fields_of
from harbor._runs.inputs import RunInputs, anybody_remembers
from harbor._runs.resolve import resolve

Status = Literal["equal", "leak", "disclosed", "not compared", "not in this game"]
HOUSE = "the house"


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one secret of one bidder at one seat; `seat` is empty where the secret is not in this game.

    `compared` is how many public events were compared, of `events`, and `until` the event that ended it. "disclosed":
    the settings say that this seat is told. "not compared": the first public event hangs on the secret already.
    """

    secret: str
    whose: str
    seat: str
    status: Status
    compared: int = 0
    events: int = 0
    until: str = ""
    channel: str = ""
    before: str = ""
    now: str = ""


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found, and `notes` of what was replaced to hold it."""

    name: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]

    @property
    def leaks(self) -> list[Row]:
        """The secrets that crossed."""
        return [row for row in self.rows if row.status == "leak"]

    @property
    def compared(self) -> list[Row]:
        """What was compared."""
        return [row for row in self.rows if row.seat and row.status != "not compared"]

    def as_json(self) -> dict[str, Any]:
        """Give it as JSON."""
        rows = [asdict(row) for row in self.rows]
        return {"name": self.name, "leaks": len(self.leaks), "rows": rows, "notes": list(self.notes)}


async def audit(config: AuctionConfig, secrets: Collection[str] = (), trusted: bool = True) -> Audit:
    """Audit the secrecy of a game.

    Args:
        config: its settings.
        secrets: the kinds of secrets to change (none: all).
        trusted: whether agents that the settings name may be loaded.

    Raises:
        ConfigError: a setting is refused, there is no such secret, or two equal games differ.
    """
    for secret in secrets:
        if secret not in SECRETS:
            raise ConfigError(unknown("secret", secret, SECRETS))
    ready, notes = prepared(config, trusted)
    base = await _base(ready)
    rows: list[Row] = []
    for change in _changes(ready, base[0], secrets or SECRETS):
        rows += await _changed(ready, base, change)
    rows += _absent(ready, rows, secrets or SECRETS)
    return Audit(config.name, tuple(sorted(rows, key=_place)), tuple(notes))


async def _base(config: AuctionConfig) -> list[Tape]:
    """Hold the game twice; it can be audited if both are equal.

    Raises:
        ConfigError: they differ.
    """
    auctions = 2 if anybody_remembers(config) else 1
    first, second = [await hold(config, auctions) for _ in range(2)]
    for one, other in zip(first, second, strict=True):
        found = differences(one, other, NOTHING_CHANGED, [bidder.name for bidder in config.bidders])
        for seat, difference in found.items():
            raise ConfigError(
                f"config {config.name!r} can't be audited: two equal games differ in a {difference.channel} of {seat!r}"
                f" ({difference.before!r}, then {difference.now!r}); use agents that answer alike"
            )
    return first


def _changes(config: AuctionConfig, base: Tape, secrets: Collection[str]) -> Iterator[Change]:
    auction, game = resolve(config, RunInputs()), find("game", config.rules.game)
    names = [bidder.name for bidder in config.bidders]
    rules: Mechanism[Any] = auction.rules
    for change in (*changes(auction, game, base), *bid_changes(rules, base, names)):
        if change.kind in secrets:
            yield change


async def _changed(config: AuctionConfig, base: Sequence[Tape], change: Change) -> list[Row]:
    """Hold the game with a secret changed, and say what each other seat was told."""
    auctions = len(base) if change.kind == "memory" else 1
    tapes = await hold(config, auctions, change, base)
    owner = change.owner
    if owner and all(_same(before, now, owner) for before, now in zip(base, tapes, strict=False)):
        return []
    seats = [bidder for bidder in config.bidders if bidder.name != owner]
    rows, compared = [], _compared(base, tapes)
    found: dict[str, Difference] = {}
    for before, now in zip(base, tapes, strict=False):
        found = {**differences(before, now, change, [seat.name for seat in seats]), **found}
    for seat in seats:
        leak = found.get(seat.name)
        told = change.kind == "persona" and seat.theory_of_mind == "true"
        equal: Status = "equal" if compared[0] else "not compared"
        status: Status = equal if leak is None else "disclosed" if told else "leak"
        rows.append(Row(change.kind, owner or HOUSE, seat.name, status, *compared, *_shown(leak)))
    return rows


def _same(before: Tape, now: Tape, owner: str) -> bool:
    """Say whether a change has changed nothing, not even for its owner: then the game has no such secret."""
    return before.said[owner] == now.said[owner] and [one.text for one in before.told[owner]] == [
        one.text for one in now.told[owner]
    ]


def _compared(base: Sequence[Tape], tapes: Sequence[Tape]) -> tuple[int, int, str]:
    """Say how many public events were compared, of how many, and which one ended it."""
    events = sum(len(tape.public) for tape in base[: len(tapes)] if tape.public)
    last = tapes[-1]
    before = sum(len(tape.public) for tape in tapes[:-1])
    end = last.differs if last.parted is None else min(last.parted, last.differs or last.parted)
    if end is None:
        return before + len(last.public), events, ""
    if end != last.differs:
        return before + end, events, "an act that is no longer legal"
    first = [tape.public[end] for tape in (base[len(tapes) - 1], last) if end < len(tape.public)]
    until = next((one for one in first if not isinstance(one, OF_THE_HOUSE)), first[0])
    return before + end, events, fields_of(until)["type"]


def _shown(leak: Difference | None) -> tuple[str, str, str]:
    return ("", "", "") if leak is None else (leak.channel, leak.before, leak.now)


def _absent(config: AuctionConfig, rows: Sequence[Row], secrets: Collection[str]) -> list[Row]:
    """List the secrets that a bidder does not have in this game."""
    there = {(row.secret, row.whose) for row in rows}
    names = [bidder.name for bidder in config.bidders]
    return [
        Row(kind, owner, "", "not in this game")
        for kind in secrets
        for owner in ([HOUSE] if kind == "true value" else names)
        if (kind, owner) not in there
    ]


def _place(row: Row) -> int:
    return list(SECRETS).index(row.secret)


def audited(config: AuctionConfig, secrets: Collection[str] = (), trusted: bool = True) -> Audit:
    """Audit the secrecy of a game where no event loop is running; the arguments are those of `audit`."""
    return asyncio.run(audit(config, secrets, trusted))
