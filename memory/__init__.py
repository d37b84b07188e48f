"""Long-term memory: LangGraph's store on Chroma, a bidder's own part of it, and an adapter for AutoGen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.faces import face

if TYPE_CHECKING:
    from harbor._room.team_memory import StoreMemory as StoreMemory
    from harbor.memory._bidder.bidder_memory import BidderMemory as BidderMemory
    from harbor.memory._store.chroma import ChromaStore as ChromaStore

__getattr__, __all__ = face(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
