"""Everything that can happen in an auction, as frozen events that name their audience.

Amounts are dollars (`Decimal`). Everyone may see a public event, the named seats a shared event, only its bidder a
private event, and no bidder an analyst's event. The base class decides this, so no event can be written without an
audience.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from math import fsum
from typing import Any, ClassVar, Literal

from harbor._core.asking.asks import WithdrawalReason
from harbor._core.basics.numbers import Money, dollars
from harbor._core.plugins.extensions import Part

SCHEMA_VERSION = 4

EVERYONE = "everyone"
"""Version of the format of a log; the first line of a log states it."""
ANALYST = "analyst"

Audience = str
"""``"everyone"``, ``"analyst"``, ``"bidder:<name>"``, or ``"seats:"`` and the names as a JSON list."""


# ---------------------------------------------------------------- events, by audience


class _Told:
    """An event that bidders are told."""

    __slots__ = ()

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """Return the sentences that tell the event to the bidder named `hearer`; empty if nobody needs to be told."""
        return ()

    @property
    def discloses(self) -> bool:
        """True if the event tells on purpose a fact that was private until now: that a bidder can't afford more."""
        return False


@dataclass(frozen=True, slots=True)
class PublicEvent(_Told):
    """An event that everyone may see.

    >>> PublicEvent().audience
    'everyone'
    """

    audience: ClassVar[Audience] = EVERYONE

    @property
    def words(self) -> str:
        """The event in the auctioneer's words; empty if it needs no words."""
        return ""

    @property
    def called(self) -> Money | None:
        """The price in dollars from which the bidding goes on; None if the event tells none."""
        return None

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """Return the sentences that tell the event: by default `words`."""
        return (self.words,) if self.words else ()


@dataclass(frozen=True, slots=True)
class PrivateEvent(_Told):
    """An event that one bidder and the analyst may see.

    >>> PrivateEvent("Ann").audience
    'bidder:Ann'
    """

    bidder: str

    @property
    def audience(self) -> Audience:
        """The bidder whose event it is."""
        return f"bidder:{self.bidder}"


@dataclass(frozen=True, slots=True)
class SharedEvent(_Told):
    """An event that some seats and the analyst may see: a sealed trade is seen by buyer and seller alone.

    >>> SharedEvent(("Ann", "Bob")).audience
    'seats:["Ann", "Bob"]'
    """

    seats: tuple[str, ...]

    @property
    def audience(self) -> Audience:
        """The seats whose event it is."""
        return f"seats:{json.dumps(self.seats, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class AnalystEvent:
    """An event that no bidder may see.

    >>> AnalystEvent().audience
    'analyst'
    """

    audience: ClassVar[Audience] = ANALYST


Event = PublicEvent | PrivateEvent | SharedEvent | AnalystEvent
EventSink = Callable[[Event], None]
"""Takes the conclusions of a bidder; the auctioneer writes them to the log later."""

# ---------------------------------------------------------------- public: the sale


@dataclass(frozen=True, slots=True)
class Lot:
    """An item as everyone sees it before the sale.

    >>> Lot("Harbor View", Decimal(100))
    Lot(name='Harbor View', start=Decimal('100'), listing='')
    """

    name: str
    start: Money
    listing: str = ""


@dataclass(frozen=True, slots=True)
class Listed(PublicEvent):
    """A game begins: its bidders, and its lots in the order of their sale.

    >>> Listed(("Ann", "Bob"), (Lot("Vase", Decimal(50)),)).reveals
    False
    """

    bidders: tuple[str, ...]
    lots: tuple[Lot, ...]

    @property
    def reveals(self) -> bool:
        """True if everyone learns the value of a lot once its sale is over."""
        return False


@dataclass(frozen=True, slots=True)
class LotOpened(PublicEvent):
    """In any game, the bidding for an item begins, or begins anew.

    >>> LotOpened("Vase").item
    'Vase'
    """

    item: str


@dataclass(frozen=True, slots=True)
class BiddersAsked(PublicEvent):
    """The auctioneer asks these bidders at the same moment; only its bidder learns the bounds of an ask.

    >>> BiddersAsked("Harbor View", 1, 1, ("Ann", "Bob")).audience
    'everyone'
    """

    item: str
    round: int
    attempt: int
    bidders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BidderWithdrew(PublicEvent):
    """The rules take a bidder out of the bidding for an item, because of `reason`; its own withdrawal is an `Acted`.

    >>> BidderWithdrew("Harbor View", 2, "Ann", "cannot afford").words
    'Ann is out of Harbor View.'
    """

    item: str
    round: int
    bidder: str
    reason: WithdrawalReason

    @property
    def discloses(self) -> bool:
        """True if the bidder's money ran out, which shows its budget."""
        return self.reason == "cannot afford"

    @property
    def words(self) -> str:
        """The sentence that the bidder is out."""
        return f"{self.bidder} is out of {self.item}."


@dataclass(frozen=True, slots=True)
class LotClosed(PublicEvent):
    """In any game, the bidding for an item is over. The auctioneer pauses, so that bidders may think.

    >>> LotClosed("Vase").item
    'Vase'
    """

    item: str


@dataclass(frozen=True, slots=True)
class WorthTold(PublicEvent):
    """Everyone learns the value of an item to its winner, in dollars.

    >>> WorthTold("Vase", Decimal(80)).audience
    'everyone'
    """

    item: str
    true_value: Money


@dataclass(frozen=True, slots=True)
class Paused(PublicEvent):
    """Bidders may think: before the first item (`closed` is empty), after each item, and when the auction is `over`.

    >>> Paused(closed=("Vase",)).over
    False
    """

    closed: tuple[str, ...]
    over: bool = False


@dataclass(frozen=True, slots=True)
class SaleClosed(PublicEvent):
    """The auction is over, and every thought about it is in the log."""


# ---------------------------------------------------------------- private: one bidder (its thoughts: `thoughts`)


@dataclass(frozen=True, slots=True)
class BidderSeated(PrivateEvent):
    """A bidder's own facts: its budget in dollars, personas (weight by text) and objective.

    `rivals` contains the weights of its rivals' personas by id, if the bidder is told them. `budget` is 0 in games
    whose rules state the money that can be spent and won.

    >>> BidderSeated("Ann", Decimal(500), {}, "profit").sentences()
    ('Only you know: your budget is $500, and your objective is: profit.',)
    """

    budget: Money
    personas: dict[str, float]
    objective: str
    rivals: dict[str, dict[str, float]] = field(default_factory=dict)

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """Return the budget, the objective and the personas, and the facts told of rivals."""
        said = []
        if self.budget:
            said.append(
                f"Only you know: your budget is {dollars(self.budget)}, and your objective is: {self.objective}."
            )
        for text, weight in self.personas.items():
            said.append(f"You act as: {text}" if weight == 1 else f"You act as (weight {weight:g}): {text}")
        for rival, weights in self.rivals.items():
            kinds = "; ".join(f"{kind} {weight:g}" for kind, weight in weights.items())
            said.append(f"You know what {rival} is like: {kinds}.")
        return tuple(said)


@dataclass(frozen=True, slots=True)
class CatalogShown(PrivateEvent):
    """A bidder with a theory of mind is told the possible kinds of buyers: texts of personas by id.

    >>> CatalogShown("Ann", {"downsizing": "I need less room."}).sentences()
    ('There may be a buyer of the kind downsizing: I need less room.',)
    """

    personas: dict[str, str]

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """Return one sentence per kind of buyer."""
        return tuple(f"There may be a buyer of the kind {kind}: {text}" for kind, text in self.personas.items())


@dataclass(frozen=True, slots=True)
class Answered(PrivateEvent):
    """An answer from your own agent or from a person. The log keeps it because neither can be asked again on resuming.

    >>> Answered("Ann", "I bid $50.").audience
    'bidder:Ann'
    """

    words: str


# ---------------------------------------------------------------- the analyst's


@dataclass(frozen=True, slots=True)
class LogOpened(AnalystEvent):
    """The first line of a log.

    `token` tells runs of one name apart. `parts` contains the game. `seed` is None in a public log. `rules` are the
    settings of the game that everyone may know.
    """

    schema: int
    harbor: str
    run: str
    seed: int | None
    token: str = ""
    parts: tuple[Part, ...] = ()
    rules: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ItemLabelled(AnalystEvent):
    """The ground truth of an item: its true value in dollars, and the persona (or several) it was written for.

    `persona` is "" if the item was written for none.

    >>> ItemLabelled("Vase", Decimal(80), "downsizing").audience
    'analyst'
    """

    item: str
    true_value: Money
    persona: str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BidderLabelled(AnalystEvent):
    """The ground truth of a bidder: weights of its personas by id, and its player (a model, a rule or an agent)."""

    bidder: str
    personas: dict[str, float]
    player: str


@dataclass(frozen=True, slots=True)
class Spent:
    """Requests beside the one that was answered: their number, tokens, and cost in dollars (None if unknown).

    >>> Spent(1, 200, 50, 0.5) + Spent(2, 100, 10, None)
    Spent(requests=3, input_tokens=300, output_tokens=60, cost_dollars=None)
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_dollars: float | None = 0.0

    def __add__(self, other: Spent) -> Spent:
        """Add two counts; the dollars are unknown if those of either are."""
        dollars = (self.cost_dollars, other.cost_dollars)
        return Spent(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            None if None in dollars else fsum(one for one in dollars if one is not None),
        )


NO_REQUESTS = Spent()


@dataclass(frozen=True, slots=True)
class ModelCalled(AnalystEvent):
    """One model call: its bidder and purpose, tokens, cost in dollars (None if unknown), start and length in seconds.

    `prompt` is the hash of the unfilled prompt file. Cached tokens are among the input tokens, and reasoning tokens
    among the output tokens. `cached` means that the reply was there before; `imported`, that only a file says that the
    model gave the reply. `finish` is the reason why the model stopped and `answered_by` the model that answered, in the
    provider's words. `retries` counts requests that failed before. `form` is the form of the request. The outcome
    "refused" means that the model declined. `marks` name the oddities of a reply that was read.

    `not_taken` are the settings left out because the server does not take them. With several keys, `key_env` is the
    variable of the key used. `fallback` is the model that answered in place of the bidder's. `probes` were answered,
    and showed that the server does not know a form. `lost` requests may have been answered, but no answer came: their
    tokens are an upper bound. The other tokens and dollars include neither.
    """

    bidder: str
    purpose: str
    model: str
    prompt: str
    attempt: int
    outcome: Literal["ok", "unreadable", "refused", "failed"]
    input_tokens: int
    output_tokens: int
    cost_dollars: float | None
    cached: bool
    began: float
    seconds: float
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    finish: str = ""
    retries: int = 0
    answered_by: str = ""
    form: Literal["tool", "json", "text", "words"] = "tool"
    imported: bool = False
    marks: tuple[str, ...] = ()
    not_taken: tuple[str, ...] = ()
    key_env: str = ""
    fallback: str = ""
    probes: Spent = NO_REQUESTS
    lost: Spent = NO_REQUESTS


@dataclass(frozen=True, slots=True)
class SeatFailed(AnalystEvent):
    """A seat raised an error or ran out of time; the auction went on without its answer.

    >>> SeatFailed("Ann", "timeout", "no answer within 5 s").audience
    'analyst'
    """

    bidder: str
    kind: Literal["error", "timeout"]
    detail: str


@dataclass(frozen=True, slots=True)
class ThoughtFailed(AnalystEvent):
    """The model gave no usable reply for a thought at a pause; the bidder keeps its earlier knowledge."""

    bidder: str
    purpose: str
    detail: str


@dataclass(frozen=True, slots=True)
class SeriesOpened(AnalystEvent):
    """A series of this many auctions begins. Each auction has its own log; the log of the series summarises them.

    `players` names the player of each bidder, as in `BidderLabelled`.
    """

    auctions: int
    players: dict[str, str]


@dataclass(frozen=True, slots=True)
class AuctionHeld(AnalystEvent):
    """An auction of a series is over: its number and seed, and each bidder's rank by profit, profit and learnings."""

    auction: int
    seed: int
    ranks: dict[str, int]
    profits: dict[str, Money]
    learnings: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class SeriesClosed(AnalystEvent):
    """The last auction of a series is over."""


CLOCK_FIELDS = frozenset({"at", "began", "seconds", "run", "token", "digest"})
"""Fields of a log line that differ between two runs of one seed."""
