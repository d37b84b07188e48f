"""How a log of the water game is checked: everything in it is public, so the log tells all but how supplies fell."""

from __future__ import annotations

from collections.abc import Sequence

from harbor._core.asks import Action, Ask, Bid, Withdraw
from harbor._games.record import Events, Record, Settings, budgets_of
from harbor._games.water.rules import DayClosed, DayOpened, Water, WaterOpened
from harbor._games.water.settings import Resident, WaterRules


def rules(events: Events, settings: Settings) -> Water:
    """Give the rules for the residents and the supplies that the log tells, within the bounds of a day."""
    opened = next(event for event in events if isinstance(event, WaterOpened))
    chosen = settings.rules if settings and isinstance(settings.rules, WaterRules) else None
    told = {name: Resident(need=need, salary=opened.salaries[name]) for name, need in opened.needs.items()}
    known = chosen.residents if chosen else told
    residents = {name: known[name] for name in tuple(budgets_of(events)) or told}
    least, most = chosen.bounds if chosen else (opened.least_supply, opened.most_supply)
    days = chosen.days if chosen else opened.days
    supplies = [min(max(event.supply, least), most) for event in events if isinstance(event, DayOpened)][:days]
    supplies += [least] * (days - len(supplies))  # those of a log that broke off
    if chosen is None:
        return Water(residents, supplies, (least, most), opened.mean_supply, opened.history)
    fixed = chosen.supplies
    mean = sum(fixed) / len(fixed) if fixed else None
    return Water(residents, fixed or supplies, (least, most), mean, None if chosen.history == "all" else chosen.history)


def actions(asks: Sequence[Ask], events: Events) -> dict[str, Action]:
    """Give what residents did: the end of the day tells it."""
    closed = next((event for event in events if isinstance(event, DayClosed)), None)
    return {} if closed is None else {ask.bidder: _action(closed, ask.bidder) for ask in asks}


def _action(closed: DayClosed, name: str) -> Action:
    bid = closed.bids.get(name)
    if name in closed.over_balance:
        return Withdraw("failed bids", bid)
    return Withdraw() if bid is None else Bid(bid)


def unchecked(events: Events, settings: Settings) -> tuple[str, ...]:  # noqa: ARG001
    """Say what is taken as told."""
    said = ["the supply of each day is taken as the log tells it, within its bounds"]
    return tuple(said if settings else [*said, "needs, salaries and days are taken as the opening tells them"])


RECORD = Record(rules=rules, actions=actions, unchecked=unchecked)
