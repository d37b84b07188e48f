"""Everything that can happen in an auction, as frozen events that say who may see them.

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
ANALYST = "analyst"

Audience = str
"""``"everyone"``, ``"analyst"``, ``"bidder:<name>"``, or ``"seats:"`` and the names as a JSON list."""


# ---------------------------------------------------------------- events, by audience


class _Told:
    """An event that bidders are told."""

    __slots__ = ()

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """How it is told to the bidder of that name, sentence by sentence; none if nobody needs to be told."""
        return ()

    @property
    def discloses(self) -> bool:
        """Whether the rules tell with it, on purpose, what was private until now: that a bidder can't afford more."""
        return False


@dataclass(frozen=True, slots=True)
class PublicEvent(_Told):
    """An event that everyone may see."""

    audience: ClassVar[Audience] = EVERYONE

    @property
    def words(self) -> str:
        """How the auctioneer says it; empty if it needs no words."""
        return ""

    @property
    def called(self) -> Money | None:
        """The price in dollars from which the bidding goes on; None: it tells none."""
        return None

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """How it is told, sentence by sentence: by default as `words` says it."""
        return (self.words,) if self.words else ()


@dataclass(frozen=True, slots=True)
class PrivateEvent(_Told):
    """An event that one bidder and the analyst may see."""

    bidder: str

    @property
    def audience(self) -> Audience:
        """The bidder whose event it is."""
        return f"bidder:{self.bidder}"


@dataclass(frozen=True, slots=True)
class SharedEvent(_Told):
    """An event that some seats and the analyst may see: a sealed trade is seen by buyer and seller alone."""

    seats: tuple[str, ...]

    @property
    def audience(self) -> Audience:
        """The seats whose event it is."""
        return f"seats:{json.dumps(self.seats, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class AnalystEvent:
    """An event that no bidder may see."""

    audience: ClassVar[Audience] = ANALYST


Event = PublicEvent | PrivateEvent | SharedEvent | AnalystEvent
EventSink = Callable[[Event], None]
"""Takes what a bidder has concluded; the auctioneer writes it to the log later."""

# ---------------------------------------------------------------- public: the sale


@dataclass(frozen=True, slots=True)
class Lot:
    """An item as everyone sees it before the sale."""

    name: str
    start: Money
    listing: str = ""


@dataclass(frozen=True, slots=True)
class Listed(PublicEvent):
    """A game begins: who bids, and on which lots, in which order."""

    bidders: tuple[str, ...]
    lots: tuple[Lot, ...]

    @property
    def reveals(self) -> bool:
        """Whether everyone learns what a lot is worth once it is over."""
        return False


@dataclass(frozen=True, slots=True)
class LotOpened(PublicEvent):
    """The bidding for something begins, or begins anew; in any game."""

    item: str


@dataclass(frozen=True, slots=True)
class BiddersAsked(PublicEvent):
    """The auctioneer asks these bidders at the same moment; the bounds of each ask are told to its bidder alone."""

    item: str
    round: int
    attempt: int
    bidders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BidderWithdrew(PublicEvent):
    """The rules take a bidder out of the bidding for this item, and why; one that leaves by itself has `Acted`."""

    item: str
    round: int
    bidder: str
    reason: WithdrawalReason

    @property
    def discloses(self) -> bool:
        """Whether its money ran out, which shows its budget."""
        return self.reason == "cannot afford"

    @property
    def words(self) -> str:
        """Who is out."""
        return f"{self.bidder} is out of {self.item}."


@dataclass(frozen=True, slots=True)
class LotClosed(PublicEvent):
    """The bidding for something is over, in any game. The auctioneer pauses, so that bidders may think."""

    item: str


@dataclass(frozen=True, slots=True)
class WorthTold(PublicEvent):
    """Everyone learns what an item is worth to whoever gets it."""

    item: str
    true_value: Money


@dataclass(frozen=True, slots=True)
class Paused(PublicEvent):
    """Bidders may think: before the first item (`closed` is empty), after each item, and when the auction is `over`."""

    closed: tuple[str, ...]
    over: bool = False


@dataclass(frozen=True, slots=True)
class SaleClosed(PublicEvent):
    """The auction is over, and every thought about it is in the log."""


# ---------------------------------------------------------------- private: one bidder (what it concludes: `thoughts`)


@dataclass(frozen=True, slots=True)
class BidderSeated(PrivateEvent):
    """What a bidder has and knows: its budget, personas (weight by text) and objective.

    `rivals` contains the weights of its rivals' personas by id, if it is told them. `budget` is 0 in games whose rules
    say what there is to spend and to win.
    """

    budget: Money
    personas: dict[str, float]
    objective: str
    rivals: dict[str, dict[str, float]] = field(default_factory=dict)

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """What it brings, and what it is told of others."""
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
    """A bidder with a theory of mind is told which kinds of buyers there may be: texts of personas by id."""

    personas: dict[str, str]

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """The kinds of buyers."""
        return tuple(f"There may be a buyer of the kind {kind}: {text}" for kind, text in self.personas.items())


@dataclass(frozen=True, slots=True)
class Answered(PrivateEvent):
    """What your own agent or a person answered. It is recorded because neither can be asked again on resuming."""

    words: str


# ---------------------------------------------------------------- the analyst's


@dataclass(frozen=True, slots=True)
class LogOpened(AnalystEvent):
    """A log's first line: `token` tells runs of one name apart, `parts` has the game, a public log has no `seed`.

    `rules` are the settings of the game that everyone may know.
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
    """The ground truth of an item: its true value, and the persona it was written for ("" if none), or several."""

    item: str
    true_value: Money
    persona: str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BidderLabelled(AnalystEvent):
    """The ground truth of a bidder: weights of its personas by id, and what plays it (a model, a rule, an agent)."""

    bidder: str
    personas: dict[str, float]
    player: str


@dataclass(frozen=True, slots=True)
class Spent:
    """Requests beside the one that was answered: how many, their tokens, and dollars (None if unknown)."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_dollars: float | None = 0.0

    def __add__(self, other: Spent) -> Spent:
        """Add them up; the dollars are unknown if those of one are."""
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
    among the output tokens. `cached`: the reply was there before; `imported`: a file alone says that the model gave it.
    `finish` is why it stopped and `answered_by` the model that answered, in the provider's words; `retries` counts
    requests that failed before; `form` is how it was asked. The outcome "refused" is the model's: it does not speak to
    this. `marks` say what was odd about a reply that was read.

    `not_taken` are the settings that the server does not take, which were left out. Of several keys, `key_env` is the
    variable of the one that was used; `fallback` is the model that answered in place of the bidder's. `probes` were
    answered, and showed that a form is not known; `lost` may have been, but no answer came: their tokens are an upper
    bound. Neither is among the other tokens and dollars.
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
    """A seat raised an error or ran out of time; the auction went on without its answer."""

    bidder: str
    kind: Literal["error", "timeout"]
    detail: str


@dataclass(frozen=True, slots=True)
class ThoughtFailed(AnalystEvent):
    """A thought at a pause for which the model gave no usable reply; the bidder goes on with what it knew before."""

    bidder: str
    purpose: str
    detail: str


@dataclass(frozen=True, slots=True)
class SeriesOpened(AnalystEvent):
    """A series of this many auctions begins. Each auction has its own log; this one summarises them.

    `players` says what plays each bidder, as in `BidderLabelled`.
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
