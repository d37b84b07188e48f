"""Verification checks whether logs follow from their rules. It reads and checks each log once, without a framework."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from harbor._config.auction import AuctionConfig, read_settings
from harbor._core.basics.errors import ConfigError, HarborError
from harbor._core.files.layout import CONFIG, EVENTS, log_of, public_auctions
from harbor._core.files.marks import read_as_data
from harbor._core.files.safe_files import MOST_SETTINGS, read_sent
from harbor._core.log.events import BidderLabelled, Event, LogOpened, ModelCalled, SeriesClosed, SeriesOpened
from harbor._core.log.evidence import Evidence, read_evidence
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry, is_over
from harbor._games.outcomes import held
from harbor._house.checking import check
from harbor._house.compared_log import Verdict, differing

IMPORTED = "calls were answered by imported replies: that a model gave them is the word of who wrote the file"
"""Note of a verdict: only the author of an imported file vouches for its replies."""


class Checked(NamedTuple):
    """A log and its verdict, with its entries."""

    log: Path
    verdict: Verdict
    entries: Sequence[Entry]


def logs_checked(run: Path) -> Iterator[Checked]:
    """Check the log of a run; for a series, check those of its auctions, and then its own.

    A public copy of a series has no log of its own.

    Args:
        run: the folder, or its events.jsonl.

    Raises:
        RunFolderError: there is no log.
        LogError: a log can't be read, or no code can check the logs of its game.
    """
    if auctions_alone := public_auctions(run):
        for inner in auctions_alone:
            one = _of_sale(inner, read_evidence(inner))
            said = _missing(run, len(auctions_alone)) if inner == auctions_alone[-1] else ()
            yield one._replace(verdict=replace(one.verdict, unchecked=(*said, *one.verdict.unchecked)))
        return
    log = log_of(run)
    evidence = read_evidence(log)
    if not of_type(evidence.entries[:2], SeriesOpened):
        yield _of_sale(log, evidence)
        return
    auctions = [
        _of_sale(inner, read_evidence(inner))
        for inner in sorted(log.parent.glob(f"*/{EVENTS}"))
        if inner.parent.name.isdecimal()
    ]
    yield from auctions
    if not all(one.verdict.follows for one in auctions):
        return
    verdict = _unless_wrong(evidence, lambda: _of_series(evidence.entries, auctions))
    yield Checked(log, verdict, evidence.entries)


def _missing(series: Path, there: int) -> tuple[str, ...]:
    """Return a note of how many auctions in a public copy of a series have no log."""
    try:
        planned = int(json.loads(read_sent(series / CONFIG, MOST_SETTINGS))["series"]["auctions"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return (f"how many auctions the series had: its {CONFIG} can't be read",)
    return (f"{planned - there} of {planned} auctions have no log",) if planned != there else ()


def first_difference(run: Path) -> Checked | None:
    """Return the first log of a run that differs from the rules' results; None if no log does or can be checked."""
    with suppress(HarborError):
        return next((one for one in logs_checked(run) if not one.verdict.follows), None)
    return None


def difference_in(run: Path, entries: Sequence[Entry]) -> str:
    """Return the difference of a log that has been read; empty: it follows, or it can't be checked."""
    if of_type(entries[:2], SeriesOpened):
        found = first_difference(run)
        return f"{found.log.parent.name}: {found.verdict.words}" if found else ""
    with suppress(HarborError):
        verdict = _of_sale(log_of(run), Evidence(tuple(entries))).verdict
        return "" if verdict.follows else verdict.words
    return ""


def _of_sale(log: Path, evidence: Evidence) -> Checked:
    settings, complaint = _settings(log)
    verdict = _unless_wrong(evidence, lambda: check(evidence.entries, settings))
    if verdict.follows and verdict.level != "public":
        said = (*filter(None, [complaint]), *imported_in(evidence.entries))
        verdict = replace(verdict, unchecked=(*said, *verdict.unchecked))
    return Checked(log, verdict, evidence.entries)


def imported_in(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return a note, alone in a tuple, if calls of a log got imported replies; else an empty tuple."""
    return (IMPORTED,) if any(call.imported for call in of_type(entries, ModelCalled)) else ()


def _settings(log: Path) -> tuple[AuctionConfig | None, str]:
    """Read the settings beside a log, as data; else return None and a complaint."""
    if not (log.parent / CONFIG).is_file():
        return None, "there are no settings beside it"
    try:
        with read_as_data(log):
            return read_settings(log.parent / CONFIG, AuctionConfig), ""
    except ConfigError:
        return None, "the settings beside it are none that this Harbor can read"


def _unless_wrong(evidence: Evidence, checked: Callable[[], Verdict]) -> Verdict:
    """Check the lines that were read; if they follow, return a difference at the first wrong line, if any."""
    wrong = evidence.wrong
    try:
        verdict = checked()
    except HarborError:
        if wrong is None:
            raise
        verdict = Verdict(True, "rules")
    if wrong is not None and verdict.follows:
        return Verdict(False, verdict.level, wrong.line, wrong.event, wrong.expected, wrong.found)
    passed = tuple(f"passed over: {what}" for what in evidence.passed_over)
    return replace(verdict, unchecked=(*verdict.unchecked, *passed))


def _of_series(entries: Sequence[Entry], auctions: Sequence[Checked]) -> Verdict:
    """Compare the log of a series with the logs of its auctions."""
    expected = list(_told(entries, [one.entries for one in auctions if is_over(one.entries)]))
    for entry, wanted in zip_longest(entries[1:], expected):
        if entry is None:
            break
        if entry.event != wanted:
            return differing("rules", entry.seq + 1, wanted, entry.event)
    ends = () if is_over(entries) else ("the series is not at its end",)
    return Verdict(True, "rules", unchecked=ends)


def _told(entries: Sequence[Entry], auctions: Sequence[Sequence[Entry]]) -> Iterator[Event]:
    """Yield the expected events after the first line of a series, from the logs of its auctions that are over."""
    opened = of_type(entries, SeriesOpened)[0]
    players = {label.bidder: label.player for label in of_type(auctions[0], BidderLabelled)} if auctions else {}
    yield replace(opened, players=players or opened.players)
    for number, auction in enumerate(auctions[: opened.auctions], start=1):
        yield held(number, of_type(auction, LogOpened)[0].seed or 0, auction)
    if len(auctions) == opened.auctions:
        yield SeriesClosed()
