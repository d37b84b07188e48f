"""The settings of an auction, from TOML or from Python. All defaults are here and in the settings of each game."""

from __future__ import annotations

import sys
import unicodedata
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from harbor._config.models import Models
from harbor._config.models import ModelSettings as ModelSettings
from harbor._config.models import Simulated as Simulated
from harbor._config.rules import AnyRules, rules_of
from harbor._core.settings import TAG, Dollars, Name, Number, Settings, check_distinct
from harbor._core.settings import check as check
from harbor._core.settings import read_settings as read_settings


def _as_mix(persona: Any) -> Any:
    """Take no persona, one, two in equal parts, or two with weights; give weights that add up to one."""
    if persona is None or persona in ({}, [], ()):
        return {}
    if isinstance(persona, str):
        return {persona: 1.0}
    if isinstance(persona, list | tuple) and all(isinstance(id, str) for id in persona):  # noqa: A001 - the catalogue's word
        twice = [id for id in persona if persona.count(id) > 1]  # noqa: A001
        if twice:
            raise ValueError(f"mixes {twice[0]!r} with itself; name two different personas")
        persona = dict.fromkeys(persona, 1.0)
    if not isinstance(persona, dict):
        raise ValueError("is not a persona; give an id, two ids, or two ids with weights")
    if len(persona) > MOST_PERSONAS:
        raise ValueError(f"mixes {len(persona)} personas; a bidder has at most two")
    if not all(_is_weight(weight) for weight in persona.values()):
        raise ValueError("has a weight that is not a positive number; give positive weights")
    largest = float(max(persona.values()))  # divided by first, as the sum of huge weights would be infinite
    weights = {name: weight / largest for name, weight in persona.items()}
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def _is_weight(weight: Any) -> bool:
    return isinstance(weight, int | float) and not isinstance(weight, bool) and 0 < weight <= sys.float_info.max


def _not_blank(text: str) -> str:
    if not any(unicodedata.category(character)[0] not in "CZ" for character in text):
        raise ValueError("must not be empty; write a text")
    return text


MOST_PERSONAS = 2
PATIENCE_SECONDS = 600.0
LEAST_PROFILED = 2
Mix = Annotated[dict[str, float], BeforeValidator(_as_mix)]
"""The weights of a bidder's personas by id: empty for none, else they add up to one."""


class Item(Settings):
    """An item for sale; `persona` is the ground truth of whom it was written for, which no bidder sees."""

    name: Name
    start: Dollars
    true_value: Dollars
    listing: str = Field("", max_length=4_000)
    persona: str | None = None


class Houses(Settings):
    """A sample of the catalogue's items: `count` in all, of which `matched` for each persona among the bidders."""

    count: int = Field(10, ge=1)
    matched: int | None = Field(None, ge=0)


def _kind_of_items(items: Any) -> str:
    return f"{TAG}{'list' if isinstance(items, list | tuple) else 'sample'}"


Items = Annotated[
    Annotated[tuple[Item, ...], Field(min_length=1), Tag(f"{TAG}list")] | Annotated[Houses, Tag(f"{TAG}sample")],
    Discriminator(_kind_of_items),
]
"""What is for sale: a list of items, or a sample of the catalogue's."""


class MindSettings(Settings):
    """The steps of a bidder's reasoning: a step that is switched off is not in its graph.

    `planning`: "none" (neither plan nor replan), "static" (plan only), "adaptive" (both). `correct_beliefs`: errors in
    a belief are corrected before it is used. `theory_of_mind`: "none", "true" (the bidder is told its rivals'
    personas), "inferred" (it profiles them from how they bid), "second" (and how they profile it); all but "none"
    predict rivals' limits. `strategy`: "off", "on" (an action is chosen before each bid), "fused" (action and bid in
    one call). `bidding`: "call" (the model is asked at each call), "limit" (it says once per item how far it goes, and
    the house raises for it up to there; without a strategy, which is chosen at each call). `memory` says what is
    recalled of earlier auctions: "none", "list" (all learnings), "retrieved" (the learnings nearest in meaning),
    "episodes" (the sales nearest in meaning), "full" (everything, newest first, within a budget of tokens).
    `learning`: after an auction, update the list of learnings. `chain_of_thought`: ask the model to think step by step
    before it answers. `nodes` are further thoughts, installed ones or "package.module:NAME".
    """

    planning: Literal["none", "static", "adaptive"] = "adaptive"
    correct_beliefs: bool = True
    theory_of_mind: Literal["none", "true", "inferred", "second"] = "none"
    strategy: Literal["off", "on", "fused"] = "off"
    bidding: Literal["call", "limit"] = "call"
    chain_of_thought: bool = True
    memory: Literal["none", "list", "retrieved", "episodes", "full"] = "none"
    learning: bool = False
    nodes: tuple[str, ...] = ()

    @property
    def remembers(self) -> bool:
        """Whether the bidder uses a store of memories."""
        return self.memory != "none" or self.learning

    @property
    def profiles(self) -> bool:
        """Whether the bidder profiles its rivals."""
        return self.theory_of_mind in ("inferred", "second")

    @model_validator(mode="after")
    def _strategy_of_calls(self) -> Self:
        if self.bidding == "limit" and self.strategy != "off":
            raise ValueError(
                f"strategy {self.strategy!r} is chosen at each call, bidding 'limit' once per item; drop one"
            )
        return self


class Bidder(MindSettings):
    """A bidder, played by a model, a scripted policy (`rule`), an AutoGen `agent`, or a `person`.

    `agent` is true for one that is given to `run`, the name of an installed one, or "package.module:NAME".
    A person has ten minutes per answer, others two. `persona` is an id, two ids, or two ids with weights. `objective`
    is "profit", "items", or any text, such as a wanted item. `overestimate` is a share of the true value.
    """

    name: Name
    persona: Mix = Field(default_factory=dict)
    model: str = "simulated"
    rule: str | None = Field(None, min_length=1)
    max_bids: int = Field(4, ge=1)
    agent: bool | str = False
    person: bool = False
    objective: str = Field("profit", min_length=1, max_length=1_000)
    budget: Dollars = Decimal(1_000_000)
    overestimate: Annotated[Number, Field(gt=-1, le=10)] = Decimal("0.1")
    timeout_seconds: float = Field(120.0, gt=0, allow_inf_nan=False)

    def __init__(self, name: str | None = None, /, **settings: Any) -> None:
        super().__init__(**settings if name is None else {"name": name, **settings})

    @property
    def uses_model(self) -> bool:
        """Whether a model plays this bidder."""
        return not (self.rule or self.agent or self.person)

    @model_validator(mode="before")
    @classmethod
    def _patience(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("person") is True:
            return {"timeout_seconds": PATIENCE_SECONDS, **values}
        return values

    @model_validator(mode="after")
    def _one_player(self) -> Bidder:
        players = [name for name in ("rule", "agent", "person") if getattr(self, name)]
        if len(players) > 1:
            raise ValueError(f"a bidder has one player, not {' and '.join(players)}; drop one")
        check_distinct("node", list(self.nodes))
        return self


class MemorySettings(Settings):
    """Where memories are stored, and how many are recalled.

    `store` is a folder or the address of a Chroma server. Without one, memories are stored in the folder of the run (or
    not at all, if the run has none). `carry_over`: also recall what other runs put in that store. `frozen`: read, but
    never write. `k` memories are retrieved by meaning; "full" takes up to `tokens`. `on_error`: "stop" the auction if a
    memory fails, as going on without it would be another experiment, or "continue" with a failed thought.
    """

    store: str | None = Field(None, min_length=1, max_length=4_000)
    embedding: str = "hashing"
    carry_over: bool = True
    frozen: bool = False
    k: int = Field(5, ge=1, le=100)
    tokens: int = Field(2_000, ge=1, le=1_000_000)
    on_error: Literal["stop", "continue"] = "stop"


class Series(Settings):
    """Auctions in a row between the same bidders, who keep their memories; each auction has its own seed.

    `shuffled`: the listed items are sold in another order each time.
    """

    auctions: int = Field(ge=1, le=10_000)
    shuffled: bool = False


class Persona(Settings):
    """A kind of buyer; a bidder acts according to the text and never reads its own id."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    name: Name
    text: Annotated[str, AfterValidator(_not_blank), Field(max_length=4_000)]


class AuctionConfig(Settings):
    """One auction: what is sold to whom, under which rules, from which seed.

    `catalogue` has the personas and the items that are sampled: the name of an installed one, with "@" and its version
    to mean no other, or "package.module:NAME". `personas` adds your own. `profile_over` names the personas that rivals
    are profiled over (None: all). `failed_calls` says what becomes of a call that a provider never answers: "stop" the
    run, as a bidder that is not answered does not play, or "play on" without it.
    """

    name: Name = "auction"
    seed: int = Field(0, ge=0)
    items: Items = Houses()
    bidders: tuple[Bidder, ...] = Field(min_length=1)
    personas: tuple[Persona, ...] = ()
    catalogue: str = "homes"
    profile_over: tuple[str, ...] | None = None
    rules: AnyRules = Field(default_factory=lambda: rules_of({}))
    memory: MemorySettings = MemorySettings()
    series: Series | None = None
    failed_calls: Literal["stop", "play on"] = "stop"
    models: Models = Field(default_factory=lambda: {"simulated": ModelSettings()})

    @model_validator(mode="after")
    def _distinct_names(self) -> AuctionConfig:
        check_distinct("bidder", [bidder.name for bidder in self.bidders])
        if isinstance(self.items, tuple):
            check_distinct("item", [item.name for item in self.items])
        check_distinct("persona", [persona.id for persona in self.personas])
        texts = [persona.text for persona in self.personas]
        for persona in self.personas:
            if texts.count(persona.text) > 1:
                raise ValueError(f"persona {persona.id!r} has the text of another one; write a different text")
        check_distinct("profile_over", list(self.profile_over or ()))
        if self.profile_over is not None and len(self.profile_over) < LEAST_PROFILED:
            raise ValueError(
                f"profile_over {list(self.profile_over)!r} leaves nothing to infer; name two personas or more"
            )
        return self
