"""The water game as one value."""

from __future__ import annotations

import warnings
from importlib.resources import files

from harbor._config.auction import AuctionConfig
from harbor._core.errors import ConfigError
from harbor._core.seeding import stream
from harbor._games.game import Game, Measures, Play
from harbor._games.water import facts, measures, play
from harbor._games.water.board import WaterBoard
from harbor._games.water.record import RECORD
from harbor._games.water.rules import DayClosed, DayOpened, Water, WaterOpened
from harbor._games.water.settings import WaterRules

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


WATER = Game(
    name="water",
    description="residents bid each day for the water that they need to stay alive",
    settings=WaterRules,
    build=build,
    opening=WaterOpened,
    events=(WaterOpened, DayOpened, DayClosed),
    play=Play(
        facts=facts.standing,
        outlook=facts.outlook,
        system=HERE / "system.md",
        prompt=HERE / "bid.md",
        policy=play.policy,
        plan=play.PLAN,
        forecast=play.forecast,
        heeds_personas=False,
    ),
    rational=play.rational,
    measures=Measures("days", measures.standings, measures.days, measures.figures, public=True),
    record=RECORD,
    board=WaterBoard,
)
