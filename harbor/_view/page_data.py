"""The data of a page: for a run, its head and its chunks of entries; for a series, ranks, profits and auctions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from harbor._core.basics.errors import HarborError, LogError, RunFolderError, unknown
from harbor._core.basics.feedback import steps
from harbor._core.basics.numbers import cell_text, dollars
from harbor._core.basics.redaction import of_strangers
from harbor._core.faces import __version__
from harbor._core.files.layout import EVENTS, auction_logs, public_auctions
from harbor._core.log.events import (
    BidderLabelled,
    BiddersAsked,
    BidderSeated,
    Event,
    LogOpened,
    ModelCalled,
    PublicEvent,
    SaleClosed,
    SeriesOpened,
)
from harbor._core.log.evidence import read_evidence
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._games.game import Game
from harbor._view.chunks import ANALYSTS, Chunks, pictures_drawn, raw_chunk
from harbor._view.entries import Decisions, persona_text
from harbor._view.run_record import CallFile, RunRecord, read_run
from harbor._view.shapes import Chunk, Head, Place, TableData
from harbor.evaluation._metrics.calls import is_simulated
from harbor.evaluation._metrics.summary import is_series, summarise, summarise_series
from harbor.evaluation._report.tabular.page_parts import Table, columns_of, row_of

MOST_BOARDS = 12
"""The greatest number of seats with a board on the page of a whole run.

Any other seat's board is only on that seat's own page.
"""


class RunPage(NamedTuple):
    """The data of a page: its head and its chunks, one by one.

    The writer of the chunks enters their places in the head. The head's notes are complete after the last chunk.
    """

    head: Head
    chunks: Iterator[Chunk]


def run_page(run: Path, seat: str = "") -> RunPage:
    """Read a run for a page. The page of a seat uses only the events that its bidder may see.

    Raises:
        RunFolderError: there is no log, or it has no bidder of that name.
        LogError: no entry can be read.
    """
    whole = read_run(run)
    seats = seats_of(whole.entries)
    known = seats if whole.entries else whole.raw_seats
    if seat and seat not in known:
        raise RunFolderError(unknown("bidder", seat, known))
    record = whole.seen_by(seat) if seat else whole
    head = head_of(record, seat, seats, simulated=is_simulated(whole.entries))
    return RunPage(head, _chunks(record, head))


def _chunks(record: RunRecord, head: Head) -> Iterator[Chunk]:
    if not record.entries:
        yield raw_chunk(record.raw)
        return
    decisions = Decisions(record.game)
    going = steps(record.entries, "decisions gathered")
    numbers = [decisions.note(entry.event, recorded(record.calls, entry.event)) for entry in going]
    chunks = Chunks(record, decisions, viewers_of(head["seat"], head["seats"]))
    yield from chunks.made_of(record.entries, numbers)
    head["notes"] += chunks.complaints


def viewers_of(seat: str, seats: Sequence[str]) -> list[str]:
    """Return the viewers whose boards a page has. `seat` is the owner of the page."""
    return [seat] if seat else [ANALYSTS, *seats[:MOST_BOARDS]]


def recorded(calls: CallFile, event: Event) -> int | None:
    """Return the place of a call's record. Return None if the event is no call or has no record."""
    if not isinstance(event, ModelCalled):
        return None
    return calls.take((event.bidder, event.purpose, event.attempt, event.began))


def seats_of(entries: Sequence[Entry]) -> list[str]:
    """Return the bidders in seat order, as far as a log names them."""
    labelled = [event.bidder for event in of_type(entries, BidderLabelled)]
    seated = [event.bidder for event in of_type(entries, BidderSeated)]
    series = [name for event in of_type(entries, SeriesOpened) for name in event.players]
    asked = [name for event in of_type(entries, BiddersAsked) for name in event.bidders]
    return list(dict.fromkeys((*series, *labelled, *seated, *asked)))


def head_of(record: RunRecord, seat: str, seats: Sequence[str], *, simulated: bool) -> Head:
    """Return the head of a page. The head of a seat's page names neither the other players nor the run."""
    entries, game = record.entries, record.game
    opened = next(iter(of_type(entries[:1], LogOpened)), None)
    told = (note.to_seat if seat else note.full for note in record.notes)
    notes = list(dict.fromkeys(filter(None, told)))
    if len(seats) > MOST_BOARDS and not seat:
        notes.append(f"boards of {MOST_BOARDS} of {len(seats)} seats: of another, give --seat NAME")
    return {
        "title": opened.run if opened else game.name if game else "a run" if seat else record.folder.name,
        "game": game.name if game else "",
        "harbor": opened.harbor if opened else __version__,
        "simulated": simulated,
        "seat": seat,
        "seats": list(seats),
        "viewers": viewers_of(seat, seats),
        "pictures": pictures_drawn(game),
        "players": [
            (event.bidder, event.player, persona_text(event.personas)) for event in of_type(entries, BidderLabelled)
        ],
        "notes": notes,
        "length": len(entries) or len(record.raw),
        "parts": game.measures.parts if game else "",
        "places": list(places_of(entries)),
        "standings": standings_of(entries, game, seat, notes),
        "chunks": [],
    }


def places_of(entries: Sequence[Entry]) -> Iterator[Place]:
    """Yield the starts of parts (items, days, runs) and of rounds, and the end of the sale."""
    part: object = ""
    for seq, _, event in entries:
        item = getattr(event, "item", part) if isinstance(event, PublicEvent) else part
        if item != part:
            part = item
            yield seq, "part", str(item)
        if isinstance(event, BiddersAsked) and event.attempt == 1:
            yield seq, "round", f"round {event.round}"
        if isinstance(event, SaleClosed):
            yield seq, "end", "the end"


def standings_of(entries: Sequence[Entry], game: Game | None, seat: str, notes: list[str]) -> TableData:
    """Return the final standings. A seat gets them only if public events tell them."""
    if game is None or not entries or (seat and not game.measures.public):
        return {"columns": [], "rows": []}
    try:
        # The summary has no standings for a public log whose events do not tell them.
        found = game.measures.standings if seat else lambda log: summarise(log).standings
        rows = [asdict(row) for row in of_strangers(f"the standings of {game.name!r}", lambda: found(entries))]
    except (HarborError, TypeError) as error:
        notes.append(str(error))
        rows = []
    columns = [name for name in (rows[0] if rows else ()) if any(row[name] is not None for row in rows)]
    return {
        "columns": [name.replace("_", " ") for name in columns],
        "rows": [[cell_text(row[name]) for name in columns] for row in rows],
    }


@dataclass(frozen=True, slots=True)
class SeriesData:
    """The data of a series' page.

    `auctions` are the folders that have a log. `ranks` and `profits` have a row per bidder, sorted by mean rank, the
    best first. `learnings` has the number of the auction, the bidder, and the bidder's learnings there.
    """

    title: str
    harbor: str
    simulated: bool
    auctions: list[str]
    ranks: Table
    profits: Table
    learnings: list[tuple[int, str, list[str]]]
    notes: list[str]


def auctions_in(folder: Path) -> list[str]:
    """Return the folders of a series' auctions, in order; none if it is no series, or no auction has begun."""
    return [log.parent.name for log in auction_logs(folder) if log.stat().st_size]


def read_series(folder: Path) -> SeriesData:
    """Read a series as far as it is recorded. A public copy, or a damaged log, yields only the auctions."""
    auctions, notes = auctions_in(folder), list[str]()
    entries: Sequence[Entry] = ()
    if public_auctions(folder):
        notes.append("a public copy of a series: ranks, profits and learnings are not in it")
    else:
        entries = _entries(folder, notes)
    if not entries or not is_series(entries):
        none = Table((), ())
        return SeriesData(folder.resolve().name, __version__, False, auctions, none, none, [], notes)
    summary = summarise_series(entries)
    held = [one.auction for one in summary.auctions]
    if len(held) < summary.length:
        notes.append(f"it is not over: {len(held)} of {summary.length} auctions are finished")
    heads, totals = ["bidder", *(f"auction {number}" for number in held)], summary.total_profits
    ranks = (
        row_of(bidder, *(str(one.ranks[bidder]) for one in summary.auctions), f"{mean:.2f}")
        for bidder, mean in summary.mean_ranks.items()
    )
    profits = (
        row_of(bidder, *(dollars(one.profits[bidder]) for one in summary.auctions), dollars(totals[bidder]))
        for bidder in summary.mean_ranks
    )
    return SeriesData(
        summary.run,
        of_type(entries, LogOpened)[0].harbor,
        summary.simulated,
        auctions,
        Table(columns_of([*heads, "mean"]), tuple(ranks)),
        Table(columns_of([*heads, "total"]), tuple(profits)),
        [(one.auction, bidder, list(told)) for one in summary.auctions for bidder, told in one.learnings.items()],
        notes,
    )


def _entries(folder: Path, notes: list[str]) -> Sequence[Entry]:
    """Read the log of a series up to its first fault, and add a note about the fault."""
    try:
        found = read_evidence(folder / EVENTS)
    except LogError as error:
        notes.append(str(error))
        return ()
    if found.wrong is not None:
        one = found.wrong
        notes.append(f"shown up to line {one.line - 1}: line {one.line} has {one.found}, and not {one.expected}")
    return found.entries
