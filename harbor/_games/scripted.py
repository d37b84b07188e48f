"""A scripted policy as one value: a name for settings, and what makes the policy of a bidder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from harbor._config.auction import Bidder
from harbor._core.extensions import API, part, unread
from harbor._core.players import Policy
from harbor._games.game import Game


class Table(NamedTuple):
    """Where a policy is to play: for which bidder, in an auction of which seed, in which game."""

    bidder: Bidder
    seed: int
    game: Game


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedPolicy:
    """A scripted policy, as an extension.

    `make` takes where it is to play. `uses` names the settings of a bidder that it reads, and `needs` those that the
    game must read for it to play, such as "overestimate" for estimates. `games` names the games that it can play
    (empty: any).
    """

    name: str = part("its name, in lower case")
    description: str = part("what it does, in one line")
    make: Callable[[Table], Policy] = part("what makes the policy of a bidder")
    uses: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    games: tuple[str, ...] = ()
    api: int = API

    def complaint(self) -> str:
        """Say what it uses that there is not."""
        return unread((*self.uses, *self.needs), Bidder)
