"""Refuses settings that would do nothing, because neither the game nor who plays a bidder reads them."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

from harbor._config.auction import AuctionConfig, Bidder
from harbor._core.errors import ConfigError
from harbor._core.finding import find
from harbor._core.settings import Settings
from harbor._games.game import Game
from harbor.graphs._wiring.mind import usual_nodes

OF_EVERY_GAME = ("name", "seed", "bidders", "personas", "rules", "memory", "models", "failed_calls", "series")
"""What the house reads in every game. `memory` is read where somebody remembers, which may be another arm's bidder."""
OF_EVERY_BIDDER = ("name", "persona", "timeout_seconds", "rule", "agent", "person")


def check_idle(config: AuctionConfig, game: Game) -> None:
    """Refuse what nobody reads; a setting that is as it is by default says nothing.

    Raises:
        ConfigError: it names the setting and who does not read it.
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
    """Give what plays a bidder, in words, and the settings that it reads."""
    if bidder.rule:
        return find("policy", bidder.rule).uses, f"the rule {bidder.rule!r}"
    if not bidder.uses_model:
        return (), "an agent" if bidder.agent else "a person"
    nodes = [*usual_nodes(game), *(find("node", name) for name in bidder.nodes)]
    settings = [setting for node in nodes for setting in node.settings]
    settings += game.played.tells if game.play else ()
    return {"model", "nodes", "placebo", *settings}, "a node of its mind"  # without theory of mind there's no placebo


def _idle(settings: Settings, used: Collection[str]) -> str:
    """Name a setting that is not used and not as it is by default; empty: none.

    It is compared by value and not by what was set, as a copied config has every setting written out.
    """
    for name, default in _defaults(type(settings)).items():
        if name not in used and getattr(settings, name) != default:
            return name
    return ""


@cache
def _defaults(kind: type[Settings]) -> dict[str, Any]:
    fields = kind.model_fields.items()  # a default that hangs on other settings is that of who is no model
    return {name: field.get_default(call_default_factory=True, validated_data={}) for name, field in fields}
