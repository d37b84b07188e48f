"""What a bidder concludes, as private events: plans, decisions, profiles, predictions, strategies, beliefs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harbor._core.basics.numbers import Claim
from harbor._core.log.events import PrivateEvent

StrategicAction = Literal["A", "B", "C", "D", "E", "F"]
MemoryKind = Literal["learning", "episode", "dossier"]
RAISING: frozenset[StrategicAction] = frozenset({"A", "B", "C"})
"""The strategic actions that a bid follows from; a withdrawal follows from the others."""


@dataclass(frozen=True, slots=True)
class Planned(PrivateEvent):
    """A plan: its text and a priority from 1 to 3 for each item still to come."""

    text: str
    priorities: dict[str, int]


@dataclass(frozen=True, slots=True)
class Decided(PrivateEvent):
    """Why a bidder answered as it did; `amount` is None for a withdrawal.

    `contradicts`: the answer does not follow from the strategic action chosen before it.
    """

    item: str
    round: int
    attempt: int
    reasons: str
    amount: Claim | None
    contradicts: bool = False


@dataclass(frozen=True, slots=True)
class LimitSet(PrivateEvent):
    """How far a bidder goes on an item, in dollars, and why; `limit` is None if it does not bid at all.

    It decides every later call on the item, so there is no `Decided` for them.
    """

    item: str
    round: int
    attempt: int
    reasons: str
    limit: Claim | None


@dataclass(frozen=True, slots=True)
class DecidedInWords(PrivateEvent):
    """Why a bidder answered as it did where an answer is more than an amount; `answer` is how it was said."""

    item: str
    round: int
    attempt: int
    reasons: str
    answer: str


@dataclass(frozen=True, slots=True)
class Stated(PrivateEvent):
    """A decision as it was given in a protocol's own form: what was said, by the keys of the paper.

    `recalled` says of each key that asks for something known whether it is right.
    """

    item: str
    round: int
    attempt: int
    said: dict[str, str | int | float | None]
    recalled: dict[str, bool]


@dataclass(frozen=True, slots=True)
class Profiled(PrivateEvent):
    """A bidder's profile of one rival: a weight from -1 to 1 per persona of the catalog.

    `closed` is the item that it was inferred from. `repaired` counts weights that were clipped, missing or unknown.
    """

    rival: str
    closed: str
    weights: dict[str, float]
    repaired: int


@dataclass(frozen=True, slots=True)
class Mirrored(PrivateEvent):
    """How a bidder thinks one rival profiles it (a second-order profile); fields as in `Profiled`."""

    rival: str
    closed: str
    weights: dict[str, float]
    repaired: int


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction of a rival: its interest in an item, from 0 to 1, and the most it will bid, in dollars.

    `expects_me` is how interested it thinks this bidder is (None without second-order theory of mind).
    """

    rival: str
    interest: float
    limit: Claim
    expects_me: float | None = None


@dataclass(frozen=True, slots=True)
class Predicted(PrivateEvent):
    """What a bidder predicts of its rivals for the next item."""

    item: str
    predictions: tuple[Prediction, ...]


@dataclass(frozen=True, slots=True)
class Strategized(PrivateEvent):
    """The strategic action chosen for a bid, A to F, and why.

    Source: Harbor, Table 1.
    """

    item: str
    round: int
    attempt: int
    action: StrategicAction
    reasons: str


@dataclass(frozen=True, slots=True)
class Win:
    """An item and what was paid for it."""

    item: str
    price: Claim


@dataclass(frozen=True, slots=True)
class Belief:
    """A bidder's belief of the state of the auction: its own budget left, all profits and all winning bids.

    `profits` is empty if true values are not revealed.
    """

    budget: Claim
    profits: dict[str, Claim]
    wins: dict[str, tuple[Win, ...]]


@dataclass(frozen=True, slots=True)
class Believed(PrivateEvent):
    """A belief update: what the model said at first, how many fields were wrong, and what is believed from now on.

    `corrections` counts how often it was told what is wrong and asked again, and `errors_self_again` and
    `errors_others_again` the fields that were wrong in these later answers.
    """

    closed: tuple[str, ...]
    said: Belief
    errors_self: int
    errors_others: int
    fields_self: int
    fields_others: int
    held: Belief
    corrections: int = 0
    errors_self_again: int = 0
    errors_others_again: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory of earlier auctions: a general learning, an episode of one sale, or a dossier on a rival."""

    kind: MemoryKind
    text: str


@dataclass(frozen=True, slots=True)
class Recalled(PrivateEvent):
    """What a bidder recalls of earlier auctions for the next `item`."""

    item: str
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Learned(PrivateEvent):
    """The general learnings of a bidder after this auction, as a short list that replaces the earlier one."""

    learnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remembered(PrivateEvent):
    """How many memories of each kind a bidder has put in its store."""

    kept: dict[MemoryKind, int]


@dataclass(frozen=True, slots=True)
class Expected(PrivateEvent):
    """What a player expects each rival to bid next, in the unit of the game, after the day or run `closed`.

    Before the first one is over, `closed` is empty. A player that was asked for one number expects it of each rival.
    """

    closed: str
    bids: dict[str, Claim]
