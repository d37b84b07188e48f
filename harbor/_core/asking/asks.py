"""The auctioneer asks, and each ask has an action space from which a bidder answers.

A new space is a class of its own, and a line of `Space`. Amounts are dollars (`Decimal`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from pydantic import Field

from harbor._core.asking.action_space import AcceptOrWait, Choice, Words
from harbor._core.asking.amounts import Amount, Bundle, Number, Quantity
from harbor._core.basics.actions import Action as Action
from harbor._core.basics.actions import Answer as Answer
from harbor._core.basics.actions import Bid as Bid
from harbor._core.basics.actions import Unreadable as Unreadable
from harbor._core.basics.actions import Withdraw as Withdraw
from harbor._core.basics.actions import WithdrawalReason as WithdrawalReason
from harbor._core.basics.numbers import Claim

Space = Annotated[
    Amount | Number | AcceptOrWait | Choice | Bundle | Quantity | Words,
    Field(discriminator="kind"),
]
"""Any action space, as it is written in JSON: its fields, and its `kind`."""


class Ask(NamedTuple):
    """A question of the auctioneer to a bidder, who answers with one of the actions of `space`.

    `attempt` counts the attempts to answer from 1. `refusal` says why the previous attempt failed; it is empty at the
    first attempt. `note` is a private fact, such as "it is worth $40 to you"; it comes before the instructions, so that
    every agent reads it. Only this bidder is told `note` and the bounds of `space`.

    >>> Ask("Ann", "Harbor View", 1, Amount(Decimal(100), Decimal(500))).minimum
    Decimal('100')
    """

    bidder: str
    item: str
    round: int
    space: Space
    attempt: int = 1
    refusal: str = ""
    note: str = ""

    @property
    def minimum(self) -> Claim:
        """The least amount that can be bid, or the price to accept; 0 if answers name no amount."""
        return self.space.least

    @property
    def maximum(self) -> Claim:
        """The greatest amount that can be bid, or the price to accept; 0 if answers name no amount."""
        return self.space.most


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of the auctioneer, so that bidders may think.

    The auctioneer pauses before the first item (`closed` is empty), after each item, and when the auction is `over`.
    """

    bidder: str
    closed: tuple[str, ...] = ()
    over: bool = False
