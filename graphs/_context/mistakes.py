"""Mistakes in the code of a thought end a run in one line; no framework is loaded to find them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from harbor._core.errors import CodeError, HarborError, RunFolderError, placed
from harbor._core.handles import ALLOW_MORE, OUT_OF_HANDLES
from harbor._games.bidder_view import Fold, Folds
from harbor.graphs._context.node import ThoughtNode


@contextmanager
def mistakes_told(bidder: str, node: ThoughtNode, game: str) -> Iterator[None]:
    """Break the run off at a mistake in the code of a declared node; of Harbor's own nodes only the seat fails.

    Raises:
        CodeError: one line that names the bidder, the game, the node, the place of the mistake, and what it missed.
    """
    try:
        yield
    except HarborError:
        raise
    except Exception as error:
        if node.is_harbors or (isinstance(error, OSError) and error.errno in OUT_OF_HANDLES):
            raise
        if isinstance(error, LookupError | AttributeError):
            raise CodeError(f"bidder {bidder!r}: {lacks(node, game, error)}") from error
        who = f"bidder {bidder!r}: the node {node.name!r}"
        raise CodeError(f"{who} has a mistake in its code ({placed(error)}); mend it") from error


@contextmanager
def enough_files(bidder: str) -> Iterator[None]:
    """Break the run off where no more files can be opened: what a bidder would do without them is no play of its.

    Raises:
        RunFolderError: it says what to allow.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in OUT_OF_HANDLES:
            raise
        raise RunFolderError(f"bidder {bidder!r} can't think: {ALLOW_MORE}, then resume the run") from error


def lacks(node: ThoughtNode, game: str, error: Exception) -> str:
    """Say which fact a node missed, in which game: a view has only what the game tells."""
    return (
        f"the node {node.name!r} found no such fact in the game {game!r} ({placed(error)}); mend it, or drop it there"
    )


def folds_of(bidder: str, nodes: Iterable[ThoughtNode], game: str) -> Folds:
    """Give the folds of a bidder's nodes, by the event that each notes something of."""

    def guarded(node: ThoughtNode, fold: Fold) -> Fold:
        def noted(before: Any, event: Any) -> Any:
            with mistakes_told(bidder, node, game):
                return fold(before, event)

        return noted

    return {node.event: (node.note, guarded(node, node.fold)) for node in nodes if node.fold is not None}
