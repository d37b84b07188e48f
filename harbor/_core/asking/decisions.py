"""The reply of a bidder's model to an ask: one shape per action space, and the action that a reply means."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from functools import cache, lru_cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, WithJsonSchema, create_model

from harbor._core.basics.actions import (
    LONGEST,
    Accept,
    Action,
    Bid,
    BundleBid,
    Choose,
    Say,
    Take,
    Wait,
    Withdraw,
    read_amount,
    scrub,
)
from harbor._core.basics.numbers import as_number

Shape = TypeVar("Shape", bound=BaseModel)
LONGEST_TEXT = 4_000
"""The greatest number of characters of reasons and plans; the rest is cut."""
MOST_DOLLARS = 10**15
"""The greatest size of an amount in a reply, in dollars, above or below zero."""


def plain(value: Any) -> Any:
    """Read "Bid" as "bid": models write it so."""
    return value.strip(" \t\r\n*.\"'").lower() if isinstance(value, str) else value


def _verb(value: Any) -> Any:
    """Read "raise" as "bid": its amount is the new price, and the rules refuse one that is too low."""
    verb = plain(value)
    return "bid" if verb == "raise" else verb


def number(value: Any) -> Any:
    """Read "$1,000", "USD 1,000" and "1000 dollars" as 1000; "about $1,000" stays as it is."""
    heard = read_amount(value, "") if isinstance(value, str) and len(value) <= LONGEST else None
    return heard.amount if isinstance(heard, Bid) else value


def _text(value: Any) -> Any:
    """Read null as no text, and a list of sentences as one text."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    return "" if value is None else value


def bounded(least: float, most: float) -> WithJsonSchema:
    """Tell models the bounds of a number; a reply beyond them is still accepted here, and judged later."""
    return WithJsonSchema({"type": "number", "minimum": least, "maximum": most})


def one_of(names: Sequence[str]) -> WithJsonSchema:
    """Tell models the names that they may send; other names are still accepted here, and judged later."""
    return WithJsonSchema({"type": "string", "enum": list(names)})


Name = Annotated[str, AfterValidator(scrub)]
Text = Annotated[str, AfterValidator(lambda text: scrub(text)[:LONGEST_TEXT])]
"""Text without lone surrogates, cut to `LONGEST_TEXT` characters."""
Claimed = Annotated[Decimal, Field(ge=-MOST_DOLLARS, le=MOST_DOLLARS), BeforeValidator(number)]
"""An amount in dollars in a reply, as a number or in words."""
Amount = Annotated[Claimed, bounded(0, MOST_DOLLARS)]
"""An amount that should not be negative; a negative bid reaches the auctioneer, who says why it fails."""


class InWords(BaseModel):
    """A reply in the model's own words, of no shape."""

    words: str


class Decision(BaseModel):
    """A decision, and the reasons for it."""

    reasons: Text

    def missing(self) -> str:
        """Say which part is missing or is there twice; return "" if the reply is complete."""
        return ""

    @abstractmethod
    def taken(self) -> Action:
        """Return the action of the reply."""


class BidReply(Decision):
    """A bid or a withdrawal."""

    action: Annotated[Literal["bid", "withdraw"], BeforeValidator(_verb)]
    amount: Amount | None = Field(None, description='The amount of your bid; null if the action is "withdraw".')

    def missing(self) -> str:
        """Say that a bid lacks its amount."""
        return "a bid needs an amount" if self.action == "bid" and self.amount is None else ""

    def taken(self) -> Action:
        """Bid, or withdraw."""
        return Withdraw() if self.action == "withdraw" or self.amount is None else Bid(self.amount)


class PriceReply(Decision):
    """Accept the price, or wait."""

    action: Annotated[Literal["accept", "wait"], BeforeValidator(plain)]

    def taken(self) -> Action:
        """Return `Accept` or `Wait`."""
        return Accept() if self.action == "accept" else Wait()


class ChoiceReply(Decision):
    """The choice of one option."""

    option: Name

    def taken(self) -> Action:
        """Choose it."""
        return Choose(self.option)


class BundleReply(Decision):
    """One bid for several items together, or a withdrawal."""

    action: Annotated[Literal["bid", "withdraw"], BeforeValidator(_verb)]
    items: list[Name] = Field([], description='The items of your bid; empty if the action is "withdraw".')
    amount: Amount | None = Field(
        None, description='The amount of your bid for all these items together; null if the action is "withdraw".'
    )

    def missing(self) -> str:
        """Say that a bid lacks its amount or its items, or names an item twice."""
        if self.action == "withdraw":
            return ""
        if self.amount is None or not self.items:
            return "a bid needs an amount and at least one item"
        return "an item is named twice" if len(set(self.items)) < len(self.items) else ""

    def taken(self) -> Action:
        """Return a `BundleBid` or a `Withdraw`."""
        if self.action == "withdraw" or self.amount is None:
            return Withdraw()
        return BundleBid(tuple(self.items), self.amount)


class UnitsReply(Decision):
    """A number of units."""

    units: Annotated[int, BeforeValidator(number), WithJsonSchema({"type": "integer", "minimum": 0})]

    def taken(self) -> Action:
        """Take them."""
        return Take(self.units)


class WordsReply(Decision):
    """What you say, word by word."""

    words: Text

    def taken(self) -> Action:
        """Say it."""
        return Say(self.words)


SHAPES_KEPT = 256
"""The greatest number of shapes kept in each cache."""


@lru_cache(SHAPES_KEPT)
def choice_of(options: tuple[str, ...]) -> type[ChoiceReply]:
    """Return the shape of a choice among these options."""
    named = Annotated[Name, one_of(options)]
    return create_model("ChoiceReply", __base__=ChoiceReply, __doc__=ChoiceReply.__doc__, option=(named, ...))


@lru_cache(SHAPES_KEPT)
def bundle_of(items: tuple[str, ...]) -> type[BundleReply]:
    """Return the shape of a bid for some of these items."""
    left_out: Any = Field([], description=BundleReply.model_fields["items"].description)
    named = (list[Annotated[Name, one_of(items)]], left_out)
    return create_model("BundleReply", __base__=BundleReply, __doc__=BundleReply.__doc__, items=named)


def as_reply(action: Action) -> dict[str, Any]:
    """Write an action as JSON, so that the reply of its shape means it: the inverse of `taken`, without reasons."""
    match action:
        case Bid(amount=amount):
            return {"action": "bid", "amount": as_number(amount)}
        case BundleBid(items=items, amount=amount):
            return {"action": "bid", "items": list(items), "amount": as_number(amount)}
        case Accept():
            return {"action": "accept"}
        case Wait():
            return {"action": "wait"}
        case Choose(option=option):
            return {"option": option}
        case Take(units=units):
            return {"units": units}
        case Say(words=words):
            return {"words": words}
        case Withdraw():
            return {"action": "withdraw"}


@cache
def without_reasons(kind: type[Shape]) -> type[Shape]:
    """Return the same shape with optional reasons, if it has reasons."""
    if "reasons" not in kind.model_fields:
        return kind
    left_out: Any = Field("", description="Leave this empty.")
    given: Any = Annotated[Text, BeforeValidator(_text)]
    return create_model(
        f"{kind.__name__}WithoutReasons", __base__=kind, __doc__=kind.__doc__, reasons=(given, left_out)
    )
