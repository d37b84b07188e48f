"""Checks that a log follows from the rules of its game, without a model: its own bids are settled again.

The rules are made from the log, and from the settings beside it. Chance is not drawn again but for ties, which come
from the seed; where the seed is not told, any draw will do that gives what the log tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from harbor._config.auction import AuctionConfig
from harbor._core.asks import Action, Ask
from harbor._core.errors import LogError, told
from harbor._core.events import (
    EVERYONE,
    BiddersAsked,
    BidderSeated,
    BidFailed,
    Event,
    LogOpened,
    Paused,
    PublicEvent,
    SeatFailed,
)
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._core.seeding import stream
from harbor._games.game import Game, game_of
from harbor._games.record import Events, Record, bids
from harbor._house.auctioneer import auction_loop
from harbor._house.heading import BEFORE, check_heading
from harbor._house.retelling import Retelling
from harbor._house.verdict import Differs, Ended, Level, Verdict, differs

THOUGHTS_UNCHECKED = "thoughts, model calls and the words of answers are as the log tells them: no rule gives them"
PRIVATE_UNCHECKED = "the log has public events alone: whatever is private is not there to be checked"
WITHIN_ONE_SALE = 20
"""The most times that settings let a bidder be asked again."""


def check(entries: Sequence[Entry], settings: AuctionConfig | None = None) -> Verdict:
    """Check that the log of one sale follows from the rules of its game, as far as it goes.

    Args:
        entries: of the log. If it has public events alone, only these are compared, and the settings are not used.
        settings: those that lie beside it, or None.

    Raises:
        LogError: nothing tells how a log of this game is checked, or its game is missing.
    """
    public = not any(_is_private(entry.event) for entry in entries)
    level: Level = "public" if public else "rules"
    known = None if public else settings
    game = game_of(entries)
    record = game.record or _by_settings(game, known)
    try:
        check_heading(entries, game, known)
        ends = _retold(entries, game, record, known, public)
        with possible(lambda: entries[-1]):
            unchecked = record.unchecked([entry.event for entry in entries], known)
    except Differs as error:
        return replace(error.verdict, level=level)
    return Verdict(True, level, unchecked=(*unchecked, *ends, PRIVATE_UNCHECKED if public else THOUGHTS_UNCHECKED))


def _retold(
    entries: Sequence[Entry], game: Game, record: Record, settings: AuctionConfig | None, public: bool
) -> tuple[str, ...]:
    """Compare all events of the house and of the game; say where the log ends early, if it does."""
    counted = {BidFailed, SeatFailed, *BEFORE, *game.events}
    begun = next((n for n, entry in enumerate(entries) if type(entry.event) not in BEFORE), len(entries))
    story = [one for one in entries[begun:] if isinstance(one.event, PublicEvent) or type(one.event) in counted]
    events = [entry.event for entry in entries]
    seed = of_type(entries, LogOpened)[0].seed
    if not story:
        raise LogError("the log ends before the sale opens: there is nothing to check")
    with possible(lambda: story[0]):
        rules = record.rules(events, settings)
    sale = Retelling(rules, record, story, None if seed is None else stream(seed, "ties"), public)
    ended = (f"the log ends at line {entries[-1].seq + 1}, before the sale closed",)
    here = partial(possible, lambda: story[min(sale.place, len(story) - 1)])
    try:
        with here():
            _carry(sale, events, settings)
    except Ended:
        return ended
    except Differs:
        with here():
            broke_off = sale.broke_off
        if not broke_off:
            raise
        return (*ended, f"what follows line {story[sale.place - 1].seq + 1}, as the turn is not told to its end")
    if sale.place < len(story):
        raise differs(story[sale.place], None)
    return ()


@contextmanager
def possible(where: Callable[[], Entry]) -> Iterator[None]:
    """Say where the rules break over a log: a forged event may hold anything, and strangers' rules raise anything.

    Raises:
        Differs: they do.
    """
    try:
        yield
    except (Differs, Ended, LogError):
        raise
    except Exception as error:
        wrong = Verdict(False, "rules", where().seq + 1, "what it tells", "what its rules can take", told(error))
        raise Differs(wrong) from error


def _carry(sale: Retelling, events: Events, settings: AuctionConfig | None) -> None:
    """Carry the auction loop to its end, with the replies that the log tells.

    Raises:
        Ended, Differs: as the sale says.
    """
    pauses = [event for event in events if isinstance(event, Paused)]
    seats = tuple([event.bidder for event in events if isinstance(event, BidderSeated)]) or ("",)
    thinkers, learners = (seats if any(one.over is over for one in pauses) else () for over in (False, True))
    loop = auction_loop(sale, thinkers, _reasks(events, settings), learners)
    turn = next(loop, None)
    while turn is not None:
        try:
            turn = loop.send(sale.replies(turn))
        except StopIteration:
            return


def _reasks(events: Events, settings: AuctionConfig | None) -> int:
    """Give how often a bidder is asked again: as it is set, or as often as happened."""
    if settings is not None:
        return settings.rules.reasks
    return min(WITHIN_ONE_SALE, max((one.attempt for one in events if isinstance(one, BiddersAsked)), default=1) - 1)


def _is_private(event: Event) -> bool:
    return event.audience != EVERYONE and not isinstance(event, LogOpened)


# ---------------------------------------------------------------- games that do not say how they are checked


def _by_settings(game: Game, settings: AuctionConfig | None) -> Record:
    """Check a game that has no record by its settings, where bids and withdrawals are events.

    Raises:
        LogError: the settings are not there.
    """
    cannot = f"the game {game.name!r} does not say how its logs are checked (Game.record)"
    if settings is None:
        raise LogError(f"{cannot}, and there are no settings to go by; ask its author for a record")
    config = settings

    def done(asks: Sequence[Ask], events: Events) -> Mapping[str, Action]:
        found = bids(asks, events)
        if any(ask.bidder not in found for ask in asks):
            raise LogError(f"{cannot}, and its bids are not among the events of Harbor; ask its author for a record")
        return found

    return Record(rules=lambda _, __: game.build(config.rules, config), actions=done)
