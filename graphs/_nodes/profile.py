"""Profile: after an item, weigh for every rival which personas explain how it bid.

Source: Harbor sec. 3.4.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from harbor._core.thoughts import Profiled
from harbor._models.simulated import answers
from harbor.graphs._context import facts
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._context.replies import ProfileReply, Weight
from harbor.memory._bidder.auction_view import AuctionView

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def profile(state: ThoughtState, context: NodeContext) -> Update:
    """Ask about all rivals at once, one call per rival and item; what failed at an earlier pause is asked again."""
    view = state["view"]
    profiled: list[Profiled] = []
    calls = [_profile(view, context.fork(), rival, profiled) for rival in view.rivals]
    failures = [failure for failure in await asyncio.gather(*calls, return_exceptions=True) if failure]
    if failures:  # the profiles of the other rivals are already in the log, and stay
        raise failures[0]
    return {"view": profiled}


async def _profile(view: AuctionView, context: NodeContext, rival: str, profiled: list[Profiled]) -> None:
    """Update the profile of one rival by the items that it does not know of yet, in their order."""
    for result in view.results[view.profiled.get(rival, 0) :]:
        old = view.profiles.get(rival, {})
        known = {**facts.bidding_record(view, result.item, rival), "profile": weights_over(view.catalog, old)}
        reply = await context.ask(context.prompt(view, known, catalog=True), ProfileReply)
        weights, repaired = mend(reply.weights, view.catalog, old)
        news = Profiled(view.name, rival, result.item, weights, repaired)
        context.emit(news)
        profiled.append(news)
        view = view.after([news])


def weights_over(catalog: Iterable[str], old: Mapping[str, float]) -> dict[str, float]:
    """Give a weight for each persona of the catalog: zero where there is none yet."""
    return {persona: old.get(persona, 0.0) for persona in catalog}


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


PROFILE = ThoughtNode(
    name="profile",
    description="after an item, weigh which personas explain how each rival bid",
    occasions=("closed",),
    event=Profiled,
    needs=("recall",),
    view=AuctionView,
    on=lambda mind, _: mind.profiles,
    uses=("theory_of_mind",),
    when=lambda view, _: bool(view.rivals),
    prompt=PROMPTS / "profile.md",
    reply=ProfileReply,
    answer=answers.profile,
    run=profile,
)
