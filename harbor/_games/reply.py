"""What the built-in model replies to the call of a game."""

from __future__ import annotations

from harbor._games.game import Values


def bid_of(amount: float, reasons: str) -> Values:
    """Reply with a bid, in whole cents."""
    return {"reasons": f"{reasons}.", "action": "bid", "amount": int(round(amount * 100, 6)) / 100}
