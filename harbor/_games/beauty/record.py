"""How a log of the beauty contest is checked: the bound and the numbers that it tells."""

from __future__ import annotations

from harbor._games.beauty.rules import Beauty, BeautyOpened
from harbor._games.beauty.settings import BeautyRules
from harbor._games.record import Events, Record, Settings
from harbor._games.sessions.record import actions, opened_in, options, players
from harbor._games.sessions.session import RunSettled


def rules(events: Events, settings: Settings) -> Beauty:
    """Give the rules with the bound that was told, or is set."""
    opened = opened_in(events)
    if not isinstance(opened, BeautyOpened):
        raise TypeError("another game has opened")
    told = {"fraction": opened.fraction, "prize": opened.prize, "bound": opened.bound}
    chosen = options(BeautyRules, settings, opened, **told)
    bound = opened.bound if chosen.group else chosen.bound
    return Beauty(players(events, opened), chosen, bound)


def unchecked(events: Events, settings: Settings) -> tuple[str, ...]:
    """Say what is taken as told."""
    said = [] if settings else ["the options of the session are taken as its opening tells them"]
    if not any(isinstance(event, RunSettled) for event in events) and opened_in(events).show == "nothing":
        said.append("nothing of a run is shown: numbers and winners are not in the log")
    return tuple(said)


RECORD = Record(rules=rules, actions=actions, unchecked=unchecked)
