"""Work that computes for long is done in a thread of its own."""

from __future__ import annotations

import asyncio
import threading

import pytest

from harbor._mcp.experiment_tools import apart


async def test_work_is_done_in_another_thread_and_gives_its_value():
    async def work() -> threading.Thread:
        await asyncio.sleep(0)
        return threading.current_thread()

    assert await apart(work()) is not threading.current_thread()


async def test_whoever_is_served_here_goes_on_while_work_computes():
    heard = threading.Event()

    async def work() -> bool:
        return heard.wait(timeout=60)

    working = asyncio.ensure_future(apart(work()))
    await asyncio.sleep(0)
    heard.set()
    assert await working


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
