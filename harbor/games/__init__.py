"""What a game of your own is made of: asks, actions, the mechanism, amounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.faces import face

if TYPE_CHECKING:
    from harbor._core.asks import Action as Action
    from harbor._core.asks import Ask as Ask
    from harbor._core.asks import Bid as Bid
    from harbor._core.asks import Withdraw as Withdraw
    from harbor._core.events import Event as Event
    from harbor._core.money import Claim as Claim
    from harbor._core.money import Money as Money
    from harbor._games.mechanism import Mechanism as Mechanism
    from harbor._games.policies import Truthful as Truthful

__getattr__, __all__ = face(__name__)


def __dir__() -> list[str]:
    return __all__
