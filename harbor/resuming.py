"""Resuming: a run that was interrupted is conducted anew from what it has left, and goes on where that ends."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from autogen_agentchat.base import ChatAgent
from langchain_core.language_models import BaseChatModel

from harbor.config import AuctionConfig, read_settings
from harbor.evaluation.metrics.series import is_series
from harbor.folder import CONFIG, RunFolder, check_config, complete
from harbor.given import Given
from harbor.run import Listener, Result, Run, finish
from harbor.series import HeldSeries, SeriesResult


def resume(
    folder: Path | str,
    models: Mapping[str, BaseChatModel] | None = None,
    agents: Mapping[str, ChatAgent] | None = None,
    listen: Listener | None = None,
) -> Result | SeriesResult:
    """Continue an interrupted run, or series of them, from its folder; one that is complete is left as it is.

    The run is conducted anew with the recorded replies of models and words of agents, and each event is checked against
    the log until that ends. So no call is paid twice. `listen` is called with the recorded entries too.

    Raises:
        ConfigError: a model or an agent that the run was given is missing.
        RunFolderError: no folder of a run, its config was changed, or another process runs it.
        LogError: the log was edited, or goes otherwise than this run; it is left as it is.
    """
    return finish(aresume(folder, models, agents, listen), "resume() can't be used", "await aresume()")


async def aresume(
    folder: Path | str,
    models: Mapping[str, BaseChatModel] | None = None,
    agents: Mapping[str, ChatAgent] | None = None,
    listen: Listener | None = None,
) -> Result | SeriesResult:
    """Continue an interrupted run inside a running event loop."""
    path = Path(folder)
    if (done := complete(path)) is not None and not is_series(done.entries):
        return Result(done.entries, path)
    check_config(path)
    config, given = read_settings(path / CONFIG, AuctionConfig), Given(models or {}, agents or {})
    with closing(RunFolder.reopen(path)) as reopened:
        if config.series is not None:
            return await HeldSeries(config, given).hold(reopened, listen)
        return await Run(config, given).hold(reopened, listen)
