"""The graph of one bidder, with its nodes, prompts and replies; `ThoughtNode` adds a node of your own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.faces import face

if TYPE_CHECKING:
    from harbor._games.bidder_view import Part as Part
    from harbor._games.bidder_view import View as View
    from harbor.graphs._context.node import ThoughtNode as ThoughtNode

__getattr__, __all__ = face(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
