"""Plan: before it begins, plan how to play; where items are listed, give the next ones a priority.

Source: Chen et al. 2023, sec. 3.2.
"""

from __future__ import annotations

from random import Random

from harbor._config.auction import Simulated
from harbor._core.finding import find
from harbor._core.thoughts import Planned
from harbor._games.bidder_view import View
from harbor._games.game import Facts, Play, Values
from harbor._games.replies import ContestPlan, Plan
from harbor.graphs._context.node import NOTHING_MORE, PROMPTS, ThoughtNode


def answer(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Give the plan that the game says is best."""
    play: Play = find("game", facts["game"]).play
    return {"reasons": "This is what serves best in this game.", "plan": play.plan}


def conclude(reply: Plan | ContestPlan, view: View) -> Planned:
    """Conclude the plan, with its priorities where it has any."""
    ranked = reply.priorities if isinstance(reply, Plan) else ()
    return Planned(view.name, reply.plan, {one.item: one.priority for one in ranked})


PLAN = ThoughtNode(
    name="plan",
    description="before the first item, give every item a priority; in other games, plan how to play",
    occasions=("opening",),
    event=Planned,
    needs=("recall",),
    on=lambda mind, _: mind.planning != "none",
    uses=("planning",),
    when=lambda view, _: view.ahead.goes_on,
    prompt=PROMPTS / "contest_plan.md",
    facts=lambda _: NOTHING_MORE,
    reply=ContestPlan,
    conclude=conclude,
    fold=lambda _, event: event,
    tells=None,
    answer=answer,
)
