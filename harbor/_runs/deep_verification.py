"""Deep verification replays a run from its settings, its seed and the recorded answers, and compares every event.

It works like resuming, but nothing is opened, written or paid: a call that is not recorded is a difference.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from harbor._config.auction import AuctionConfig
from harbor._config.models import BUILT_IN, GIVEN, ModelSettings
from harbor._core.basics.errors import LogError, RunFolderError
from harbor._core.faces import __version__
from harbor._core.files.layout import CALLS, CONFIG, DESIGN, EVENTS, games_in
from harbor._core.files.marks import read_as_data
from harbor._core.log.events import (
    Answered,
    BidderLabelled,
    LogOpened,
    ModelCalled,
    SeatFailed,
    SeriesClosed,
    SeriesOpened,
)
from harbor._core.log.log import of_type, read_log
from harbor._core.log.thoughts import Recalled
from harbor._games.outcomes import held
from harbor._house.auctioneer import auction_loop
from harbor._house.compared_log import ComparedLog, Differs, Ended, Verdict
from harbor._runs.folder import read_config
from harbor._runs.inputs import RunInputs, agents_of, finish, models_in_use, people_of
from harbor._runs.memories import memories_of
from harbor._runs.opening import opened_log, opened_sale
from harbor._runs.raw_calls import recorded_calls
from harbor._runs.recorded_calls import (
    NotRecorded,
    RecordedCalls,
    carry_again,
    check_calls,
    check_fields,
    not_recorded,
    seats,
)
from harbor._runs.resolve import ResolvedAuction, resolve
from harbor._runs.series import auction_of, path_of
from harbor._runs.verification import imported_in
from harbor.personas._catalog.catalogue import with_items

TAKEN = {
    Answered: "answers of agents and people are taken from the log",
    Recalled: "recalled memories are taken from the log",
    ModelCalled: "what a reply says that no event and no later prompt tells is not compared with anything",
    SeatFailed: "failures of seats, and conclusions before them, are taken from the log",
}
"""Content that a replay can't check, by event."""
UNTOLD = "what bidders had learned before, in a store that other runs write to, is taken as their prompts tell it"
"""Content that a replay can't check if other runs write to the store of the memories."""


def play_again(folder: Path | str) -> Verdict:
    """Replay a run, a series or an experiment without a model, and compare every event and every prompt.

    Nothing is asked, opened or written. For a folder that is not marked as the user's, no package is loaded. A log that
    ends before its sale closed is played up to its end.

    Raises:
        RunFolderError: it is no such folder, or its settings were changed.
        LogError: a file can't be read, `calls.jsonl` is missing, or another version of Harbor wrote the log.
        ConfigError: something that the settings name is missing.
    """
    unchecked: dict[str, None] = {}
    for _, verdict in verdicts(Path(folder)):
        if not verdict.follows:
            return verdict
        unchecked |= dict.fromkeys(verdict.unchecked)
    return Verdict(True, "deep", unchecked=tuple(unchecked))


def verdicts(folder: Path) -> Iterator[tuple[Path, Verdict]]:
    """Yield each log of a run, a series or an experiment with its verdict; a series comes after its auctions.

    Raises:
        HarborError: as `play_again`.
    """
    for path in games_in(folder) if (folder / DESIGN).is_file() else [folder]:
        with read_as_data(path):
            found = finish(_verdicts(path), "play_again() can't be used", "await asyncio.to_thread(play_again, folder)")
        yield from ((one / EVENTS, verdict) for one, verdict in found)


async def _verdicts(path: Path) -> list[tuple[Path, Verdict]]:
    config = read_config(path)
    if config.series is None:
        return [(path, await _verdict(path, config, InMemoryStore()))]
    log, auctions = _compared(path), list[tuple[Path, Verdict]]()
    whole = await _judged(log, _hold_series(path, config, config.series.auctions, log, auctions))
    return auctions if auctions and not auctions[-1][1].follows else [*auctions, (path, whole)]


async def _verdict(path: Path, config: AuctionConfig, store: BaseStore) -> Verdict:
    log = _compared(path)
    verdict = await _judged(log, _hold(path, config, log, store))
    untold = (UNTOLD,) if verdict.follows and _untold(config) else ()
    return replace(verdict, unchecked=(*verdict.unchecked, *untold))


async def _judged(log: ComparedLog, held: Awaitable[None]) -> Verdict:
    """Return the verdict on a log while its auction or series is held again."""
    try:
        await held
        log.check_over()
    except Differs as difference:
        return difference.verdict
    except Ended:
        pass
    return Verdict(True, "deep", unchecked=_unchecked(log))


async def _hold(path: Path, config: AuctionConfig, log: ComparedLog, store: BaseStore) -> None:
    """Hold an auction again; its bidders' memories go in a store that is dropped afterwards."""
    check_fields(path / EVENTS, log)
    entries, calls = log.told, recorded_calls(path / CALLS).calls
    replay = RecordedCalls(entries, calls, _untold(config))
    check_calls(log, calls, replay)
    players = {event.bidder: event.player for event in of_type(entries, BidderLabelled)}
    auction, [opened] = _resolved(config, players), of_type(entries[:1], LogOpened)
    sale = opened_sale(auction, log, opened.run, opened.token)
    loop = auction_loop(sale, auction.thinkers, config.rules.reasks, auction.learners)
    try:
        memories = memories_of(config, store, f"{opened.run}-{opened.token}")
        await carry_again(loop, seats(auction, sale, replay, memories))
    except NotRecorded as error:
        raise not_recorded(error, log) from error


def _untold(config: AuctionConfig) -> tuple[str, ...]:
    """Return the purposes of calls whose prompts depend on other runs' memories, which the log does not contain."""
    learns = any(bidder.learning for bidder in config.bidders)
    return ("learn",) if learns and config.memory.store is not None else ()


async def _hold_series(
    path: Path, config: AuctionConfig, auctions: int, log: ComparedLog, found: list[tuple[Path, Verdict]]
) -> None:
    """Hold the auctions of a series again, and compare its own log; `found` collects their verdicts."""
    check_fields(path / EVENTS, log)
    [opened], told = of_type(log.told[:1], LogOpened), of_type(log.told[:2], SeriesOpened)
    first = _resolved(auction_of(config, 1), told[0].players if told else {})
    log.append(opened_log(first, opened.run, opened.token, config.seed))
    log.append(SeriesOpened(auctions, first.players))
    store = InMemoryStore()
    for number in range(1, auctions + 1):
        inner, auction = path_of(path, number, auctions), auction_of(config, number)
        if not (inner / EVENTS).is_file():
            raise log.lacks(f"auction {number}, in {str(inner)!r}")
        _check_settings(inner, auction)
        verdict = await _verdict(inner, auction, store)
        found.append((inner, verdict))
        if not verdict.follows:
            raise Differs(verdict)
        reading = read_log(inner / EVENTS)
        if not reading.complete:
            raise log.lacks(f"the end of auction {number}")
        log.append(held(number, auction.seed, reading.entries))
    log.append(SeriesClosed())


def _check_settings(inner: Path, auction: AuctionConfig) -> None:
    """Refuse an auction that does not belong to its series.

    Raises:
        RunFolderError: the auction's settings differ from those that the series gives.
    """
    if read_config(inner) != with_items(auction):
        raise RunFolderError(f"{str(inner / CONFIG)!r} is not what its series gives; restore it as it was written")


def _compared(path: Path) -> ComparedLog:
    """Read the log of a run that this version of Harbor can play again.

    Raises:
        LogError: this version can't.
    """
    reading = read_log(path / EVENTS)
    [opened] = of_type(reading.entries[:1], LogOpened)
    if opened.harbor != __version__:
        raise LogError(
            f"run {str(path)!r} is of harbor {opened.harbor}, and this is {__version__}, whose bidders may decide"
            " otherwise; install that version, or verify it without --deep"
        )
    if not (path / CALLS).is_file():
        raise LogError(f"run {str(path)!r} has no {CALLS}, so it can't be played again; verify it without --deep")
    return ComparedLog(reading.entries, reading.complete, "deep", reading.warning)


class _Recorded(RunInputs):
    """Inputs of a recorded run; its agents and models are missing."""

    __slots__ = ()

    def check(self, config: AuctionConfig) -> None:
        """Accept all inputs, because nobody is asked."""


def _resolved(config: AuctionConfig, players: Mapping[str, str]) -> ResolvedAuction:
    """Resolve the settings; the log tells the make of a model that was given as an object."""
    used = {bidder.model: players.get(bidder.name, "") for bidder in config.bidders if bidder.uses_model}
    given, models = dict[str, Any](), dict(config.models)
    for name in models_in_use(config):
        use = used.get(name, "").removesuffix(f" ({name})")  # the log does not name fallbacks
        if use == GIVEN:
            given[name] = object()
        elif use == BUILT_IN:
            models[name] = (models.get(name) or ModelSettings()).model_copy(update={"use": BUILT_IN})
    inputs = _Recorded(models=given, agents=agents_of(config), people=people_of(config))
    return resolve(config.model_copy(update={"models": models}), inputs)


def _unchecked(log: ComparedLog) -> tuple[str, ...]:
    """Return the parts of the log that were taken unchecked, in words."""
    kinds = {type(entry.event) for entry in log.told}
    return (
        *filter(None, [log.warning]),
        *imported_in(log.told),
        *(words for kind, words in TAKEN.items() if kind in kinds),
    )
