"""Believe, in a game of days or runs: after each, expect what every rival bids next."""

from __future__ import annotations

from harbor._core.thoughts import Expected
from harbor.graphs._context.context import Thought, Update
from harbor.graphs._context.replies import ExpectReply, names_each
from harbor.graphs._sessions.facts import Playing, prompt


async def expect(state: Playing, thought: Thought) -> Update:
    """Ask once about all rivals, given what has been shown so far and what was expected before."""
    journal = state["notebook"]
    reply = await thought.ask(
        prompt(thought, "contest_believe", journal, {"expected": journal.expected, "rivals": list(journal.rivals)}),
        ExpectReply,
        check=lambda reply: names_each((one.rival for one in reply.expected), journal.rivals),
    )
    bids = {one.rival: one.bid for one in reply.expected}
    return thought.conclude(Expected(journal.name, journal.closed[-1].item, bids))
