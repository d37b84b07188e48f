"""A scripted policy as one value: a name for settings, and what makes the policy of a bidder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harbor._config.auction import Bidder
from harbor._core.extensions import API, part
from harbor._core.players import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedPolicy:
    """A scripted policy, as an extension.

    `make` takes the settings of the bidder and the seed of the auction. `uses` names the settings of a bidder that it
    reads. `games` names the games that it can play (empty: any).
    """

    name: str = part("its name, in lower case")
    description: str = part("what it does, in one line")
    make: Callable[[Bidder, int], Policy] = part("what makes the policy of a bidder")
    uses: tuple[str, ...] = ()
    games: tuple[str, ...] = ()
    api: int = API
