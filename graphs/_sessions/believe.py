"""Believe, in a game of days or runs: after each, expect what every rival bids next."""

from __future__ import annotations

from harbor._core.thoughts import Expected
from harbor.graphs._context.context import NodeContext, Update
from harbor.graphs._context.replies import ExpectReply, names_each
from harbor.graphs._sessions.facts import SessionState, prompt


async def believe(state: SessionState, context: NodeContext) -> Update:
    """Ask once about all rivals, given what has been shown so far and what was expected before."""
    view = state["view"]
    reply = await context.ask(
        prompt(context, "contest_believe", view, {"expected": view.expected, "rivals": list(view.rivals)}),
        ExpectReply,
        check=lambda reply: names_each((one.rival for one in reply.expected), view.rivals),
    )
    bids = {one.rival: one.bid for one in reply.expected}
    return context.emit(Expected(view.name, view.closed[-1].item, bids))
