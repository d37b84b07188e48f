"""A third-party sealed auction in 40 lines: the highest bidder gets the vase and is paid. It has no measures."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from harbor.events import HOUSE, Allocated, LotClosed, Paid, PublicEvent, Signal
from harbor.games import Amount, Ask, Bid, Game, Play, RuleSettings, stream


class SealedRules(RuleSettings):
    game: str = "sealed"


@dataclass(frozen=True, slots=True)
class SealedOpened(PublicEvent):
    words = "Seal one bid for the vase, of $100 at most."


@dataclass(frozen=True)
class Sealed:
    worths: dict[str, Decimal]

    def start(self):
        return None

    def asks(self, last):
        return [Ask(name, "vase", 1, Amount(Decimal(0), Decimal(100))) for name in self.worths if last is SealedOpened]

    def settle(self, last, actions, chance):
        if last is None:
            return [SealedOpened(), *(Signal(name, {"vase": worth}) for name, worth in self.worths.items())]
        bids = {name: actions[name].amount for name in self.worths if isinstance(actions[name], Bid)}
        winner = max(bids, key=bids.get, default=None)
        sold = [Allocated(winner, "vase"), Paid(winner, HOUSE, "vase", bids[winner])] if winner else []
        return [*sold, LotClosed("vase")]

    def apply(self, last, event):
        return type(event) if isinstance(event, SealedOpened | LotClosed) else last


def facts(name, seen):
    return {"worth": next(event.values["vase"] for event in seen if isinstance(event, Signal))}


SEALED = Game(
    name="sealed",
    description="the highest of sealed bids gets a vase and is paid",
    settings=SealedRules,
    build=lambda _, by: Sealed({one.name: Decimal(stream(by.seed, one.name).randint(1, 100)) for one in by.bidders}),
    opening=SealedOpened,
    events=(SealedOpened, Signal, Allocated, Paid, LotClosed),
    rational=lambda ask, seen: Bid(facts(ask.bidder, seen)["worth"]),
    play=Play(
        facts=facts,
        system=Path(__file__).parent / "system.md",
        prompt=Path(__file__).parent / "bid.md",
        policy=lambda facts, *_: {"reasons": "", "action": "bid", "amount": float(facts["worth"])},
        plan="Bid what it is worth to me.",
    ),
)
