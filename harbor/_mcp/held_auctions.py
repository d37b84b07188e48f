"""The auctions that a server holds, with their events so far and their seats for clients by token."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from harbor._config.auction import AuctionConfig, check
from harbor._config.thinking import reseated
from harbor._core.basics.errors import ConfigError, HarborError, RunFolderError, unknown
from harbor._core.basics.loops import running_timeout
from harbor._core.basics.redaction import known_secret, told
from harbor._core.log.events import EVERYONE, Event
from harbor._core.log.log_entries import Entry, is_seen_by
from harbor._doors.open_doors import OpenSeat
from harbor._house.watchdog import timed
from harbor._runs.folder import run_name
from harbor._runs.inputs import Result, RunInputs
from harbor._runs.run import Run, start
from harbor._runs.series import aresume

MOST_AT_ONCE = 100
"""The greatest number of auctions that a server holds at the same time."""
TOKEN_BYTES = 18
"""Random bytes in the token of a seat."""
Begin = Callable[..., Coroutine[Any, Any, Any]]
"""Starts or resumes a run, and calls `listen` with each log entry."""


class NoSeat(HarborError):
    """No seat has this token."""


@dataclass(frozen=True, slots=True)
class ClientSeat:
    """A seat for a client: the bidder, its door and its time limit for an answer."""

    token: str
    bidder: str
    door: OpenSeat
    timeout_seconds: float
    auction: HeldAuction

    @property
    def seen(self) -> list[Event]:
        """All events so far that the bidder may see, in order."""
        return [entry.event for entry in self.auction.entries if is_seen_by(self.bidder, entry.event)]


@dataclass(slots=True)
class HeldAuction:
    """An auction that is held for clients. `name` is also the name of its folder."""

    name: str
    config: AuctionConfig
    folder: Path
    entries: list[Entry] = field(default_factory=list)
    seats: tuple[ClientSeat, ...] = ()
    result: Result | None = None
    failure: Exception | None = None
    begun: bool = False
    holding: asyncio.Task[None] | None = None

    @property
    def error(self) -> str:
        """Why the auction stopped before its end, in one line; empty if it did not."""
        failure = self.failure
        return "" if failure is None else str(failure) if isinstance(failure, HarborError) else told(failure)

    @property
    def status(self) -> str:
        """Return "waiting for clients", "running", "over" or "stopped"."""
        if self.result is not None:
            return "over"
        if self.error:
            return "stopped"
        return "running" if self.begun else "waiting for clients"

    @property
    def has_ended(self) -> bool:
        """True if the auction has ended, also by an error."""
        return self.holding is not None and self.holding.done()

    async def ended(self) -> None:
        """Wait for the end of the auction."""
        if self.holding is not None:
            await asyncio.wait({self.holding})

    async def left(self, seconds: float) -> None:
        """Wait until the playing clients have been told of the end, but at most `seconds`."""
        await within([seat.door.left() for seat in self.seats], seconds)

    async def hold(self, begin: Begin, wait_seconds: float) -> None:
        """Wait at most `wait_seconds` for the clients, run the auction, and close the seats."""
        try:
            await within([seat.door.taken() for seat in self.seats], wait_seconds)
            self.begun = True
            self.result = await begin(listen=self.entries.append)
        except Exception as error:  # a failed auction must not stop the others
            self.failure = error
        finally:
            for seat in self.seats:
                await seat.door.close()


async def within(waits: Iterable[Coroutine[Any, Any, None]], seconds: float) -> None:
    """Wait for all coroutines, but at most `seconds`."""
    with timed(), suppress(TimeoutError):
        async with running_timeout(seconds):
            await asyncio.gather(*waits)


class HeldAuctions:
    """All auctions of a server.

    Args:
        runs: the folder for the run folders.
    """

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._seats: dict[str, ClientSeat] = {}
        self.by_name: dict[str, HeldAuction] = {}

    def seat(self, token: str) -> ClientSeat:
        """Return the seat with this token.

        Raises:
            NoSeat: no seat here has the token.
        """
        if token not in self._seats:
            raise NoSeat(
                "no seat here has this token; give the token whole, as you were given it: it begins with seat-"
            )
        return self._seats[token]

    def auction(self, name: str) -> HeldAuction:
        """Return an auction by its name.

        Raises:
            ConfigError: no auction has this name.
        """
        if name not in self.by_name:
            raise ConfigError(unknown("auction", name, self.by_name))
        return self.by_name[name]

    def hold(
        self,
        config: AuctionConfig,
        wait_seconds: float,
        max_cost: float | None = None,
        folder: Path | None = None,
        resumes: bool = False,
        then: Callable[[HeldAuction], object] = lambda _: None,
    ) -> HeldAuction:
        """Hold an auction, which begins once its clients have come. Call this method in the event loop.

        Args:
            config: its settings. Bidders with `agent = true` are for clients.
            wait_seconds: seconds to wait for clients before the auction begins without them.
            max_cost: most dollars that its model calls may cost (None: no limit, or the earlier one of a resumed run).
            folder: a new folder for the run (None: one with its name).
            resumes: True if the folder holds an interrupted run. Its seats get new tokens.
            then: called with the auction when it has ended.

        Raises:
            ConfigError: a setting is refused, no seat is for a client, or there are too many auctions.
            RunFolderError: the new folder exists.
        """
        mine = [bidder for bidder in config.bidders if bidder.agent is True]
        if not mine:
            names = ", ".join(bidder.name for bidder in config.bidders)
            raise ConfigError(
                f"no seat of auction {config.name!r} is for a client; name one or more, with --seat NAME or in"
                f" the seats of hold_auction: {names}"
            )
        if sum(not one.has_ended for one in self.by_name.values()) >= MOST_AT_ONCE:
            raise ConfigError(f"{MOST_AT_ONCE} auctions are held already; wait until one has ended")
        if folder is not None and not resumes and folder.exists():
            raise RunFolderError(f"output folder {str(folder)!r} exists; choose a new one")
        name = folder.name if folder else run_name(config.name)
        held = HeldAuction(name, config, folder or self._runs / name)
        held.seats = tuple(
            ClientSeat(f"seat-{secrets.token_urlsafe(TOKEN_BYTES)}", one.name, OpenSeat(), one.timeout_seconds, held)
            for one in mine
        )
        for seat in held.seats:
            known_secret(seat.token)
        agents = {seat.bidder: seat.door for seat in held.seats}
        run = Run(config, RunInputs(agents=agents, max_cost=max_cost))  # raises errors of the settings before the wait
        again: Begin = partial(aresume, held.folder, agents=agents, max_cost=max_cost)
        begin: Begin = again if resumes else partial(start, run, held.folder)
        held.holding = asyncio.create_task(held.hold(begin, wait_seconds), name=name)
        held.holding.add_done_callback(lambda _: then(held))
        self.by_name[name] = held
        self._seats |= {seat.token: seat for seat in held.seats}
        return held

    async def close(self) -> None:
        """Stop all auctions. Their folders can be resumed as far as their seats need no client."""
        tasks = [one.holding for one in self.by_name.values() if one.holding is not None]
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)


def for_clients(config: AuctionConfig, names: Iterable[str]) -> AuctionConfig:
    """Return the settings with clients in the seats of these bidders.

    Raises:
        ConfigError: no bidder has that name.
    """
    values: dict[str, Any] = config.model_dump(exclude_unset=True)
    bidders = {bidder["name"]: bidder for bidder in values["bidders"]}
    for name in names:
        if name not in bidders:
            raise ConfigError(unknown("bidder", name, bidders))
        bidders[name] = reseated(bidders[name], "agent", True)
    return check(AuctionConfig, {**values, "bidders": [*bidders.values()]}, "settings")


def public_events(held: HeldAuction) -> list[Event]:
    """Return the events of an auction that everyone may see."""
    return [entry.event for entry in held.entries if entry.event.audience == EVERYONE]
