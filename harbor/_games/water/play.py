"""In the water game, residents decide from the past days and everyone's status.

Prompts tell both as facts. The built-in model plays from these facts alone: it spreads its money over the days until it
must have water. The rational policy reads no prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

from harbor._config.auction import Simulated
from harbor._core.asking.asks import Action, Ask, Bid, Withdraw
from harbor._core.log.acts import Acted
from harbor._core.log.events import Event
from harbor._games.game import Facts, Outlook, Seen, Values, bid_of
from harbor._games.types_of_play import expected_bids, own_multiple
from harbor._games.water.rules import HEALTH_AT_FIRST, DayClosed, DayOpened, Status, WaterOpened


class PastDay(NamedTuple):
    """A day that is over: its supply in units, the residents' bids in dollars (None: no bid), and the event of its end.

    `over_balance` names the residents that bid above their balance.
    """

    supply: int
    bids: dict[str, Decimal | None]
    over_balance: tuple[str, ...]
    closed: DayClosed

    @property
    def prices(self) -> list[Decimal]:
        """The dollars that the residents paid who got water."""
        return [self.bids[name] or Decimal(0) for name in self.closed.served]


class Days:
    """Follows the events of a game and puts together each day."""

    def __init__(self) -> None:
        self._supply = 0
        self._acts: dict[str, Action] = {}

    def note(self, event: Event) -> PastDay | None:
        """Process one event; return the day that the event ends, or None if it ends none."""
        match event:
            case DayOpened(supply=supply):
                self._supply, self._acts = supply, {}
            case Acted(bidder=bidder, act=act):
                self._acts[bidder] = act
            case DayClosed():
                over = tuple(name for name, act in self._acts.items() if isinstance(act, Withdraw) and _bid(act))
                return PastDay(self._supply, {name: _bid(act) for name, act in self._acts.items()}, over, event)
        return None


def _bid(act: Action) -> Decimal | None:
    """Return the bid in dollars, also one above the balance; None if there is none."""
    return act.amount if isinstance(act, Bid) else act.offered if isinstance(act, Withdraw) else None


def past_days(events: Iterable[Event]) -> Iterator[PastDay]:
    """Yield the days that are over, in order."""
    fold = Days()
    for event in events:
        if (day := fold.note(event)) is not None:
            yield day


def standing(name: str, seen: Seen) -> Facts:  # noqa: ARG001
    """Return the status of the residents, and as many past days as the game shows."""
    opened, past = _opened(seen), list(past_days(seen))
    closed = [day.closed for day in past]
    begun = [event for event in seen if isinstance(event, DayOpened)]
    today = begun[-1] if len(begun) > len(closed) else None  # no day is under way after the last one
    days = [_day(day) for day in past]
    return {
        "past": days if opened.history is None else days[max(0, len(days) - opened.history) :],
        "residents": _residents(opened, closed),
        **({"today": today.item} if today else {}),
        "days_left": opened.days - len(closed),
        **({"supply_today": today.supply} if today else {}),
    }


def outlook(name: str, seen: Seen) -> Outlook:
    """Return the living rivals, and whether this resident will bid again.

    Before the first day is over, no rivals are returned.
    """
    opened, closed = _opened(seen), _closed(seen)
    alive = [one for one in opened.needs if not closed or _alive(one, closed[-1].statuses)]
    rivals = tuple(one for one in alive if one != name)
    return Outlook(rivals if closed else (), goes_on=name in alive and len(closed) < opened.days)


def means(name: str, seen: Seen, item: str, bidder: str) -> Facts:  # noqa: ARG001
    """Return as `mean` the dollars that a resident can spend on a day: last evening's balance plus its salary."""
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


MARGIN = 1.1
"""A resident's bid as a multiple of the least sufficient bid, as the others may bid more than expected."""

PLAN = (
    "Never risk a day without water that would eliminate me. On other days, bid what the water will cost, but no more "
    "than an equal share of my money for each day until then."
)


def policy(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Bid the day's expected price, or an equal share of the balance per day until water is needed, if that is less.

    If the resident would die without water on this day, it bids its whole balance.
    """
    me = next(one for one in facts["residents"] if one["name"] == facts["you"])
    balance = float(facts["maximum"])
    if (times := own_multiple(facts)) is not None:
        return bid_of(min(1.0, times) * balance, f"I bid {times:g} times what I have")
    slack = dry_days(me["health"], me["health_lost_if_dry"])
    if slack >= facts["days_left"]:
        return bid_of(0.0, "I will be alive at the end even without any more water")
    if slack == 0:
        return bid_of(balance, "Without water today I would be eliminated, so I bid all that I have")
    share = balance / slack  # with a day in reserve: on the last one, others need water too
    rivals = {one["name"]: one["need"] for one in facts["residents"] if one["name"] != facts["you"]}
    expected = {name: bid for name, bid in expected_bids(facts).items() if name in rivals}
    if len(expected) < len(rivals):
        why = f"My ${balance:,.2f} must last {slack} days, until I must have water: ${share:,.2f} per day"
        return bid_of(share, why)
    offers = {name: (bid, rivals[name]) for name, bid in expected.items()}
    price = least_bid(me["need"], facts["supply_today"], offers)
    cost = f"cost about ${price:,.2f} today" if price < float("inf") else "not be enough for me today"
    why = f"Water will {cost}, and I can spend ${share:,.2f} per day until I must have it"
    return bid_of(min(share, price * MARGIN), why)


def dry_days(health: int, cost: int) -> int:
    """Return the number of days in a row without water that a resident survives; the next one costs `cost` health."""
    days = 0
    while health > cost:
        health, cost, days = health - cost, cost + 1, days + 1
    return days


def least_bid(need: int, supply: int, rivals: Mapping[str, tuple[float, int]]) -> float:
    """Return the least bid in dollars that gets water, given the rivals' (bid, need); infinite if no bid does."""
    offers = sorted(rivals.values(), key=lambda offer: (-offer[0], offer[1]))
    for price in sorted({0.0, *(bid + 0.01 for bid, _ in offers)}):
        left = supply
        for bid, units in offers:
            if (bid, -units) > (price, -need) and units <= left:
                left -= units
        if need <= left:
            return price
    return float("inf")


def forecast(rival: str, facts: Facts, settings: Simulated) -> float:  # noqa: ARG001
    """Return a rival's expected bid in dollars: all its money if it must have water, else its mean shown bid."""
    who = next(one for one in facts["residents"] if one["name"] == rival)
    if dry_days(who["health"], who["health_lost_if_dry"]) == 0:
        return float(who["balance_before_salary"]) + float(who["salary"])
    past = [
        float(day["bids"][rival])
        for day in facts["past"]
        if day["bids"].get(rival) is not None and rival not in day["above_balance"]
    ]
    return fmean(past) if past else float(who["salary"])


def rational(ask: Ask, seen: Seen) -> Bid:
    """Bid the salary of a day, or the whole balance if the resident would die without water.

    No equilibrium of the game is known.
    """
    salary = next(event.salaries[ask.bidder] for event in seen if isinstance(event, WaterOpened))
    statuses: list[Status] = [event.statuses[ask.bidder] for event in seen if isinstance(event, DayClosed)]
    dying = bool(statuses) and statuses[-1].dry >= statuses[-1].health
    return Bid(ask.maximum if dying else min(salary, ask.maximum))
