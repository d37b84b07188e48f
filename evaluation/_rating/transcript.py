"""Writes one bidder's game as a blinded transcript, from the log alone, and finds the games that can be rated.

A transcript names neither the model behind the bidder nor the run, arm or condition. Bidders are named by letters; the
rated one is Player A. Each statement is one line and the words of players are quoted, so no player can forge a
statement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from string import ascii_uppercase

from harbor._core.basics.actions import printable, scrub
from harbor._core.basics.errors import RatingError, unknown
from harbor._core.basics.numbers import dollars
from harbor._core.files.layout import EVENTS, GAMES, logs_in
from harbor._core.log.acts import Tried
from harbor._core.log.events import (
    Answered,
    BidderLabelled,
    BidderSeated,
    CatalogShown,
    Event,
    Listed,
    ModelCalled,
    PrivateEvent,
    PublicEvent,
)
from harbor._core.log.log import of_type, read_log
from harbor._core.log.log_entries import Entry
from harbor._core.log.players import AGENT
from harbor._core.log.thoughts import (
    Believed,
    Decided,
    DecidedInWords,
    Expected,
    Learned,
    LimitSet,
    Mirrored,
    Planned,
    Predicted,
    Profiled,
    Recalled,
    Stated,
    Strategized,
)
from harbor._games.game import game_of
from harbor.evaluation._metrics.strategy import ACTIONS
from harbor.evaluation._metrics.summary import is_series
from harbor.personas._catalog.traits import foremost

ME = "Player A"
"""Name of the rated player in a transcript."""
Blind = Callable[[str], str]
"""Replaces the names in a text."""
Spell = Callable[[Decimal], str]
"""Writes an amount."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A bidder's game, line by line. `persona`: whether the bidder had a persona."""

    lines: tuple[str, ...]
    persona: bool

    @property
    def text(self) -> str:
        """The lines as a text."""
        return "\n".join(self.lines) + "\n"


def transcript(entries: Sequence[Entry], bidder: str) -> Transcript:
    """Return the transcript of a bidder's game.

    Args:
        entries: the log of an auction or a game.
        bidder: name of the bidder.

    Raises:
        RatingError: no bidder of the game has that name.
    """
    names = [label.bidder for label in of_type(entries, BidderLabelled)]
    if bidder not in names:
        raise RatingError(unknown("bidder", bidder, names))
    blind = _blinded(entries, bidder, names)
    seated = [event for event in of_type(entries, BidderSeated) if event.bidder == bidder]
    return Transcript(tuple(_lines(entries, bidder, blind)), persona=any(event.personas for event in seated))


def _lines(entries: Sequence[Entry], bidder: str, blind: Blind) -> Iterator[str]:
    spell: Spell = "{:f}".format if game_of(entries).unit == "number" else dollars
    part = ""
    for _, _, event in entries:
        item = getattr(event, "item", part) if isinstance(event, PublicEvent) else part
        if item != part:
            part = item
            yield from ("", f"== {_plain(item)} ==")
        if isinstance(event, PublicEvent):
            yield from (blind(_plain(line)) for line in event.sentences(bidder))
            yield from _listings(event)
        elif isinstance(event, PrivateEvent) and event.bidder == bidder:
            yield from (f"    {ME} {blind(line)}" for line in statements(event, spell))


def _listings(event: Event) -> Iterator[str]:
    """Yield the descriptions of the items for sale. They name no bidder, so they need no blinding."""
    for lot in event.lots if isinstance(event, Listed) else ():
        if lot.listing:
            yield f"{_plain(lot.name)}: {_quoted(lot.listing)}"


def statements(event: PrivateEvent, spell: Spell) -> Iterator[str]:
    """Yield a player's private information, thoughts and actions, without its name. Skip events useless to raters."""
    match event:
        case CatalogShown():
            pass
        case Planned(text=text, priorities=priorities):
            ranked = f" (priorities: {_plain(_listed(priorities, str))})" if priorities else ""
            yield f"plans{ranked}: {_quoted(text)}"
        case Strategized(action=action, reasons=reasons):
            yield f"chooses {action}, {ACTIONS[action]}: {_quoted(reasons)}"
        case Decided(amount=amount, reasons=reasons):
            yield f"{'withdraws' if amount is None else f'bids {spell(amount)}'}: {_quoted(reasons)}"
        case LimitSet(limit=limit, reasons=reasons):
            yield f"{'does not bid' if limit is None else f'bids up to {spell(limit)}'}: {_quoted(reasons)}"
        case DecidedInWords(answer=words, reasons=reasons):
            yield f"says {_quoted(words)}: {_quoted(reasons)}"
        case Answered(words=words):
            yield f"says: {_quoted(words)}"
        case Tried(reason=reason):
            yield f"is refused: {_quoted(reason)}"
        case Believed(said=said):
            yield f"believes that {dollars(said.budget)} of the budget is left"
        case Stated(said=values):
            yield f"fills in: {_plain(json.dumps(values, ensure_ascii=False))}"
        case Expected(bids=bids):
            yield f"expects next: {_plain(_listed(bids, spell))}"
        case Predicted(item=item, predictions=predictions):
            limits = {prediction.rival: prediction.limit for prediction in predictions}
            yield f"expects on {_plain(item)} that rivals go up to: {_plain(_listed(limits, spell))}"
        case Profiled(rival=rival, weights=weights) if best := foremost(weights):
            yield f"takes {_plain(rival)} for {_plain(best)}, most of all"
        case Mirrored(rival=rival, weights=weights) if best := foremost(weights):
            yield f"supposes that {_plain(rival)} takes {_plain(event.bidder)} for {_plain(best)}, most of all"
        case Recalled(memories=memories):
            yield from (f"recalls: {_quoted(memory.text)}" for memory in memories)
        case Learned(learnings=learnings):
            yield from (f"learns: {_quoted(learning)}" for learning in learnings)
        case _:
            yield from (f"is told: {_quoted(line)}" for line in event.sentences(event.bidder))


def _listed(values: Mapping[str, object], spell: Callable[..., str]) -> str:
    return ", ".join(f"{name} {spell(value)}" for name, value in values.items()) or "nothing"


def _plain(text: str) -> str:
    """Return a text on one line, without invisible characters."""
    return printable(" ".join(scrub(text).split()))


def _quoted(text: str) -> str:
    return json.dumps(_plain(text), ensure_ascii=False)


def _blinded(entries: Sequence[Entry], bidder: str, names: Iterable[str]) -> Blind:
    """Return the replacement of names: bidders get letters, and names of models are hidden."""
    rivals = [name for name in names if name != bidder]
    letters = {rival: f"Player {_letter(place)}" for place, rival in enumerate(rivals, start=1)}
    called = {call.model for call in of_type(entries, ModelCalled) if call.purpose != AGENT}  # no model names
    models = {part for model in called for part in (model, model.partition(":")[2])}
    hidden = dict.fromkeys(filter(None, models), "[model]") | letters | {bidder: ME}
    longest_first = sorted(hidden, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, longest_first))})(?!\w)")
    return lambda text: pattern.sub(lambda found: hidden[found[1]], text)


def _letter(place: int) -> str:
    """Count in letters from 0: A to Z, then AA, AB and so on."""
    first, last = divmod(place, len(ascii_uppercase))
    return (ascii_uppercase[first - 1] if first else "") + ascii_uppercase[last]


@dataclass(frozen=True, slots=True)
class Rateable:
    """One bidder's game: the folder of its log, its place in an experiment, and the bidder's player.

    `arm` and `condition` are empty outside an experiment, and `game` is then the folder of the run.
    """

    run: Path
    bidder: str
    player: str
    arm: str
    condition: str
    game: str

    def transcript(self) -> Transcript:
        """Return its transcript."""
        return transcript(read_log(self.run / EVENTS).entries, self.bidder)


def rateables(folders: Iterable[Path]) -> list[Rateable]:
    """Find all records to rate: bidders that gave a reason or words of their own, in finished games.

    Each auction of a series counts by itself.

    Raises:
        RatingError: there is nothing to rate.
        RunFolderError: a folder contains no run.
        LogError: a log can't be read.
    """
    wanted = list(folders)
    logs = {log.resolve(): (folder, log) for folder in wanted for log in logs_in(folder)}  # two folders may share a run
    found = [one for place in logs.values() for one in _bidders(*place)]
    if not found:
        raise RatingError(
            f"nothing to rate in {', '.join(map(repr, map(str, wanted)))}; give finished runs with models"
        )
    return found


def _bidders(folder: Path, log: Path) -> Iterator[Rateable]:
    reading = read_log(log)
    if is_series(reading.entries) or not reading.complete:
        return
    players = {label.bidder: label.player for label in of_type(reading.entries, BidderLabelled)}
    arm, condition, game = _place(folder, log.parent)
    for bidder in _speaking(reading.entries):
        yield Rateable(log.parent, bidder, players[bidder], arm, condition, game)


def _place(folder: Path, run: Path) -> tuple[str, str, str]:
    match run.relative_to(folder).parts:
        case (first, arm, condition, repeat, *_) if first == GAMES:
            return arm, condition, f"{arm}/{condition}/{repeat}"
    return "", "", run.as_posix()


def _speaking(entries: Sequence[Entry]) -> list[str]:
    """List the bidders that gave any reason or answer."""
    speaking = Decided | DecidedInWords | LimitSet | Answered
    said = (entry.event for entry in entries if isinstance(entry.event, speaking))
    return list(dict.fromkeys(event.bidder for event in said))
