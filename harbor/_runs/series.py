"""Runs auctions in a row between the same bidders, who keep their memories. A series is resumed like a run.

A series has one folder, one log and one store. Each of its auctions is a run in a folder inside, with a seed derived
from that of the series. An interrupted run is played again from its records, and continues where they end.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Unpack

from harbor._config.auction import AuctionConfig
from harbor._core.basics.errors import ConfigError, LogError
from harbor._core.basics.feedback import SIMULATED, block, seen_with, table
from harbor._core.basics.numbers import derive, stream
from harbor._core.files.layout import CALLS, CONFIG, MANIFEST
from harbor._core.files.marks import check_own
from harbor._core.log.events import LogOpened, SeriesClosed, SeriesOpened
from harbor._core.log.log import Log, of_type
from harbor._core.log.log_entries import Entry
from harbor._core.plugins.finding import find
from harbor._games.game import Game
from harbor._games.outcomes import GETS, PAYS, held
from harbor._runs.folder import RunFolder, check_unchanged, complete, read_config, run_name
from harbor._runs.inputs import Given, Listener, Result, RunInputs, answered, anybody_remembers, cell_of, finish
from harbor._runs.manifest import AuctionOptions, cache_again, keep, kept, options_of
from harbor._runs.opening import opened_log
from harbor._runs.raw_calls import content_of
from harbor._runs.run import Run, check_left, funded, start, within
from harbor._runs.verification import first_difference
from harbor.evaluation._metrics.summary import SeriesSummary, summarise_series

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

SEEDS = 2**32
"""Number of possible seeds of an auction."""


@dataclass(frozen=True)
class SeriesResult:
    """A finished series: its auctions in order, the log of the series, and its folder (None: kept in memory only)."""

    auctions: tuple[Result, ...]
    log: tuple[Entry, ...]
    folder: Path | None

    def metrics(self) -> SeriesSummary:
        """Return the summary of the series: ranks, profits, and the model calls of all its auctions."""
        return summarise_series(self.log, [one.log for one in self.auctions])

    def _repr_html_(self) -> str:
        """Return the mean ranks and profits as HTML for a notebook."""
        summary = self.metrics()
        ranked = summary.mean_ranks.items()
        rows = [(name, f"{rank:.3g}", cell_of(summary.total_profits[name])) for name, rank in ranked]
        notes = (SIMULATED if summary.simulated else "", f"{len(summary.auctions)} of {summary.length} auctions")
        parts = table(("bidder", "mean rank", "total profit"), rows), seen_with(self.folder)
        return block(f"Series {summary.run}", notes, *parts)


def run_series(
    config: AuctionConfig, out: Path | str | None = None, listen: Listener | None = None, **given: Unpack[Given]
) -> SeriesResult:
    """Run the auctions of a series one after another; `config.series` says how many.

    The other arguments are those of `Auction.run`. In a running event loop, as in a notebook, use `arun_series`.

    >>> house, ann = Item(name="Loft", start=100, true_value=120), Bidder("Ann", rule="truthful")
    >>> result = run_series(Auction(items=(house,), bidders=(ann,), series={"auctions": 2}))
    >>> [auction.standings[0].items_won for auction in result.auctions]
    [1, 1]

    Raises:
        ConfigError: a setting is refused; nothing has been written.
        RunFolderError: the folder exists or can't be made.
        MemoryStoreError: the store of the memories can't be opened.
    """
    return finish(arun_series(config, out, listen, **given), "run_series() can't be used", "await arun_series()")


async def arun_series(
    config: AuctionConfig, out: Path | str | None = None, listen: Listener | None = None, **given: Unpack[Given]
) -> SeriesResult:
    """Run the auctions of a series inside a running event loop; arguments, result and errors are as in `run_series`.

    >>> import asyncio
    >>> house, ann = Item(name="Loft", start=100, true_value=120), Bidder("Ann", rule="truthful")
    >>> config = Auction(items=(house,), bidders=(ann,), series={"auctions": 2})
    >>> len(asyncio.run(arun_series(config)).auctions)
    2
    """
    return await start(SeriesRun(config, RunInputs(**given)), None if out is None else Path(out), listen)


def prepare(config: AuctionConfig, inputs: RunInputs) -> Run | SeriesRun:
    """Return the auction or the series that the settings describe, checked and ready to start.

    Raises:
        ConfigError: a setting is refused.
    """
    return Run(config, inputs) if config.series is None else SeriesRun(config, inputs)


class SeriesRun:
    """A series, run from its beginning or from the point of interruption."""

    def __init__(self, config: AuctionConfig, inputs: RunInputs) -> None:
        if config.series is None:
            raise ConfigError("the config has no series; give it [series] with a number of auctions")
        if not tells_outcomes(find("game", config.rules.game)):
            raise ConfigError(
                f"the game {config.rules.game!r} tells no outcomes, by which a series ranks bidders: its events have"
                f" none of {', '.join(kind.__name__ for kind in (*GETS, *PAYS))}; drop [series]"
            )
        self.config = config
        self.inputs = funded(config, inputs)
        self.series = config.series
        # An error in the first auction is an error in the series: report it before anything is written.
        self._auction(1)

    def _auction(self, number: int) -> Run:
        return Run(auction_of(self.config, number), self.inputs)

    async def run(
        self, folder: RunFolder | None, listen: Listener | None, given: BaseStore | None = None
    ) -> SeriesResult:
        """Run the auctions that are not complete yet; each complete auction goes in the log of the series.

        `listen` hears the log of the series and those of the auctions that run.
        """
        results = []
        if folder is not None and given is None:
            await self._find_memory(folder.path)
        with closing(folder.open_log() if folder else Log()) as log:
            if listen is not None:
                log.listen(listen)
            name = folder.path.name if folder else run_name(self.config.name)
            first = self._auction(1).auction
            log.append(opened_log(first, name, token_hex(4), self.config.seed))
            log.append(SeriesOpened(self.series.auctions, first.players))
            opened = of_type(log.entries[:1], LogOpened)[0]  # a resumed series keeps its name and token
            token = f"{opened.run}-{opened.token}"
            from harbor._runs.memories import memories

            async with memories(self.config, folder, given) as store:
                for number in range(1, self.series.auctions + 1):
                    run = self._auction(number)
                    results.append(await self._run(number, run, folder, listen, store, name, token))
                    log.append(held(number, run.auction.config.seed, results[-1].log))
            log.append(SeriesClosed())
            return SeriesResult(tuple(results), tuple(log.entries), folder.path if folder else None)

    async def _find_memory(self, folder: Path) -> None:
        if anybody_remembers(self.config):
            from harbor._runs.memories import bring_back

            auctions = self.series.auctions
            paths = [path_of(folder, number, auctions) for number in range(1, auctions + 1)]
            await asyncio.to_thread(bring_back, self.config, folder, paths)

    async def _run(
        self,
        number: int,
        run: Run,
        folder: RunFolder | None,
        listen: Listener | None,
        store: BaseStore | None,
        series: str,
        token: str,
    ) -> Result:
        name = f"{series}-{number}"
        if folder is None:
            return await run.run(None, listen, store, name, token)
        path = path_of(folder.path, number, self.series.auctions)
        if path.exists() and not _has_settings(path) and not content_of(path / CALLS).strip(b"\0"):
            shutil.rmtree(path)
        if (done := complete(path)) is not None:
            return answered(Result(done.entries, path))
        with closing(RunFolder.reopen(path) if path.exists() else RunFolder.make(path, run.auction.config)) as inner:
            return await run.run(inner, listen, store, name, token)


def _has_settings(path: Path) -> bool:
    """Return whether the settings of an auction are whole; a power cut may lose those of a scripted auction.

    Such an auction costs nothing, so its files were not synced. It is simply played anew.
    """
    try:
        return all(json.loads(content_of(path / name)) for name in (CONFIG, MANIFEST))
    except (ValueError, RecursionError):
        return False


def auction_of(series: AuctionConfig, number: int) -> AuctionConfig:
    """Return the settings of an auction of a series; `number` counts from 1."""
    seed = derive(series.seed, "series", str(number)) % SEEDS
    changes: dict[str, object] = {"series": None, "seed": seed}
    if series.series is not None and series.series.shuffled and isinstance(series.items, tuple):
        changes["items"] = tuple(stream(seed, "order").sample(series.items, len(series.items)))
    return series.model_copy(update=changes)


def path_of(series: Path, number: int, auctions: int) -> Path:
    """Return the folder of an auction of a series; folder names sort by number."""
    return series / f"{number:0{len(str(auctions))}}"


def tells_outcomes(game: Game) -> bool:
    """Return whether the events of a game tell the winner or the payments."""
    return any(issubclass(kind, (*GETS, *PAYS)) for kind in game.events)


def resume(
    folder: Path | str, listen: Listener | None = None, trust: bool = False, **given: Unpack[Given]
) -> Result | SeriesResult:
    """Continue an interrupted run or series from its folder; if a run is complete, only check its log by the rules.

    Harbor plays the run again from the beginning, with the recorded replies of models and the recorded words of agents
    and people, so that no call is paid for twice. Each event is compared with the log until the log ends; then the run
    goes on. `listen` is called with the recorded entries too. If `max_cost` or `cache` is left out, the value that the
    run had applies; pass None to go on without a limit or without a cache. A changed value is noted in the run's
    manifest. A folder from somebody else may name models, servers, memories and code, which Harbor would load, contact
    and pay for with your keys. Therefore such a folder is refused unless `trust` is true; then the folder is marked as
    yours, and needs no `trust` the next time.

    Raises:
        ConfigError: a model, an agent or a person that was passed to the run is missing.
        RunFolderError: the folder holds no run or is not marked as yours, its settings were changed, or another process
            plays the run in it.
        MemoryStoreError: a store of memories can't be opened.
        RunPaused: the calls of the run have cost `max_cost`, including those before the interruption; pass a higher
            limit.
        LogError: the log was edited, or an event of the run differs from the event in the log; the log stays unchanged.
    """
    return finish(aresume(folder, listen, trust, **given), "resume() can't be used", "await aresume()")


async def aresume(
    folder: Path | str, listen: Listener | None = None, trust: bool = False, **given: Unpack[Given]
) -> Result | SeriesResult:
    """Continue an interrupted run or series inside a running event loop; arguments and errors are as in `resume`."""
    path = Path(folder)
    check_unchanged(path)
    check_own(path, trust)
    config = read_config(path)
    if config.series is None and (done := complete(path)) is not None:
        check_follows(path)
        return answered(Result(done.entries, path))
    run = prepare(config, funded(config, _again(path, given), path))
    with closing(RunFolder.reopen(path)) as reopened:
        keep(path, options_of(run.inputs))
        check_left(run.inputs.budget)
        return await within(run.inputs.budget, run.run(reopened, listen))


def _again(path: Path, given: Given) -> RunInputs:
    """Return the caller's inputs, with the run's own options where the caller gives none."""
    options = kept(path, AuctionOptions)
    if "max_cost" not in given:
        given["max_cost"] = options.max_cost
    if "cache" not in given:
        given["cache"] = cache_again(path, options)
    return RunInputs(**given)


def check_follows(path: Path) -> None:
    """Refuse a complete run whose log differs from the results of its rules.

    Raises:
        LogError: the message names the difference.
    """
    if (wrong := first_difference(path)) is not None:
        raise LogError(f"{str(wrong.log)!r}: {wrong.verdict.words}; see: harbor verify {shlex.quote(str(path))}")
