"""Building what an auction names: the rules of its game, and the policies of its bidders.

What the game does not use is refused: a setting that would do nothing is a mistake.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from harbor._config.auction import AuctionConfig, Bidder
from harbor._core.errors import ConfigError
from harbor._core.finding import find
from harbor._core.players import Policy
from harbor._games.game import Game
from harbor._games.mechanism import Mechanism
from harbor._games.scripted import ScriptedPolicy, Table

OPTIONAL = {
    "items": "it sells no listed items",
    "profile_over": "nobody is profiled in it",
}
"""Settings of an auction that a game may use, and why others don't."""
OPTIONAL_OF_BIDDERS = {
    "budget": "the rules say what there is to spend",
    "objective": "the rules say what is to be won",
    "overestimate": "there are no estimates",
}
"""Settings of a bidder that a game may use, and why others don't."""
SWITCHES = {"strategy": "strategize", "theory_of_mind": "predict", "memory": "recall", "learning": "learn"}
"""Settings of a mind, and the node that each switches on."""


def build(config: AuctionConfig) -> Mechanism[Any]:
    """Build the rules of an auction whose items are already sampled.

    Raises:
        ConfigError: a setting does not belong to the game.
    """
    game: Game = find("game", config.rules.game)
    # Compared by value and not by what was set: a copied config has every setting written out.
    if setting := _idle(config, OPTIONAL, game.uses):
        raise ConfigError(f"the game {game.name!r} has no use for {setting}: {OPTIONAL[setting]}; drop it")
    for bidder in config.bidders:
        _check_bidder(bidder, game)
    return game.build(config.rules, config)


def policy_of(bidder: Bidder, config: AuctionConfig) -> Policy | None:
    """Make the policy that plays a bidder with a `rule` (None: without).

    Raises:
        ConfigError: there is no such policy, or it can't play the game.
    """
    if bidder.rule is None:
        return None
    game: Game = find("game", config.rules.game)
    try:
        policy: ScriptedPolicy = find("policy", bidder.rule)
    except ConfigError as error:
        raise ConfigError(f"bidder {bidder.name!r}: {error}") from error
    who = f"bidder {bidder.name!r} of the game {game.name!r} can't be played by the rule {bidder.rule!r}"
    if policy.games and game.name not in policy.games:
        raise ConfigError(f"{who}, which plays {', '.join(policy.games)}; give it rule = 'rational'")
    for setting in policy.uses:
        if setting in OPTIONAL_OF_BIDDERS and setting not in game.uses:
            raise ConfigError(f"{who}: {OPTIONAL_OF_BIDDERS[setting]}; give it rule = 'rational'")
    return policy.make(Table(bidder, config.seed, game))


def _check_bidder(bidder: Bidder, game: Game) -> None:
    who = f"bidder {bidder.name!r} of the game {game.name!r} has no use for"
    if setting := _idle(bidder, OPTIONAL_OF_BIDDERS, game.uses):
        raise ConfigError(f"{who} {setting}: {OPTIONAL_OF_BIDDERS[setting]}; drop it")
    if setting := _idle(bidder, SWITCHES, [one for one, node in SWITCHES.items() if node in game.nodes]):
        raise ConfigError(f"{who} {setting}: its bidders have no node {SWITCHES[setting]!r}; drop it")


def _idle(settings: AuctionConfig | Bidder, optional: Iterable[str], used: Collection[str]) -> str:
    """Name a setting that is not used and not as it is by default; empty: none."""
    fields = type(settings).model_fields
    return next((one for one in optional if one not in used and getattr(settings, one) != fields[one].default), "")
