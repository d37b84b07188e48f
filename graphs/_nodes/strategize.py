"""Strategize: choose one of the six strategic actions before a bid.

Source: Harbor sec. 3.5, Table 1.
"""

from __future__ import annotations

from typing import cast

from harbor._core.asks import Ask
from harbor._core.thoughts import Strategized
from harbor._games.answering import Row, strategy_note
from harbor._games.bidder_view import View
from harbor._games.replies import StrategyReply
from harbor._games.types_of_play import strategize as answer
from harbor.graphs._context.node import PROMPTS, ThoughtNode


def conclude(reply: StrategyReply, view: View) -> Strategized:
    """Conclude the action, and why."""
    ask = cast(Ask, view.now)
    return Strategized(view.name, ask.item, ask.round, ask.attempt, reply.strategy, reply.reasons)


def facts(view: View) -> Row:
    """Tell within which bounds an amount may be."""
    told = cast(Ask, view.now).space.facts() if view.mind.bounds == "told" else {}
    return {name: told[name] for name in ("minimum", "maximum") if name in told}


STRATEGIZE = ThoughtNode(
    name="strategize",
    description="choose one of the six strategic actions before a bid",
    occasions=("call",),
    event=Strategized,
    on=lambda mind, _: mind.strategy == "on",
    uses=("strategy", "bounds"),
    prompt=PROMPTS / "strategize.md",
    facts=facts,
    reply=StrategyReply,
    conclude=conclude,
    fold=lambda _, event: strategy_note(event),
    fact="strategy",
    tells="`strategy`, where it is told, is the strategic `action` that you have just chosen, and your `reasons`. "
    "Follow it: after A, B and C compete hard, after D, E and F hold back.",
    answer=answer,
)
