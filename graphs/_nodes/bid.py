"""Answers to the auctioneer: a strategic action, a bid, or a limit.

Strategize: choose one of the six strategic actions before a bid. Source: Harbor sec. 3.5, Table 1.
Bid: answer the auctioneer; with strategy "fused" the same call chooses the action. Source: Chen et al. 2023, sec. 3.2.
Limit: decide a limit once per item; the house raises up to it, as in a proxy auction. It replaces `bid`, and ignores
later information from the bids on the item. Source: Harbor's own.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, cast

from harbor._core.asking.asks import Ask, Bid, Unreadable, Withdraw
from harbor._core.basics.errors import UnreadableReply
from harbor._core.log.events import LotOpened
from harbor._core.log.thoughts import Decided, LimitSet, Strategized
from harbor._games.bidder_view import View
from harbor._games.replies import FusedReply, LimitReply, Row, StrategyReply, strategy_note
from harbor._games.types_of_play import strategize as answer
from harbor.graphs._context.deciding import decide, decide_in_form, own_form, standing
from harbor.graphs._context.node import PROMPTS, ThoughtNode

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


def conclude(reply: StrategyReply, view: View) -> Strategized:
    """Return the action and its reasons as an event."""
    ask = cast(Ask, view.now)
    return Strategized(view.name, ask.item, ask.round, ask.attempt, reply.strategy, reply.reasons)


def facts(view: View) -> Row:
    """Return the bounds of an amount."""
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


async def bid(state: ThoughtState, context: NodeContext) -> Update:
    """Ask the model for a decision; if a strategic action was chosen for this call, the decision should follow it."""
    ask, view, game = cast(Ask, state["ask"]), state["view"], context.bidder.table
    chosen = view.notes.get("strategize") if context.switches.strategy == "on" else None
    action, told, prompt = chosen["action"] if chosen else None, standing(game, view), context.prompt(view)
    if form := own_form(game, view, told):
        return await decide_in_form(ask, view, context, prompt, form, told, action)
    return await decide(ask, context, prompt, context.words.reply, action)


BID = ThoughtNode(
    name="bid",
    description="answer the auctioneer with a bid, another act that it asks for, or a withdrawal",
    occasions=("call",),
    event=Decided,
    needs=("strategize",),
    on=lambda mind, _: mind.bidding == "call" and mind.strategy != "fused",
    uses=("bidding", "context", "bounds"),
    answers=True,
    run=bid,
)
FUSED = ThoughtNode(
    name="fused",
    description="choose a strategic action and answer the auctioneer in one call",
    occasions=("call",),
    event=Decided,
    step="bid",
    on=lambda mind, _: mind.strategy == "fused",
    uses=("strategy", "context", "bounds"),
    answers=True,
    reply=FusedReply,
    run=bid,
)


async def limit(state: ThoughtState, context: NodeContext) -> Update:
    """Answer by the bidder's limit for the item; ask the model for a limit if there is none, or after new information.

    New information is that the item is offered again at a lower price, which reopens the bidding, or that the last
    answer was refused. Bids of rivals are not new, because a limit answers any price.
    """
    ask, view = cast(Ask, state["ask"]), state["view"]
    if not ask.refusal and (already := _set_before(view)):
        return {"answer": within(already.limit, ask)}
    try:  # no repair: the auctioneer counts an unreadable reply as a failed bid, and asks again
        reply = await context.ask(context.prompt(view), LimitReply, repairs=0)
    except UnreadableReply as error:
        return {"answer": Unreadable(str(error))}
    concluded = LimitSet(view.name, ask.item, ask.round, ask.attempt, reply.reasons, reply.limit)
    return {**context.emit(concluded), "answer": within(reply.limit, ask)}


def _set_before(view: View) -> LimitSet | None:
    """Return the limit set since the bidding was last opened."""
    for event in reversed(view.part.events if view.part else ()):
        if isinstance(event, LimitSet):
            return event
        if isinstance(event, LotOpened):
            return None
    return None


def within(limit: Decimal | None, ask: Ask) -> Bid | Withdraw:
    """Return a bid of the least legal amount if it is within the limit and the budget, else a withdrawal."""
    goes_on = limit is not None and ask.minimum <= min(limit, ask.maximum)
    return Bid(ask.minimum) if goes_on else Withdraw()


LIMIT = ThoughtNode(
    name="limit",
    description="decide once per item how far to go, and answer every call on it by that",
    occasions=("call",),
    event=LimitSet,
    step="bid",
    on=lambda mind, _: mind.bidding == "limit",
    uses=("bidding", "bounds"),
    answers=True,
    reply=LimitReply,
    run=limit,
)
