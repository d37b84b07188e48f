"""What a game of your own is made of: asks, the spaces of actions, the mechanism, amounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.faces import face

if TYPE_CHECKING:
    from harbor._core.actions import Accept as Accept
    from harbor._core.actions import Action as Action
    from harbor._core.actions import Bid as Bid
    from harbor._core.actions import BundleBid as BundleBid
    from harbor._core.actions import Choose as Choose
    from harbor._core.actions import Say as Say
    from harbor._core.actions import Take as Take
    from harbor._core.actions import Wait as Wait
    from harbor._core.actions import Withdraw as Withdraw
    from harbor._core.amounts import Amount as Amount
    from harbor._core.amounts import Number as Number
    from harbor._core.amounts import Quantity as Quantity
    from harbor._core.asks import Ask as Ask
    from harbor._core.bundles import Bundle as Bundle
    from harbor._core.events import Event as Event
    from harbor._core.money import Claim as Claim
    from harbor._core.money import Money as Money
    from harbor._core.offers import AcceptOrWait as AcceptOrWait
    from harbor._core.offers import Choice as Choice
    from harbor._core.offers import Words as Words
    from harbor._games.mechanism import Mechanism as Mechanism
    from harbor._games.policies import Truthful as Truthful

__getattr__, __all__ = face(__name__)


def __dir__() -> list[str]:
    return __all__
