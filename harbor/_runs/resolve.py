"""Resolving looks up items, personas, rules, policies, models and players, once. It refuses settings without effect.

The run opens these, and the store of the memories with its embedding. Resolving opens nothing and imports no
framework, so that a mistake costs no more than reading the settings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from harbor._config.auction import AuctionConfig, Bidder, Item, Persona
from harbor._config.models import ModelSettings
from harbor._core.basics.errors import ConfigError
from harbor._core.basics.numbers import to_cents
from harbor._core.log.players import Policy
from harbor._core.plugins.extensions import Part
from harbor._core.plugins.finding import asked, find, found
from harbor._core.settings import Settings
from harbor._games.game import Game, build, policy_of
from harbor._games.mechanism import Mechanism
from harbor._models.prices import with_price
from harbor._models.providers import check_fallback, settings_of
from harbor._models.simulated.model import use_of
from harbor._runs.inputs import RunInputs, models_in_use
from harbor._runs.manifest import parts_of
from harbor.graphs._context.node import ThoughtNode
from harbor.graphs._context.prompting import check_wording
from harbor.graphs._wiring.mind import nodes_of, usual_nodes
from harbor.personas._catalog import traits
from harbor.personas._catalog.catalogue import catalogue_of, extended, persona_of, with_items

OF_EVERY_GAME = ("name", "seed", "bidders", "personas", "rules", "memory", "models", "failed_calls", "series")
"""Settings that Harbor reads in every game. `memory` is read where a bidder remembers, perhaps in another arm only."""
OF_EVERY_BIDDER = ("name", "persona", "timeout_seconds", "rule", "agent", "person")
"""Settings that Harbor reads for every bidder."""


def check_idle(config: AuctionConfig, game: Game) -> None:
    """Refuse settings that nothing reads; a default value is no such setting.

    Raises:
        ConfigError: it names the setting and the parts that do not read it.
    """
    personas = any(bidder.persona for bidder in config.bidders)
    profiled = any(bidder.uses_model and bidder.theory_of_mind != "none" for bidder in config.bidders)
    used = {
        *OF_EVERY_GAME,
        *(["profile_over"] if profiled else []),
        *game.uses,
        *(["catalogue"] if personas or "items" in game.uses else []),
    }
    if setting := _idle(config, used):
        raise ConfigError(f"the game {game.name!r} has no use for {setting}; drop it")
    for bidder in config.bidders:
        read, reader = _read_by_player(bidder, game)
        if setting := _idle(bidder, {*OF_EVERY_BIDDER, *game.uses, *read}):
            who = f"bidder {bidder.name!r} of the game {game.name!r}"
            raise ConfigError(f"{who} has no use for {setting}: neither the game nor {reader} reads it; drop it")


def _read_by_player(bidder: Bidder, game: Game) -> tuple[Collection[str], str]:
    """Return the settings that the player of a bidder reads, and the player in words."""
    if bidder.rule:
        return find("policy", bidder.rule).uses, f"the rule {bidder.rule!r}"
    if not bidder.uses_model:
        return (), "an agent" if bidder.agent else "a person"
    nodes = [*usual_nodes(game), *(find("node", name) for name in bidder.nodes)]
    settings = [setting for node in nodes for setting in node.settings]
    settings += game.played.tells if game.play else ()
    return {"model", "nodes", "placebo", *settings}, "a node of its mind"  # without theory of mind there's no placebo


def _idle(settings: Settings, used: Collection[str]) -> str:
    """Return the first setting that is unused and differs from its default; empty: none.

    Settings are compared by value, because a copied config has every setting written out.
    """
    for name, default in _defaults(type(settings)).items():
        if name not in used and getattr(settings, name) != default:
            return name
    return ""


@cache
def _defaults(kind: type[Settings]) -> dict[str, Any]:
    fields = kind.model_fields.items()  # a default that depends on other settings is that of a bidder without a model
    return {name: field.get_default(call_default_factory=True, validated_data={}) for name, field in fields}


NOTHING_GIVEN = RunInputs()
"""Inputs of a caller that passes none."""


@dataclass(frozen=True, slots=True)
class ResolvedBidder:
    """A bidder with the objects that its settings name.

    `player` describes the player, as in the log; `personas` has weights by text, `estimates` dollars by item, and
    `rivals` the weights of its rivals' personas by id, if the bidder is told them. `policy` plays a bidder with a rule;
    `nodes` are the thoughts of a bidder with a model.
    """

    settings: Bidder
    player: str
    personas: Mapping[str, float]
    budget: Decimal
    estimates: Mapping[str, Decimal]
    rivals: Mapping[str, Mapping[str, float]]
    policy: Policy | None
    nodes: tuple[ThoughtNode, ...]


@dataclass(frozen=True, slots=True)
class ResolvedAuction:
    """An auction with everything looked up.

    `config` has the settings with the items in place, as the folder of a run keeps them. `catalog` has the personas
    that rivals are profiled over, `models` the settings of the models in use by name; `inputs` is the caller's input.
    `parts` names the versions of all extensions in use, as in the log.
    """

    config: AuctionConfig
    parts: tuple[Part, ...]
    rules: Mechanism[Any]
    items: tuple[Item, ...]
    bidders: tuple[ResolvedBidder, ...]
    catalog: Mapping[str, Persona]
    models: Mapping[str, ModelSettings]
    inputs: RunInputs

    @property
    def players(self) -> dict[str, str]:
        """The player of each bidder."""
        return {bidder.settings.name: bidder.player for bidder in self.bidders}

    @property
    def thinkers(self) -> tuple[str, ...]:
        """The bidders that think at a pause."""
        return tuple(bidder.settings.name for bidder in self.bidders if bidder.settings.uses_model)

    @property
    def learners(self) -> tuple[str, ...]:
        """The bidders that think when the auction is over."""
        return tuple(
            bidder.settings.name for bidder in self.bidders if any("end" in node.occasions for node in bidder.nodes)
        )


def resolve(config: AuctionConfig, inputs: RunInputs = NOTHING_GIVEN) -> ResolvedAuction:
    """Look up everything that the settings name, and check the caller's inputs.

    Raises:
        ConfigError: something is unknown, missing, or does not belong to the game.
    """
    inputs.check(config)
    config = with_items(config)
    game = found("game", config.rules.game)
    items = config.items if isinstance(config.items, tuple) and "items" in game.value.uses else ()
    models = models_of(config, inputs)
    for name in config.models.keys() - inputs.models.keys():  # unused models too must not be misspelt
        settings_of(name, config.models)
        check_fallback(name, config.models, inputs.models)
    for name in config.memory.games:
        found("game", name)
    personas = with_types(game.value, extended(catalogue_of(config.catalogue), config.personas))
    catalog = told_apart(game.value, config, personas)
    bidders = tuple(_bidder(bidder, config, items, personas, catalog, models, inputs) for bidder in config.bidders)
    check_idle(config, game.value)
    parts = parts_of(config, models.values(), [node for bidder in bidders for node in bidder.nodes])
    return ResolvedAuction(config, parts, build(config), items, bidders, catalog, models, inputs)


def models_of(config: AuctionConfig, inputs: RunInputs = NOTHING_GIVEN) -> dict[str, ModelSettings]:
    """Return the settings of the models in use by name, with their prices if known.

    Raises:
        ConfigError: a model is unknown.
    """
    return {name: with_price(_model(name, config, inputs)) for name in models_in_use(config)}


def _model(name: str, config: AuctionConfig, inputs: RunInputs) -> ModelSettings:
    """Return the settings of a model; `use` tells the make of a model that was given as an object."""
    if name not in inputs.models:
        return settings_of(name, config.models, inputs.models)
    use = use_of(inputs.models[name])
    return (config.models.get(name) or ModelSettings()).model_copy(update={"use": use})


def with_types(game: Game, personas: Mapping[str, Persona]) -> Mapping[str, Persona]:
    """Return all personas that a bidder may have: the catalogue's, the user's own, and the types of the game."""
    return {**{one.id: one for one in game.types}, **personas}


def told_apart(game: Game, config: AuctionConfig, personas: Mapping[str, Persona]) -> Mapping[str, Persona]:
    """Return the types that rivals are profiled over: the game's and the user's own, all personas, or those named.

    Raises:
        ConfigError: a named one is none of these.
    """
    if not game.types:
        return {key: persona_of(personas, key) for key in config.profile_over or personas}
    own = {one.id: one for one in (*game.types, *config.personas)}
    if config.profile_over is None or all(bidder.theory_of_mind == "none" for bidder in config.bidders):
        return own
    for name in config.profile_over:
        if name not in own:
            known = ", ".join(map(repr, own))
            raise ConfigError(
                f"profile_over {name!r} is no type of the game {game.name!r}, which has {known}; take one"
            )
    return {name: own[name] for name in config.profile_over}


def _bidder(
    bidder: Bidder,
    config: AuctionConfig,
    items: tuple[Item, ...],
    personas: Mapping[str, Persona],
    catalog: Mapping[str, Persona],
    models: Mapping[str, ModelSettings],
    inputs: RunInputs,
) -> ResolvedBidder:
    try:
        texts = {persona_of(personas, key).text: weight for key, weight in bidder.persona.items()}
    except ConfigError as error:
        raise ConfigError(f"bidder {bidder.name!r}: {error}") from error
    uses = found("game", config.rules.game).value.uses
    return ResolvedBidder(
        settings=bidder,
        player=_player(bidder, models, inputs),
        personas=texts,
        budget=bidder.budget if "budget" in uses else Decimal(0),  # else the rules set the money to spend
        estimates=_estimates(bidder, items) if "overestimate" in uses else {},
        rivals=_told(bidder, config, catalog) if bidder.theory_of_mind == "true" else {},
        policy=policy_of(bidder, config),
        nodes=_nodes(bidder, config),
    )


def _nodes(bidder: Bidder, config: AuctionConfig) -> tuple[ThoughtNode, ...]:
    if not bidder.uses_model:
        return ()
    try:
        nodes = tuple(nodes_of(config.rules.game, bidder, config.memory).values())
        check_wording(bidder, find("game", config.rules.game), nodes)
        return nodes
    except ConfigError as error:
        raise ConfigError(f"bidder {bidder.name!r}: {error}") from error


def _estimates(bidder: Bidder, items: tuple[Item, ...]) -> dict[str, Decimal]:
    return {item.name: to_cents(item.true_value * (1 + bidder.overestimate)) for item in items}


def _player(bidder: Bidder, models: Mapping[str, ModelSettings], inputs: RunInputs) -> str:
    """Return a description of the bidder's player: a rule, an agent, a person, or a model."""
    if bidder.person and bidder.name not in inputs.people:
        raise ConfigError(
            f"bidder {bidder.name!r} is played by a person; use: harbor play, or give it to run(people=...)"
        )
    if isinstance(bidder.agent, str):
        asked("agent", bidder.agent)
    if not isinstance(bidder.agent, bool):
        return f"agent ({bidder.agent})"
    if bidder.agent and bidder.name not in inputs.agents:
        raise ConfigError(
            f"bidder {bidder.name!r} is played by an agent of yours; name it with --agent {bidder.name}=WHAT, have a"
            " client take the seat with harbor mcp, or give it to run(agents=...)"
        )
    if not bidder.uses_model:
        return bidder.rule or ("agent" if bidder.agent else "person")
    use = models[bidder.model].use
    return use if use == bidder.model else f"{use} ({bidder.model})"


def _told(bidder: Bidder, config: AuctionConfig, catalog: Mapping[str, Persona]) -> dict[str, dict[str, float]]:
    """Return the true personas of a bidder's rivals as profiles.

    Rivals without a persona, or with a persona outside the catalog, are left out: they have no true profile.
    """
    return {
        rival.name: traits.profile(traits.truth(rival.persona, catalog))
        for rival in config.bidders
        if rival.name != bidder.name and rival.persona and all(key in catalog for key in rival.persona)
    }
