"""Conclusions of a bidder as private events: plans, decisions, profiles, predictions, strategies, beliefs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harbor._core.basics.numbers import Claim
from harbor._core.log.events import PrivateEvent

StrategicAction = Literal["A", "B", "C", "D", "E", "F"]
MemoryKind = Literal["learning", "episode", "dossier"]
RAISING: frozenset[StrategicAction] = frozenset({"A", "B", "C"})
"""The strategic actions that lead to a bid; the others lead to a withdrawal."""


@dataclass(frozen=True, slots=True)
class Planned(PrivateEvent):
    """A plan: its text and a priority from 1 to 3 for each item still to come.

    >>> Planned("Ann", "Buy the vase.", {"Vase": 3}).priorities["Vase"]
    3
    """

    text: str
    priorities: dict[str, int]


@dataclass(frozen=True, slots=True)
class Decided(PrivateEvent):
    """The reasons for a bidder's answer; `amount` is None for a withdrawal.

    `contradicts` means that the answer does not follow from the strategic action chosen before it.

    >>> Decided("Ann", "Vase", 1, 1, "It is too dear.", None).audience
    'bidder:Ann'
    """

    item: str
    round: int
    attempt: int
    reasons: str
    amount: Claim | None
    contradicts: bool = False


@dataclass(frozen=True, slots=True)
class LimitSet(PrivateEvent):
    """The highest bid of a bidder on an item, in dollars, and the reasons; `limit` is None if it does not bid at all.

    The limit decides every later call on the item, so these calls have no `Decided`.

    >>> LimitSet("Ann", "Vase", 1, 1, "I want a profit.", Decimal(70)).limit
    Decimal('70')
    """

    item: str
    round: int
    attempt: int
    reasons: str
    limit: Claim | None


@dataclass(frozen=True, slots=True)
class DecidedInWords(PrivateEvent):
    """The reasons for an answer that is more than an amount; `answer` is its wording."""

    item: str
    round: int
    attempt: int
    reasons: str
    answer: str


@dataclass(frozen=True, slots=True)
class Stated(PrivateEvent):
    """A decision in the form of a protocol: the values by the keys of the paper.

    `recalled` tells for each key that asks for a known fact whether the value is right.
    """

    item: str
    round: int
    attempt: int
    said: dict[str, str | int | float | None]
    recalled: dict[str, bool]


@dataclass(frozen=True, slots=True)
class Profiled(PrivateEvent):
    """A bidder's profile of one rival: a weight from -1 to 1 per persona of the catalog.

    The bidder inferred it from the item `closed`. `repaired` counts weights that were clipped, missing or unknown.

    >>> Profiled("Ann", "Bob", "Vase", {"downsizing": 0.5}, repaired=0).weights
    {'downsizing': 0.5}
    """

    rival: str
    closed: str
    weights: dict[str, float]
    repaired: int


@dataclass(frozen=True, slots=True)
class Mirrored(PrivateEvent):
    """A bidder's estimate of how a rival profiles it (a second-order profile); fields as in `Profiled`."""

    rival: str
    closed: str
    weights: dict[str, float]
    repaired: int


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction of a rival: its interest in an item, from 0 to 1, and its highest bid, in dollars.

    `expects_me` is the interest that the rival expects of this bidder, from 0 to 1 (None without second-order theory of
    mind).

    >>> Prediction("Bob", 0.5, Decimal(300)).expects_me is None
    True
    """

    rival: str
    interest: float
    limit: Claim
    expects_me: float | None = None


@dataclass(frozen=True, slots=True)
class Predicted(PrivateEvent):
    """A bidder's predictions of its rivals for the next item.

    >>> Predicted("Ann", "Vase", (Prediction("Bob", 0.5, Decimal(70)),)).predictions[0].limit
    Decimal('70')
    """

    item: str
    predictions: tuple[Prediction, ...]


@dataclass(frozen=True, slots=True)
class Strategized(PrivateEvent):
    """The strategic action chosen for a bid, A to F, and the reasons.

    >>> Strategized("Ann", "Vase", 1, 1, "A", "I outbid Bob.").action
    'A'

    Source: Harbor, Table 1.
    """

    item: str
    round: int
    attempt: int
    action: StrategicAction
    reasons: str


@dataclass(frozen=True, slots=True)
class Win:
    """An item and the price paid for it, in dollars.

    >>> Win("Harbor View", Decimal(300)).price
    Decimal('300')
    """

    item: str
    price: Claim


@dataclass(frozen=True, slots=True)
class Belief:
    """A bidder's belief of the state of the auction: its own budget left, all profits and all winning bids.

    `profits` is empty if true values are not revealed.

    >>> Belief(Decimal(500), {"Ann": Decimal(20)}, {"Ann": (Win("Harbor View", Decimal(300)),)}).wins["Ann"][0].item
    'Harbor View'
    """

    budget: Claim
    profits: dict[str, Claim]
    wins: dict[str, tuple[Win, ...]]


@dataclass(frozen=True, slots=True)
class Believed(PrivateEvent):
    """A belief update: the model's first statement, its number of wrong fields, and the belief `held` from now on.

    `corrections` counts how often the model was told its errors and asked again. `errors_self_again` and
    `errors_others_again` count the wrong fields of these later answers.
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
    """A memory of earlier auctions: a general learning, an episode of one sale, or a dossier on a rival.

    >>> Memory("learning", "Bid late.").text
    'Bid late.'
    """

    kind: MemoryKind
    text: str


@dataclass(frozen=True, slots=True)
class Recalled(PrivateEvent):
    """The memories of earlier auctions that a bidder recalls for the next `item`.

    >>> Recalled("Ann", "Vase", (Memory("learning", "Bid late."),)).memories[0].kind
    'learning'
    """

    item: str
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Learned(PrivateEvent):
    """The general learnings of a bidder after this auction, as a short list that replaces the earlier one.

    >>> Learned("Ann", ("Bid late.",)).learnings
    ('Bid late.',)
    """

    learnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remembered(PrivateEvent):
    """The number of memories of each kind that a bidder put in its store.

    >>> Remembered("Ann", {"episode": 2}).kept
    {'episode': 2}
    """

    kept: dict[MemoryKind, int]


@dataclass(frozen=True, slots=True)
class Expected(PrivateEvent):
    """A player's forecast of each rival's next bid, in the unit of the game, after the day or run `closed`.

    `closed` is empty before the first day or run is over. A player asked for one number expects it of each rival.

    >>> Expected("Ann", "run 1", {"Bob": Decimal(70)}).bids["Bob"]
    Decimal('70')
    """

    closed: str
    bids: dict[str, Claim]
