"""Opens a log with the ground truth and each bidder's private facts. Before that, an extension's game is rehearsed.

Only the analyst sees the truth, and each bidder sees only its own facts. A rehearsal checks that a game is pure, so
that no later call fails silently.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from random import Random
from typing import Any

from harbor._config.auction import Simulated
from harbor._core.asking.asks import Ask
from harbor._core.basics.errors import ConfigError, HarborError
from harbor._core.basics.numbers import stream
from harbor._core.basics.redaction import told
from harbor._core.faces import __version__
from harbor._core.log.acts import Signal
from harbor._core.log.events import (
    EVERYONE,
    SCHEMA_VERSION,
    BidderLabelled,
    BidderSeated,
    CatalogShown,
    Event,
    ItemLabelled,
    LogOpened,
)
from harbor._core.log.log import Log
from harbor._core.log.log_entries import is_seen_by, named
from harbor._core.log.thoughts import Profiled
from harbor._core.plugins.extensions import Found
from harbor._core.plugins.finding import find
from harbor._games.game import Game, Play, build
from harbor._games.mechanism import drawn, settled
from harbor._house.auctioneer import Sale
from harbor._runs.resolve import ResolvedAuction


def opened_log(auction: ResolvedAuction, run: str, token: str, seed: int | None = None) -> LogOpened:
    """Return the first line of a log; `seed` is that of a series (None: that of the auction)."""
    parts, own = auction.parts, auction.config.seed
    rules = auction.config.rules.told()
    return LogOpened(SCHEMA_VERSION, __version__, run, own if seed is None else seed, token, parts, rules)


def opened_sale(auction: ResolvedAuction, log: Log, run: str, token: str) -> Sale[Any]:
    """Open the log of a run and write the events before the opening; return the sale, which is not yet open."""
    log.append(opened_log(auction, run, token))
    game: Game = find("game", auction.config.rules.game)
    ties = stream(auction.config.seed, "ties")
    sale = Sale(auction.rules, list(auction.players), log, ties, game.acts, game.draws)
    for event in opening_events(auction):
        sale.record(event)
    return sale


def opening_events(auction: ResolvedAuction) -> list[Event]:
    """Return the events before the opening: labels of items and bidders, then each bidder's knowledge."""
    events: list[Event] = [ItemLabelled(item.name, item.true_value, item.persona or "") for item in auction.items]
    for bidder in auction.bidders:
        drawn = f" ({bidder.policy.drawn})" if bidder.policy and bidder.policy.drawn else ""
        events.append(BidderLabelled(bidder.settings.name, bidder.settings.persona, bidder.player + drawn))
    for bidder in auction.bidders:
        name, objective = bidder.settings.name, bidder.settings.objective
        seated = BidderSeated(
            name,
            bidder.budget,
            dict(bidder.personas),
            objective,
            {rival: dict(weights) for rival, weights in bidder.rivals.items()},
        )
        events.append(seated)
        if bidder.estimates:
            events.append(Signal(name, dict(bidder.estimates), noisy=True))
        if bidder.settings.theory_of_mind != "none":
            events.append(CatalogShown(name, {key: persona.text for key, persona in auction.catalog.items()}))
    return events


MOST_TURNS = 20
"""Turns of an extension's game that are tried before its first run."""
RESERVED = (
    *("you", "personas", "give_reasons", "rules", "task", "game", "plan", "forecasts", "refused", "attempt"),
    *("memories", "profiles", "profiles_of_you", "interests", "strategy"),
)
"""Facts that prompts of every game have, or that thoughts note; a game's own facts need other names."""
WAYS = 5
"""Random ways of play that are compared, to see whether public events depend on the players' actions."""
IDLE_PROFILES = "shows nothing of what they do with these settings"
"""Part of a warning, after the name of the game."""
UNTIL = "until harbor.testing.check_game passes"
"""End of the errors in a rehearsal."""
_REHEARSED: dict[str, Game] = {}
"""The games that were rehearsed in this process, by name."""


def rehearse(one: Found, auction: ResolvedAuction) -> None:
    """Test the rules, the facts, and the built-in and rational answers of an extension's game, once per process.

    Raises:
        ConfigError: one of them fails, or the rules are not pure; one line that names the package and the part.
    """
    if one.builtin or _REHEARSED.get(one.name) is one.value:
        return
    try:
        _play(one, auction)
    except HarborError:
        raise
    except (Exception, SystemExit) as error:  # an extension's rules may raise anything
        why = told(error).removeprefix("AssertionError: ")
        raise ConfigError(f"{_game(one)} has rules that can't be relied on ({why}); mend them {UNTIL}") from error
    _REHEARSED[one.name] = one.value


def _play(one: Found, auction: ResolvedAuction) -> None:
    rng = stream(auction.config.seed, "rehearsal")
    for news, asks, seen in _turns(one.value, auction, rng, rng):
        _check_events(one, news)
        for ask in asks:
            _answer(one, ask, seen[ask.bidder], rng)


Turn = tuple[Sequence[Event], Sequence[Ask], Mapping[str, list[Event]]]
"""The news, the asks that follow, and the events that each bidder has seen."""


def _turns(game: Game, auction: ResolvedAuction, rng: Random, players: Random) -> Iterator[Turn]:
    """Yield the turns of a rehearsal; the rules draw from one stream, the players from another."""
    rules = build(auction.config)  # a fresh copy: those of the auction stay unchanged
    seen: dict[str, list[Event]] = {bidder.settings.name: [] for bidder in auction.bidders}
    _, news, state = settled(rules, rules.start(), {}, rng, game.acts, game.draws)
    _hear(seen, opening_events(auction))
    for _ in range(MOST_TURNS):
        _hear(seen, news)
        asks = rules.asks(state)
        yield news, asks, seen
        if not asks:
            return
        actions = {ask.bidder: drawn(ask, players) for ask in asks}
        acts, news, state = settled(rules, state, actions, rng, game.acts, game.draws)
        _hear(seen, acts)


def warn_of_idle_profiles(game: Game, auction: ResolvedAuction) -> None:
    """Warn of bidders that profile rivals although no event ever shows their actions, before any call is paid."""
    profilers = [one.settings.name for one in auction.bidders if any(node.event is Profiled for node in one.nodes)]
    if not profilers or game.acts == "open":
        return
    ways = (_public(game, auction, str(way)) for way in range(WAYS))
    if any(one != first for first, *others in zip_longest(*ways) for one in others):
        return
    who, verb = " and ".join(profilers), "profiles" if len(profilers) == 1 else "profile"
    warnings.warn(
        f"{who} {verb} rivals, and the game {game.name!r} {IDLE_PROFILES}: profiles stay uniform, and their calls are"
        " paid all the same; show it, or set theory_of_mind = 'none'",
        stacklevel=5,
    )


def _public(game: Game, auction: ResolvedAuction, way: str) -> Iterator[Event]:
    """Yield the public events of a rehearsal whose players draw from the stream `way`."""
    seed, told = auction.config.seed, 0
    for _, _, seen in _turns(game, auction, stream(seed, "rehearsal"), stream(seed, "rehearsal", way)):
        heard = next(iter(seen.values()))
        yield from (event for event in heard[told:] if event.audience == EVERYONE)
        told = len(heard)


def _hear(seen: Mapping[str, list[Event]], news: Iterable[Event]) -> None:
    for event in news:
        for name, heard in seen.items():
            if is_seen_by(name, event):
                heard.append(event)


def _check_events(one: Found, news: Iterable[Event]) -> None:
    known = named(one.value.events).values()
    for event in news:
        if type(event) not in known:
            raise ConfigError(f"{_game(one)} lacks events: {type(event).__name__}; add it")


def _answer(one: Found, ask: Ask, seen: list[Event], rng: Random) -> None:
    """Try each part of a game that answers an ask."""
    game: Game = one.value
    part = "rational"
    try:
        game.rational(ask, seen)
        if game.play is not None:
            part = "play.facts"
            facts = _facts(game.play, ask, seen)
            part = "play.policy"
            game.play.policy(facts, Simulated(), rng)
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{_game(one)} fails in {part} ({told(error)}); mend it {UNTIL}") from error


def _facts(play: Play, ask: Ask, seen: list[Event]) -> dict[str, object]:
    """Return the facts of a call, as the built-in model reads them out of the prompt."""
    facts = play.facts(ask.bidder, seen)
    if not isinstance(facts, Mapping):
        raise TypeError(f"{type(facts).__name__} are no facts; give a mapping of names to JSON")
    if taken := [name for name in RESERVED if name in facts]:
        raise ValueError(f"the fact {taken[0]!r} is there in every prompt; give it another name")
    read: dict[str, object] = json.loads(json.dumps({**facts, **ask.space.facts()}, default=float))
    return read | {"you": ask.bidder, "personas": []}


def _game(one: Found) -> str:
    return f"{one.whose}: the game {one.value.name!r}"
