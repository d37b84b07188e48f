"""The state of a player's graph, and the facts that its prompts are filled with."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Any, TypedDict, TypeVar

from harbor._core.asks import Answer, Ask, Pause
from harbor._core.events import Event
from harbor._games.beauty.rules import BeautyOpened, PrizeAwarded
from harbor._games.english_private.rules import EnglishPrivateOpened
from harbor._games.first_price.rules import FirstPriceOpened
from harbor._games.second_price.rules import SecondPriceOpened
from harbor._games.sessions.private_values import ItemAllotted
from harbor._games.sessions.session import RunClosed, RunSettled, SessionOpened
from harbor._games.water.rules import HEALTH_AT_FIRST, DayClosed, Status, WaterOpened
from harbor._models.client import Prompt
from harbor.graphs._context.context import NodeContext, fold_reducer
from harbor.graphs._context.prompting import Facts, fill
from harbor.memory._bidder.session_view import SessionView

Row = dict[str, Any]
E = TypeVar("E")

DAYS_SHOWN = 5
"""How many past days of the water game a prompt shows; the statuses sum up those before them."""

GAMES: dict[type[Event], str] = {
    WaterOpened: "water",
    SecondPriceOpened: "second-price",
    FirstPriceOpened: "first-price",
    EnglishPrivateOpened: "english-private",
    BeautyOpened: "beauty",
}
"""The games by the event that opens them; the prompt for a bid has the name of the game."""


class SessionState(TypedDict, total=False):
    """The state of a player's graph.

    `ask` is what the auctioneer wants; `view` takes a view or the events seen so far; `answer` comes out.
    """

    ask: Ask | Pause
    view: Annotated[SessionView, fold_reducer(SessionView)]
    answer: Answer | None


def prompt(context: NodeContext, name: str, view: SessionView, facts: Facts = MappingProxyType({})) -> Prompt:
    """Fill a prompt with who this player is, the rules as they were announced, and the facts of the call."""
    who = {**context.identity(view), "rules": view.opened.words if view.opened else ""}
    known: Row = {"game": game_of(view), **standing(view)}
    if view.plan:
        known["plan"] = view.plan
    if view.expected:
        known["forecasts"] = [{"rival": rival, "bid": bid} for rival, bid in view.expected.items()]
    system = "water_system" if isinstance(view.opened, WaterOpened) else "runs_system"
    return fill(name, who, {**known, **facts}, system)


def game_of(view: SessionView) -> str:
    """Name the game that was opened."""
    return next(name for kind, name in GAMES.items() if isinstance(view.opened, kind))


def standing(view: SessionView) -> Row:
    """Tell how the game stands, as far as this player may know, and what came of the last days or runs."""
    if isinstance(view.opened, WaterOpened):
        return _water(view, view.opened)
    if isinstance(view.opened, SessionOpened):
        return _session(view, view.opened)
    return {}


def _water(view: SessionView, opened: WaterOpened) -> Row:
    last = next((event for event in reversed(view.closed) if isinstance(event, DayClosed)), None)
    fresh = Status(HEALTH_AT_FIRST, opened.salaries[view.name] * 0, 1)
    statuses = last.statuses if last else dict.fromkeys(opened.needs, fresh)
    residents = [
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
    days = [
        {
            "day": event.item,
            "supply": supply,
            "bids": event.bids,
            "above_balance": list(event.over_balance),
            "served": list(event.served),
        }
        for event, supply in zip(view.closed, view.supplies, strict=True)
        if isinstance(event, DayClosed)
    ]
    return {
        "today": f"day {len(view.closed) + 1}",
        "days_left": opened.days - len(view.closed),
        "supply_today": view.supply,
        "residents": residents,
        "past": days[-DAYS_SHOWN:],
    }


def _session(view: SessionView, opened: SessionOpened) -> Row:
    known: Row = {
        "run": f"run {len(view.closed) + 1}",
        "runs_left": opened.runs - len(view.closed),
        "players": list(opened.bidders),
        "past": [_run(event) for event in last(view.closed, opened.history)],
        "your_results": [_result(view, settled) for settled in last(view.settled, opened.history)],
    }
    if opened.rational_rivals:
        known["rivals_are_rational"] = True
    if isinstance(opened, BeautyOpened):
        known |= {"bound": opened.bound, "fraction": float(opened.fraction)}
    if view.values:
        drawn = view.values[-1]
        known |= {"value": drawn.value, "assets": drawn.assets, "value_is_above_assets": drawn.capped}
    if view.out:
        known["withdrawn"] = list(view.out)
    return known


def last(events: tuple[E, ...], count: int) -> tuple[E, ...]:
    """Give the last of these, as many as the session shows or as there are."""
    return events[-count:] if count else ()


def _result(view: SessionView, settled: RunSettled) -> Row:
    """Tell what a run brought this player."""
    told: Row = {"run": settled.item, "action": settled.action, "won": settled.won, "assets_at_end": settled.assets}
    if value := next((drawn.value for drawn in view.values if drawn.item == settled.item), None):
        told |= {"value": value, "paid": settled.paid, "fee": settled.fee}
    return told


def _run(event: Event) -> Row:
    """Tell of a run what was made public."""
    if not isinstance(event, RunClosed):
        return {}
    told: Row = {"run": event.item, "actions": event.actions, "winners": list(event.winners)}
    if isinstance(event, ItemAllotted):
        told |= {"price": event.price, "values": event.values}
    if isinstance(event, PrizeAwarded):
        told["target"] = event.target
    return told
