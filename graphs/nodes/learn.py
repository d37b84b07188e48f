"""Learn: after an auction, write an updated short list of general learnings.

Source: Chen et al. 2023, sec. 3.2 and B.3.
"""

from __future__ import annotations

from harbor.graphs import facts
from harbor.graphs.replies import LearnReply
from harbor.graphs.state import Thinking, Thought, Update
from harbor.thoughts import Learned


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
