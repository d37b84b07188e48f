"""What a resident knows of the water game, as facts for its prompts."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from harbor._games.game import Facts, Outlook, Seen
from harbor._games.water.days import PastDay, past_days
from harbor._games.water.rules import HEALTH_AT_FIRST, DayClosed, DayOpened, Status, WaterOpened


def standing(name: str, seen: Seen) -> Facts:  # noqa: ARG001
    """Tell how the residents stand, and what came of the last days, as many as the game shows."""
    opened, past = _opened(seen), list(past_days(seen))
    closed = [day.closed for day in past]
    begun = [event for event in seen if isinstance(event, DayOpened)]
    today = begun[-1] if len(begun) > len(closed) else None  # after the last day none is under way
    days = [_day(day) for day in past]
    return {
        "past": days if opened.history is None else days[max(0, len(days) - opened.history) :],
        "residents": _residents(opened, closed),
        **({"today": today.item} if today else {}),
        "days_left": opened.days - len(closed),
        **({"supply_today": today.supply} if today else {}),
    }


def outlook(name: str, seen: Seen) -> Outlook:
    """Look at the living rivals once a day is over, and on while this resident lives and days are left."""
    opened, closed = _opened(seen), _closed(seen)
    alive = [one for one in opened.needs if not closed or _alive(one, closed[-1].statuses)]
    rivals = tuple(one for one in alive if one != name)
    return Outlook(rivals if closed else (), goes_on=name in alive and len(closed) < opened.days)


def means(name: str, seen: Seen, item: str, bidder: str) -> Facts:  # noqa: ARG001
    """Tell what a resident can spend on a day: its balance of the evening before, and its salary."""
    opened = _opened(seen)
    closed = [event for event in _closed(seen) if day_of(event.item) < day_of(item)]
    alive = not closed or _alive(bidder, closed[-1].statuses)
    if bidder not in opened.salaries or not alive:
        return {}
    before = closed[-1].statuses[bidder].balance if closed else Decimal(0)
    return {"mean": before + opened.salaries[bidder], "scatter": Decimal(0)}


def day_of(item: str) -> int:
    """Return the number of a day."""
    return int(item.rpartition(" ")[2])


def _opened(seen: Seen) -> WaterOpened:
    return next(event for event in seen if isinstance(event, WaterOpened))


def _closed(seen: Seen) -> list[DayClosed]:
    return [event for event in seen if isinstance(event, DayClosed)]


def _alive(name: str, statuses: Mapping[str, Status]) -> bool:
    return name in statuses and statuses[name].health > 0


def _residents(opened: WaterOpened, closed: list[DayClosed]) -> list[dict[str, Any]]:
    fresh = Status(HEALTH_AT_FIRST, Decimal(0), 1)
    statuses = closed[-1].statuses if closed else dict.fromkeys(opened.needs, fresh)
    return [
        {
            "name": name,
            "need": opened.needs[name],
            "salary": opened.salaries[name],
            "health": status.health,
            "health_lost_if_dry": status.dry,
            "balance_before_salary": status.balance,
        }
        for name, status in statuses.items()
        if status.health
    ]


def _day(past: PastDay) -> dict[str, Any]:
    return {
        "day": past.closed.item,
        "supply": past.supply,
        "bids": past.bids,
        "above_balance": list(past.over_balance),
        "served": list(past.closed.served),
    }
