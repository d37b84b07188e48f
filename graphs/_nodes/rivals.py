"""The thought `rivals`: one call profiles all rivals, predicts their profiles of the bidder, and forecasts their acts.

Its events are those of the thoughts `profile`, `mirror` and `predict`. Source: Harbor's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harbor._config.thinking import MindSettings
from harbor._core.log.events import PrivateEvent
from harbor._core.log.thoughts import Mirrored, Predicted, Prediction, Profiled
from harbor._games.bidder_view import Part, View
from harbor._games.policies import rivals as answer
from harbor._games.replies import OF_FORECASTS, OF_MIRRORS, RivalsReply, Row, names_each, rivals_reply
from harbor.graphs._context.deciding import worth_a_call
from harbor.graphs._context.node import PROMPTS, Facts, ThoughtNode
from harbor.graphs._nodes.plan import next_item
from harbor.graphs._nodes.profile import MOST_RECORDS, PROFILE, scaled
from harbor.personas._catalog.traits import in_percent

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def rivals(state: ThoughtState, context: NodeContext) -> Update:
    """Ask once about all rivals, after the items since the last profiles."""
    view = state["view"]
    last, asked = view.last(Profiled, bidder=view.name), in_the_last(view)
    items = [part.item for part in view.results[view.place(last.closed) if last else 0 :]]
    if not items or not asked:
        return {}
    mirrors, forecasts = (_wanted(name, view, context) for name in ("mirror", "predict"))
    parts = ("expected_interest",) if mirrors and forecasts else ()
    prompt = context.prompt(view, items, asked, parts=parts, mirrors=mirrors, forecasts=forecasts)
    wanted = (*(OF_MIRRORS if mirrors else ()), *(OF_FORECASTS if forecasts else ()))
    kind: Any = context.node.reply
    reply = await context.ask(prompt, kind, check=lambda reply: missing(reply, asked, wanted))
    return context.emit(*concluded(reply, view, items[-1], mirrors=mirrors, forecasts=forecasts))


def in_the_last(view: View) -> tuple[str, ...]:
    """Name the rivals that were asked in the last part if this bidder was; if lots are listed, name all rivals."""
    last = view.results[-1].asked if view.results and not view.lots else frozenset()
    return tuple(rival for rival in view.rivals if not last or {rival, view.name} <= last)


def _wanted(name: str, view: View, context: NodeContext) -> bool:
    """Return whether this bidder has the thought with this name, and the thought is worth a model call now."""
    node = context.bidder.nodes.get(name)
    return node is not None and node.name == name and worth_a_call(node, context.bidder.table, view)


def missing(reply: Any, rivals: Sequence[str], fields: Sequence[str]) -> str:
    """Say which rivals or fields a reply lacks; empty if it has each rival once, with these fields."""
    lacking = (f"missing {name} of {one.rival!r}" for one in reply.rivals for name in fields if _lacks(one, name))
    return names_each((one.rival for one in reply.rivals), rivals) or "; ".join(lacking)


def _lacks(judged: Any, field: str) -> bool:
    return getattr(judged, field) is None


def concluded(reply: Any, view: View, closed: str, *, mirrors: bool, forecasts: bool) -> list[PrivateEvent]:
    """Return a profile of each rival, each rival's profile of this bidder, and the forecasts as events."""
    events: list[PrivateEvent] = []
    for one in reply.rivals:
        old = view.profiles.get(one.rival, {})
        events.append(Profiled(view.name, one.rival, closed, *scaled(one.shares, view.catalog, old)))
    for one in reply.rivals if mirrors else ():
        old = view.mirrors.get(one.rival, {})
        events.append(Mirrored(view.name, one.rival, closed, *scaled(one.shares_of_you, view.catalog, old)))
    if forecasts:
        events.append(Predicted(view.name, next_item(view), tuple(map(_prediction, reply.rivals))))
    return events


def _prediction(judged: Any) -> Prediction:
    return Prediction(judged.rival, judged.interest, judged.limit, getattr(judged, "expected_interest_of_yours", None))


def facts(view: View, items: Sequence[str], asked: Sequence[str], *, mirrors: bool, forecasts: bool) -> Row:
    """Return the acts in the parts up to the last, the knowledge about each rival, and the next item."""
    rows, coming = [], next_item(view)
    for rival in asked:
        row: Row = {"rival": rival, "shares": _shares(view, view.profiles.get(rival, {}))}
        row |= {"shares_of_you": _shares(view, view.mirrors.get(rival, {}))} if mirrors else {}
        yardstick = view.yardstick(view.name, view.seen, coming, rival) if forecasts else {}
        rows.append({**row, **_compared(yardstick)})
    parts = view.results[: view.place(items[-1])][-MOST_RECORDS:]
    known: Row = {"catalog": view.catalog, "records": [record(view, part) for part in parts], "rivals": rows}
    return {**known, **({"next_item": coming} if forecasts else {})}


def _shares(view: View, profile: Any) -> dict[str, float]:
    return in_percent(profile, view.catalog) if profile else {}


def record(view: View, part: Part) -> Row:
    """Return everyone's highest bid in a part, with its yardstick, which stands once if it is the same for all."""
    highest = {name: part.highest_bid(name) for _, name, _ in part.bids}
    yardsticks = {name: view.yardstick(view.name, view.seen, part.item, name) for name in highest}
    common = next(iter(yardsticks.values()), {})
    if any(one != common for one in yardsticks.values()):
        common = {}
    acts = [
        {"bidder": name, "amount": amount, **_compared({} if common else yardsticks[name])}
        for name, amount in highest.items()
    ]
    known: Row = {"item": part.item, "acts": acts, "winners": list(part.got)}
    known["rounds"] = max((turn for turn, *_ in part.bids), default=0)
    return {**known, **_compared(common)}


def _compared(yardstick: Facts) -> Row:
    return {"compared_with": yardstick} if yardstick else {}


def _with_its_fields(node: ThoughtNode, mind: MindSettings) -> ThoughtNode:
    """Return the node with a reply of only those fields that the bidder uses."""
    return replace(node, reply=rivals_reply(second=mind.theory_of_mind == "second", predicts=mind.predict))


RIVALS = ThoughtNode(
    name="rivals",
    description="after an item, ask about all rivals at once: profiles, mirrors and forecasts in one call",
    occasions=("closed",),
    event=Profiled,
    step="profile",
    needs=("recall",),
    on=lambda mind, _: mind.judges_at_once,
    uses=("theory_of_mind", "rivals"),
    when=PROFILE.when,
    prompt=PROMPTS / "rivals.md",
    facts=facts,
    reply=RivalsReply,
    adapt=_with_its_fields,
    keeps="profile",
    fold=PROFILE.fold,
    shows=PROFILE.shows,
    fact=PROFILE.fact,
    tells=PROFILE.tells,
    answer=answer,
    run=rivals,
)
