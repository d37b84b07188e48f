"""The kinds of secrets that an audit changes."""

from __future__ import annotations

SECRETS = {
    "budget": "what a bidder has to spend",
    "estimates": "what it takes the items to be worth",
    "objective": "what it is after",
    "persona": "who it is",
    "thoughts": "its plans, and all else that its model says",
    "memory": "what it remembers",
    "bid": "its sealed bid, until that is public",
    "value": "what the rules keep for a bidder by name, as what something is worth to it",
    "told": "what the rules tell a bidder alone",
    "true value": "what an item is worth, which the house alone knows until it says so",
}
"""Each kind of secret, with its description."""
