"""Resuming: an interrupted run is played again from what it has left, and goes on where that ends."""

from __future__ import annotations

import shlex
from contextlib import closing
from pathlib import Path
from typing import Unpack

from harbor._core.errors import LogError
from harbor._core.marks import check_own
from harbor._runs.folder import RunFolder, check_unchanged, complete, read_config
from harbor._runs.following import first_difference
from harbor._runs.inputs import Given, RunInputs
from harbor._runs.kept_options import AuctionOptions, cache_again, keep, kept, options_of
from harbor._runs.limits import check_left, funded, within
from harbor._runs.result import Listener, Result, answered, finish
from harbor._runs.series import SeriesResult, prepare


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
