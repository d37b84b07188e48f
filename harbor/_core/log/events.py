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
        """True if the event tells on purpose a fact that was private until now, as that a bidder can't afford more."""
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
    """An event that only the bidders in `seats` and the analyst may see, such as a sealed trade.

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
    """The bidding for an item begins, or begins anew; each game has its own kinds of this event.

    >>> LotOpened("Vase").item
    'Vase'
    """

    item: str


@dataclass(frozen=True, slots=True)
class BiddersAsked(PublicEvent):
    """The auctioneer asks these bidders at the same moment; the bounds of each ask are told to its bidder alone.

    >>> BiddersAsked("Harbor View", 1, 1, ("Ann", "Bob")).audience
    'everyone'
    """

    item: str
    round: int
    attempt: int
    bidders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BidderWithdrew(PublicEvent):
    """The rules take a bidder out of the bidding for an item, for this `reason`.

    If a bidder withdraws by itself, the event is an `Acted` instead.

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
    """The bidding for an item is over; each game has its own kinds of this event.

    The auctioneer then pauses, so that bidders may think.

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
    """The auctioneer pauses, so that bidders may think.

    This happens before the first item, after each item, and when the auction is `over`. `closed` names the items whose
    bidding has ended since the last pause; it is empty before the first item.

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
    """The facts that a bidder is told about itself: its budget in dollars, its personas and its objective.

    `personas` maps the text of each persona to its weight. `rivals` has the weights of each rival's personas by id, if
    the bidder is told them. `budget` is 0 in games whose rules state the money that can be spent and won.

    >>> BidderSeated("Ann", Decimal(500), {}, "profit").sentences()
    ('Only you know: your budget is $500, and your objective is: profit.',)
    """

    budget: Money
    personas: dict[str, float]
    objective: str
    rivals: dict[str, dict[str, float]] = field(default_factory=dict)

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """Return sentences with the budget, the objective, the personas, and the facts that are told about rivals."""
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
    """The words with which an agent or a person answered.

    The log keeps the words, because agents and people can't be asked again when a run is resumed.

    >>> Answered("Ann", "I bid $50.").audience
    'bidder:Ann'
    """

    words: str


# ---------------------------------------------------------------- the analyst's


@dataclass(frozen=True, slots=True)
class LogOpened(AnalystEvent):
    """The first event of a log.

    `schema` is the version of the log's format, and `harbor` the version of Harbor. `run` is the name of the run, and
    `token` tells runs with the same name apart. `parts` are the extensions that the log depends on, such as its game.
    `seed` is None in a public log. `rules` are the settings of the game that everyone may know.
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
    """The truth about an item: its true value in dollars, and the persona or personas that it was written for.

    `persona` is "" if the item was written for no persona.

    >>> ItemLabelled("Vase", Decimal(80), "downsizing").audience
    'analyst'
    """

    item: str
    true_value: Money
    persona: str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BidderLabelled(AnalystEvent):
    """The truth about a bidder: the weights of its personas by id, and its player (a model, rule, agent or person)."""

    bidder: str
    personas: dict[str, float]
    player: str


@dataclass(frozen=True, slots=True)
class Spent:
    """The number, tokens and cost in dollars of a model call's requests, without the request that gave the reply.

    The cost is None if it is unknown.

    >>> Spent(1, 200, 50, 0.5) + Spent(2, 100, 10, None)
    Spent(requests=3, input_tokens=300, output_tokens=60, cost_dollars=None)
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_dollars: float | None = 0.0

    def __add__(self, other: Spent) -> Spent:
        """Add up two of these; the cost is unknown if that of either is unknown."""
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
    """One call of a model: its bidder and purpose, its tokens, its cost in dollars (None: unknown), and its time.

    `prompt` is the hash of the prompt file before it is filled in. `attempt` counts the attempts to get a usable reply
    from 1. The outcome "refused" means that the model refused the task. `began` and `seconds` are the start of the
    call, in seconds since the log was opened, and its duration. `cached_tokens` are part of the input tokens, and
    `reasoning_tokens` part of the output tokens. `cached` means that the reply came from Harbor's cache, and `imported`
    that it came there from a file. `finish` is the reason why the model stopped, and `answered_by` the model that
    answered, both in the provider's words. `retries` counts failed requests before the one that was answered. `form` is
    the form in which a reply was asked for. `marks` name peculiarities of a reply that could be read all the same.

    `not_taken` are settings that were left out, because the server refuses them. If the model has several keys,
    `key_env` is the variable with the key that was used. `fallback` is the model that answered in place of the
    bidder's model. `probes` are requests whose answers showed that the server does not know a form of reply. `lost` are
    requests whose answers did not arrive; their tokens are an upper bound. The other tokens and the cost of the call
    do not include `probes` and `lost`.
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
    """A bidder's agent raised an error or ran out of time; the auction went on without its answer.

    >>> SeatFailed("Ann", "timeout", "no answer within 5 s").audience
    'analyst'
    """

    bidder: str
    kind: Literal["error", "timeout"]
    detail: str


@dataclass(frozen=True, slots=True)
class ThoughtFailed(AnalystEvent):
    """A model gave no usable reply for a thought at a pause; its bidder keeps its earlier conclusions."""

    bidder: str
    purpose: str
    detail: str


@dataclass(frozen=True, slots=True)
class SeriesOpened(AnalystEvent):
    """A series begins; `auctions` is its number of auctions, and `players` names the player of each bidder.

    Each auction has a log of its own. The log of the series summarises them.
    """

    auctions: int
    players: dict[str, str]


@dataclass(frozen=True, slots=True)
class AuctionHeld(AnalystEvent):
    """An auction of a series is over: its number and seed, and each bidder's profit, rank by profit, and learnings."""

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
