"""What the built-in model replies to the call of a game."""

from __future__ import annotations

from random import Random

from harbor._config.auction import Simulated
from harbor._games.game import Values

BEYOND = 1.1
"""How many times what it may spend a bid is that is too high by mistake."""


def bid_of(amount: float, reasons: str) -> Values:
    """Reply with a bid, in whole cents."""
    return {"reasons": f"{reasons}.", "action": "bid", "amount": int(round(amount * 100, 6)) / 100}


def sealed(amount: float, most: float, reasons: str, settings: Simulated, chance: Random) -> Values:
    """Reply with a sealed bid of at most what may be spent, or above it as often as the settings say."""
    return bid_of(BEYOND * most if chance.random() < settings.over_budget_rate else min(amount, most), reasons)
