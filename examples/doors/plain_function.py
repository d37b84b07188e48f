"""A plain function in a seat: `agent = "plain_function:bid"`."""

from __future__ import annotations


def bid(turn: dict) -> dict:
    """Bid the minimum while the item leaves a tenth of its value as profit."""
    [me] = [event for event in turn["seen"] if event["type"] == "signal"]
    least = turn["space"]["minimum"]
    if least > 0.9 * me["values"][turn["item"]]:
        return {"action": "withdraw"}
    return {"action": "bid", "amount": least}
