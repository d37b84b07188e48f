"""The first-price auction as one value."""

from __future__ import annotations

from functools import partial
from random import Random

from harbor._config.auction import AuctionConfig, Simulated
from harbor._core.asking.asks import Ask, Bid
from harbor._core.basics.errors import ConfigError
from harbor._games.first_price.rules import (
    FirstPrice,
    FirstPriceOpened,
    FirstPriceRules,
    best_reply,
    check_levels,
    equilibrium_bid,
    level,
)
from harbor._games.game import Facts, Game, Seen, Values, sealed
from harbor._games.sessions import private_games
from harbor._games.sessions.facts import SessionBoard
from harbor._games.sessions.private_games import PrivateValues, of_values
from harbor._games.sessions.settings import distribution_of
from harbor._games.types_of_play import expected_bids, own_multiple


def policy(facts: Facts, settings: Simulated, chance: Random) -> Values:
    """Bid the equilibrium of the announced distribution.

    If no distribution is announced, bid the value times (n - 1) / n, which is the equilibrium for n bidders whose
    values are uniform from 0 on. Assets cap the bid in both cases. Past runs matter only if the player has forecasts of
    its rivals.
    """
    count, value = len(facts["players"]), float(facts["value"])
    if told := facts.get("prior"):
        prior = distribution_of(told)
        amount, where = equilibrium_bid(value, count - 1, prior), f"and values from {prior.words}"
    else:
        amount, where = value * (count - 1) / count, "and no word on what the others' values are"
    most = float(facts["maximum"])
    if (times := own_multiple(facts)) is not None:
        return sealed(value * times, most, f"I bid {times:g} times what it is worth to me", settings, chance)
    if facts.get("interests") and (expected := expected_bids(facts)):
        amount, where = best_reply(value, min(value, most), expected.values()), "and what I expect of each"
    why = f"It is worth ${value:,.2f} to me; with {count} bidders {where} I bid ${amount:,.2f}, as far as I may"
    return sealed(amount, most, why, settings, chance)


def rational(ask: Ask, seen: Seen) -> Bid:
    """Bid the equilibrium of the distribution in the opening.

    Raises:
        ConfigError: no equilibrium is known.
    """
    opened = next(event for event in seen if isinstance(event, FirstPriceOpened))
    bids = opened.equilibrium_bids({ask.bidder: private_games.value_of(ask, seen)})
    if bids is None:
        raise _refused(ask.bidder, opened.unsolved)
    return Bid(bids[ask.bidder])


def build(rules: FirstPriceRules, config: AuctionConfig) -> PrivateValues:
    """Build the rules.

    Raises:
        ConfigError: a bidder's equilibrium or level is not known, or the values of the settings are wrong.
    """
    check_levels(rules, config)
    built = private_games.building(FirstPrice)(rules, config)
    for bidder in config.bidders:
        if bidder.rule == "rational" and (reason := built.opened().unsolved):
            raise _refused(bidder.name, reason)
    return built


def _refused(bidder: str, reason: str) -> ConfigError:
    return ConfigError(
        f"bidder {bidder!r} can't be played by the rule 'rational': no equilibrium is known, as {reason}; change that, "
        "or the rule"
    )


FIRST_PRICE = Game(
    name="first-price",
    description="sealed bids for one item per run: the highest wins and pays itself",
    settings=FirstPriceRules,
    build=build,
    opening=FirstPriceOpened,
    events=(FirstPriceOpened, *private_games.EVENTS),
    play=private_games.play(
        __package__, policy, "Bid less than the item is worth to me: the fewer bidders there are, the less."
    ),
    rational=rational,
    level=level,
    measures=private_games.MEASURES,
    from_public=of_values(FirstPrice),
    board=partial(SessionBoard, theory=FirstPriceOpened.theory),
)
