"""What a player knows of a session, as facts for its prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from harbor._core.acts import Acted
from harbor._core.asks import Withdraw
from harbor._core.outcomes import Signal
from harbor._games.game import Facts, Outlook, Seen
from harbor._games.sessions.results import Past, Result, past_runs
from harbor._games.sessions.session import RunOpened, SessionOpened

T = TypeVar("T")
STAYS = ("players", "prior", "rivals_are_rational")
"""The facts that stay the same in all runs."""


def standing(name: str, seen: Seen) -> Facts:  # noqa: ARG001
    """Tell how the session stands, and what came of the last runs, as many as it shows."""
    opened, past = _opened(seen), list(past_runs(seen))
    results = [result for run in past for result in run.results]
    known: dict[str, Any] = {
        "players": list(opened.bidders),
        "past": [_run(run) for run in last(past, opened.history)],
        "your_results": [_result(result) for result in last(results, opened.history)],
        **({"run": begun[-1].item} if len(begun := _of(RunOpened, seen)) > len(past) else {}),
        "runs_left": opened.runs - len(past),
    }
    if opened.rational_rivals:
        known["rivals_are_rational"] = True
    if opened.prior:
        known["prior"] = opened.prior.model_dump()
    return {**known, **_under_way(opened, seen)} if "run" in known else known


def _under_way(opened: SessionOpened, seen: Seen) -> Facts:
    """Tell what a player knows of the run that is under way: its value, and who is out."""
    known: dict[str, Any] = {}
    if values := _of(Signal, seen):
        [value] = values[-1].values.values()
        known |= {"value": value, "assets": opened.assets, "value_is_above_assets": value > opened.assets}
    if out := _out(seen):
        known["withdrawn"] = out
    return known


def outlook(name: str, seen: Seen) -> Outlook:
    """Look at all rivals where the run that is over showed what they did, and on while runs are left."""
    opened, past = _opened(seen), list(past_runs(seen))
    shown = opened.history > 0 and bool(past) and bool(past[-1].shown)
    rivals = tuple(one for one in opened.bidders if one != name)
    return Outlook(rivals if shown else (), goes_on=len(past) < opened.runs)


def last(events: Sequence[T], count: int) -> Sequence[T]:
    """Give the last of these, as many as the session shows or as there are."""
    return events[-count:] if count else ()


def _opened(seen: Seen) -> SessionOpened:
    return next(event for event in seen if isinstance(event, SessionOpened))


def _of(kind: type[T], seen: Seen) -> list[T]:
    return [event for event in seen if isinstance(event, kind)]


def _out(seen: Seen) -> list[str]:
    """Name who has dropped out of this run."""
    out: list[str] = []
    for event in seen:
        if isinstance(event, RunOpened):
            out = []
        elif isinstance(event, Acted) and isinstance(event.act, Withdraw):
            out.append(event.bidder)
    return out


def _run(past: Past) -> dict[str, Any]:
    """Tell of a run what was made public."""
    closed = past.closed
    return {"run": closed.item, "actions": past.shown, "winners": list(closed.winners), **closed.details()}


def _result(own: Result) -> dict[str, Any]:
    """Tell what a run brought this player."""
    told = {"run": own.item, "action": own.action, "won": own.won, "assets_at_end": own.assets}
    return told if own.value is None else told | {"value": own.value, "paid": own.paid, "fee": own.fee}
