"""A series: auctions in a row between the same bidders, who keep their memories; one folder, one log, one store.

Each auction of it is a run of its own in a folder inside, with a seed derived from that of the series.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Unpack

from harbor._config.auction import AuctionConfig
from harbor._core.errors import ConfigError
from harbor._core.events import SCHEMA_VERSION, AuctionHeld, LogOpened, SeriesClosed, SeriesOpened
from harbor._core.finding import find
from harbor._core.layout import MANIFEST
from harbor._core.log import Log, of_type
from harbor._core.log_lines import Entry
from harbor._core.seeding import derive, stream
from harbor._core.thoughts import Learned
from harbor._core.version import __version__
from harbor._games.english.measures import ranks
from harbor._runs.folder import RunFolder, complete, run_name
from harbor._runs.inputs import Given, RunInputs
from harbor._runs.limits import funded
from harbor._runs.result import Listener, Result, answered, finish
from harbor._runs.run import Run, start
from harbor.evaluation._metrics.series import SeriesSummary, summarise_series

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
        if "series" not in find("game", config.rules.game).uses:
            raise ConfigError(f"the game {config.rules.game!r} is not held in series; drop [series]")
        self.config = config
        self.inputs = funded(config, inputs)
        self.series = config.series
        # What is wrong with the first auction is wrong with the series: say so before anything is written.
        self._auction(1)

    def _auction(self, number: int) -> Run:
        seed = derive(self.config.seed, "series", str(number)) % SEEDS
        changes: dict[str, object] = {"series": None, "seed": seed}
        if self.series.shuffled and isinstance(self.config.items, tuple):
            changes["items"] = tuple(stream(seed, "order").sample(self.config.items, len(self.config.items)))
        return Run(self.config.model_copy(update=changes), self.inputs)

    async def run(
        self, folder: RunFolder | None, listen: Listener | None, given: BaseStore | None = None
    ) -> SeriesResult:
        """Run what has not run yet; each auction that is complete goes in the log of the series.

        `listen` hears the log of the series and those of the auctions that run.
        """
        results = []
        with closing(folder.open_log() if folder else Log()) as log:
            if listen is not None:
                log.listen(listen)
            name = folder.path.name if folder else run_name(self.config.name)
            first = self._auction(1).auction
            log.append(LogOpened(SCHEMA_VERSION, __version__, name, self.config.seed, token_hex(4), first.parts))
            log.append(SeriesOpened(self.series.auctions, first.players))
            from harbor._runs.memories import memories

            async with memories(self.config, folder, given) as store:
                for number in range(1, self.series.auctions + 1):
                    run = self._auction(number)
                    results.append(await self._run(number, run, folder, listen, store, name))
                    log.append(_result(number, run, results[-1]))
            log.append(SeriesClosed())
            return SeriesResult(tuple(results), tuple(log.entries), folder.path if folder else None)

    async def _run(
        self,
        number: int,
        run: Run,
        folder: RunFolder | None,
        listen: Listener | None,
        store: BaseStore | None,
        series: str,
    ) -> Result:
        name = f"{series}-{number}"
        if folder is None:
            return await run.run(None, listen, store, name)
        path = folder.path / f"{number:0{len(str(self.series.auctions))}}"
        if (done := complete(path)) is not None:
            return answered(Result(done.entries, path))
        if path.exists() and not (path / MANIFEST).exists():  # it broke off before it had begun
            shutil.rmtree(path)
        with closing(RunFolder.reopen(path) if path.exists() else RunFolder.make(path, run.auction.config)) as inner:
            return await run.run(inner, listen, store, name)


def _result(number: int, run: Run, result: Result) -> AuctionHeld:
    return AuctionHeld(
        auction=number,
        seed=run.auction.config.seed,
        ranks=ranks(result.standings),
        profits={row.bidder: row.profit for row in result.standings},
        learnings={learned.bidder: learned.learnings for learned in of_type(result.log, Learned)},
    )
