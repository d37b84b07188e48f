"""A series runs auctions in a row between the same bidders, who keep their memories; it is resumed as any run is.

It has one folder, one log, one store. Each auction of it is a run of its own in a folder inside, with a seed derived
from that of the series. An interrupted run is played again from what it has left, and goes on where that ends.
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


@dataclass(frozen=True)
class SeriesResult:
    """A finished series: its auctions in order, its own log, and where it is on disk (None: in memory only)."""

    auctions: tuple[Result, ...]
    log: tuple[Entry, ...]
    folder: Path | None

    def metrics(self) -> SeriesSummary:
        """Measure the log of the series, and count the calls of its auctions."""
        return summarise_series(self.log, [one.log for one in self.auctions])

    def _repr_html_(self) -> str:
        """Show its mean ranks and profits in a notebook."""
        summary = self.metrics()
        ranked = summary.mean_ranks.items()
        rows = [(name, f"{rank:.3g}", cell_of(summary.total_profits[name])) for name, rank in ranked]
        notes = (SIMULATED if summary.simulated else "", f"{len(summary.auctions)} of {summary.length} auctions")
        parts = table(("bidder", "mean rank", "total profit"), rows), seen_with(self.folder)
        return block(f"Series {summary.run}", notes, *parts)


def run_series(
    config: AuctionConfig, out: Path | str | None = None, listen: Listener | None = None, **given: Unpack[Given]
) -> SeriesResult:
    """Run the auctions of a config with `series`, one after another; the arguments are those of `Auction.run`.

    Raises:
        ConfigError: a setting that is refused; nothing has been written.
        RunFolderError: the folder exists or can't be made.
        MemoryStoreError: the store of the memories can't be opened.
    """
    return finish(arun_series(config, out, listen, **given), "run_series() can't be used", "await arun_series()")


async def arun_series(
    config: AuctionConfig, out: Path | str | None = None, listen: Listener | None = None, **given: Unpack[Given]
) -> SeriesResult:
    """Run a series inside a running event loop."""
    return await start(SeriesRun(config, RunInputs(**given)), None if out is None else Path(out), listen)


def prepare(config: AuctionConfig, inputs: RunInputs) -> Run | SeriesRun:
    """Make sure that what the settings ask for can start, be it an auction or a series of them.

    Raises:
        ConfigError: a setting that is refused.
    """
    return Run(config, inputs) if config.series is None else SeriesRun(config, inputs)


class SeriesRun:
    """A series, run from its beginning or from where it was interrupted."""

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
        # What is wrong with the first auction is wrong with the series: say so before anything is written.
        self._auction(1)

    def _auction(self, number: int) -> Run:
        return Run(auction_of(self.config, number), self.inputs)

    async def run(
        self, folder: RunFolder | None, listen: Listener | None, given: BaseStore | None = None
    ) -> SeriesResult:
        """Run what has not run yet; each auction that is complete goes in the log of the series.

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
            opened = of_type(log.entries[:1], LogOpened)[0]  # of a series that is resumed, as it was
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
    """Tell whether the settings of an auction are whole; a power cut may take those of one that scripts play.

    It cost nothing, so nothing of it was synced, and it is held anew.
    """
    try:
        return all(json.loads(content_of(path / name)) for name in (CONFIG, MANIFEST))
    except (ValueError, RecursionError):
        return False


def auction_of(series: AuctionConfig, number: int) -> AuctionConfig:
    """Give the settings of an auction of a series, the first of which has number 1."""
    seed = derive(series.seed, "series", str(number)) % SEEDS
    changes: dict[str, object] = {"series": None, "seed": seed}
    if series.series is not None and series.series.shuffled and isinstance(series.items, tuple):
        changes["items"] = tuple(stream(seed, "order").sample(series.items, len(series.items)))
    return series.model_copy(update=changes)


def path_of(series: Path, number: int, auctions: int) -> Path:
    """Give the folder of an auction of a series, so named that they sort by number."""
    return series / f"{number:0{len(str(auctions))}}"


def tells_outcomes(game: Game) -> bool:
    """Say whether the events of a game tell who gets or pays what."""
    return any(issubclass(kind, (*GETS, *PAYS)) for kind in game.events)


def resume(
    folder: Path | str, listen: Listener | None = None, trust: bool = False, **given: Unpack[Given]
) -> Result | SeriesResult:
    """Continue an interrupted run, or series of them, from its folder; one that is complete is left as it is.

    The run is played again with the recorded replies of models and words of agents and people, and each event is
    checked against the log until that ends. So no call is paid twice. `listen` hears the recorded entries too.
    One that is complete is checked by its rules alone.
    `max_cost` and `cache` are those that the run has; give one to change it (None: without), and the manifest notes it.
    A folder that somebody sent names models, servers, memories and code, which are loaded, contacted and paid for with
    your keys: so it needs `trust`, once, and is then marked as yours.

    Raises:
        ConfigError: a model, an agent or a person that the run was given is missing.
        RunFolderError: no folder of a run, not marked as yours, its config was changed, or another process runs it.
        MemoryStoreError: a memory can't be opened.
        RunPaused: it has cost its `max_cost`, which earlier sessions count towards: give a higher one.
        LogError: the log was edited, or goes otherwise than this run; it is left as it is.
    """
    return finish(aresume(folder, listen, trust, **given), "resume() can't be used", "await aresume()")


async def aresume(
    folder: Path | str, listen: Listener | None = None, trust: bool = False, **given: Unpack[Given]
) -> Result | SeriesResult:
    """Continue an interrupted run inside a running event loop."""
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
    """Add the options that the run has to what the caller gives."""
    options = kept(path, AuctionOptions)
    if "max_cost" not in given:
        given["max_cost"] = options.max_cost
    if "cache" not in given:
        given["cache"] = cache_again(path, options)
    return RunInputs(**given)


def check_follows(path: Path) -> None:
    """Refuse a run that is complete and does not follow from its rules.

    Raises:
        LogError: it says where.
    """
    if (wrong := first_difference(path)) is not None:
        raise LogError(f"{str(wrong.log)!r}: {wrong.verdict.words}; see: harbor verify {shlex.quote(str(path))}")
