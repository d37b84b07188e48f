"""Work that computes for long is done in a thread of its own."""

from __future__ import annotations

import asyncio
import threading

import pytest

from harbor._mcp.experiment_tools import apart


async def test_work_that_fails_fails_here():
    async def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await apart(work())


async def test_work_that_is_cancelled_has_ended_when_that_is_heard():
    begun, ended = threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    working = asyncio.ensure_future(apart(work()))
    await asyncio.to_thread(begun.wait)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert ended.is_set()
