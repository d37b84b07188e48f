"""What the page of a series shows: ranks and profits by auction, what bidders learned, and which auctions are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harbor._core.errors import LogError
from harbor._core.events import LogOpened
from harbor._core.evidence import read_evidence
from harbor._core.layout import EVENTS, auction_logs, public_auctions
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._core.money import dollars
from harbor._core.version import __version__
from harbor.evaluation._metrics.series import SeriesSummary, is_series, summarise_series

Rows = list[list[str]]


@dataclass(frozen=True, slots=True)
class SeriesData:
    """A series as its page shows it.

    `auctions` are the names of the folders that have a log; `ranks` and `profits` have a row per bidder, the best mean
    rank first; `learnings` are by auction and bidder.
    """

    title: str
    harbor: str
    simulated: bool
    auctions: list[str]
    columns: list[str]
    ranks: Rows
    profits: Rows
    learnings: list[tuple[int, str, list[str]]]
    notes: list[str]


def auctions_in(folder: Path) -> list[str]:
    """Name the folders of the auctions of a series, in order; none: it is no series, or none has begun."""
    return [log.parent.name for log in auction_logs(folder) if log.stat().st_size]


def read_series(folder: Path) -> SeriesData:
    """Read a series as far as it is there; a public copy, or one whose log is damaged, has its auctions alone."""
    auctions, notes = auctions_in(folder), list[str]()
    entries: Sequence[Entry] = ()
    if public_auctions(folder):
        notes.append("a public copy of a series: ranks, profits and what bidders learned are not in it")
    else:
        entries = _entries(folder, notes)
    if not entries or not is_series(entries):
        return SeriesData(folder.resolve().name, __version__, False, auctions, [], [], [], [], notes)
    summary = summarise_series(entries)
    held = [one.auction for one in summary.auctions]
    if len(held) < summary.length:
        notes.append(f"it is not over: {len(held)} of {summary.length} auctions are finished")
    return SeriesData(
        summary.run,
        of_type(entries, LogOpened)[0].harbor,
        summary.simulated,
        auctions,
        [f"auction {number}" for number in held],
        [
            [bidder, *(str(one.ranks[bidder]) for one in summary.auctions), f"{mean:.2f}"]
            for bidder, mean in _means(summary)
        ],
        [
            [
                bidder,
                *(dollars(one.profits[bidder]) for one in summary.auctions),
                dollars(summary.total_profits[bidder]),
            ]
            for bidder, _ in _means(summary)
        ],
        [(one.auction, bidder, list(told)) for one in summary.auctions for bidder, told in one.learnings.items()],
        notes,
    )


def _entries(folder: Path, notes: list[str]) -> Sequence[Entry]:
    """Read the log of a series up to where it is right, and note what is wrong with it."""
    try:
        found = read_evidence(folder / EVENTS)
    except LogError as error:
        notes.append(str(error))
        return ()
    if found.wrong is not None:
        one = found.wrong
        notes.append(f"shown up to line {one.line - 1}: line {one.line} has {one.found}, and not {one.expected}")
    return found.entries


def _means(summary: SeriesSummary) -> list[tuple[str, float]]:
    return list(summary.mean_ranks.items())
