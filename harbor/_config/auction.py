"""The settings of an auction: the only home of defaults. Plain data, from TOML or from Python."""

from __future__ import annotations

import sys
import unicodedata
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from harbor._config.rules import AnyRules
from harbor._config.rules import EnglishRules as EnglishRules
from harbor._core.settings import TAG, Dollars, Name, Number, Rate, Seconds, Settings, check_distinct
from harbor._core.settings import check as check
from harbor._core.settings import read_settings as read_settings


def _as_mix(persona: Any) -> Any:
    """Take no persona, one, two in equal parts, or two with weights, as weights that add up to one."""
    if persona is None or persona in ({}, [], ()):
        return {}
    if isinstance(persona, str):
        return {persona: 1.0}
    if isinstance(persona, list | tuple) and all(isinstance(id, str) for id in persona):  # noqa: A001 - the catalog's word
        twice = [id for id in persona if persona.count(id) > 1]  # noqa: A001
        if twice:
            raise ValueError(f"mixes {twice[0]!r} with itself; name two different personas")
        persona = dict.fromkeys(persona, 1.0)
    if not isinstance(persona, dict):
        raise ValueError("is no persona; give an id, two ids, or two ids with weights")
    if len(persona) > MOST_PERSONAS:
        raise ValueError(f"mixes {len(persona)} personas; a bidder holds at most two")
    if not all(_is_weight(weight) for weight in persona.values()):
        raise ValueError("has a weight that is no positive number; give positive weights")
    largest = float(max(persona.values()))
    weights = {name: weight / largest for name, weight in persona.items()}
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def _is_weight(weight: Any) -> bool:
    return isinstance(weight, int | float) and not isinstance(weight, bool) and 0 < weight <= sys.float_info.max


def _written(text: str) -> str:
    if not any(unicodedata.category(character)[0] not in "CZ" for character in text):
        raise ValueError("must not be empty; write a text")
    return text


MOST_PERSONAS = 2
PATIENCE_SECONDS = 600.0
LEAST_CATALOG = 2
Mix = Annotated[dict[str, float], BeforeValidator(_as_mix)]
"""The weights of a bidder's personas by id: empty for none, else they add up to one."""


class Item(Settings):
    """An item for sale; `persona` is a ground-truth label that no bidder sees."""

    name: Name
    start: Dollars
    true_value: Dollars
    listing: str = Field("", max_length=4_000)
    persona: str | None = None


class Houses(Settings):
    """A sample of houses: `count` in all, of which `matched` for the persona of each bidder that has one."""

    count: int = Field(10, ge=1)
    matched: int | None = Field(None, ge=0)


def _kind_of_items(items: Any) -> str:
    return f"{TAG}{'list' if isinstance(items, list | tuple) else 'sample'}"


Items = Annotated[
    Annotated[tuple[Item, ...], Field(min_length=1), Tag(f"{TAG}list")] | Annotated[Houses, Tag(f"{TAG}sample")],
    Discriminator(_kind_of_items),
]
"""What is for sale: a list of items, or a sample of the catalog's houses."""


class Simulated(Settings):
    """How the built-in model plays and errs.

    `policy` is "judge" (weighs fit, profit and budget) or "minimum" (raises by the minimum while under `limit_share` of
    its estimate). Rates are shares of replies: unreadable, bid too low, bid above budget, belief with a wrong sum.
    """

    policy: Literal["judge", "minimum"] = "judge"
    limit_share: Annotated[Number, Field(gt=0, le=10)] = Decimal("0.9")
    level: int = Field(2, ge=0, le=100)
    latency_seconds: Seconds = 0.0
    unreadable_rate: Rate = 0.0
    low_bid_rate: Rate = 0.0
    over_budget_rate: Rate = 0.0
    wrong_sum_rate: Rate = 0.0


class ModelSettings(Settings):
    """A model under a name of your own: `use` is "simulated" or "provider:name".

    Prices are dollars per million tokens; without them the cost of a call is unknown.
    """

    use: str = "simulated"
    temperature: float = Field(0.0, ge=0, le=2)
    repairs: int = Field(2, ge=0, le=10)
    retries: int = Field(2, ge=0, le=10)
    input_price: float | None = Field(None, ge=0, allow_inf_nan=False)
    output_price: float | None = Field(None, ge=0, allow_inf_nan=False)
    simulated: Simulated = Simulated()


class MindSettings(Settings):
    """What a bidder's mind has: a node that is switched off is not in its graph.

    `planning`: "none" (neither plan nor replan), "static" (plan only), "adaptive" (both). `correct_beliefs`: a belief
    is put right before it is handed on. `theory_of_mind`: "none"; "true" (rivals' personas are given), "inferred"
    (profiled from how they bid), "second" (and how they profile oneself): the last three predict rivals' limits.
    `strategy`: "off", "on" (an action before each bid), "fused" (action and bid in one call). `memory` says what is
    recalled of earlier auctions: "none"; "list" (all learnings); "retrieved" (the learnings nearest in meaning);
    "episodes" (the sales nearest in meaning); "full" (everything, newest first, within a budget of tokens).
    `learning`: after an auction, write an updated list of learnings. `chain_of_thought`: the model is asked to think
    step by step before it answers.
    """

    planning: Literal["none", "static", "adaptive"] = "adaptive"
    correct_beliefs: bool = True
    theory_of_mind: Literal["none", "true", "inferred", "second"] = "none"
    strategy: Literal["off", "on", "fused"] = "off"
    chain_of_thought: bool = True
    memory: Literal["none", "list", "retrieved", "episodes", "full"] = "none"
    learning: bool = False

    @property
    def remembers(self) -> bool:
        """Whether the mind has a use for a store."""
        return self.memory != "none" or self.learning

    @property
    def profiles(self) -> bool:
        """Whether the mind profiles its rivals."""
        return self.theory_of_mind in ("inferred", "second")


class Bidder(MindSettings):
    """A bidder: a mind with a model, a script (`rule`), an AutoGen agent given to `run` (`agent`), or a `person`.

    A person has ten minutes for an answer, others two. `persona` is an id, two ids, or two ids with weights.
    `objective` is "profit", "items", or any text, such as a wanted item; `overestimate` is a share of the true value.
    """

    name: Name
    persona: Mix = Field(default_factory=dict)
    model: str = "simulated"
    rule: Literal["minimum-raise", "truthful", "rational", "random", "adversary"] | None = None
    max_bids: int = Field(4, ge=1)
    agent: bool = False
    person: bool = False
    objective: str = Field("profit", min_length=1, max_length=1_000)
    budget: Dollars = Decimal(1_000_000)
    overestimate: Annotated[Number, Field(gt=-1, le=10)] = Decimal("0.1")
    timeout_seconds: float = Field(120.0, gt=0, allow_inf_nan=False)

    def __init__(self, name: str | None = None, /, **settings: Any) -> None:
        super().__init__(**settings if name is None else {"name": name, **settings})

    @property
    def uses_model(self) -> bool:
        """Whether a model plays it."""
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
        if (self.rule or self.agent) and (self.theory_of_mind != "none" or self.strategy != "off" or self.remembers):
            player = "a rule" if self.rule else "an agent"
            raise ValueError(f"{player} has no mind of Harbor's; drop theory_of_mind, strategy, memory and learning")
        return self


class MemorySettings(Settings):
    """Where memories are kept, and how many come back.

    `store` is a folder, or the address of a Chroma server; without one, memories go in the folder of the run (or
    nowhere, where the run has none). `carry_over`: what other runs put in that store counts too. `frozen`: read, never
    write. `k` memories are retrieved by meaning; "full" takes up to `tokens`. `on_error`: whether an auction goes on
    without a memory that fails.
    """

    store: str | None = Field(None, min_length=1, max_length=4_000)
    embedding: str = "hashing"
    carry_over: bool = True
    frozen: bool = False
    k: int = Field(5, ge=1, le=100)
    tokens: int = Field(2_000, ge=1, le=1_000_000)
    on_error: Literal["stop", "continue"] = "stop"


class Series(Settings):
    """Auctions in a row between the same bidders, who keep their memories; each has a seed of its own.

    `shuffled`: items that are listed come in another order each time.
    """

    auctions: int = Field(ge=1, le=10_000)
    shuffled: bool = False


class Persona(Settings):
    """A buyer; a bidder acts out the text and never reads its own id."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    name: Name
    text: Annotated[str, AfterValidator(_written), Field(max_length=4_000)]


class AuctionConfig(Settings):
    """One auction: what is sold to whom, under which rules, from which seed.

    `personas` adds personas of your own to the catalog; `catalog` names those that rivals are profiled over (all).
    """

    name: Name = "auction"
    seed: int = Field(0, ge=0)
    items: Items = Houses()
    bidders: tuple[Bidder, ...] = Field(min_length=1)
    personas: tuple[Persona, ...] = ()
    catalog: tuple[str, ...] | None = None
    rules: AnyRules = EnglishRules()
    memory: MemorySettings = MemorySettings()
    series: Series | None = None
    models: dict[str, ModelSettings] = Field(default_factory=lambda: {"simulated": ModelSettings()})

    @model_validator(mode="after")
    def _distinct_names(self) -> AuctionConfig:
        check_distinct("bidder", [bidder.name for bidder in self.bidders])
        if isinstance(self.items, tuple):
            check_distinct("item", [item.name for item in self.items])
        check_distinct("persona", [persona.id for persona in self.personas])
        texts = [persona.text for persona in self.personas]
        for persona in self.personas:
            if texts.count(persona.text) > 1:
                raise ValueError(f"persona {persona.id!r} has the text of another one; write one of its own")
        check_distinct("catalog", list(self.catalog or ()))
        if self.catalog is not None and len(self.catalog) < LEAST_CATALOG:
            raise ValueError(f"catalog {list(self.catalog)!r} leaves nothing to infer; name two personas or more")
        return self
