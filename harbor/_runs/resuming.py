"""Resuming: an interrupted run is played again from what it has left, and goes on where that ends."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Unpack

from harbor._runs.folder import RunFolder, complete, read_config
from harbor._runs.inputs import Given, RunInputs
from harbor._runs.limits import funded, within
from harbor._runs.result import Listener, Result, answered, finish
from harbor._runs.series import SeriesResult, prepare
from harbor.memory._store.trust import check_trusted


def resume(
    folder: Path | str, listen: Listener | None = None, embedding: str | None = None, **given: Unpack[Given]
) -> Result | SeriesResult:
    """Continue an interrupted run, or series of them, from its folder; one that is complete is left as it is.

    The run is played again with the recorded replies of models and words of agents and people, and each event is
    checked against the log until that ends. So no call is paid twice. `listen` hears the recorded entries too.
    `embedding` names that of the memories, needed if it is a model: one that you trust.

    Raises:
        ConfigError: a model, an agent or a person that the run was given is missing.
        RunFolderError: no folder of a run, its config was changed, or another process runs it.
        MemoryStoreError: the embedding is a model that only the folder names, or a memory can't be opened.
        RunPaused: with `max_cost`, which earlier sessions count towards: it has cost as much.
        LogError: the log was edited, or goes otherwise than this run; it is left as it is.
    """
    return finish(aresume(folder, listen, embedding, **given), "resume() can't be used", "await aresume()")


async def aresume(
    folder: Path | str, listen: Listener | None = None, embedding: str | None = None, **given: Unpack[Given]
) -> Result | SeriesResult:
    """Continue an interrupted run inside a running event loop."""
    path = Path(folder)
    config = read_config(path)
    if config.series is None and (done := complete(path)) is not None:
        return answered(Result(done.entries, path))
    check_trusted(config.memory.embedding, embedding)
    run = prepare(config, funded(config, RunInputs(**given), path))
    with closing(RunFolder.reopen(path)) as reopened:
        return await within(run.inputs.budget, run.run(reopened, listen))
