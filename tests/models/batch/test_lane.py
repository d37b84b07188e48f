"""The lane itself: what waits for what, and what was submitted before. The clients and the wire are real."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, asynccontextmanager

import pytest
from genai_prices import Usage, calc_price
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI

from harbor._config.models import ModelSettings
from harbor._core.basics.errors import RunFolderError
from harbor._core.files.layout import BATCHES
from harbor._models.batch.job_records import JobRecord, JobRecords
from harbor._models.batch.lane import BATCH_SHARE, BatchLane, in_batch, transport_of
from harbor._models.calls.waiting import Waiting
from harbor._models.connections import connected
from harbor._models.governor.local import governor
from support.providers import provider


@pytest.fixture
def host():
    numbers = iter(range(10_000))
    with provider(answer=lambda _: AIMessage(f"answer {next(numbers)}")) as server:
        yield server


@asynccontextmanager
async def held(host, folder, games, spent=()):
    """Open a lane with games; give what asks in one of them, and the lane."""
    async with BatchLane(JobRecords(folder / BATCHES)) as lane:
        with ExitStack() as stack:
            opened = {name: stack.enter_context(lane.holding(name, lambda: spent)) for name in games}
            waiting = {name: Waiting() for name in games}
            for name, game in opened.items():
                game.bidders.append(waiting[name])

            async def ask(name, words="hello"):
                chat = ChatOpenAI(model="gpt-4o-mini", base_url=host.openai_url, api_key="nobody", max_retries=0)
                async with connected([chat], lambda one: transport_of(opened[name], one)):
                    with waiting[name].counted():
                        return await chat.ainvoke(words)

            yield ask, lane


def sizes(host):
    return [len(job.asked) for job in host.batches.jobs.values()]


async def test_calls_of_all_games_go_out_as_one_job_which_is_told_of_until_it_is_collected(host, tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(governor(), "note", lambda call, wait: told.append((call, wait)))
    async with held(host, tmp_path, "abc") as (ask, _):
        said = await asyncio.gather(ask("a"), ask("a", "bye"), ask("b"), ask("c"))
    assert sizes(host) == [4]
    assert len({message.text for message in said}) == 4
    [(job, wait)] = [(call, wait) for call, wait in told if wait is not None]
    assert (wait.host, wait.status, wait.left) == ("openai", "a batch of 4 calls", None)
    assert told[-1] == (job, None)


async def test_nothing_goes_out_while_a_game_thinks_and_all_does_when_it_has_ended(host, tmp_path):
    async with held(host, tmp_path, "a") as (ask, lane):
        with lane.holding("b"):  # a game whose agents call models by themselves, say
            asking = asyncio.ensure_future(ask("a"))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.shield(asking), 1.0)
            assert not host.batches.jobs
        await asking
    assert sizes(host) == [1]


async def test_a_call_that_was_given_up_is_not_sent(host, tmp_path):
    async with held(host, tmp_path, "ab") as (ask, _):
        first = asyncio.ensure_future(ask("a"))
        for _ in range(100):  # it comes to the lane
            await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, ask("a", "again"), ask("b"), return_exceptions=True)
    assert sizes(host) == [2]


async def test_what_was_collected_and_not_recorded_is_handed_out_once_and_in_order(host, tmp_path):
    async with held(host, tmp_path, "a") as (ask, _):
        first, second = await asyncio.gather(ask("a"), ask("a"))
    async with held(host, tmp_path, "ab") as (ask, _):
        again = [await ask("a"), await ask("a")]
        assert [message.text for message in again] == [first.text, second.text]
        assert sizes(host) == [2]
        _, new = await asyncio.gather(ask("b", "other"), ask("a"))
    assert sizes(host) == [2, 2]
    assert new.text not in (first.text, second.text)


async def test_an_answer_that_a_game_has_recorded_is_not_handed_out_again(host, tmp_path):
    async with held(host, tmp_path, "a") as (ask, _):
        first, second = await asyncio.gather(ask("a"), ask("a"))
    async with held(host, tmp_path, "a", spent=[first.response_metadata["id"]]) as (ask, _):
        assert (await ask("a")).text == second.text
    assert sizes(host) == [2]


async def test_an_answer_of_another_game_that_asked_the_same_serves_a_game_that_has_none(host, tmp_path):
    async with held(host, tmp_path, "a") as (ask, _):
        first = await ask("a")
    async with held(host, tmp_path, "ba") as (ask, _):
        assert (await ask("b")).text == first.text
    assert sizes(host) == [1]


def test_a_record_that_was_cut_short_is_dropped_and_one_that_somebody_changed_is_refused_by_its_line(tmp_path):
    file = tmp_path / BATCHES
    JobRecords(file).add(JobRecord("one", "sending", items=(("a", "digest"),)))
    file.write_bytes(file.read_bytes() + b'{"token": "one", "st')
    JobRecords(file).add(JobRecord("one", "sent", "batch_1"))
    [job] = JobRecords(file).jobs.values()
    assert (job.step, job.name, job.items) == ("sent", "batch_1", (("a", "digest"),))
    file.write_text('{"token": "one", "step": "sending"}\n{"token": "one", "step": "lost"}\n')
    with pytest.raises(RunFolderError, match="line 2"):
        JobRecords(file)


def test_a_batch_costs_the_share_that_the_table_of_prices_has_and_an_unknown_price_stays_unknown():
    used = Usage(input_tokens=1_000, output_tokens=1_000)
    for model in ("gpt-4o-mini", "claude-sonnet-4-5"):
        alone, batch = calc_price(used, model), calc_price(used, model, price_context={"processing": "batch"})
        assert float(batch.total_price / alone.total_price) == BATCH_SHARE
    settings = in_batch(ModelSettings(use="openai:gpt-4o-mini", input_price=3))
    assert (settings.input_price, settings.output_price) == (1.5, None)
