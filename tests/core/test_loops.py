"""One event loop is kept from game to game."""

from __future__ import annotations

import asyncio
import os
import threading
from contextvars import ContextVar

import pytest

from harbor._core.basics.loops import run_in_background, run_kept

SOME = ContextVar("SOME", default=0)


async def loop():
    return asyncio.get_running_loop()


def test_what_is_run_one_after_another_shares_a_loop():
    assert run_kept(loop()) is run_kept(loop())


def test_what_is_run_sees_the_context_that_it_is_run_in():
    async def seen():
        return SOME.get()

    assert run_kept(seen()) == 0
    token = SOME.set(1)
    assert run_kept(seen()) == 1
    SOME.reset(token)


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_ends_the_loop_too(end):
    async def ends():
        raise end

    before = run_kept(loop())
    with pytest.raises(end):
        run_kept(ends())
    assert before.is_closed()
    assert run_kept(loop()) is not before


def test_a_thread_has_a_loop_of_its_own_that_ends_with_the_work():
    found = []
    thread = threading.Thread(target=lambda: found.append(run_kept(loop())))
    thread.start()
    thread.join()
    assert found[0] is not run_kept(loop())
    assert found[0].is_closed()


async def test_work_in_the_background_shares_a_loop_that_is_not_this_one():
    assert run_in_background(loop()) is run_in_background(loop()) is not asyncio.get_running_loop()


def test_work_in_the_background_ends_in_a_forked_process_too():
    run_in_background(loop())
    if (child := os.fork()) == 0:
        os._exit(run_in_background(loop()).is_closed())
    assert os.waitpid(child, 0)[1] == 0


def test_a_forked_process_has_a_loop_of_its_own():
    before = run_kept(loop())
    if (child := os.fork()) == 0:
        os._exit(run_kept(loop()) is before)
    assert os.waitpid(child, 0)[1] == 0
