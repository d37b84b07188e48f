"""The mind of a bidder: its thought nodes and their order, as the game and the bidder's settings define them.

Harbor's own nodes are all those in modules of `graphs/_nodes`, so a file there adds a thought.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.resources import files

from harbor._config.auction import MemorySettings, MindSettings
from harbor._config.thinking import as_usual_in
from harbor._core.asking.asks import Ask, Pause
from harbor._core.basics.errors import ConfigError
from harbor._core.basics.redaction import of_strangers
from harbor._core.plugins.finding import asked, find
from harbor._games.bidder_view import View
from harbor._games.game import Game
from harbor.graphs._context.deciding import words_of
from harbor.graphs._context.node import OCCASIONS, Occasion, ThoughtNode, folds_of

FOLDER = "harbor.graphs._nodes"


def _modules() -> list[str]:
    names = (path.name for path in files(FOLDER).iterdir())
    return sorted(name.removesuffix(".py") for name in names if name.endswith(".py") and name[0] != "_")


def _nodes() -> dict[str, ThoughtNode]:
    """Return all nodes by name, sorted by name; a node that another module imports counts once."""
    modules = [vars(import_module(f"{FOLDER}.{name}")) for name in _modules()]
    found = [value for module in modules for value in module.values() if isinstance(value, ThoughtNode)]
    return {node.name: node for node in sorted(found, key=lambda node: node.name)}


NODES: tuple[ThoughtNode, ...] = tuple(_nodes().values())


Nodes = Mapping[str, ThoughtNode]
"""The nodes of a graph, by their names in it."""


def usual_nodes(game: Game) -> list[ThoughtNode]:
    """Return Harbor's own nodes that fit a game: it has a prompt for the node, or the node needs no prompt."""
    if game.play is None:
        return []
    return [node for node in NODES if words_of(node, game) or not node.asks]


def nodes_of(game: str, mind: MindSettings, memory: MemorySettings) -> dict[str, ThoughtNode]:
    """Return the nodes of a bidder by step: Harbor's own that its settings switch on, and those that the settings name.

    A node that the settings name replaces Harbor's node of the same step. If two of Harbor's nodes have the same step,
    the one for which the game has a prompt is used.

    Raises:
        ConfigError: a node that the settings name does not exist, has no effect, or does not fit the other nodes.
    """
    table: Game = find("game", game)
    play, usual = table.played, usual_nodes(table)
    mind = as_usual_in(game, mind)
    own = [asked("node", name) for name in mind.nodes]
    for node in own:
        if wrong := _misfit(node, table, usual, mind) or ("" if _on(node, mind, memory) else OFF):
            raise ConfigError(f"node {node.name!r} {wrong}")
        _check_needs(node, [*usual, *own])
    ordered = sorted(usual, key=lambda node: node.name in play.thoughts)
    nodes = {node.place: _adapted(node, mind) for node in (*ordered, *own) if _on(node, mind, memory)}
    answering = [repr(node.name) for node in nodes.values() if node.answers]
    if not answering:
        raise ConfigError(_nobody_answers(table, mind, memory))
    if len(answering) > 1:
        raise ConfigError(f"{' and '.join(answering)} each answer a call; a bidder has one node that does: drop one")
    for occasion in OCCASIONS:
        levels(nodes, occasion)
    return nodes


def _nobody_answers(game: Game, mind: MindSettings, memory: MemorySettings) -> str:
    """Say why no node answers a call: the game has no prompt for the node that would."""
    for node in NODES:
        if node.answers and _on(node, mind, memory):
            setting = f"{node.uses[0]} {getattr(mind, node.uses[0])!r}" if node.uses else f"nodes {node.name!r}"
            return f"the game {game.name!r} has no words for the node {node.name!r}; drop {setting}"
    return "no node of this bidder answers a call; write answers=True in the one that does"


def _on(node: ThoughtNode, mind: MindSettings, memory: MemorySettings) -> bool:
    return bool(of_strangers(f"node {node.name!r}: on", lambda: node.on(mind, memory)))


def _adapted(node: ThoughtNode, mind: MindSettings) -> ThoughtNode:
    adapted: object = of_strangers(f"node {node.name!r}: adapt", lambda: node.adapt(node, mind))
    if not isinstance(adapted, ThoughtNode):
        raise ConfigError(f"node {node.name!r}: adapt gives a {type(adapted).__name__}; give a ThoughtNode")
    return adapted


JUDGING = ("profile", "mirror", "predict")
"""The steps that are replaced if a bidder judges all rivals in one call."""
OFF = "is off with the settings of this bidder; drop it, or change them"


def first_view(bidder: str, game: str, nodes: Nodes, mind: MindSettings) -> View:
    """Return a bidder's view of a game before the game begins."""
    played: Game = find("game", game)
    folds = folds_of(bidder, nodes.values(), game)
    return View(mind=mind, folds=folds, outlook=played.played.outlook, yardstick=played.played.yardstick)


def _misfit(node: ThoughtNode, game: Game, usual: Sequence[ThoughtNode], mind: MindSettings) -> str:
    """Say why a node of a bidder's own does not fit a game; empty if it fits."""
    if node in usual:
        return f"is a node of the game {game.name!r} already; drop it"
    if mind.judges_at_once and node.place in JUDGING:
        return f"takes the step {node.place!r}, which rivals 'together' has in its one call; set rivals to 'apart'"
    words = (words_of(one, game) for one in usual)
    texts = [game.played.system, *(one.prompt for one in words if one)]
    if any(f"`{node.name}`" in text.read_text(encoding="utf-8") for text in texts):
        return f"has a name that prompts use for something else: `{node.name}`; rename it"
    return ""


def _check_needs(node: ThoughtNode, others: Sequence[ThoughtNode]) -> None:
    """Refuse a name in `needs` that is neither a step of this mind, be it on or off, nor an installed node."""
    for need in set(node.needs) - {name for other in others for name in (other.place, other.name)}:
        try:
            find("node", need)
        except ConfigError as error:
            raise ConfigError(f"node {node.name!r} needs a node that is not there: {error}") from error


def occasion_of(ask: Ask | Pause) -> Occasion:
    """Return the occasion of an ask."""
    if isinstance(ask, Ask):
        return "call"
    if ask.over:
        return "end"
    return "closed" if ask.closed else "opening"


def thinking(nodes: Nodes) -> Nodes:
    """Return the nodes that have an occasion; the others only keep notes of other nodes' conclusions."""
    return {place: node for place, node in nodes.items() if node.occasions}


def waits(nodes: Nodes, occasion: Occasion) -> dict[str, set[str]]:
    """Map each node of an occasion to the nodes for which it waits; the node that answers waits for all others."""
    present = {place: node for place, node in nodes.items() if occasion in node.occasions}
    thoughts = {place for place, node in present.items() if not node.answers}
    places = {node.name: place for place, node in present.items()} | {place: place for place in present}
    return {
        place: thoughts if node.answers else {places[need] for need in node.needs if need in places}
        for place, node in present.items()
    }


def levels(nodes: Nodes, occasion: Occasion) -> list[list[str]]:
    """Return the nodes of an occasion in groups that run side by side, in order.

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
