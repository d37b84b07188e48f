"""Whether a game keeps what is private: each draw and each setting of a seat is changed, and nobody else may notice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from harbor._audit.drawing import draw_changes
from harbor._audit.holding import NOTHING_CHANGED, Change, hold
from harbor._audit.preparing import prepared
from harbor._audit.tape import Tape, Told
from harbor._audit.varying import changes, in_need
from harbor._config.auction import AuctionConfig
from harbor._core.errors import HarborError
from harbor._core.events import EVERYONE
from harbor._core.log_lines import is_seen_by
from harbor._games.game import Game
from harbor._games.purity import require
from harbor._runs.auction import Auction
from harbor._runs.inputs import RunInputs
from harbor._runs.resolve import ResolvedAuction, resolve
from harbor.testing._noticed import OF_A_SEAT, Pair


def check_leaks(game: Game, *auctions: Auction) -> None:
    """Require that nobody else notices what one bidder alone is told, and that what a game says it uses is used.

    Each draw of `build` and each setting of a seat is changed in turn, and the same acts are played again. What
    changes nothing but what one bidder is told is that bidder's: up to the first act that is no longer legal, or to an
    event that `discloses` it, nobody else may be asked, told or shown anything else, nor answer otherwise.

    Raises:
        AssertionError: it names the bidder, who notices, and by what.
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
        if used.get("budget") is False:  # none may bind: what a bidder has is more than it can bid
            used["budget"] = await _binds(game, config, resolved, base)
    idle = [setting for setting, something in used.items() if not something]
    require(not idle, "these settings are in its `uses` and change nothing; leave them out", idle)


async def _binds(game: Game, config: AuctionConfig, resolved: ResolvedAuction, base: Tape) -> bool:
    """Say whether it matters that a bidder has hardly any money; rules that refuse that heed it."""
    change = in_need(resolved)
    try:
        now = await _held(game, config, change, base)
    except HarborError:
        return True
    return Pair(game, base, now, change.kind, change.owner).is_used()


def _changes(game: Game, config: AuctionConfig, resolved: ResolvedAuction, base: Tape) -> Iterator[Change]:
    """Give a change for each draw, for what rules keep for a bidder that no draw is of alone, and for each setting.

    A deck that is shuffled deals to all: no draw of it is of one bidder.
    """
    drawn = list(draw_changes(config))
    yield from drawn
    owners = {change.owner for change in drawn}
    for change in changes(resolved, game, base):
        if change.kind in OF_A_SEAT or (change.kind == "value" and change.owner not in owners):
            yield change


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
