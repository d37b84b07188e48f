"""Remember: after an auction, store its episodes, dossiers of the rivals and the learnings in the bidder's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.thoughts import MemoryKind, Remembered
from harbor.graphs._context.node import ThoughtNode
from harbor.memory._bidder.episodes import dossier, episode

if TYPE_CHECKING:
    from harbor.graphs._context.context import NodeContext, ThoughtState, Update


async def remember(state: ThoughtState, context: NodeContext) -> Update:
    """Store everything; to do it twice, as after a crash, changes nothing more."""
    view, memory = state["view"], context.memory
    episodes = [episode(view, result) for result in view.results]
    before = await memory.dossiers(view.rivals)
    dossiers = {rival: dossier(view, rival, before.get(rival)) for rival in view.rivals}
    await memory.keep_episodes(episodes)
    await memory.keep_dossiers(dossiers, before)
    learnings = view.notes.get("learn", ())
    if learnings:
        await memory.keep_learnings(learnings)
    kept: dict[MemoryKind, int] = {
        "learning": len(learnings),
        "episode": len(episodes),
        "dossier": len(dossiers),
    }
    return context.emit(Remembered(view.name, kept))


REMEMBER = ThoughtNode(
    name="remember",
    description="after an auction, store its episodes, dossiers of the rivals and the learnings",
    occasions=("end",),
    event=Remembered,
    needs=("learn",),
    on=lambda mind, memory: mind.remembers and not memory.frozen,
    uses=("memory", "learning"),
    run=remember,
)
