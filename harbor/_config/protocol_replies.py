"""Protocols have their own reply forms: fields that a model fills in, and the decision and beliefs that they mean.

The forms here are EconArena's: the keys of its JSON, by game and condition. The contest and the auction with sealed
bids have the keys of the paper. The paper prints none for an auction whose price rises. Here it has the keys of sealed
bids, and a bid of null drops out.
Source: EconArena, App. B.1, B.3, B.4, B.5, B.7 and B.8.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import AliasChoices, AliasGenerator, ConfigDict
from pydantic.json_schema import SkipJsonSchema

from harbor._core.asking.decisions import LONGEST_TEXT, Amount, Claimed, Decision, Text
from harbor._core.basics.actions import Action, Bid, Withdraw, scrub
from harbor._core.basics.numbers import CENT

Facts = Mapping[str, Any]


def key_of(name: str) -> str:
    """Return the key of a field as the paper writes it: with spaces.

    >>> key_of("popular_answer")
    'popular answer'
    """
    return name.replace("_", " ")


def _ask_for_all(schema: dict[str, Any]) -> None:
    """Mark every field as required in the schema. Parsing stays lenient: a missing field costs that field only."""
    schema["required"] = list(schema["properties"])


class OwnReply(Decision):
    """An answer in the form of a protocol, as its prompt explains it.

    A form has a field for each key of the paper, in its order; only the decision has no default. Tools name a field
    with underscores, as servers take no spaces there; a model may write it either way.
    """

    model_config = ConfigDict(
        alias_generator=AliasGenerator(validation_alias=lambda name: AliasChoices(name, key_of(name))),
        json_schema_extra=_ask_for_all,
    )

    reasons: SkipJsonSchema[Text] = ""

    @classmethod
    def all_keys(cls) -> tuple[str, ...]:
        """Return the keys of the form, in order."""
        return tuple(key_of(name) for name in cls.model_fields if name != "reasons")

    @classmethod
    @abstractmethod
    def filled(cls, decided: Facts, facts: Facts, expected: Callable[[], float | None]) -> dict[str, Any]:
        """Return the form as the built-in model fills it in.

        Args:
            decided: decision of the model, in Harbor's form.
            facts: facts in the prompt.
            expected: returns the mean action expected from the rivals (None: there is no forecast).
        """

    @property
    def why(self) -> str:
        """The reasons: those that the form asks for, or else the thoughts before it."""
        return str(self.values().get("reason") or self.reasons)

    @property
    def expects(self) -> Decimal | None:
        """Expected action of each rival in this part of the game; None: the form does not ask for one."""
        return None

    def recalled(self, facts: Facts) -> dict[str, bool]:
        """Return for each field that asks for a known fact whether its value is right."""
        return {}

    def values(self) -> dict[str, Any]:
        """Return the values of the form, by key."""
        return {key_of(name): getattr(self, name) for name in type(self).model_fields if name != "reasons"}

    def think(self, words: str) -> None:
        """Keep the words before the form as its reasons, unless it has some."""
        self.reasons = self.reasons or scrub(words).strip()[:LONGEST_TEXT]


@dataclass(frozen=True, slots=True)
class OwnReplies:
    """The reply forms of a protocol in one game.

    Calls before the bidder has results use `first`, and later calls use `later`. After a chain of thought, all calls
    use `thought`.
    """

    first: type[OwnReply]
    later: type[OwnReply]
    thought: type[OwnReply]

    @property
    def all(self) -> tuple[type[OwnReply], ...]:
        """All forms."""
        return self.first, self.later, self.thought

    def asked(self, chain_of_thought: bool, facts: Facts) -> type[OwnReply]:
        """Return the form for a call with these facts."""
        if chain_of_thought:
            return self.thought
        return self.later if facts.get("your_results") else self.first


RECALLED = {"previous answer": "action", "previous bid": "action", "previous payoff": "assets_at_end"}
"""Keys that ask about the previous run, and the facts that answer them."""
CLEAR = {
    "understanding": "All of us decide at the same time, and the rules say what that brings each.",
    "goal": "To get the best payoff that I can.",
}
"""Answers of the built-in model to questions about its understanding and its goal."""


class EconReply(OwnReply):
    """Any of the forms."""

    @property
    def expects(self) -> Decimal | None:
        """The number that the model takes for the most popular, as its expectation of each rival."""
        return self.values().get("popular answer")

    def recalled(self, facts: Facts) -> dict[str, bool]:
        """Compare the claims about the previous run with the facts, to the cent."""
        said = {key: value for key, value in self.values().items() if key in RECALLED}
        return {key: _equal(value, facts["your_results"][-1][RECALLED[key]]) for key, value in said.items()}

    def taken(self) -> Action:
        """Return the bid or the number picked; without an amount, a withdrawal."""
        amount = self.values().get("answer", self.values().get("bid"))
        return Withdraw() if amount is None else Bid(amount)

    @classmethod
    def filled(cls, decided: Facts, facts: Facts, expected: Callable[[], float | None]) -> dict[str, Any]:
        """Return the decision, the expectation and the known facts, by key."""
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
