"""Remember: after an auction, put its episodes, dossiers of the rivals and the learnings in the bidder's archive."""

from __future__ import annotations

from harbor._core.thoughts import MemoryKind, Remembered
from harbor.graphs._context.context import Thinking, Thought, Update
from harbor.memory._bidder.episodes import dossier, episode


async def remember(state: Thinking, thought: Thought) -> Update:
    """Put everything down; done twice, as after a crash, it is done once."""
    notebook, archive = state["notebook"], thought.archive
    episodes = [episode(notebook, result) for result in notebook.results]
    before = await archive.dossiers(notebook.rivals)
    dossiers = {rival: dossier(notebook, rival, before.get(rival)) for rival in notebook.rivals}
    await archive.keep_episodes(episodes)
    await archive.keep_dossiers(dossiers, before)
    if notebook.learnings:
        await archive.keep_learnings(notebook.learnings)
    kept: dict[MemoryKind, int] = {
        "learning": len(notebook.learnings),
        "episode": len(episodes),
        "dossier": len(dossiers),
    }
    return thought.conclude(Remembered(notebook.name, kept))
