"""A game of your own: everyone picks a number, and the lowest that nobody else picked wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from harbor.events import LotClosed, PublicEvent
from harbor.games import Action, Ask, Bid, Claim, Event, Number
from harbor.testing import check_rules


@dataclass(frozen=True, slots=True)
class PicksWanted(PublicEvent):
    """The game begins."""

    words = "Pick a number from 1 to 100: the lowest that nobody else picked wins."


@dataclass(frozen=True, slots=True)
class PicksShown(LotClosed):
    """The game is over: who picked what, and who won (None: nobody)."""

    picks: dict[str, Claim]
    winner: str | None


@dataclass(frozen=True)
class LowestUnique:
    """The rules; their state is whether picks are wanted."""

    players: tuple[str, ...]

    def start(self) -> bool:
        return False

    def asks(self, wanted: bool) -> Sequence[Ask]:
        return [Ask(name, "the game", 1, Number(Decimal(1), Decimal(100))) for name in self.players if wanted]

    def settle(self, wanted: bool, actions: Mapping[str, Action], rng: Random) -> list[Event]:
        if not wanted:
            return [PicksWanted()]
        picks = {name: bid.amount for name in self.players if isinstance(bid := actions[name], Bid)}
        unique = [name for name, pick in picks.items() if list(picks.values()).count(pick) == 1]
        return [PicksShown("the game", picks, min(unique, key=lambda name: picks[name], default=None))]

    def apply(self, wanted: bool, event: Event) -> bool:
        return isinstance(event, PicksWanted) or (wanted and not isinstance(event, PicksShown))


if __name__ == "__main__":
    check_rules(LowestUnique(("Ann", "Ben", "Cho")))
    print("The rules keep their promises.")
