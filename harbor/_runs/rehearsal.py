"""A rehearsal of a stranger's game before it is first run, so that no call fails in silence later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random

from harbor._config.auction import Simulated
from harbor._core.asks import Ask
from harbor._core.errors import ConfigError, told
from harbor._core.events import EVERYONE, Event
from harbor._core.extensions import Found
from harbor._core.log_lines import named
from harbor._core.seeding import stream
from harbor._games.game import Game, Play
from harbor._games.purity import MOST_TURNS, drawn
from harbor._runs.opening import opening_events
from harbor._runs.resolve import ResolvedAuction

RESERVED = ("you", "personas", "give_reasons", "rules", "task", "game", "plan", "forecasts", "refused", "attempt")
"""Facts that prompts of every game have; those of a game need other names."""
_REHEARSED: dict[str, Game] = {}
"""The games that were rehearsed in this process, by name."""


def rehearse(one: Found, auction: ResolvedAuction) -> None:
    """Try facts, built-in answers and rational answers of a game of somebody else's, once per process.

    Raises:
        ConfigError: one of them fails; one line that names the package and the part.
    """
    if one.builtin or _REHEARSED.get(one.name) is one.value:
        return
    rng = stream(auction.config.seed, "rehearsal")
    rules = one.value.build(auction.config.rules, auction.config)
    seen: dict[str, list[Event]] = {bidder.settings.name: [] for bidder in auction.bidders}
    state, known = rules.start(), set(named(one.value.events).values())
    news: list[Event] = [*opening_events(auction), *rules.settle(state, {}, rng)]
    for _ in range(MOST_TURNS):
        for event in news:
            if type(event) not in known:
                raise ConfigError(f"{one.whose}: the game {one.name!r} lacks events: {type(event).__name__}; add it")
            state = rules.apply(state, event)
            for name, heard in seen.items():
                if event.audience in (EVERYONE, f"bidder:{name}"):
                    heard.append(event)
        asks = rules.asks(state)
        for ask in asks:
            _try(one, ask, seen[ask.bidder], rng)
        if not asks:
            break
        news = rules.settle(state, {ask.bidder: drawn(ask, rng) for ask in asks}, rng)
    _REHEARSED[one.name] = one.value


def _try(one: Found, ask: Ask, seen: list[Event], rng: Random) -> None:
    """Ask each part of a game for what it gives at a call."""
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
        raise ConfigError(
            f"{one.whose}: the game {one.name!r} fails in {part} ({told(error)}); mend it"
            " until harbor.testing.check_game passes"
        ) from error


def _facts(play: Play, ask: Ask, seen: list[Event]) -> dict[str, object]:
    """Give the facts of a call, as the built-in model reads them out of the prompt."""
    facts = play.facts(ask.bidder, seen)
    if not isinstance(facts, Mapping):
        raise TypeError(f"{type(facts).__name__} are no facts; give a mapping of names to JSON")
    if taken := [name for name in RESERVED if name in facts]:
        raise ValueError(f"the fact {taken[0]!r} is there in every prompt; give it another name")
    told_of: dict[str, object] = json.loads(json.dumps({**facts, **ask.space.facts()}, default=float))
    return told_of | {"you": ask.bidder, "personas": []}
