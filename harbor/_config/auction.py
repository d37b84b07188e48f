"""Settings of an auction, read from TOML or made in Python. All defaults are here and in the settings of each game."""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from harbor._config.agents import AgentCommand as AgentCommand
from harbor._config.agents import AgentServer as AgentServer
from harbor._config.agents import AnyAgent
from harbor._config.models import Models
from harbor._config.models import ModelSettings as ModelSettings
from harbor._config.models import Simulated as Simulated
from harbor._config.rules import AnyRules, rules_of
from harbor._config.thinking import MindSettings as MindSettings
from harbor._config.thinking import as_usual_in
from harbor._core.settings import TAG, Dollars, Name, Number, Settings, check_distinct, look_of
from harbor._core.settings import check as check
from harbor._core.settings import read_settings as read_settings

MOST_ITEMS = 10_000
"""The greatest number of items in an auction, in a sample, and in a list to sample from."""
MOST_SUITED = 100
"""The greatest number of personas that an item may name."""


def _as_persona(suits: Any) -> Any:
    """Return the personas of an item: None, one id, or a tuple of several ids. The input may also be a list."""
    if not isinstance(suits, list | tuple):
        return suits
    if len(suits) > MOST_SUITED:
        raise ValueError(f"names {len(suits):,} personas; name {MOST_SUITED} at most")
    if twice := [id for id in suits if suits.count(id) > 1]:  # noqa: A001 - the catalogue's word
        raise ValueError(f"names {twice[0]!r} twice; name each persona once")
    return tuple(suits) if len(suits) > 1 else suits[0] if suits else None


class Item(Settings):
    """An item for sale, such as a house.

    >>> Item(name="Loft", start=100, true_value=120, persona="urban-dwellers").suits
    ('urban-dwellers',)

    Attributes:
        name: Name of the item; no two items share a name.
        start: The starting price, in dollars.
        true_value: Value of the item to the bidder that buys it, in dollars. Bidders know only estimates of this value.
        listing: The description of the item that bidders read.
        persona: The id of the persona that the item was written for, or a list of ids if the item suits several
            personas. Without this setting, the item suits no persona more than another. No bidder reads it.
    """

    public: ClassVar[frozenset[str]] = frozenset({"name", "start"})

    name: Name
    start: Dollars
    true_value: Dollars
    listing: str = Field("", max_length=4_000)
    persona: Annotated[str | tuple[str, ...] | None, BeforeValidator(_as_persona)] = None

    @property
    def suits(self) -> tuple[str, ...]:
        """The ids of all personas that the item was written for."""
        return (self.persona,) if isinstance(self.persona, str) else self.persona or ()


def _distinct(items: tuple[Item, ...]) -> tuple[Item, ...]:
    check_distinct("item", [item.name for item in items])
    return items


OwnItems = Annotated[tuple[Item, ...], Field(max_length=MOST_ITEMS), AfterValidator(_distinct)]
"""Items from which a sample is drawn; if there are none, the sample is drawn from the catalogue."""


class Houses(Settings):
    """A random sample of items from the auction's catalogue.

    >>> Houses(count=4, matched=1).count
    4

    Attributes:
        count: Number of items.
        matched: For each persona that a bidder has, the number of items in the sample that suit this persona. All other
            items suit no persona of a bidder. Without this setting, the draw ignores personas.
        of: Items from which the sample is drawn, instead of the items of the catalogue.
    """

    public: ClassVar[frozenset[str]] = frozenset({"count"})

    count: int = Field(10, ge=1, le=MOST_ITEMS)
    matched: int | None = Field(None, ge=0, le=MOST_ITEMS)
    of: OwnItems = ()


def _kind_of_items(items: Any) -> str:
    return f"{TAG}{'list' if isinstance(items, list | tuple) else 'sample'}"


Items = Annotated[
    Annotated[tuple[Item, ...], Field(min_length=1, max_length=MOST_ITEMS), Tag(f"{TAG}list")]
    | Annotated[Houses, Tag(f"{TAG}sample")],
    Discriminator(_kind_of_items),
]
"""The items for sale: a list, or a sample from the catalogue."""


def _as_mix(persona: Any) -> Any:
    """Return weights by persona id that add up to 1. The input is no persona, one, two, or two with weights."""
    if persona is None or persona in ({}, [], ()):
        return {}
    if isinstance(persona, str):
        return {persona: 1.0}
    if isinstance(persona, list | tuple | dict) and len(persona) > MOST_PERSONAS:
        raise ValueError(f"mixes {len(persona)} personas; a bidder has at most two")
    if isinstance(persona, list | tuple) and all(isinstance(id, str) for id in persona):  # noqa: A001 - the catalogue's word
        twice = [id for id in persona if persona.count(id) > 1]  # noqa: A001
        if twice:
            raise ValueError(f"mixes {twice[0]!r} with itself; name two different personas")
        persona = dict.fromkeys(persona, 1.0)
    if not isinstance(persona, dict):
        raise ValueError("is not a persona; give an id, two ids, or two ids with weights")
    if not all(_is_weight(weight) for weight in persona.values()):
        raise ValueError("has a weight that is not a positive number; give positive weights")
    largest = float(max(persona.values()))  # divide by it first: the sum of huge weights is infinite
    weights = {name: weight / largest for name, weight in persona.items()}
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def _is_weight(weight: Any) -> bool:
    return isinstance(weight, int | float) and not isinstance(weight, bool) and 0 < weight <= sys.float_info.max


def _not_blank(text: str) -> str:
    if not any(unicodedata.category(character)[0] not in "CZ" for character in text):
        raise ValueError("must not be empty; write a text")
    return text


def _add_up(weights: tuple[Decimal, ...]) -> tuple[Decimal, ...]:
    if (total := sum(weights)) != 1:
        raise ValueError(f"has weights that add up to {total:f}; make them add up to 1, such as [0.2, 0.4, 0.4]")
    return weights


LEVELS = (Decimal("0.2"), Decimal("0.4"), Decimal("0.4"))
"""Default weights of levels 0, 1 and 2 for the rule "levels"; they add up to 1."""
NOT_BIDDERS = ("analyst", "analysts", "auctioneer", "everybody", "everyone", "house", "the auctioneer", "the house")
"""Names that no bidder may have: announcements, tables and logs use them for others."""
MOST_PERSONAS = 2
"""The greatest number of personas in the mix of one bidder."""
MOST_BIDDERS, MOST_OWN_PERSONAS = 1_000, 1_000
"""The greatest number of bidders, and of personas of the user's own, in one auction."""
MOST_ESTIMATES = 1_000_000
"""The greatest number of estimates, bidders times items, in one auction: all are drawn before the first call."""
PATIENCE_SECONDS = 600.0
"""Default timeout of a person, in seconds."""
LEAST_PROFILED = 2
"""Fewest personas in `profile_over`: with one, nothing is left to infer."""
LEAST_FOR_ANOTHER = 3
"""Fewest bidders for placebo "another": it swaps the profiles of two rivals."""
Weight = Annotated[Number, Field(ge=0, le=1, decimal_places=6)]
Mix = Annotated[dict[str, float], BeforeValidator(_as_mix)]
"""Weights of a bidder's personas by id; they add up to 1. Empty: the bidder has no persona."""


class Bidder(MindSettings):
    """A bidder: it is played by a model, or else by a scripted policy (`rule`), an `agent` or a `person`.

    >>> Bidder("Ann", persona={"downsizing": 3, "urban-dwellers": 1}).persona
    {'downsizing': 0.75, 'urban-dwellers': 0.25}

    Attributes:
        name: Name of the bidder, by which the auctioneer calls it.
        persona: The kind of buyer that the bidder is told to be: the id of a persona, two ids for a mix in equal parts,
            or two ids with weights. Without this setting, the bidder has no persona.
        model: The model that plays the bidder: "provider:model", or a name under `models`.
        rule: Name of the scripted policy that plays the bidder instead of a model.
        max_bids: Most bids that the bidder makes on one item. Only some scripted policies, such as "minimum-raise",
            follow this setting.
        levels: The probabilities with which the rule "levels" plays at level 0, 1, 2 and so on; they add up to 1. A
            player of level 0 plays at random, and a player of each higher level answers best to players of the level
            below. Most people are at levels 1 and 2 (Nagel 1995); the default probabilities are Harbor's own.
        agent: The agent that plays the bidder instead of a model: true for an agent that is passed to `run`, the name
            of an installed agent, "package.module:NAME" for one in your code, a program as `{ command = [...] }`, or a
            server as `{ url = "..." }`.
        person: Whether a person plays the bidder instead of a model.
        objective: Goal that the bidder is told: "profit" (as much profit as it can make), "items" (as many items as it
            can win), or a text of your own.
        budget: Money that the bidder can spend in the auction, in dollars.
        overestimate: How far the bidder's estimates lie above the true values, as a share of the true values.
        timeout_seconds: Time for one answer, in seconds; 600 by default if a person plays the bidder.
    """

    public: ClassVar[frozenset[str]] = frozenset({"name", "protocol"})

    name: Name
    persona: Mix = Field(default_factory=dict)
    model: str = "simulated"
    rule: str | None = Field(None, min_length=1)
    max_bids: int = Field(4, ge=1)
    levels: Annotated[tuple[Weight, ...], Field(min_length=1), AfterValidator(_add_up)] = LEVELS
    agent: AnyAgent = False
    person: bool = False
    objective: str = Field("profit", min_length=1, max_length=1_000)
    budget: Dollars = Decimal(1_000_000)
    overestimate: Annotated[Number, Field(gt=-1, le=10)] = Decimal("0.1")
    timeout_seconds: float = Field(120.0, gt=0, allow_inf_nan=False)

    def __init__(self, name: str | None = None, /, **settings: Any) -> None:
        super().__init__(**settings if name is None else {"name": name, **settings})

    @property
    def uses_model(self) -> bool:
        """True if a model plays this bidder."""
        return not (self.rule or self.agent or self.person)

    @model_validator(mode="before")
    @classmethod
    def _as_its_player_has_it(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        usual: dict[str, Any] = {"timeout_seconds": PATIENCE_SECONDS} if values.get("person") is True else {}
        usual |= {"bidding": "call"} if any(map(values.get, ("rule", "agent", "person"))) else {}
        return {**usual, **values}

    @model_validator(mode="after")
    def _one_player(self) -> Bidder:
        players = [name for name in ("rule", "agent", "person") if getattr(self, name)]
        if len(players) > 1:
            raise ValueError(f"a bidder has one player, not {' and '.join(players)}; drop one")
        if self.placebo != "none" and not self.uses_model:
            raise ValueError(f"placebo {self.placebo!r} is for the thoughts of a model; drop it, or {players[0]}")
        check_distinct("node", list(self.nodes))
        if not self.persona and self.persona_value != self.usual_persona_value:
            shown = repr(self.persona_value) if isinstance(self.persona_value, str) else self.persona_value
            raise ValueError(
                f"persona_value {shown} is about items that suit a persona, and there is none; give it a persona, or"
                " drop persona_value"
            )
        if self.relative_objective and self.objective not in ("profit", "items"):
            raise ValueError(f"objective {self.objective!r} is nothing to compare with rivals; drop relative_objective")
        return self


class MemorySettings(Settings):
    """Settings of the bidders' memory of earlier auctions: where memories are stored, and which ones are recalled.

    Attributes:
        store: The place of the memories: a folder, or the address of a Chroma server. Without this setting, they are in
            the folder of the run; a run without a folder keeps no memories on disk.
        embedding: How texts are compared: "hashing" (by words), or "sentence-transformers:FOLDER" (by meaning).
        carry_over: Whether bidders also recall memories that other runs put in the same store. "series" recalls only
            memories from earlier auctions of the same series.
        frozen: Whether memories are only read, and no new ones are stored.
        games: Other games whose memories are recalled too; without this setting, bidders recall only memories of the
            game that is played.
        k: Number of memories that are recalled when they are chosen by nearness in meaning.
        tokens: Most tokens of memories that are recalled by a bidder whose `memory` is "full". A token is counted as
            four characters.
        on_error: Reaction to a memory that fails: "stop" the auction, because without the memory it would be another
            experiment, or "continue" with a failed thought.
    """

    store: str | None = Field(None, min_length=1, max_length=4_000)
    embedding: str = "hashing"
    carry_over: bool | Literal["series"] = True
    frozen: bool = False
    games: tuple[str, ...] = ()
    k: int = Field(5, ge=1, le=100)
    tokens: int = Field(2_000, ge=1, le=1_000_000)
    on_error: Literal["stop", "continue"] = "stop"


class Series(Settings):
    """Auctions in a row between the same bidders, who keep their memories; each auction has its own seed.

    Attributes:
        auctions: Number of auctions.
        shuffled: Whether each auction sells the listed items in a random order of its own.
    """

    public: ClassVar[frozenset[str]] = frozenset({"auctions", "shuffled"})

    auctions: int = Field(ge=1, le=10_000)
    shuffled: bool = False


class Persona(Settings):
    """A kind of buyer, whose part a bidder can be told to play.

    >>> Persona(id="gardener", name="Gardener", text="You want a large garden.").name
    'Gardener'

    Attributes:
        id: The id by which settings name the persona; no bidder reads this id.
        name: Name of the persona in tables.
        text: The text that the bidder reads and acts by.
    """

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    name: Name
    text: Annotated[str, AfterValidator(_not_blank), Field(max_length=4_000)]


class AuctionConfig(Settings):
    """The settings of one auction: items, bidders, rules and seed.

    >>> AuctionConfig(bidders=(Bidder("Ann"), Bidder("Bob"))).rules.game
    'english'

    Attributes:
        name: Name of the run.
        seed: Random seed of the auction; equal seeds give equal random draws.
        items: A list of items, or a sample from the catalogue as `{ count = 10, matched = 2 }`.
        bidders: The bidders; in TOML, one table `[[bidders]]` for each bidder.
        personas: Personas of your own, which bidders can have beside those in the catalogue.
        catalogue: Source of the personas and of the sampled items: the name of an installed catalogue, or
            "package.module:NAME". "NAME@VERSION" accepts only that version.
        profile_over: Ids of the personas that a bidder considers when it infers the persona of a rival; without this
            setting, all personas.
        rules: The rules of the game; the key `game` in them names the game.
        memory: Settings of the bidders' memory of earlier auctions.
        series: Settings of a series, in which several auctions follow each other; without this setting, one auction.
        failed_calls: Reaction if a provider never answers a call: "stop" the run, or "play on" without the reply. In an
            experiment with "stop", a game also fails if an agent fails, or if no answer of an agent is ever accepted.
        publish_personas: Whether a public copy of the run tells the personas of the bidders.
        models: Settings of models, by the names that bidders use.
    """

    public: ClassVar[frozenset[str]] = frozenset({"bidders", "items", "rules", "series"})

    name: Name = "auction"
    seed: int = Field(0, ge=0)
    items: Items = Houses()
    bidders: tuple[Bidder, ...] = Field(min_length=1, max_length=MOST_BIDDERS)
    personas: tuple[Persona, ...] = Field((), max_length=MOST_OWN_PERSONAS)
    catalogue: str = "homes"
    profile_over: tuple[str, ...] | None = None
    rules: AnyRules = Field(default_factory=lambda: rules_of({}))
    memory: MemorySettings = MemorySettings()
    series: Series | None = None
    failed_calls: Literal["stop", "play on"] = "stop"
    publish_personas: bool = False
    models: Models = Field(default_factory=lambda: {"simulated": ModelSettings()})

    def judges(self, bidder: Bidder) -> bool:
        """Return whether anything reads the last profiles that a bidder makes of its rivals.

        A profile says how much each persona fits a rival. The bidder's memory reads the last profiles if the bidder
        remembers auctions, and metrics read them if a rival has a persona.
        """
        return bidder.remembers or any(rival.persona for rival in self.bidders if rival.name != bidder.name)

    @model_validator(mode="after")
    def _estimates_are_bounded(self) -> AuctionConfig:
        items = self.items.count if isinstance(self.items, Houses) else len(self.items)
        if (estimates := len(self.bidders) * items) > MOST_ESTIMATES:
            raise ValueError(
                f"{len(self.bidders):,} bidders of {items:,} items have {estimates:,} estimates, and at most"
                f" {MOST_ESTIMATES:,} are drawn; take fewer bidders or items"
            )
        return self

    @model_validator(mode="after")
    def _bidders_are_as_usual_in_the_game(self) -> AuctionConfig:
        bidders = tuple(as_usual_in(self.rules.game, bidder) for bidder in self.bidders)
        object.__setattr__(self, "bidders", bidders)  # the model is frozen, but validation is not over
        return self

    @model_validator(mode="after")
    def _distinct_names(self) -> AuctionConfig:
        check_distinct("bidder", [bidder.name for bidder in self.bidders])
        if isinstance(self.items, tuple):
            check_distinct("item", [item.name for item in self.items])
        check_distinct("persona", [persona.id for persona in self.personas])
        texts = Counter(persona.text for persona in self.personas)
        for persona in self.personas:
            if texts[persona.text] > 1:
                raise ValueError(f"persona {persona.id!r} has the text of another one; write a different text")
        for bidder in self.bidders:
            if (look := look_of(bidder.name)) in NOT_BIDDERS or look.startswith("bidder:"):
                raise ValueError(f"bidder {bidder.name!r} would be taken for somebody else; name it otherwise")
            if bidder.placebo == "another" and len(self.bidders) < LEAST_FOR_ANOTHER:
                raise ValueError(f"bidder {bidder.name!r}: placebo 'another' needs two rivals; add one")
        check_distinct("profile_over", list(self.profile_over or ()))
        if self.profile_over is not None and len(self.profile_over) < LEAST_PROFILED:
            raise ValueError(
                f"profile_over {list(self.profile_over)!r} leaves nothing to infer; name two personas or more"
            )
        return self
