"""The conformance suites for games and scripted policies: call them in a test of one that you write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources.abc import Traversable
from string import Template
from typing import Any

from harbor._config.auction import check
from harbor._core import events as core_events
from harbor._core import thoughts
from harbor._core.asks import Ask
from harbor._core.events import BidFailed, Event
from harbor._core.finding import find, names
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._games.game import Game, Play
from harbor._games.scripted import ScriptedPolicy
from harbor.testing._playing import BIDDERS, played, require, table, whole
from harbor.testing._rules import Secrets, check_rules

PLAYERS = ({"model": "simulated"}, {"rule": "rational"}, {"rule": "random"}, {"rule": "adversary"})
CUTS = 20
EVERYWHERE = ("you", "personas", "give_reasons", "rules", "plan", "forecasts", "refused", "attempt", "game", "task")
"""Facts that prompts of all games have; `game` and `task` are for the built-in model."""


def check_game(
    game: Game,
    settings: Mapping[str, Any] | None = None,
    bidders: Sequence[str] = BIDDERS,
    secrets: Secrets | None = None,
) -> None:
    """Check that a game keeps its promises.

    It has all its parts; its settings are read back as they were written; its rules are pure, and ask and tell nobody
    what is another's (`check_rules`); the built-in model and the rational policy answer every call legally; random
    and hostile policies break nothing; equal runs give equal logs; prompts explain every fact; its standings name every
    bidder, and can be taken of a log that broke off anywhere.

    Args:
        game: the game.
        settings: of its rules, for a short game; by default as they are.
        bidders: their names; a game may know only some.
        secrets: what others must not see, by bidder (`check_rules`).

    Raises:
        AssertionError: it names the broken promise and the evidence.
    """
    whole(game)
    chosen = dict(settings or {})
    _round_trip(game, chosen)
    auction = table(game, bidders, chosen, PLAYERS[0])
    check_rules(game.build(auction.rules, auction), secrets, games=5)
    for player in PLAYERS:
        log = played(table(game, bidders, chosen, player))
        _known_events(game, log)
        _measured(game, log, bidders)
        if player in PLAYERS[:2]:
            failed = [(event.bidder, event.reason) for event in of_type(log, BidFailed)]
            require(not failed, f"{player} gives answers that are not legal", failed)
    if game.play is not None:
        _explained(game.play, game.build(auction.rules, auction), log, bidders)


def check_policy(policy: ScriptedPolicy, games: Sequence[str] = ()) -> None:
    """Check that a scripted policy keeps its promises: it answers every call of its games, and equal calls alike.

    Args:
        policy: the policy.
        games: the games to try it in; by default those that it names, or all that are installed.

    Raises:
        AssertionError: it names the broken promise and the evidence.
    """
    whole(policy)
    for name in games or policy.games or names("game"):
        game = find("game", name)
        who = tuple(game.settings().residents) if name == "water" else BIDDERS
        played(table(game, who, {}, {"rule": policy.name}))


def _round_trip(game: Game, settings: Mapping[str, Any]) -> None:
    rules = check(game.settings, {"game": game.name, **settings}, "settings")
    again = game.settings.model_validate(json.loads(rules.model_dump_json()))
    require(again == rules, "settings that are written and read back differ", (rules, again))


def _known_events(game: Game, log: Sequence[Entry]) -> None:
    """Require that whoever reads a log knows its events."""
    known = {*game.events, *vars(core_events).values(), *vars(thoughts).values()}
    strange = {type(entry.event).__name__ for entry in log if type(entry.event) not in known}
    require(not strange, "events are missing from the events of the game", sorted(strange))
    require(game.opening in game.events or game.opening in known, "the opening is none of its events", game.opening)
    require(bool(of_type(log, game.opening)), "the log has no opening", game.opening)


def _measured(game: Game, log: Sequence[Entry], bidders: Sequence[str]) -> None:
    rows = game.measures.standings(log)
    require(sorted(row.bidder for row in rows) == sorted(bidders), "the standings do not name every bidder once", rows)
    for cut in range(1, len(log), max(1, len(log) // CUTS)):
        for measure in (game.measures.standings, game.measures.items, game.measures.figures):
            measure(log[:cut])


def _explained(play: Play, rules: Any, log: Sequence[Entry], bidders: Sequence[str]) -> None:
    """Require that prompts can be filled, and explain each fact by its name in backticks."""
    texts = _text(play.system) + _text(play.prompt)
    me = bidders[0]
    seen: list[Event] = []
    state = rules.start()
    for entry in log:
        event = entry.event
        state = rules.apply(state, event)
        if event.audience in ("everyone", f"bidder:{me}"):
            seen.append(event)
        for ask in (ask for ask in rules.asks(state) if ask.bidder == me):
            facts = {**play.facts(me, seen), **_of_ask(ask)}
            json.dumps(facts, default=float)
            unexplained = [name for name in facts if f"`{name}`" not in texts and name not in EVERYWHERE]
            require(not unexplained, "the prompts do not explain these facts", unexplained)


def _of_ask(ask: Ask) -> Mapping[str, Any]:
    return ask.space.facts()


def _text(file: Traversable) -> str:
    text = file.read_text(encoding="utf-8")
    blanks = Template(text).get_identifiers()
    require(blanks == ["facts"], "the one blank of a prompt is ${facts}", (file.name, blanks))
    return text
