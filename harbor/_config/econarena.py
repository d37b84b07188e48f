"""How EconArena asks for an answer: the keys of its JSON, by game and condition.

The contest and the auction with sealed bids have the paper's keys. It prints none for an auction whose price rises:
there they are those of sealed bids, and a bid of null drops out.
Source: EconArena, App. B.1, B.3, B.4, B.5, B.7 and B.8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from harbor._config.own_replies import Facts, OwnReplies, OwnReply
from harbor._core.actions import Action, Bid, Withdraw
from harbor._core.decisions import Amount, Claimed, Text
from harbor._core.money import CENT

RECALLED = {"previous answer": "action", "previous bid": "action", "previous payoff": "assets_at_end"}
"""The keys that ask for what came of the run before, and the facts that tell it."""
CLEAR = {
    "understanding": "All of us decide at the same time, and the rules say what that brings each.",
    "goal": "To get the best payoff that I can.",
}
"""What the built-in model writes where it is asked for its understanding."""


class EconReply(OwnReply):
    """Any of the forms."""

    @property
    def expects(self) -> Decimal | None:
        """The number that is held to be most popular is expected of each rival."""
        return self.values().get("popular answer")

    def recalled(self, facts: Facts) -> dict[str, bool]:
        """Compare what is said of the run before with what was shown of it, to the cent."""
        said = {key: value for key, value in self.values().items() if key in RECALLED}
        return {key: _equal(value, facts["your_results"][-1][RECALLED[key]]) for key, value in said.items()}

    def taken(self) -> Action:
        """Bid, or pick; without an amount withdraw."""
        amount = self.values().get("answer", self.values().get("bid"))
        return Withdraw() if amount is None else Bid(amount)

    @classmethod
    def filled(cls, decided: Facts, facts: Facts, expected: Callable[[], float | None]) -> dict[str, Any]:
        """Fill in what is decided, expected and known."""
        last, amount = (facts.get("your_results") or [{}])[-1], decided.get("amount")
        known = {
            **CLEAR,
            **{key: last.get(fact) for key, fact in RECALLED.items()},
            "popular answer": expected() if "popular_answer" in cls.model_fields else None,
            "answer": amount,
            "bid": amount,
            "reason": decided["reasons"],
        }
        return {key: known[key] for key in cls.all_keys()}


def _equal(said: Decimal | None, shown: Decimal | None) -> bool:
    return said == shown if said is None or shown is None else abs(said - shown) < CENT


class Contest(EconReply):
    """How the game is understood, the number that others will most likely pick, and one's own."""

    understanding: Text = ""
    popular_answer: Claimed | None = None
    answer: Amount
    reason: Text = ""


class ContestThought(EconReply):
    """The number that others will most likely pick, and one's own."""

    popular_answer: Claimed | None = None
    answer: Amount


class ContestAgain(EconReply):
    """The goal, one's number in the run before, and the one for this run."""

    goal: Text = ""
    previous_answer: Claimed | None = None
    answer: Amount
    reason: Text = ""


class RisingBid(EconReply):
    """How the auction is understood, and the price that is accepted, or null."""

    understanding: Text = ""
    bid: Amount | None
    reason: Text = ""


class RisingBidThought(EconReply):
    """The price that is accepted, or null."""

    bid: Amount | None


class RisingBidAgain(EconReply):
    """The goal, one's bid and payoff in the run before, and the price that is accepted, or null."""

    goal: Text = ""
    previous_bid: Claimed | None = None
    previous_payoff: Claimed | None = None
    bid: Amount | None
    reason: Text = ""


class SealedBid(RisingBid):
    """How the auction is understood, and the bid."""

    bid: Amount


class SealedBidThought(RisingBidThought):
    """The bid."""

    bid: Amount


class SealedBidAgain(RisingBidAgain):
    """The goal, one's bid and payoff in the run before, and the bid for this run."""

    bid: Amount


_SEALED = OwnReplies(SealedBid, SealedBidAgain, SealedBidThought)
REPLIES: Mapping[str, OwnReplies] = {
    "beauty": OwnReplies(Contest, ContestAgain, ContestThought),
    "second-price": _SEALED,
    "first-price": _SEALED,
    "english-private": OwnReplies(RisingBid, RisingBidAgain, RisingBidThought),
}
"""The forms by game."""
