"""The tools with which a host's client estimates, runs and reads experiments."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field

from harbor._core.basics.errors import ConfigError, HarborError, unknown
from harbor._core.basics.redaction import told
from harbor._mcp.host_tools import House, MaxCost, check_cost
from harbor._runs.folder import run_name
from harbor.evaluation._experiments.library import experiment as read
from harbor.evaluation._experiments.library import presets

if TYPE_CHECKING:  # running and analysing take seconds to import, so the first call of a tool imports them
    from harbor.evaluation._experiments.design import Experiment
    from harbor.evaluation._experiments.trial_records import Results, Tally
    from harbor.evaluation._experiments.trial_runs import Usage
    from harbor.evaluation._running.options import RunOptions

T = TypeVar("T")


async def apart(work: Coroutine[Any, Any, T]) -> T:
    """Await work in a thread with its own event loop. If this call is cancelled, cancel the work and wait for it."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)

    def run() -> T:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(_awaited(task))

    thread = asyncio.ensure_future(asyncio.to_thread(run))
    thread.add_done_callback(lambda one: one.cancelled() or one.exception())  # marks the error as retrieved
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        with suppress(RuntimeError):  # the loop is closed, so the work has ended
            loop.call_soon_threadsafe(task.cancel)
        await asyncio.wait({thread})
        raise


async def _awaited(task: asyncio.Task[T]) -> T:
    return await task


MOST_EXPERIMENTS = 4
"""The greatest number of experiments that run on a server at the same time."""
MOST_REPEATS = 1_000
"""The greatest number of games per arm and condition that a client may ask for."""
Name = Annotated[str, Field(description='An experiment of list_presets, such as "bidding".', max_length=300)]
Models = Annotated[
    list[str],
    Field(
        description='Models for the slots of the design, in order, such as ["openai:gpt-4o-mini"]; left out: offline.'
    ),
]
Repeats = Annotated[
    int | None, Field(description="Games per arm and condition; left out: as designed.", ge=1, le=MOST_REPEATS)
]
Arms = Annotated[list[str], Field(description="Only these arms; left out: all.")]


@dataclass(slots=True)
class Running:
    """An experiment that is running or has run."""

    design: Experiment
    folder: Path
    so_far: Tally
    found: dict[str, Any] | None = None
    error: str = ""
    work: asyncio.Task[None] | None = None

    @property
    def status(self) -> str:
        """Return "running", "over" or "stopped"."""
        if self.error:
            return "stopped"
        return "running" if self.found is None else "over"


class ExperimentTools:
    """The tools with which a client runs published experiments and reads their findings."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._running: dict[str, Running] = {}
        self._estimating = asyncio.Lock()  # one estimate at a time, as each takes a thread

    async def estimate(
        self,
        auction: Annotated[
            str, Field(description='An auction of list_presets, such as "demo"; or name an experiment.', max_length=300)
        ] = "",
        experiment: Annotated[
            str, Field(description='An experiment of list_presets, such as "bidding".', max_length=300)
        ] = "",
        models: Models = [],  # noqa: B006 - it is only read, and the schema shows this default
        repeats: Repeats = None,
        arms: Arms = [],  # noqa: B006
    ) -> dict[str, Any]:
        """Estimate how many model calls, tokens and dollars an auction or an experiment would need. It pays nothing.

        Call it before `run_experiment` or `hold_auction` with a model that costs money. Harbor's own offline model
        plays a few games for it, so it may take a minute. What agents of clients spend is not known and not counted.
        Models, repeats and arms are for an experiment.

        It returns {"games":90,"calls":1480,"input_tokens":910000,"output_tokens":82000,"cost_dollars":0.19};
        cost_dollars is null if the price of a model is unknown.
        """
        if bool(auction) == bool(experiment):
            raise ConfigError("give an auction, such as 'demo', or an experiment, such as 'bidding': one of the two")
        if auction and (models or repeats or arms):
            raise ConfigError(f"auction {auction!r} takes no models, repeats and arms; leave them out")
        async with self._estimating:
            return await apart(self._estimated(auction, experiment, models, arms, repeats))

    async def run_experiment(
        self,
        name: Name,
        models: Models = [],  # noqa: B006
        repeats: Repeats = None,
        arms: Arms = [],  # noqa: B006
        seed: Annotated[int | None, Field(description="Another seed.", ge=0)] = None,
        max_cost: MaxCost = None,
    ) -> dict[str, Any]:
        """Run a published experiment: many auctions between models, which are then compared. No client plays in it.

        Call it for a question about many auctions, after `estimate`. It takes minutes, or hours with hosted models;
        with few repeats it is quicker. Read it with `read_experiment`.

        It returns at once: {"experiment":"20260131T101500Z-bidding-1a2b3c","status":"running","games":90}.
        """
        options, so_far, design = await asyncio.to_thread(self._planned, name, models, arms, repeats, seed, max_cost)
        if sum(one.status == "running" for one in self._running.values()) >= MOST_EXPERIMENTS:
            raise ConfigError(f"{MOST_EXPERIMENTS} experiments run already; wait until one is over")
        if max_cost is not None:
            self._house.purse.take(max_cost)
        called = run_name(design.name)
        one = self._running[called] = Running(design, self._house.runs / called, so_far)
        one.work = asyncio.create_task(self._run(one, options), name=called)
        return {"experiment": called, "status": one.status, "games": so_far.games}

    async def read_experiment(
        self,
        experiment: Annotated[
            str, Field(description='The name of a run: "experiment" of run_experiment.', max_length=300)
        ],
    ) -> dict[str, Any]:
        """Read how far an experiment is and, when it is over, what it found. It changes nothing.

        It returns {"experiment":"...","status":"running","question":"...","games":90,"finished":31,"failed":0,
        "cost_dollars":0.0}; when it is over also "estimates":[{"metric":"profit","arm":"...","bidder":"Ann",
        "mean":5400.0,"low":4100.0,"high":6700.0,...}], "differences":[...], "simulated":true and "folder". An estimate
        is a mean over games with its 95 % interval; simulated says that Harbor's offline model played, whose results
        say nothing about language models.
        """
        if experiment not in self._running:
            raise ConfigError(unknown("experiment", experiment, self._running))
        one = self._running[experiment]
        said = {"experiment": experiment, "status": one.status, "question": one.design.question, **one.so_far.as_json()}
        if one.error:
            said["error"] = one.error
        if one.found is not None:
            said |= one.found | {"folder": str(one.folder)}
        return said

    async def close(self) -> None:
        """Stop all running experiments. They can be resumed from their folders."""
        tasks = [one.work for one in self._running.values() if one.work is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _estimated(
        self, auction: str, experiment: str, models: list[str], arms: list[str], repeats: int | None
    ) -> dict[str, Any]:
        from harbor.evaluation._experiments.trial_runs import dry_run, play_offline

        if not experiment:
            return {"games": 1, **_amounts(await play_offline(self._house.preset(auction)))}
        found = await dry_run(self._design(experiment, models, arms, repeats))
        return {"games": found.games, **_amounts(found.usage)}

    def _planned(
        self,
        name: str,
        models: list[str],
        arms: list[str],
        repeats: int | None,
        seed: int | None,
        max_cost: float | None,
    ) -> tuple[RunOptions, Tally, Experiment]:
        """Prepare a run of a design. Models that cost money need `max_cost`, in dollars."""
        from harbor.evaluation._experiments.trial_records import Tally
        from harbor.evaluation._experiments.trials import trial_count, trials
        from harbor.evaluation._running.options import RunOptions

        design = self._design(name, models, arms, repeats, seed)
        for trial in trials(design, 1):  # one repeat is enough, as all repeats ask the same models
            check_cost(trial.config, max_cost)
        return RunOptions(max_cost=max_cost), Tally(trial_count(design)), design

    def _design(
        self, name: str, models: list[str], arms: list[str], repeats: int | None, seed: int | None = None
    ) -> Experiment:
        """Read a published experiment and apply the host's choices. A host can name neither a file nor code."""
        from harbor.evaluation._experiments.choices import chosen

        if name not in presets():
            raise ConfigError(unknown("experiment", name, presets()))
        self._house.check({"models": models}, "the list of models")
        return chosen(read(name), models, arms, repeats, seed)

    async def _run(self, one: Running, options: RunOptions) -> None:
        try:
            await apart(_run(one, options))
        except Exception as error:  # a failed experiment must not stop the server
            one.error = str(error) if isinstance(error, HarborError) else told(error)
        finally:
            spent = one.so_far.cost_dollars
            if options.max_cost is not None and spent is not None and one.found is not None:
                self._house.purse.give_back(max(0.0, options.max_cost - spent))


async def _run(one: Running, options: RunOptions) -> None:
    from harbor.evaluation._experiments.trial_records import tally
    from harbor.evaluation._running.runner import run_experiment

    def hear(so_far: Tally, _: object) -> None:
        one.so_far = so_far

    results = await run_experiment(one.design, one.folder, options, hear)
    one.so_far = tally(results.records)
    one.found = _found(results)


def _found(results: Results) -> dict[str, Any]:
    from pydantic_core import to_jsonable_python

    from harbor.evaluation._analysis.findings import analyse

    found = analyse(results)
    return {
        "estimates": [asdict(estimate) for estimate in found.estimates if estimate.at is None],
        "differences": to_jsonable_python(found.differences),
        "simulated": results.simulated,
    }


def _amounts(used: Usage) -> dict[str, Any]:
    return {
        "calls": round(used.calls),
        "input_tokens": round(used.input_tokens),
        "output_tokens": round(used.output_tokens),
        "cost_dollars": None if used.cost is None else round(used.cost, 6),
    }
