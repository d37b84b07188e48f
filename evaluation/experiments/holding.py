"""Holding one game of an experiment, in memory or in a folder of its own, where an interrupted one is resumed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harbor.config import AuctionConfig
from harbor.evaluation.experiments.games import Game
from harbor.evaluation.experiments.records import GameRecord, record
from harbor.log import Entry
from harbor.result import Listener
from harbor.run import Auction
from harbor.series import SeriesResult, ahold_series


async def hold(
    game: Game, metrics: Sequence[str], out: Path | None = None, listen: Listener | None = None
) -> GameRecord:
    """Hold a game from its beginning and measure it."""
    return record(game, metrics, await _logs(game.config, out, listen))


async def _logs(config: AuctionConfig, out: Path | None, listen: Listener | None) -> list[Sequence[Entry]]:
    if config.series is not None:
        return logs_of(await ahold_series(config, out, listen=listen))
    return [(await Auction.model_validate(config.model_dump()).arun(out, listen=listen)).log]


def logs_of(series: SeriesResult) -> list[Sequence[Entry]]:
    """Give the log of a series, then those of its auctions."""
    return [series.log, *(held.log for held in series.auctions)]
