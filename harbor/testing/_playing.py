"""What the suites share: a table of bidders around an extension, a run of it, and what must hold of its log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harbor._core.errors import ConfigError
from harbor._core.events import SeatFailed, ThoughtFailed
from harbor._core.extensions import lacks
from harbor._core.finding import use
from harbor._core.log import difference, of_type
from harbor._core.log_lines import Entry
from harbor._games.game import Game
from harbor._runs.auction import Auction

BIDDERS = ("Ann", "Ben", "Cho")
ITEMS = (
    {"name": "First House", "start": 1_000, "true_value": 2_500, "listing": "A small house with a garden."},
    {"name": "Second House", "start": 1_500, "true_value": 3_000, "listing": "A flat in the middle of town."},
)


def require(kept: object, broken: str, evidence: object = "") -> None:
    """Refuse what is broken, with the evidence.

    Raises:
        AssertionError: it is.
    """
    if not kept:
        raise AssertionError(f"{broken}: {evidence!r}"[:2_000] if evidence != "" else broken)


def whole(extension: Any) -> None:
    """Require that an extension has all its parts, and keep it in this process."""
    try:
        missing = lacks(extension)
        require(not missing, f"{type(extension).__name__} {extension.name!r} {missing}")
        use(extension)
    except ConfigError as error:
        raise AssertionError(str(error)) from error


def table(
    game: Game, bidders: Sequence[str], settings: Mapping[str, Any], player: Mapping[str, Any], **more: Any
) -> Auction:
    """Seat bidders, all played alike, in a game with these settings."""
    items = {"items": ITEMS} if "items" in game.uses else {}
    seats = [{"name": name, **player} for name in bidders]
    return Auction(rules={"game": game.name, **settings}, bidders=seats, **items, **more)


def played(auction: Auction) -> tuple[Entry, ...]:
    """Run an auction twice, and give its log: equal runs give equal logs, and no seat or thought fails."""
    log, again = auction.run().log, auction.run().log
    require(len(log) == len(again), "two equal runs give logs of different lengths", (len(log), len(again)))
    for one, other in list(zip(log, again, strict=True))[1:]:  # the first names the run, which has a token of its own
        require(not difference(one.event, other.event), "two equal runs differ", difference(one.event, other.event))
    for failure in (*of_type(log, SeatFailed), *of_type(log, ThoughtFailed)):
        require(False, f"{failure.bidder} failed", failure.detail)
    return log
