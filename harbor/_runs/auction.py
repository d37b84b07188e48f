"""The user's view of an auction: its settings, and ways to run it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Unpack

from harbor._config.auction import AuctionConfig
from harbor._core.log.log_entries import Entry
from harbor._runs.inputs import Given, Listener, Result, RunInputs, finish


class Auction(AuctionConfig):
    """The settings of an auction, which can be run by `run()`, `await arun()`, or `async for entry in stream()`.

    All three methods take `out`, a folder to be made for the run (None: the run is kept in memory only). They also take
    these keyword arguments: `models`, your own chat models by the names that bidders use; `agents`, your own agents by
    the names of the bidders that they play; `people`, a `Person` for each bidder that a person plays, by the name of
    the bidder; `cache`, a `ReplyCache` that keeps the replies of hosted models; and `max_cost`, a limit on the cost of
    model calls in dollars. `run` and `arun` call `listen` with every entry of the log, right after the entry is
    written.

    >>> house = Item(name="Loft", start=100, true_value=120)
    >>> bidders = Bidder("Ann", rule="truthful"), Bidder("Bob", rule="truthful", overestimate=0.5)
    >>> [row.bidder for row in Auction(items=(house,), bidders=bidders).run().standings if row.items_won]
    ['Bob']
    """

    def run(self, out: Path | str | None = None, listen: Listener | None = None, **given: Unpack[Given]) -> Result:
        """Run the auction to its end; in a running event loop, as in a notebook, use `arun`.

        Raises:
            ConfigError: a setting is refused; nothing has been written.
            RunFolderError: the folder exists or can't be made.
            RunPaused: the calls have cost `max_cost`, or a provider can't be reached; `resume` continues the run from
                its folder.
        """
        from harbor._runs.run import Run, start

        run, folder = Run(self, RunInputs(**given)), None if out is None else Path(out)
        if run.scripted:
            return run.play(folder, listen)
        return finish(start(run, folder, listen), "run() can't be used", "await auction.arun()")

    async def arun(
        self, out: Path | str | None = None, listen: Listener | None = None, **given: Unpack[Given]
    ) -> Result:
        """Run the auction inside a running event loop; arguments, result and errors are those of `run`."""
        from harbor._runs.run import Run, start  # a late import: settings are read without the code that runs them

        return await start(Run(self, RunInputs(**given)), None if out is None else Path(out), listen)

    async def stream(self, out: Path | str | None = None, **given: Unpack[Given]) -> AsyncIterator[Entry]:
        """Run the auction and yield every entry of the log, right after the entry is written."""
        entries: asyncio.Queue[Entry | None] = asyncio.Queue()
        running = asyncio.ensure_future(self.arun(out, entries.put_nowait, **given))
        running.add_done_callback(lambda _: entries.put_nowait(None))
        try:
            while (entry := await entries.get()) is not None:
                yield entry
            await running
        finally:
            running.cancel()
            await asyncio.wait({running})
