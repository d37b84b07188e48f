"""The conformance suite for thought nodes: call it in a test of your own node."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args, get_origin

from harbor._config.auction import MemorySettings, MindSettings
from harbor._core.basics.errors import ConfigError
from harbor._core.files.layout import CALLS, EVENTS
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._core.plugins.finding import everything, find
from harbor._games.game import Game
from harbor._games.mechanism import require
from harbor._runs.auction import Auction
from harbor._runs.series import resume
from harbor.graphs._context.node import ThoughtNode
from harbor.graphs._wiring.mind import nodes_of, usual_nodes
from harbor.testing._games import explained
from harbor.testing._playing import Played, equal, played, promised, table, thinkers, whole

MEMORY = MemorySettings()
Mind = Mapping[str, Any]
"""The settings of a mind that differ from the defaults."""


def check_node(node: ThoughtNode, game: str = "", mind: Mind | None = None) -> None:
    """Check that a thought node works.

    A bidder has the node's thought while it plays a game. The node's prompt has to explain each fact that it contains,
    and the built-in model has to answer the prompt. The log has to contain the node's event, and a later prompt the
    note that the node makes of the event. Two equal runs have to give equal logs, and an interrupted run has to resume
    to the same log. If the settings switch the node off, it must not be in the bidder's graph.

    Args:
        node: the thought node.
        game: the name of the game in which the node is tried; by default, the first installed game in which bidders can
            have the node.
        mind: settings with which a bidder has the node; by default, they are searched among the settings that the node
            `uses`.

    Raises:
        AssertionError: one of these checks fails; the message says which one, and shows the evidence.
    """
    whole(node, "node")
    what = f"the node {node.name!r}"
    with promised(what):
        where = find("game", game) if game else _home(node)
        chosen = dict(_mind(node, on=True) if mind is None else mind)
        usual = node in usual_nodes(where)
        own = {} if usual else {"nodes": (node.name,)}
        _absent_where_off(node, where, what)
        auction = table(where, thinkers(where, **chosen, **own), {}, seed=1)
        run = played(auction)
        _had(node, run, what, where)
        _resumed(auction, run.log, what)


def _home(node: ThoughtNode) -> Game:
    """Find a game in which a node has a place: as one of the game's own, or as one of a bidder's own."""
    games: list[Game] = [find("game", "english"), *(one.value for one in everything("game"))]
    mind = MindSettings(**_mind(node, on=True))
    for game in games:
        if node in usual_nodes(game) and node.name in {one.name for one in nodes_of(game.name, mind, MEMORY).values()}:
            return game
    complaints = []
    for game in games:
        try:
            nodes_of(game.name, MindSettings(**_mind(node, on=True), nodes=(node.name,)), MEMORY)
            return game
        except ConfigError as error:
            complaints.append(str(error))
    raise AssertionError(f"the node {node.name!r} has a place in no installed game: {complaints[0]}")


def _mind(node: ThoughtNode, *, on: bool) -> dict[str, Any]:
    """Return the first of the settings that a node uses with which it is on, or off; defaults are written out."""
    found = next((one for one in _minds(node) if bool(node.on(MindSettings(**one), MEMORY)) == on), None)
    require(found is not None or not on, f"the node {node.name!r} is off with all that it uses", node.uses)
    mind = MindSettings(**found or {})
    return {name: getattr(mind, name) for name in node.uses if name in MindSettings.model_fields}


def _minds(node: ThoughtNode) -> Iterator[dict[str, Any]]:
    """Yield the settings of minds that differ in the settings used by a node, the defaults first."""
    yield {}
    used = [name for name in node.uses if name in MindSettings.model_fields]
    for values in product(*(_values(name) for name in used)):
        mind = dict(zip(used, values, strict=True))
        with suppress(ConfigError):  # some values contradict others
            MindSettings(**mind)
            yield mind


def _values(setting: str) -> tuple[Any, ...]:
    kind = MindSettings.model_fields[setting].annotation
    return get_args(kind) if get_origin(kind) is Literal else (False, True)


def _absent_where_off(node: ThoughtNode, game: Game, what: str) -> None:
    """Require that a bidder's own node is there only if it is named, and a game's node only if it is on."""
    off = MindSettings(**_mind(node, on=False))
    if not node.on(off, MEMORY) or node not in usual_nodes(game):
        there = [one.name for one in nodes_of(game.name, off, MEMORY).values()]
        require(node.name not in there, f"{what} is in the graph where it is off", there)


def _had(node: ThoughtNode, run: Played, what: str, game: Game) -> None:
    """Require the consequences of a thought: calls, events, and notes in later prompts."""
    require(bool(of_type(run.log, node.event)), f"{what} is on, and no {node.event.__name__} is in the log")
    mine = [call for call in run.calls if call.purpose == node.task]
    explained(mine)
    if node.fold is None or node.tells is None or not mine:
        return
    bidder = mine[0].bidder
    later = [call for call in run.calls[run.calls.index(mine[0]) + 1 :] if call.bidder == bidder]
    noted = any(node.note in call.facts for call in later) or node.note in game.played.tells
    require(noted or not later, f"{what} notes nothing that later prompts tell", [one.purpose for one in later])


def _resumed(auction: Auction, before: Sequence[Entry], what: str) -> None:
    """Require that a run which broke off in the middle resumes to the same log."""
    with TemporaryDirectory() as place:
        folder = Path(place) / "run"
        log = auction.run(out=folder).log
        equal(before, log)
        for name in (EVENTS, CALLS):
            lines = (folder / name).read_bytes().splitlines(keepends=True)
            (folder / name).write_bytes(b"".join(lines[: len(lines) // 2]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # stepping back to a whole turn is no fault of the node
            again = resume(folder).log
        equal(log, again, f"a run with {what} and the same run resumed")
