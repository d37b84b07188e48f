"""Short auctions of every Harbor game, with every kind of answer, for tests of their logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harbor import Auction
from harbor._core.log.log_entries import Entry
from harbor._core.plugins.finding import find
from harbor.testing._playing import names_of, table

GAMES = ("english", "english-private", "first-price", "second-price", "beauty", "water")
POLICIES = ("rational", "random", "adversary")
SHORT: Mapping[str, Mapping[str, Any]] = {
    "english-private": {"runs": 2, "step_share": 0.25},
    "first-price": {"runs": 2},
    "second-price": {"runs": 2},
    "beauty": {"runs": 2},
    "water": {"days": 6},
}


def auction(game: str, players: Sequence[str] = POLICIES, seed: int = 0, **settings: Any) -> Auction:
    """Seat these policies in turn in a short auction of a game."""
    known = find("game", game)
    names = names_of(known)
    seats = [{"name": name, "rule": players[place % len(players)]} for place, name in enumerate(names)]
    return table(known, seats, {**SHORT.get(game, {}), **settings}, seed=seed)


def played(game: str, players: Sequence[str] = POLICIES, seed: int = 0, **settings: Any) -> Sequence[Entry]:
    """Return the log of such an auction."""
    return auction(game, players, seed, **settings).run().log
