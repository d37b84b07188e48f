"""Building what an auction names: the rules of its game, and the policies of its bidders."""

from __future__ import annotations

from typing import Any

from harbor._config.auction import AuctionConfig, Bidder
from harbor._core.errors import ConfigError, of_strangers
from harbor._core.finding import asked, find
from harbor._core.players import Policy
from harbor._games.game import Game
from harbor._games.mechanism import Mechanism
from harbor._games.scripted import ScriptedPolicy, Table


def build(config: AuctionConfig) -> Mechanism[Any]:
    """Build the rules of an auction whose items are already sampled."""
    game: Game = find("game", config.rules.game)
    return of_strangers(f"the game {game.name!r}: build", lambda: game.build(config.rules, config))


def policy_of(bidder: Bidder, config: AuctionConfig) -> Policy | None:
    """Make the policy that plays a bidder with a `rule` (None: without).

    Raises:
        ConfigError: there is no such policy, or it can't play the game.
    """
    if bidder.rule is None:
        return None
    game: Game = find("game", config.rules.game)
    try:
        policy: ScriptedPolicy = asked("policy", bidder.rule)
    except ConfigError as error:
        raise ConfigError(f"bidder {bidder.name!r}: {error}") from error
    who = f"bidder {bidder.name!r} of the game {game.name!r} can't be played by the rule {bidder.rule!r}"
    if policy.games and game.name not in policy.games:
        raise ConfigError(f"{who}, which plays {', '.join(policy.games)}; give it rule = 'rational'")
    for setting in policy.needs:
        if setting not in game.uses:
            raise ConfigError(f"{who}, which needs a game that reads {setting}; give it rule = 'rational'")
    made: object = of_strangers(f"{who}: its make", lambda: policy.make(Table(bidder, config.seed, game)))
    if not isinstance(made, Policy):
        raise ConfigError(f"{who}, whose make gives a {type(made).__name__}; make a Policy of harbor.games")
    return made
