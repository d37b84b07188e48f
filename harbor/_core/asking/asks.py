"""The asks of the auctioneer. Each ask has an action space from which a bidder answers.

A new space is a class of its own and one line here. Amounts are dollars (`Decimal`).
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
"""Any action space. In JSON it has its fields and its `kind`."""


class Ask(NamedTuple):
    """A bidder's turn, which the bidder answers with one of the actions of `space`.

    `attempt` counts the attempts to answer from 1. `refusal` says why the previous attempt failed, and is empty at the
    first attempt. `note` is a text that the bidder is told before the possible actions, such as its private value: "it
    is worth $40 to you". No other bidder learns the `note` or the bounds of `space`.
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
        """The least legal bid, or the price if the bidder can only accept it or wait; 0 in all other spaces.

        >>> Ask("Ann", "Lamp", 1, Amount(Decimal(10), Decimal(50))).minimum
        Decimal('10')
        """
        return self.space.least

    @property
    def maximum(self) -> Claim:
        """The greatest legal bid, or the price if the bidder can only accept it or wait; 0 in all other spaces."""
        return self.space.most


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of the auctioneer, in which bidders may think.

    It comes before the first item (`closed` is empty), after each item, and when the auction is `over`.
    """

    bidder: str
    closed: tuple[str, ...] = ()
    over: bool = False
