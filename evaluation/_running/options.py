"""How the trials of an experiment are run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from harbor._core.errors import ConfigError, unknown
from harbor._core.finding import given
from harbor._models.budget import check_limit
from harbor._models.replies.cache import ReplyCache
from harbor._models.replies.reply_folder import own_folder
from harbor.evaluation._running.batches import Lane
from harbor.evaluation._running.executors import EXECUTORS
from harbor.evaluation._running.hosting import Host


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How trials are run; none of it shows in the results.

    `jobs` is the number of concurrent trials (None: the executor's default), `address` that of a Ray cluster.
    `max_cost` is in dollars, over all sessions of the experiment. With `cache`, replies of hosted models are
    kept on this machine, and none is bought twice. In the `batch` lane, calls wait until they can go out as one job, at
    half the price; `tell` hears of each job in a line. `host` asks the people who sit in games (None: nobody can).
    """

    executor: str = "asyncio"
    jobs: int | None = None
    address: str | None = None
    max_cost: float | None = None
    cache: bool = True
    lane: Lane = "live"
    tell: Callable[[str], object] = lambda _: None
    host: Host | None = None

    def check(self) -> None:
        """Refuse what can't be done.

        Raises:
            ConfigError: it names the setting.
        """
        if self.executor not in EXECUTORS:
            raise ConfigError(unknown("executor", self.executor, EXECUTORS))
        if self.address is not None and self.executor != "ray":
            raise ConfigError(f"address {self.address!r} is for executor 'ray', not {self.executor!r}; drop one")
        if self.executor != "asyncio" and (values := given()):
            raise ConfigError(
                f"{values[0]!r} is an object of this process, which the workers of {self.executor!r} do not have; name"
                " it as 'package.module:NAME', or take executor 'asyncio'"
            )
        if self.lane not in get_args(Lane):
            raise ConfigError(unknown("lane", self.lane, get_args(Lane)))
        if self.lane == "batch" and self.executor != "asyncio":
            raise ConfigError(
                f"calls can wait for a batch in one process only, and executor {self.executor!r} has several; take"
                " executor 'asyncio'"
            )
        if self.jobs is not None and self.jobs < 1:
            raise ConfigError(f"jobs {self.jobs} would run no trial; give 1 or more")
        if self.max_cost is not None:
            check_limit(self.max_cost)
        _ = self.opened

    @property
    def opened(self) -> ReplyCache | None:
        """The cache of replies, if there is one."""
        return ReplyCache(own_folder()) if self.cache else None
