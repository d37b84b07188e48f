"""The water game is one value, with a board of the day, its supply and all residents' statuses; all of it is public."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from decimal import Decimal
from importlib.resources import files

from harbor._config.auction import AuctionConfig
from harbor._core.asking.decisions import BidReply
from harbor._core.basics.errors import ConfigError
from harbor._core.basics.numbers import dollars, stream
from harbor._core.log.acts import Allocated, Paid
from harbor._core.log.events import Event, SaleClosed
from harbor._games.board import Mark, Picture, Rows, Shown, doing
from harbor._games.game import Game, Measures, Play, Seen
from harbor._games.types_of_play import OF_MEANS
from harbor._games.water import measures, play
from harbor._games.water.play import Days, PastDay
from harbor._games.water.rules import (
    HEALTH_AT_FIRST,
    DayClosed,
    DayOpened,
    Resident,
    Status,
    Water,
    WaterOpened,
    WaterRules,
)

COLUMNS = ("bidder", "now", "needs", "earns", "health", "balance", "dry day costs")
PICTURES = (
    Picture("health", "Health", x="day", y="health", scale="number"),
    Picture("offers", "Bids by day", x="day", y="bid"),
    Picture("water", "Supply, and the needs that were served", x="day", y="units", scale="number"),
    Picture("money", "Money", x="day", y="balance"),
)


class WaterBoard:
    """The board of the residents, the same for all viewers."""

    pictures = PICTURES

    def __init__(self) -> None:
        self._days = self._day = 0
        self._days_past = Days()
        self._past: PastDay | None = None
        self._needs: Mapping[str, int] = {}
        self._headline = self._state = ""
        self._salaries: Mapping[str, Decimal] = {}
        self._statuses: dict[str, Status] = {}
        self._rows = Rows(COLUMNS)

    def note(self, event: Event) -> None:
        """Process one event."""
        day = self._past = self._days_past.note(event)
        self._rows.put("now", doing(event))
        match event:
            case WaterOpened(needs=needs, salaries=salaries, days=days):
                self._needs, self._salaries, self._days = needs, salaries, days
                self._rows.seat(needs)
                self._rows.put("needs", {name: str(need) for name, need in needs.items()})
                self._rows.put("earns", {name: dollars(salary) for name, salary in salaries.items()})
                self._change({name: Status(HEALTH_AT_FIRST, Decimal(0), 1) for name in needs})
            case DayOpened(item=item, supply=supply):
                self._day += 1
                self._headline = f"{item.capitalize()} of {self._days}"
                self._state = f"{supply} units of water are supplied"
                self._change({name: self._paid(name, status) for name, status in self._statuses.items()})
            case DayClosed():
                self._rows.put("now", {name: _served(day, name) for name in day.bids} if day else {})
                self._change(event.statuses)
                self._state = f"water for {', '.join(event.served) or 'nobody'}"
            case SaleClosed():
                alive = [name for name, status in self._statuses.items() if status.health]
                self._headline, self._state = "The game is over", f"alive: {', '.join(alive) or 'nobody'}"

    def _paid(self, name: str, status: Status) -> Status:
        return Status(status.health, status.balance + self._salaries[name] * bool(status.health), status.dry)

    def _change(self, statuses: Mapping[str, Status]) -> None:
        self._statuses |= statuses
        self._rows.put("health", {name: str(status.health) for name, status in statuses.items()})
        self._rows.put("balance", {name: dollars(status.balance) for name, status in statuses.items()})
        self._rows.put(
            "dry day costs", {name: str(status.dry) if status.health else "" for name, status in statuses.items()}
        )
        self._rows.put("now", {name: "eliminated" for name, status in statuses.items() if not status.health})

    def marks(self, event: Event) -> Iterator[Mark]:
        """Yield the supply of a day, and at its end the bids, the served needs and all statuses."""
        match event:
            case DayOpened(supply=supply):
                yield Mark("water", "supply", "supply", "step", supply, self._day)
            case DayClosed(served=served, statuses=statuses):
                for name, bid in self._past.bids.items() if self._past else ():
                    if bid is not None:
                        yield Mark("offers", name, "bid", "point", bid, self._day)
                for name in served:
                    yield Mark("water", name, "need served", "bar", self._needs[name], self._day)
                for name, status in statuses.items():
                    yield Mark("health", name, "health", "line", status.health, self._day)
                    yield Mark("money", name, "balance", "line", status.balance, self._day)

    def shown(self) -> Shown:
        """Return the day and the residents."""
        return self._rows.shown(self._headline, self._state)


def _served(day: PastDay, name: str) -> str:
    bid = day.bids[name]
    if bid is None:
        return "no bid"
    above, served = name in day.over_balance, name in day.closed.served
    return f"bid {dollars(bid)}, {'above its balance' if above else 'served' if served else 'not served'}"


HERE = files("harbor._games.water")


def build(rules: WaterRules, config: AuctionConfig) -> Water:
    """Build the rules for the residents that bid, with the supply of each day.

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
    """Make the rules from the residents and supplies in a log; days that it does not reach have the least supply."""
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
        facts=play.standing,
        outlook=play.outlook,
        yardstick=play.means,
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
