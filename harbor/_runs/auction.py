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
    """An auction that can be run: `run()`, `await arun()`, or `async for entry in stream()`.

    All three take `out`, a new folder for the run (None: keep the run in memory), and by name: `models`, your chat
    models by the name that bidders use; `agents`, of any make, by bidder; `people`, by bidder; `cache`, a `ReplyCache`
    for the replies of hosted models; `max_cost`, a limit on the cost of model calls, in dollars. `listen` is called
    with every entry of the log as it is written.

    >>> house = Item(name="Loft", start=100, true_value=120)
    >>> bidders = Bidder("Ann", rule="truthful"), Bidder("Bob", rule="truthful", overestimate=0.5)
    >>> [row.bidder for row in Auction(items=(house,), bidders=bidders).run().standings if row.items_won]
    ['Bob']
    """

    def run(self, out: Path | str | None = None, listen: Listener | None = None, **given: Unpack[Given]) -> Result:
        """Run the auction.

        Raises:
            ConfigError: a setting is refused; nothing has been written.
            RunFolderError: the folder exists or can't be made.
            RunPaused: the run has cost `max_cost`; `resume` continues it from its folder.
        """
        from harbor._runs.run import Run, start

        run, folder = Run(self, RunInputs(**given)), None if out is None else Path(out)
        if run.scripted:
            return run.play(folder, listen)
        return finish(start(run, folder, listen), "run() can't be used", "await auction.arun()")

    async def arun(
        self, out: Path | str | None = None, listen: Listener | None = None, **given: Unpack[Given]
    ) -> Result:
        """Run the auction inside a running event loop."""
        from harbor._runs.run import Run, start  # a late import: settings are read without the code that runs them

        return await start(Run(self, RunInputs(**given)), None if out is None else Path(out), listen)

    async def stream(self, out: Path | str | None = None, **given: Unpack[Given]) -> AsyncIterator[Entry]:
        """Run the auction and yield every entry of the log as it is written."""
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
