"""Your own game: everyone picks a number, and the lowest number with a single pick wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from harbor.events import Acted, LotClosed, PublicEvent
from harbor.games import Action, Ask, Bid, Chance, Event, Number
from harbor.testing import check_rules


@dataclass(frozen=True, slots=True)
class PicksWanted(PublicEvent):
    """The game begins."""

    words = "Pick a number from 1 to 100: the lowest that nobody else picked wins."


@dataclass(frozen=True, slots=True)
class GameOver(LotClosed):
    """The game is over, with its winner (None: nobody)."""

    winner: str | None


@dataclass(frozen=True)
class LowestUnique:
    """The rules. Their state is True while picks are open."""

    players: tuple[str, ...]

    def start(self) -> bool:
        return False

    def asks(self, wanted: bool) -> Sequence[Ask]:
        return [Ask(name, "the game", 1, Number(Decimal(1), Decimal(100))) for name in self.players if wanted]

    def settle(self, wanted: bool, actions: Mapping[str, Action], chance: Chance) -> list[Event]:
        if not wanted:
            return [PicksWanted()]
        bids = {name: bid for name in self.players if isinstance(bid := actions[name], Bid)}
        unique = [name for name, bid in bids.items() if list(bids.values()).count(bid) == 1]
        winner = min(unique, key=lambda name: bids[name].amount, default=None)
        return [
            *(Acted(name, "the game", bid, unit="number") for name, bid in bids.items()),
            GameOver("the game", winner),
        ]

    def apply(self, wanted: bool, event: Event) -> bool:
        return isinstance(event, PicksWanted) or (wanted and not isinstance(event, GameOver))


if __name__ == "__main__":
    check_rules(LowestUnique(("Ann", "Ben", "Cho")))
    print("The rules keep their promises.")
