"""What a log begins with: the ground truth, for the analyst, and what each bidder brings, for itself."""

from __future__ import annotations

from typing import Any

from harbor._core.events import (
    SCHEMA_VERSION,
    BidderLabelled,
    BidderSeated,
    CatalogShown,
    Event,
    ItemLabelled,
    LogOpened,
)
from harbor._core.finding import find
from harbor._core.log import Log
from harbor._core.outcomes import Signal
from harbor._core.seeding import stream
from harbor._core.version import __version__
from harbor._games.game import Game
from harbor._house.sale import Sale
from harbor._runs.resolve import ResolvedAuction


def opened_log(auction: ResolvedAuction, run: str, token: str, seed: int | None = None) -> LogOpened:
    """Give the first line of a log; `seed` is that of a series (None: that of the auction)."""
    parts, own = auction.parts, auction.config.seed
    rules = auction.config.rules.told()
    return LogOpened(SCHEMA_VERSION, __version__, run, own if seed is None else seed, token, parts, rules)


def opened_sale(auction: ResolvedAuction, log: Log, run: str, token: str) -> Sale[Any]:
    """Open the log of a run, and say in it what each bidder brings; give the sale, which is not yet open."""
    log.append(opened_log(auction, run, token))
    game: Game = find("game", auction.config.rules.game)
    ties = stream(auction.config.seed, "ties")
    sale = Sale(auction.rules, list(auction.players), log, ties, game.acts, game.draws)
    for event in opening_events(auction):
        sale.record(event)
    return sale


def opening_events(auction: ResolvedAuction) -> list[Event]:
    """Give the events before the opening: labels of items and bidders, then what each bidder knows."""
    events: list[Event] = [ItemLabelled(item.name, item.true_value, item.persona or "") for item in auction.items]
    for bidder in auction.bidders:
        drawn = f" ({bidder.policy.drawn})" if bidder.policy and bidder.policy.drawn else ""
        events.append(BidderLabelled(bidder.settings.name, bidder.settings.persona, bidder.player + drawn))
    for bidder in auction.bidders:
        name, objective = bidder.settings.name, bidder.settings.objective
        seated = BidderSeated(
            name,
            bidder.budget,
            dict(bidder.personas),
            objective,
            {rival: dict(weights) for rival, weights in bidder.rivals.items()},
        )
        events.append(seated)
        if bidder.estimates:
            events.append(Signal(name, dict(bidder.estimates), noisy=True))
        if bidder.settings.theory_of_mind != "none":
            events.append(CatalogShown(name, {key: persona.text for key, persona in auction.catalog.items()}))
    return events
