"""A check shows, without a model, that a log follows from the rules of its game: its own acts are settled again.

The auction loop of a sale runs again over a log that compares instead of writing. Rules are built from the settings
beside the log, or made from its public events. With the seed, chance is drawn again; without the seed, draws come from
the log. The entries before the opening are compared only with the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from typing import Any

from harbor._config.auction import AuctionConfig, Bidder, Item
from harbor._core.asking.asks import Action
from harbor._core.basics.errors import LogError
from harbor._core.basics.numbers import stream, to_cents
from harbor._core.basics.redaction import told
from harbor._core.log.acts import (
    HOUSE,
    Acted,
    ActedSealed,
    AllocatedSealed,
    Drawn,
    DrawnOpenly,
    PaidSealed,
    Signal,
    Tried,
    Worth,
)
from harbor._core.log.events import (
    EVERYONE,
    BidderLabelled,
    BidderSeated,
    CatalogShown,
    Event,
    ItemLabelled,
    LogOpened,
    Paused,
    PublicEvent,
    SaleClosed,
    SeatFailed,
)
from harbor._core.log.log import TURN_OPENS, of_type
from harbor._core.log.log_entries import Entry, is_over
from harbor._games.game import Game, game_of
from harbor._games.mechanism import Draw, Mechanism, Undrawn
from harbor._house.auctioneer import Sale, auction_loop
from harbor._house.compared_log import (
    NOTHING,
    ComparedLog,
    Differs,
    Ended,
    Level,
    ToldReplies,
    Verdict,
    differs,
    found_at,
)

BEFORE = (LogOpened, ItemLabelled, BidderLabelled, BidderSeated, Signal, CatalogShown)
"""Events before the opening of a sale; signals may come later, too."""


def check_heading(entries: Sequence[Entry], game: Game, settings: AuctionConfig | None) -> None:
    """Compare the start of a log with the settings (None: unknown), and refuse repeated names.

    Raises:
        Differs: an event differs; the verdict names it.
    """
    heading = list(takewhile(lambda entry: isinstance(entry.event, BEFORE), entries))
    following = entries[len(heading)] if len(heading) < len(entries) else None
    for kind in BEFORE:
        of_kind = [entry for entry in heading if type(entry.event) is kind]
        expected = None if settings is None else _expected(kind, game, settings)
        _check(of_kind, expected, following)
    seated, labelled = (
        [entry.event.bidder for entry in heading if type(entry.event) is kind]
        for kind in (BidderSeated, BidderLabelled)
    )
    if following is not None and seated != labelled:
        raise differs(following, None)
    _check_names(entries, set(seated))


def _check(entries: Sequence[Entry], expected: Sequence[Event] | None, following: Entry | None) -> None:
    """Compare the events of one kind with the expected ones (None: unknown), as far as those are known."""
    names = [_name(entry.event) for entry in entries]
    for place, entry in enumerate(entries):
        if names[place] in names[:place] or (expected is not None and place >= len(expected)):
            raise differs(entry, None)
        if expected is not None and (wanted := _as_far(expected[place], entry.event)) != entry.event:
            raise differs(entry, wanted)
    if expected is not None and len(entries) < len(expected) and following is not None:
        raise differs(following, expected[len(entries)])


def _expected(kind: type[Event], game: Game, settings: AuctionConfig) -> list[Event] | None:
    """Return the events of a kind that follow from the settings; None if the settings do not tell."""
    items = settings.items if isinstance(settings.items, tuple) and "items" in game.uses else ()
    if kind is ItemLabelled:
        return [ItemLabelled(item.name, item.true_value, item.persona or "") for item in items]
    if kind is BidderLabelled:
        return [BidderLabelled(bidder.name, bidder.persona, "") for bidder in settings.bidders]
    if kind is BidderSeated:
        return [_seated(bidder, game) for bidder in settings.bidders]
    if kind is Signal:
        return (
            [_estimates(bidder, items) for bidder in settings.bidders] if items and "overestimate" in game.uses else []
        )
    return [LogOpened(0, "", "", settings.seed, rules=settings.rules.told())] if kind is LogOpened else None


def _estimates(bidder: Bidder, items: Sequence[Item]) -> Signal:
    over = 1 + bidder.overestimate
    return Signal(bidder.name, {item.name: to_cents(item.true_value * over) for item in items}, noisy=True)


def _seated(bidder: Bidder, game: Game) -> BidderSeated:
    budget = bidder.budget if "budget" in game.uses else to_cents(bidder.budget * 0)
    return BidderSeated(bidder.name, budget, {}, bidder.objective)


def _as_far(expected: Event, found: Event) -> Event:
    """Return the expected event, with the found values for fields that settings do not tell."""
    match expected, found:
        case LogOpened(), LogOpened():
            return replace(found, seed=expected.seed, rules=expected.rules)
        case BidderLabelled(), BidderLabelled():
            return replace(expected, player=found.player)
        case BidderSeated(), BidderSeated():
            return replace(expected, personas=found.personas, rivals=found.rivals)
        case _:
            return expected


def _name(event: Event) -> str:
    return str(getattr(event, "item", "") or getattr(event, "bidder", ""))


def _check_names(entries: Sequence[Entry], seated: set[str]) -> None:
    """Refuse events about a bidder without a seat; skip the check for a public log, which has no seats."""
    for entry in entries if seated else ():
        nobodys = {None, HOUSE} if isinstance(entry.event, Worth) else {None}  # a common worth is nobody's
        if getattr(entry.event, "bidder", None) not in seated | nobodys:
            raise differs(entry, None)


OF_RULES = (Tried, ActedSealed, Drawn, AllocatedSealed, PaidSealed, Worth, Signal, SeatFailed)
"""Events that are not public, from the house and the rules of any game."""
THOUGHTS_UNCHECKED = "thoughts, model calls and the words of answers are as the log tells them: no rule gives them"
PRIVATE_UNCHECKED = "the log has public events alone: private ones can't be checked"
AS_TOLD = "there are no settings to build the rules from: values, budgets and items are taken as the log tells them"
MOST_DRAWS = 500
"""Limit of tried combinations of draws in a turn of a public log without draws."""
DRAWN = "numbers that are drawn in secret: their results are taken from the log"
SEALED = "acts that are sealed and never disclosed: their results are taken from the log"


def check(entries: Sequence[Entry], settings: AuctionConfig | None = None) -> Verdict:
    """Check that the log of one sale follows from the rules of its game, up to the log's end.

    Args:
        entries: the entries of the log. If all are public, only public events are compared, without the settings.
        settings: the settings beside the log, or None.

    Raises:
        LogError: the log ends before the sale opens, or its game is missing.
    """
    public = not any(_is_private(entry.event) for entry in entries)
    level: Level = "public" if public else "rules"
    known = None if public else settings
    game = game_of(entries)
    try:
        check_heading(entries, game, known)
        story = _story(entries, game)
        made = _rules(entries, game, known)
        ends = _carried_again(entries, story, game, made, level) if made else ()
    except Differs as error:
        return replace(error.verdict, level=level)
    if not made:
        return Verdict(True, "heading", unchecked=(_unknown(game), *[PRIVATE_UNCHECKED] * public))
    said = () if known else (AS_TOLD,)
    return Verdict(True, level, unchecked=(*said, *ends, PRIVATE_UNCHECKED if public else THOUGHTS_UNCHECKED))


def _unknown(game: Game) -> str:
    return f"the rules: the game {game.name!r} does not make them of public events (Game.from_public)"


def _rules(entries: Sequence[Entry], game: Game, settings: AuctionConfig | None) -> Mechanism[Any] | None:
    """Build the rules from the settings, or make them from the log; None if the game can't do that."""
    with possible(lambda: entries[0]):
        if settings is not None:
            return game.build(settings.rules, settings)
        if game.from_public is None:
            return None
        [opened] = of_type(entries[:1], LogOpened)
        return game.from_public(game.settings.model_validate(opened.rules), [entry.event for entry in entries])


def _carried_again(
    entries: Sequence[Entry], story: Sequence[Entry], game: Game, rules: Mechanism[Any], level: Level
) -> tuple[str, ...]:
    """Compare all events of the house and of the game; return sentences about unchecked parts and an early end."""
    log = ComparedLog(story, is_over(entries), level)
    [opened] = of_type(entries[:1], LogOpened)
    sale = _ToldSale(rules, game, log, opened.seed)
    ended = f"the log ends at line {entries[-1].seq + 1}, before the sale closed"
    try:
        with possible(lambda: log.here or story[-1]):
            _carry(sale, [entry.event for entry in entries], int(opened.rules.get("reasks", 0)))
    except Ended:
        rest = log.rest
        cut = (f"what follows line {rest[0].seq}, as the turn is not told to its end",) if rest else ()
        return (*sale.unchecked, ended, *cut)
    log.check_over()
    return sale.unchecked


def _story(entries: Sequence[Entry], game: Game) -> Sequence[Entry]:
    """Return the entries from the house and the rules of a sale.

    Raises:
        LogError: the sale has not opened.
    """
    counted = {*OF_RULES, *BEFORE, *game.events}
    begun = next((n for n, entry in enumerate(entries) if type(entry.event) not in BEFORE), len(entries))
    story = [one for one in entries[begun:] if isinstance(one.event, PublicEvent) or type(one.event) in counted]
    if not story:
        raise LogError("the log ends before the sale opens: there is nothing to check")
    return story


class _ToldSale(Sale[Any]):
    """A sale whose every event is compared with a log."""

    def __init__(self, rules: Mechanism[Any], game: Game, log: ComparedLog, seed: int | None) -> None:
        ties = None if seed is None else stream(seed, "ties")
        super().__init__(rules, (), log, ties, game.acts, game.draws, self._next_draw)
        self.compared = log
        self.replies = ToldReplies(log, game.acts)
        self.unchecked: tuple[str, ...] = ()
        self._is_hidden = log.level == "public" and game.draws == "sealed"
        self._guessed: Iterator[Draw] = iter(())

    def record(self, *events: Event) -> None:
        """Compare events with the next ones of the log, and fold them.

        Raises:
            Ended: the log has no more events.
            Differs: the log has another event.
        """
        for event in events:
            self.log.append(event)
            self.state = self.rules.apply(self.state, event)

    def settle(self, actions: Mapping[str, Action]) -> list[Event]:
        """Compare the results of the actions; take them from a public log that does not tell the actions or a draw.

        Public results that follow from any actions are still compared. Results of an untold draw are compared, too:
        they must be the results of one of the possible draws.
        """
        if not (self._is_hidden or self.replies.untold):
            try:
                return super().settle(actions)
            except Undrawn:
                if len(self.compared.rest) <= len(self._drawn) and not self.compared.complete:
                    raise Ended from None
                raise
        if not self.compared.rest and not self.compared.complete:
            raise Ended
        block = [entry.event for entry in self._block()]
        is_cut = not self.compared.complete and len(block) == len(self.compared.rest)
        told = len(block) if is_cut else None
        found, is_all = self._possible(actions)
        fitting = next((events for events in found if _public(events)[:told] == block), None)
        if fitting is None and found and is_all and not self.replies.untold:
            fitting = found[0]  # comparing it reports where the log differs
        if fitting is not None:
            self.record(*fitting)
            return fitting
        self.unchecked = tuple(dict.fromkeys((*self.unchecked, SEALED if self.replies.untold else DRAWN)))
        return self._taken(block, _shown(_public(found[0])) if found else set())

    def _possible(self, actions: Mapping[str, Action]) -> tuple[list[list[Event]], bool]:
        """Return the results of all possible draws, and whether these are all; drawn numbers can't be listed."""
        ways: list[tuple[Draw, ...]] = [()]
        found: list[list[Event]] = []
        is_all = True
        for _ in range(MOST_DRAWS):
            if not ways:
                return found, is_all
            drawn = ways.pop()
            self._guessed = iter(drawn)
            try:
                events = self.rules.settle(self.state, actions, self._chance)
                found.append([*self._drawn, *events])
            except Undrawn as error:
                among = error.among if self._is_hidden else ()
                ways += [(*drawn, Drawn("", (), one)) for one in reversed(among)]
                is_all = is_all and bool(among)
            self._drawn.clear()
        return found, False

    def _taken(self, block: Sequence[Event], shown: set[str]) -> list[Event]:
        """Take the events of the log without comparison; they must show acts of the bidders in `shown`."""
        if _shown(block) < shown:
            raise found_at(self.compared.here, f"what {' and '.join(sorted(shown))} did", NOTHING, "public")
        events = [self.compared.take().event for _ in block]
        for event in events:
            self.state = self.rules.apply(self.state, event)
        return events

    def _block(self) -> Sequence[Entry]:
        """Return the entries up to the next turn, or to the end of the sale."""
        rest = self.compared.rest
        end = next((n for n, one in enumerate(rest) if isinstance(one.event, (*TURN_OPENS, SaleClosed))), len(rest))
        return rest[:end]

    def _next_draw(self) -> Draw | None:
        """Return the next draw of the log; None if the log ends here or has no draw."""
        if self._is_hidden:
            return next(self._guessed, None)
        place = len(self.compared.entries) + len(self._drawn)
        event = self.compared.told[place].event if place < len(self.compared.told) else None
        return event if isinstance(event, Drawn | DrawnOpenly) else None


@contextmanager
def possible(where: Callable[[], Entry]) -> Iterator[None]:
    """Turn any error of the rules into a difference, because forged events and strangers' rules may raise anything.

    Raises:
        Differs: the rules raise an error inside.
    """
    try:
        yield
    except (Differs, Ended, LogError):
        raise
    except Exception as error:
        wrong = Verdict(False, "rules", where().seq + 1, "what it tells", "what its rules can take", told(error))
        raise Differs(wrong) from error


def _shown(events: Iterable[Event]) -> set[str]:
    """Return the bidders whose acts are shown to everyone."""
    return {event.bidder for event in events if isinstance(event, Acted)}


def _carry(sale: _ToldSale, events: Sequence[Event], reasks: int) -> None:
    """Run the auction loop to its end with the replies from the log.

    Raises:
        Ended: the log breaks off.
        Differs: the log differs from the sale.
    """
    pauses = [event for event in events if isinstance(event, Paused)]
    seats = tuple([event.bidder for event in events if isinstance(event, BidderSeated)]) or ("",)
    thinkers, learners = (seats if any(one.over is over for one in pauses) else () for over in (False, True))
    loop = auction_loop(sale, thinkers, reasks, learners)
    turn = next(loop, None)
    while turn is not None:
        try:
            turn = loop.send(sale.replies.of(turn))
        except StopIteration:
            return


def _public(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if event.audience == EVERYONE]


def _is_private(event: Event) -> bool:
    return event.audience != EVERYONE and not isinstance(event, LogOpened)
