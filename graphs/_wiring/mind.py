"""Which nodes a bidder has, and which of them it waits for: from the game, its settings and nodes of its own."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from harbor._config.auction import MemorySettings, MindSettings
from harbor._core.asks import Ask, Pause
from harbor._core.errors import ConfigError
from harbor._core.finding import find
from harbor.graphs._context.node import OCCASIONS, Occasion, ThoughtNode, View
from harbor.memory._bidder.session_view import SessionView

Nodes = Mapping[str, ThoughtNode]
"""The nodes of a graph, by their names in it."""


def nodes_of(game: str, mind: MindSettings, memory: MemorySettings) -> dict[str, ThoughtNode]:
    """Give the nodes that a bidder has: those of its game that are on, and its own.

    Raises:
        ConfigError: a node of its own is not there, does nothing here, or waits for what is not there.
    """
    usual = [find("node", name) for name in game_nodes(game)]
    view = view_of(usual)
    own = [_own(name, game, usual, view) for name in mind.nodes]
    chosen = [node.adapt(node, mind) for node in (*usual, *own) if node.on(mind, memory)]
    for node in own:
        if not node.on(mind, memory):
            raise ConfigError(f"node {node.name!r} is off with the settings of this bidder; drop it, or change them")
    _check_needs([*usual, *own], own)
    nodes = {node.place: node for node in chosen}  # a node of one's own replaces the game's of the same step
    for occasion in OCCASIONS:
        levels(nodes, occasion)
    return nodes


def game_nodes(game: str) -> tuple[str, ...]:
    """Name the nodes that bidders with models think with in a game."""
    return NODES_OF_GAMES.get(game, CONTEST)


CONTEST = ("contest-plan", "contest-believe", "contest-replan", "contest-bid")
NODES_OF_GAMES = {
    "english": (
        *("recall", "plan", "profile", "mirror", "predict", "strategize", "bid", "fused"),
        *("believe", "replan", "learn", "remember"),
    )
}


def view_of(nodes: list[ThoughtNode]) -> type[View]:
    """Give the kind of view that these nodes read."""
    return next((node.view for node in nodes if node.view is not None), SessionView)


def _own(name: str, game: str, usual: list[ThoughtNode], view: type[View]) -> ThoughtNode:
    """Find a node of a bidder's own.

    Raises:
        ConfigError: it is not there, the game has it already, or it can't read what bidders see in this game.
    """
    node: ThoughtNode = find("node", name)
    if node in usual:
        raise ConfigError(f"node {name!r} is a node of the game {game!r} already; drop it")
    if node.view not in (None, view):
        raise ConfigError(f"node {name!r} does not read what bidders see in the game {game!r}; drop it")
    return node


def _check_needs(nodes: list[ThoughtNode], own: list[ThoughtNode]) -> None:
    """Refuse a need that is no node: neither a step of this graph, on or off, nor known at all."""
    steps = {node.place for node in nodes}
    for node in own:
        for need in node.needs:
            if need not in steps:
                try:
                    find("node", need)
                except ConfigError as error:
                    raise ConfigError(f"node {node.name!r} needs a node that is not there: {error}") from error


def occasion_of(ask: Ask | Pause) -> Occasion:
    """Tell on which occasion a bidder is asked."""
    if isinstance(ask, Ask):
        return "call"
    if ask.over:
        return "end"
    return "closed" if ask.closed else "opening"


def waits(nodes: Nodes, occasion: Occasion) -> dict[str, set[str]]:
    """Give for each node of an occasion those that it waits for; the node that answers waits for all others."""
    present = {place: node for place, node in nodes.items() if occasion in node.occasions}
    thoughts = {place for place, node in present.items() if not node.answers}
    return {
        place: thoughts if node.answers else {need for need in node.needs if need in present}
        for place, node in present.items()
    }


def levels(nodes: Nodes, occasion: Occasion) -> list[list[str]]:
    """Give the nodes of an occasion, those together that run side by side.

    Raises:
        ConfigError: nodes wait for each other.
    """
    order, found = TopologicalSorter(waits(nodes, occasion)), []
    try:
        order.prepare()
    except CycleError as error:
        circle = " and ".join(sorted({repr(nodes[place].name) for place in error.args[1]}))
        raise ConfigError(f"the nodes {circle} wait for each other; change what one of them needs") from error
    while order.is_active():
        found.append(sorted(ready := order.get_ready()))
        order.done(*ready)
    return found
