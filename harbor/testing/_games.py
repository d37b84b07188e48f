"""The conformance suite for games: call it in a test of your own game."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import cycle
from typing import Any

from harbor._config.auction import AuctionConfig
from harbor._core.log.acts import Signal, Worth
from harbor._core.log.events import BiddersAsked, LotClosed
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry, is_seen_by, named
from harbor._core.prompts.prompts import as_json
from harbor._games.board import checked
from harbor._games.game import Facts, Game, Play
from harbor._games.mechanism import require
from harbor._games.outcomes import GETS, PAYS
from harbor._house.checking import check
from harbor._runs.auction import Auction
from harbor.evaluation._metrics.summary import summarise
from harbor.personas._catalog.catalogue import with_items
from harbor.testing._conservation import at_the_edge, broken_law
from harbor.testing._leaks import check_leaks
from harbor.testing._playing import (
    Asked,
    cuts,
    equal,
    legal,
    names_of,
    played,
    promised,
    public,
    seated,
    sound,
    table,
    thinking,
    whole,
)
from harbor.testing._rules import check_rules, winners_of

UNEXPLAINED = ("task", "game", "item", "items")
"""Facts that need no explanation: two are only for the built-in model, and two have names that explain them."""
GAMES_OF_RULES = 5
"""Games of random play per check of the rules."""
NAMED = re.compile("`([a-z][a-z0-9_]*)`")
"""A name in backticks, as the explanation of a fact has it."""


def check_game(
    game: Game,
    settings: Mapping[str, Any] | None = None,
    bidders: Sequence[str] = (),
) -> None:
    """Check that a game works, and that it keeps the secrets of its bidders.

    The game needs all its parts. Its settings have to be the same after they are written and read. Its rules have to
    pass `check_rules`. They must not refuse the actions of the built-in model, of the rational policy or of random
    legal play, and hostile answers must not cause an error. Two equal runs have to give equal logs, and a log has to be
    the same after it is written and read. All that happens has to be in the events, and every winner has to be a
    bidder. No unit of an item may be given twice, every payment needs a payer and a payee, and no bidder may pay more
    for an item than its asks allowed. The facts in a prompt must come only from the events that the bidder has seen.
    The prompts have to explain each fact that they contain, and nothing else.

    The standings have to name every bidder once. They are also computed from logs that broke off, and from public
    events alone if the game's measures are `public`. If the game has `from_public`, every log has to follow from the
    rules: also a log that broke off, a log without settings, and a log of public events alone. The game's board has to
    show texts to each viewer.

    No bidder may notice a private fact of another bidder. To test this, the check changes each random draw of `build`
    and each setting of a bidder that the game `uses`, one at a time, and plays the same acts again. If only one bidder
    is told of the change, the asks, events, board and answers of all others have to stay the same. They may change
    after an act that is no longer legal, or after an event whose `discloses` is true. A setting in `uses` also fails
    the check if its change has no effect at all.

    Args:
        game: the game.
        settings: settings of the rules that make a game short; by default, those of the game.
        bidders: the names of the bidders, if the game accepts only certain names; by default three bidders, or those
            named in the settings, or as many as the game accepts.

    Raises:
        AssertionError: one of these checks fails; the message says which one, and shows the evidence.
    """
    whole(game, "game")
    with promised(f"the game {game.name!r}"):
        bidders = bidders or names_of(game)
        models, rational, random, adversary = (
            table(game, seated(bidders, player), settings or {})
            for player in (thinking(game), {"rule": "rational"}, {"rule": "random"}, {"rule": "adversary"})
        )
        _settings_come_back(models)
        check_rules(game.build(models.rules, models), games=GAMES_OF_RULES, acts=game.acts, draws=game.draws)
        check_leaks(game, table(game, _alternating(game, bidders), settings or {}), rational)
        for auction, who in ((rational, "the rational policy"), (random, "random play"), (adversary, "")):
            log = auction.run().log
            sound(log)
            _known_events(game, log)
            _won_by_bidders(log, bidders)
            _conserved(game, log, auction)
            equal(log, auction.run().log)
            if who:
                legal(log, who)
            _measured(game, log, bidders)
            _verified(game, log, auction)
            _shown(game, log, bidders)
        _conserved_at_the_edges(game, log, rational)
        _thought(game, models)


def _alternating(game: Game, bidders: Sequence[str]) -> list[dict[str, Any]]:
    """Seat a thinking bidder, a rational one and one whose answers fail, to test prompts, answers and exits."""
    players = cycle((thinking(game), {"rule": "rational"}, {"rule": "adversary"}))
    return [{"name": name, **player} for name, player in zip(bidders, players, strict=False)]


def _thought(game: Game, auction: Auction) -> None:
    """Check the play of bidders with models."""
    log, calls = played(auction)
    equal(log, auction.run().log)
    legal(log, "the built-in model")
    _known_events(game, log)
    _conserved(game, log, auction)
    _measured(game, log, [bidder.name for bidder in auction.bidders])
    _verified(game, log, auction)
    _shown(game, log, [bidder.name for bidder in auction.bidders])
    if game.play is not None:
        explained(calls)
        _nothing_else_explained(game.play, calls)
        _told_only_what_was_seen(game.play, auction, log)


def explained(calls: Sequence[Asked]) -> None:
    """Require that a prompt explains each of its facts by name, in backticks."""
    for call in calls:
        missing = [name for name in call.facts if f"`{name}`" not in call.text and name not in UNEXPLAINED]
        require(not missing, f"the prompt {call.purpose!r} does not explain these facts in backticks", missing)


def _nothing_else_explained(play: Play, calls: Sequence[Asked]) -> None:
    """Require that a name in backticks is a fact of some call, at any depth, or a part of some reply.

    A fact that only some calls have is explained under `[if NAME]`, which is sent only with it.
    """
    own = NAMED.findall(play.system.read_text(encoding="utf-8") + play.prompt.read_text(encoding="utf-8"))
    there = "\n".join(f"{call.text}\n{call.reply}" for call in calls)
    absent = sorted({name for name in own if f"`{name}`" in there and f'"{name}"' not in there})
    require(not absent, "its prompts name facts in backticks that are in no prompt; leave them out", absent)


def _settings_come_back(auction: Auction) -> None:
    again = AuctionConfig(**json.loads(auction.model_dump_json()))
    require(
        again.rules == auction.rules, "settings that are written and read back differ", (auction.rules, again.rules)
    )


def _known_events(game: Game, log: Sequence[Entry]) -> None:
    """Require that a reader of a log knows its events, by their names."""
    require(of_type(log, game.opening), f"the log has no {game.opening.__name__}, which opens the game")
    known = set(named(game.events).values())
    strange = sorted({type(entry.event).__name__ for entry in log if type(entry.event) not in known})
    require(not strange, "its log has events that are not among its events", strange)
    begun = next(number for number, entry in enumerate(log) if isinstance(entry.event, game.opening))
    traded = {type(entry.event) for entry in log[begun:]} & {*GETS, *PAYS, Signal, Worth}
    untold = sorted(kind.__name__ for kind in traded - set(game.events))
    require(not untold, "what measures it hangs on these, which are not among its `events`; add them", untold)


def _won_by_bidders(log: Sequence[Entry], bidders: Sequence[str]) -> None:
    for closed in of_type(log, LotClosed):
        strange = [name for name in winners_of(closed) if isinstance(name, str) and name not in ("", *bidders)]
        require(not strange, f"who wins {closed.item!r} is no bidder", strange)


def _conserved(game: Game, log: Sequence[Entry], auction: Auction) -> None:
    resolved = with_items(auction)
    wrong = broken_law(game, game.build(resolved.rules, resolved), log)
    require(not wrong, wrong)


def _conserved_at_the_edges(game: Game, log: Sequence[Entry], auction: Auction) -> None:
    """Require the law of units and money where everyone gives the least allowed answer, and the greatest."""
    resolved = with_items(auction)
    for edge in (0, -1):
        _conserved(game, at_the_edge(game, game.build(resolved.rules, resolved), log, edge), auction)


def _measured(game: Game, log: Sequence[Entry], bidders: Sequence[str]) -> None:
    rows = game.measures.standings(log)
    require(sorted(row.bidder for row in rows) == sorted(bidders), "the standings do not name every bidder once", rows)
    for cut in cuts(log):
        last = type(cut[-1].event).__name__
        with promised(f"the summary of a log of {game.name!r} that breaks off after {last}"):
            json.dumps(summarise(cut).as_json())
    if game.measures.public:
        with promised(f"the measures of public events of {game.name!r}"):
            _known_in_public(game.measures.standings(public(log)), rows)


def _known_in_public(told: Sequence[Any], full: Sequence[Any]) -> None:
    """Require that public events alone give the same rows as the log; None marks a value that they don't tell."""
    kept = {row.bidder: row for row in full}
    pairs = [
        (getattr(row, one.name), getattr(kept.get(row.bidder), one.name, None)) for row in told for one in fields(row)
    ]
    agree = len(told) == len(full) and all(public in (None, value) for public, value in pairs)
    require(agree, "its measures are not `public`: of public events alone its standings are others", (told, full))


def _verified(game: Game, log: Sequence[Entry], auction: Auction) -> None:
    """Require that a log follows from the rules of its game, also where parts of the log are missing."""
    resolved = with_items(auction)
    for told, settings in ((log, resolved), (log, None), (public(log), None)):
        for cut in cuts(told):
            if any(isinstance(entry.event, game.opening) for entry in cut):
                verdict = check(cut, settings)
                require(verdict.follows, "a log that was played does not follow from its rules", verdict.words)


def _shown(game: Game, log: Sequence[Entry], bidders: Sequence[str]) -> None:
    """Require that its board shows texts to each viewer at each moment, and leaves the events as they are."""
    before = repr(log)
    for viewer in ("", *bidders):
        with promised(f"the board of {game.name!r}"):
            board = game.board()
            for entry in log:
                if not viewer or is_seen_by(viewer, entry.event):
                    board.note(entry.event)
                    checked(board.shown())
    require(repr(log) == before, f"the board of {game.name!r} changes events", before[:100])


def _told_only_what_was_seen(play: Play, auction: Auction, log: Sequence[Entry]) -> None:
    """Require that facts follow from the events that a bidder has seen, and don't change when another game is dealt."""
    told = [as_json(known) for known in _facts(play, log)]
    seats = seated([bidder.name for bidder in auction.bidders], {"rule": "random"})
    Auction(**{**dict(auction), "bidders": seats, "seed": auction.seed + 1}).run()
    for before, known in zip(told, _facts(play, log), strict=True):
        after = as_json(known)
        require(
            before == after, "facts come from elsewhere than from the events that the bidder has seen", (before, after)
        )


def _facts(play: Play, log: Sequence[Entry]) -> list[Facts]:
    """Return the facts told to each bidder that is asked, at each turn."""
    found = []
    for number, entry in enumerate(log, start=1):
        for bidder in entry.event.bidders if isinstance(entry.event, BiddersAsked) else ():
            seen = [one.event for one in log[:number] if is_seen_by(bidder, one.event)]
            shown = repr(seen)
            found.append(play.facts(bidder, seen))
            require(repr(seen) == shown, "telling the facts changed the events that the bidder has seen", shown)
    return found
