"""Learn: after an auction, write an updated short list of general learnings.

Source: Chen et al. 2023, sec. 3.2 and B.3.
"""

from __future__ import annotations

from harbor._core.thoughts import Learned
from harbor.graphs._context import facts
from harbor.graphs._context.context import Thinking, Thought, Update
from harbor.graphs._context.replies import LearnReply


async def learn(state: Thinking, thought: Thought) -> Update:
    """Ask what this auction taught, given the learnings so far."""
    notebook = state["notebook"]
    known = {
        "results": facts.results(notebook),
        "profits": notebook.truth().profits,
        "learned": await thought.archive.learnings(),
    }
    reply = await thought.ask(thought.prompt("learn", notebook, known), LearnReply)
    return thought.conclude(Learned(notebook.name, tuple(reply.learnings)))
