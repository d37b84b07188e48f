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
    """A bidder's decision: the amount that it bids (None: it withdraws), and its reasons.

    `contradicts` means that the decision does not follow from the strategic action that the bidder chose before.

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
    """The most that a bidder is ready to bid on an item, in dollars, and its reasons.

    `limit` is None if the bidder does not want to bid on the item at all. The bidder's later answers on the item follow
    from the limit, so they have no `Decided`.

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
    """A bidder's decision in a game in which an answer is not just an amount: the answer in words, and the reasons."""

    item: str
    round: int
    attempt: int
    reasons: str
    answer: str


@dataclass(frozen=True, slots=True)
class Stated(PrivateEvent):
    """A bidder's decision in the form that a published protocol asks for.

    `said` has the values by the keys of the protocol. If a key asks for a fact that is known, such as the bidder's last
    bid, `recalled` says whether its value is right.
    """

    item: str
    round: int
    attempt: int
    said: dict[str, str | int | float | None]
    recalled: dict[str, bool]


@dataclass(frozen=True, slots=True)
class Profiled(PrivateEvent):
    """A bidder's profile of a rival: for each persona in the catalogue, a weight from -1 to 1.

    The bidder made the profile after the item `closed`. `repaired` counts the weights in the model's reply that were
    out of range, missing or for an unknown persona.

    >>> Profiled("Ann", "Bob", "Vase", {"downsizing": 0.5}, repaired=0).weights
    {'downsizing': 0.5}
    """

    rival: str
    closed: str
    weights: dict[str, float]
    repaired: int


@dataclass(frozen=True, slots=True)
class Mirrored(PrivateEvent):
    """The profile that a bidder expects a rival to have of it (a second-order profile); the fields as in `Profiled`."""

    rival: str
    closed: str
    weights: dict[str, float]
    repaired: int


@dataclass(frozen=True, slots=True)
class Prediction:
    """A bidder's prediction for a rival: the rival's interest in an item, and the most that the rival will bid.

    `interest` is from 0 to 1, and `limit` in dollars. `expects_me` is the interest in the item, from 0 to 1, that the
    rival expects of the bidder; it is None if the bidder does not reason about the thoughts of rivals about itself.

    >>> Prediction("Bob", 0.5, Decimal(300)).expects_me is None
    True
    """

    rival: str
    interest: float
    limit: Claim
    expects_me: float | None = None


@dataclass(frozen=True, slots=True)
class Predicted(PrivateEvent):
    """A bidder's predictions about its rivals: how much each wants the next item, and how high each will bid for it.

    >>> Predicted("Ann", "Vase", (Prediction("Bob", 0.5, Decimal(70)),)).predictions[0].limit
    Decimal('70')
    """

    item: str
    predictions: tuple[Prediction, ...]


@dataclass(frozen=True, slots=True)
class Strategized(PrivateEvent):
    """The strategic action, from A to F, that a bidder chose before its answer, and the reasons.

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
    """A bidder's belief about the state of the auction: its own remaining budget, and all bidders' profits and wins.

    `profits` is empty if the auction does not reveal true values.

    >>> Belief(Decimal(500), {"Ann": Decimal(20)}, {"Ann": (Win("Harbor View", Decimal(300)),)}).wins["Ann"][0].item
    'Harbor View'
    """

    budget: Claim
    profits: dict[str, Claim]
    wins: dict[str, tuple[Win, ...]]


@dataclass(frozen=True, slots=True)
class Believed(PrivateEvent):
    """A bidder updated its belief about the auction, after the items in `closed`.

    `said` is the model's first statement, and `held` the belief that the bidder has from now on. `errors_self` and
    `errors_others` count the wrong fields of the first statement about the bidder itself and about others;
    `fields_self` and `fields_others` count all fields. `corrections` is the number of times that the model was told its
    errors and asked again. `errors_self_again` and `errors_others_again` count the wrong fields of these later answers.
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
    """A memory of earlier auctions: a general learning, an episode (a record of one sale), or a dossier on a rival.

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
    """The general learnings of a bidder after this auction: a short list, which replaces the list from before.

    >>> Learned("Ann", ("Bid late.",)).learnings
    ('Bid late.',)
    """

    learnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remembered(PrivateEvent):
    """The number of memories of each kind that a bidder stored after the auction.

    >>> Remembered("Ann", {"episode": 2}).kept
    {'episode': 2}
    """

    kept: dict[MemoryKind, int]


@dataclass(frozen=True, slots=True)
class Expected(PrivateEvent):
    """A player's forecast of each rival's next bid, in the unit of the game.

    The forecast was made after the day or run `closed`, which is empty if no day or run was over. If the protocol asks
    the player for a single expected number, that number is the forecast for every rival.

    >>> Expected("Ann", "run 1", {"Bob": Decimal(70)}).bids["Bob"]
    Decimal('70')
    """

    closed: str
    bids: dict[str, Claim]
