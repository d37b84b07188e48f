"""The water game as one value."""

from __future__ import annotations

import warnings
from importlib.resources import files

from harbor._config.auction import AuctionConfig
from harbor._core.decisions import BidReply
from harbor._core.errors import ConfigError
from harbor._core.outcomes import Allocated, Paid
from harbor._core.seeding import stream
from harbor._games.game import Game, Measures, Play, Seen
from harbor._games.types_of_play import OF_MEANS
from harbor._games.water import facts, measures, play
from harbor._games.water.board import WaterBoard
from harbor._games.water.rules import DayClosed, DayOpened, Water, WaterOpened
from harbor._games.water.settings import Resident, WaterRules

HERE = files("harbor._games.water")


def build(rules: WaterRules, config: AuctionConfig) -> Water:
    """Build the rules for the residents who bid, with the supply of each day.

    Raises:
        ConfigError: a bidder is no resident.
    """
    names = [bidder.name for bidder in config.bidders]
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
    history = None if rules.history == "all" else rules.history
    return Water(residents, supplies, rules.bounds, mean, history)


def from_public(_: WaterRules, events: Seen) -> Water:
    """Make the rules of the residents and the supplies that a log tells; days that it does not reach have the least."""
    opened = next(event for event in events if isinstance(event, WaterOpened))
    residents = {name: Resident(need=need, salary=opened.salaries[name]) for name, need in opened.needs.items()}
    least, most = opened.least_supply, opened.most_supply
    told = [event.supply for event in events if isinstance(event, DayOpened)]
    supplies = [min(max(supply, least), most) for supply in told] + [least] * (opened.days - len(told))
    return Water(residents, supplies, (least, most), opened.mean_supply, opened.history)


WATER = Game(
    name="water",
    description="residents bid each day for the water that they need to stay alive",
    settings=WaterRules,
    build=build,
    opening=WaterOpened,
    events=(WaterOpened, DayOpened, Allocated, Paid, DayClosed),
    types=OF_MEANS,
    play=Play(
        facts=facts.standing,
        outlook=facts.outlook,
        yardstick=facts.means,
        system=HERE / "system.md",
        prompt=HERE / "bid.md",
        policy=play.policy,
        plan=play.PLAN,
        forecast=play.forecast,
        reply=BidReply,
        heeds_personas=False,
    ),
    rational=play.rational,
    measures=Measures("days", measures.standings, measures.days, measures.figures, public=True),
    from_public=from_public,
    draws="open",
    supply=lambda event: {event.item: event.supply} if isinstance(event, DayOpened) else {},
    board=WaterBoard,
)
