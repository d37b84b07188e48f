"""Profile: after an item, a day or a run, weigh the types of the catalog by how well each explains a rival's acts.

Source: Harbor sec. 3.4.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from harbor._config.thinking import MindSettings
from harbor._core.log.thoughts import Profiled
from harbor._games.bidder_view import Part, View
from harbor._games.replies import MirrorSharesReply, ProfileReply, Row, Share, SharesReply, Weight, weights_over
from harbor._games.types_of_play import profile as answer
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.personas._catalog.traits import Profile, from_percent, in_percent

IN_SHARES: Mapping[str, type[BaseModel]] = {"profile": SharesReply, "mirror": MirrorSharesReply}
ROUNDING = 1.0
"""Tolerance of the sum of shares around 100, because shares are rounded one by one."""
MOST_RECORDS = 20
"""Number of the latest parts of a game that a prompt lists."""

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def profile(state: ThoughtState, context: NodeContext) -> Update:
    """Profile all rivals at the same time, with one model call per rival and item.

    Calls that failed at an earlier pause are made again.
    """
    view = state["view"]
    profiled: list[Profiled] = []
    calls = [_profile(view, context.fork(), rival, profiled) for rival in view.rivals]
    failures = [failure for failure in await asyncio.gather(*calls, return_exceptions=True) if failure]
    if failures:  # the profiles of the other rivals are already in the log, and stay
        raise failures[0]
    return {"view": profiled}


async def _profile(view: View, context: NodeContext, rival: str, profiled: list[Profiled]) -> None:
    """Update the profile of one rival by each item since its last profile, in order."""
    last = view.last(Profiled, bidder=view.name, rival=rival)
    for result in view.results[view.place(last.closed) if last else 0 :]:
        if not view.lots and result.asked and not {rival, view.name} <= result.asked:
            continue  # one of the two is out of the game
        old = view.profiles.get(rival, {})
        reply = await context.reply(view, rival, result.item)
        weights, repaired = read(reply, view.catalog, old)
        news = Profiled(view.name, rival, result.item, weights, repaired)
        context.emit(news)
        profiled.append(news)
        view = view.after([news])


def read(reply: Any, catalog: Iterable[str], old: Mapping[str, float]) -> tuple[dict[str, float], int]:
    """Return the weights of the profile in a reply, and the number of its repairs; the reply has weights or shares."""
    return mend(reply.weights, catalog, old) if hasattr(reply, "weights") else scaled(reply.shares, catalog, old)


def scaled(said: list[Share], catalog: Iterable[str], old: Mapping[str, float]) -> tuple[dict[str, float], int]:
    """Scale shares to 100 and drop unknown types; without any share the old profile stays. Count all repairs.

    If a type is named twice, its last share counts. A type that is left out has a share of 0, which is no repair.
    """
    named = {share.persona: share.share for share in said}
    known = {one: max(0.0, named.get(one, 0.0)) for one in catalog}
    total, repaired = sum(known.values()), len(said) - len(named) + len(set(named) - set(known))
    repaired += sum(share < 0 for share in named.values()) + (abs(total - 100) > ROUNDING)
    return (from_percent(known, known) if total else weights_over(known, old)), repaired


def mend(said: list[Weight], catalog: Iterable[str], old: Mapping[str, float]) -> tuple[dict[str, float], int]:
    """Clip weights to -1..1, keep the old weight of a missing persona, drop unknown personas; count all repairs.

    If a persona is named twice, its last weight counts, and the repetition is a repair.
    """
    named = {weight.persona: weight.weight for weight in said}
    weights = {
        persona: max(-1.0, min(1.0, named.get(persona, before)))
        for persona, before in weights_over(catalog, old).items()
    }
    clipped = sum(abs(weight) > 1 for persona, weight in named.items() if persona in weights)
    twice = len(said) - len(named)
    return weights, clipped + twice + len(set(weights) ^ set(named))


def facts(view: View, rival: str, item: str) -> Row:
    """Return a rival's acts in this part and those before it, and its profile so far."""
    return {
        "catalog": view.catalog,
        "records": records(view, rival, item),
        "bidder": rival,
        "shares_so_far": in_percent(view.profiles.get(rival, {}), view.catalog),
    }


def in_shares(node: ThoughtNode, mind: MindSettings) -> ThoughtNode:
    """Return the node with a reply of one share per persona, unless the bidder's protocol asks for weights."""
    return replace(node, reply=IN_SHARES[node.name]) if mind.asks_shares else node


def told_in_percent(profiles: Mapping[str, Profile], view: View) -> Row:
    """Return profiles as shares in percent; an empty profile stays empty."""
    return {rival: in_percent(profile, view.catalog) if profile else {} for rival, profile in profiles.items()}


def records(view: View, bidder: str, last: str) -> list[Row]:
    """List the acts in the parts up to the `last`, with the yardstick of the bidder's type for its bids."""
    parts = view.results[: view.place(last)]
    return [record(view, part, bidder) for part in parts[-MOST_RECORDS:]]


def record(view: View, part: Part, bidder: str) -> Row:
    """Return everyone's acts in a closed part, and its winners."""
    highest = {name: part.highest_bid(name) for _, name, _ in part.bids}
    acts = [{"bidder": name, "amount": amount} for name, amount in highest.items()]
    known: Row = {"item": part.item, "acts": acts, "winners": list(part.got)}
    known["rounds"] = max((turn for turn, *_ in part.bids), default=0)
    yardstick = view.yardstick(view.name, view.seen, part.item, bidder)
    return {**known, **({"compared_with": yardstick} if yardstick else {})}


PROFILE = ThoughtNode(
    name="profile",
    description="after an item, weigh which types explain what each rival did",
    occasions=("closed",),
    event=Profiled,
    needs=("recall",),
    on=lambda mind, _: mind.profiles and not mind.judges_at_once,
    uses=("theory_of_mind", "rivals"),
    when=lambda view, _: bool(view.rivals) and (view.goes_on or view.judged or not view.mind.asks_shares),
    prompt=PROMPTS / "profile.md",
    facts=facts,
    reply=ProfileReply,
    adapt=in_shares,
    fold=lambda before, event: {**(before or {}), event.rival: event.weights},
    shows=told_in_percent,
    fact="profiles",
    tells="`profiles` are yours of each rival: how likely each type of `catalog` is, in percent, from 0 "
    "(certainly not) to 100 (certainly), together 100. A type that is left out has a share of 0.",
    answer=answer,
    run=profile,
)
