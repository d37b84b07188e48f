"""The games by name, and how each is built from the settings of an auction; the only place that knows all games."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from harbor._config.auction import AuctionConfig, Bidder, Houses
from harbor._config.rules import BeautyRules, EnglishRules, ValueRules, WaterRules
from harbor._core.errors import ConfigError, unknown
from harbor._core.events import Lot
from harbor._core.seeding import stream
from harbor._games.beauty import rules as beauty
from harbor._games.english.rules import English, ValuedLot
from harbor._games.english_private.rules import EnglishPrivate
from harbor._games.first_price.rules import FirstPrice
from harbor._games.mechanism import Mechanism
from harbor._games.second_price.rules import SecondPrice
from harbor._games.sessions.private_values import GROUPS, PrivateValues, draw_values
from harbor._games.water.rules import Water

Builder = Callable[[Any, AuctionConfig], Mechanism[Any]]
"""Builds rules from their own settings and those of the auction.

Chance is drawn here, each kind from its own stream of the seed. The rules get it as data, so that they draw ties only.
"""


def _english(rules: EnglishRules, config: AuctionConfig) -> English:
    listed = config.items if isinstance(config.items, tuple) else ()
    items = tuple(ValuedLot(Lot(item.name, item.start, item.listing), item.true_value) for item in listed)
    return English(items, {bidder.name: bidder.budget for bidder in config.bidders}, rules)


def _water(rules: WaterRules, config: AuctionConfig) -> Water:
    names = _names(config)
    for name in names:
        if name not in rules.residents:
            raise ConfigError(f"bidder {name!r} is not a resident; give rules.residents.{name} a need and a salary")
    residents = {name: rules.residents[name] for name in names}
    for name, resident in residents.items():
        if resident.need > rules.bounds[1]:
            warnings.warn(f"resident {name!r} needs {resident.need} units, more than any day supplies", stacklevel=2)
    rng = stream(config.seed, "supply")
    supplies = rules.supplies or tuple(rng.randint(*rules.bounds) for _ in range(rules.days))
    mean = sum(supplies) / len(supplies) if rules.supplies else None
    return Water(residents, supplies, rules.bounds, mean)


def _values(kind: type[PrivateValues]) -> Builder:
    def build(rules: ValueRules, config: AuctionConfig) -> PrivateValues:
        names = _names(config)
        for name in rules.values:
            if name not in names:
                raise ConfigError(f"rules.values: {unknown('bidder', name, names)}")
        try:
            values = draw_values(rules, names, stream(config.seed, "values"))
        except ValueError as error:
            raise ConfigError(str(error)) from error
        return kind(names, rules, values, rules.assets or Decimal(GROUPS[rules.group][2]))

    return build


def _beauty(rules: BeautyRules, config: AuctionConfig) -> beauty.Beauty:
    drawn = Decimal(stream(config.seed, "bound").randrange(*beauty.GROUPS[rules.group])) if rules.group else rules.bound
    return beauty.Beauty(_names(config), rules, drawn)


def _names(config: AuctionConfig) -> tuple[str, ...]:
    return tuple(bidder.name for bidder in config.bidders)


RULES: Mapping[str, Builder] = {
    "english": _english,
    "water": _water,
    "second-price": _values(SecondPrice),
    "first-price": _values(FirstPrice),
    "english-private": _values(EnglishPrivate),
    "beauty": _beauty,
}

UNUSED: Mapping[str, str] = {
    "budget": "the rules say what there is to spend",
    "objective": "the rules say what is to be won",
    "overestimate": "there are no estimates",
}
"""Settings of a bidder that only the ascending auction uses, and why the other games don't."""


def build(config: AuctionConfig) -> Mechanism[Any]:
    """Build the rules of an auction whose items are already sampled.

    Raises:
        ConfigError: a setting does not belong to the game.
    """
    if config.rules.game != "english":
        _check_other_game(config)
    return RULES[config.rules.game](config.rules, config)


def _check_other_game(config: AuctionConfig) -> None:
    game = config.rules.game
    if config.items != Houses():
        raise ConfigError(f"the game {game!r} sells no listed items; drop items")
    if config.catalog is not None:
        raise ConfigError(f"nobody is profiled in the game {game!r}; drop catalog")
    for bidder in config.bidders:
        who = f"bidder {bidder.name!r} of the game {game!r}"
        for setting, instead in UNUSED.items():
            # Compared by value and not by what was set: a copied config has every setting written out.
            if getattr(bidder, setting) != Bidder.model_fields[setting].default:
                raise ConfigError(f"{who} has no use for {setting}: {instead}; drop it")
        if bidder.rule == "truthful":
            raise ConfigError(f"{who} has no estimates; give it rule = 'rational'")
        if bidder.strategy != "off" or bidder.theory_of_mind != "none" or bidder.remembers:
            raise ConfigError(f"{who} can't have strategy, theory_of_mind, memory or learning; they are for 'english'")
