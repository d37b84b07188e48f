"""Whether a game keeps what is private: each draw and each setting of a seat is changed, and nobody else may notice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from harbor._audit.drawing import draw_changes
from harbor._audit.holding import NOTHING_CHANGED, Change, hold
from harbor._audit.preparing import prepared
from harbor._audit.tape import Tape, Told
from harbor._audit.varying import changes
from harbor._config.auction import AuctionConfig
from harbor._core.events import EVERYONE
from harbor._core.log_lines import is_seen_by
from harbor._games.game import Game
from harbor._games.purity import require
from harbor._runs.auction import Auction
from harbor._runs.inputs import RunInputs
from harbor._runs.resolve import ResolvedAuction, resolve
from harbor.testing._noticed import OF_A_SEAT, Pair


def check_leaks(game: Game, auction: Auction) -> None:
    """Require that nobody else notices what one bidder alone is told, and that what a game says it uses is used.

    Each draw of `build` and each setting of a seat is changed in turn, and the same acts are played again. What
    changes nothing but what one bidder is told is that bidder's: up to the first act that is no longer legal, or to an
    event that `discloses` it, nobody else may be asked, told or shown anything else, nor answer otherwise.

    Raises:
        AssertionError: it names the bidder, who notices, and by what.
    """
    asyncio.run(_check(game, prepared(auction)[0]))


async def _check(game: Game, config: AuctionConfig) -> None:
    resolved = resolve(config, RunInputs())
    base = await _held(game, config)
    used: dict[str, bool] = {}
    for change in _changes(game, config, resolved):
        now = await _held(game, config, change, base)
        pair = Pair(game, base, now, change.kind, change.owner)
        require(not (leak := pair.leak()), leak)
        if setting := OF_A_SEAT.get(change.kind):
            used[setting] = used.get(setting, False) or pair.is_used()
    idle = [setting for setting, something in used.items() if not something]
    require(not idle, "these settings are in its `uses` and change nothing; leave them out", idle)


def _changes(game: Game, config: AuctionConfig, resolved: ResolvedAuction) -> Iterator[Change]:
    """Give a change for each draw, or else for what the rules keep by name; and for each setting of a seat."""
    drawn = list(draw_changes(config))
    yield from drawn
    for change in changes(resolved, game):
        if change.kind in OF_A_SEAT or (change.kind == "value" and not drawn):
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
