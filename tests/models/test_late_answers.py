"""Answers that come late or never: a request waits as long as its model may take, and what is lost is in the ledger."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from harbor import Auction, Bidder, Item, ModelSettings
from harbor._core.basics.errors import RunPaused
from harbor._core.files.layout import CALLS
from harbor._core.log.events import NO_REQUESTS, ModelCalled
from harbor._core.log.log import of_type
from harbor._models import connections
from harbor._models.calls.waiting import MOST_SECONDS, REQUEST_SECONDS, Waiting, longest, may_be_charged
from harbor._models.passports.passport import Passport
from harbor._runs.raw_calls import read_calls
from harbor._runs.run import paid_for
from harbor._runs.series import resume
from support.cases import crossed
from support.commands import harbor
from support.formats import FORMATS, SEED, spoken
from support.leaping import LIMIT, hung, run_leaping, slow
from support.providers import Faults, provider


@pytest.mark.parametrize(
    ("settings", "known", "seconds"),
    [
        ({}, {"slowest": 300.0}, REQUEST_SECONDS), ({}, {"slowest": 600.0}, 1_200), ({"timeout_seconds": 4}, {}, 4),
        ({}, {"slowest": 3_000.0}, MOST_SECONDS), ({"timeout_seconds": 4}, {"slowest": 5.0}, 10),
        ({"timeout_seconds": 7_200}, {"slowest": 3_600.0}, 7_200),
        ({"timeout_seconds": 4, "max_tokens": 1_000}, {"seconds": 20.0, "output_tokens": 400}, 50),
        ({"timeout_seconds": 4, "max_tokens": 1_000}, {"seconds": 20.0}, 4),
    ],
)  # fmt: skip
def test_a_request_may_take_what_the_settings_say_and_never_less_than_the_models_own_speed_explains(
    settings, known, seconds
):
    mine = ModelSettings(use="openai:gpt-4o-mini", **settings)
    assert longest(mine, Passport("", "", **known)) == seconds


def test_calls_that_overlap_are_waited_for_once():
    now = [1.0]
    waiting = Waiting(clock=lambda: now[0])
    with waiting.counted():
        now[0] = 3.0
        with waiting.counted():
            now[0] = 6.0
        assert (waiting.seconds, waiting.is_on) == (5.0, True)
        now[0] = 7.0
    now[0] = 10.0
    with waiting.counted():
        now[0] = 12.0
    assert (waiting.seconds, waiting.is_on) == (8.0, False)


REQUEST = httpx.Request("POST", "http://localhost")


@pytest.mark.parametrize(
    ("error", "may_be"),
    [
        (400, False), (401, False), (429, False), (500, False), (503, False), (504, True), (524, True),
        (httpx.ConnectError("refused", request=REQUEST), False), (httpx.ReadTimeout("late", request=REQUEST), True),
        (httpx.RemoteProtocolError("cut off", request=REQUEST), True),
    ],
    ids=str,
)  # fmt: skip
def test_a_request_may_be_charged_unless_it_was_not_sent_or_was_refused(error, may_be):
    if isinstance(error, int):
        error = httpx.HTTPStatusError("an error", request=REQUEST, response=httpx.Response(error))
    assert may_be_charged(error) == may_be


ITEMS = [Item(name=f"Lot {number}", start=1_000, true_value=2_000 + 300 * number) for number in (1, 2)]
PRICES = {"input_price": 1.0, "output_price": 4.0}
AFTER_SENDING = ("reset", "cut", "html", "truncated", "hang", "endless")
REFUSED = ("429 bare", "500", "503", "529")


def auction(settings=None, lots=2, **more):
    """One bidder, and with one lot it makes one call after another, so that the clock leaps for no other call."""
    models = {"mine": ModelSettings(**(settings or {}), **more)}
    return Auction(items=ITEMS[:lots], bidders=[Bidder("Ann", model="mine", bidding="call")], models=models, seed=SEED)


def made(run):
    return of_type(run.log, ModelCalled)


def lost_in(calls):
    return sum((call.lost for call in calls), NO_REQUESTS)


def test_a_model_that_takes_300_seconds_for_an_answer_is_asked_once_per_call(server):
    run = run_leaping(auction(spoken("openai chat", server)).arun(), server, slow(300))
    assert len(server.requests) == len(made(run)) > 2
    assert lost_in(made(run)) == NO_REQUESTS
    assert run.standings == auction().run().standings


def test_a_model_that_is_slower_than_the_limit_given_is_waited_for_longer_from_the_second_request_on():
    """The first request hangs for longer than the limit; all answers then take longer than it, and less than twice."""

    def leaps(server):
        return hung(server) + 1.5 * LIMIT * max(0, len(server.requests) - 1)

    with provider(seed=SEED, faults=Faults("hang", only={1})) as server:
        hosted = auction(spoken("openai chat", server), lots=1, timeout_seconds=LIMIT)
        calls = made(run_leaping(hosted.arun(), server, leaps))
        assert len(server.requests) == len(calls) + 1 > 2
        assert [call.lost.requests for call in calls] == [1] + [0] * (len(calls) - 1)


@pytest.mark.parametrize(("kind", "form"), crossed([*AFTER_SENDING, *REFUSED], FORMATS))
def test_the_ledger_is_the_servers_own_count_under_every_fault(form, kind):
    with provider(seed=SEED, thought=50, faults=Faults(kind, only={1, 3})) as server:
        run = run_leaping(auction(spoken(form, server), timeout_seconds=LIMIT, **PRICES).arun(), server)
        calls, lost = made(run), lost_in(made(run))
        there = [heard for heard in server.requests if heard.read and heard.fault not in AFTER_SENDING]
        gone = [heard for heard in server.requests if heard.fault in AFTER_SENDING]
        assert sum(call.input_tokens for call in calls) == sum(heard.read for heard in there)
        assert sum(call.output_tokens for call in calls) == sum(heard.written for heard in there)
        assert lost.requests == len(gone) == (2 if kind in AFTER_SENDING else 0)
        assert lost.input_tokens >= sum(heard.read for heard in gone)
        assert lost.output_tokens >= sum(heard.written for heard in gone)
        assert lost.cost_dollars >= (lost.input_tokens + 4 * lost.output_tokens) / 1e6
        assert run.standings == auction().run().standings


def test_a_server_that_hangs_for_ever_is_asked_twice_and_the_run_goes_on_when_it_is_well(tmp_path):
    folder = tmp_path / "run"
    with provider(seed=SEED, faults=Faults("hang", only=range(2, 1_000))) as server:
        hosted = auction(spoken("openai chat", server), timeout_seconds=LIMIT, max_tokens=500, **PRICES)
        with pytest.raises(RunPaused, match=r"not answered 2 requests of one call in time, .*see whether its server"):
            run_leaping(hosted.arun(out=folder), server)
        assert len(server.requests) == 1 + 2
        failed = read_calls(folder / CALLS)[-1]
        assert (failed.outcome, failed.cost_dollars, failed.lost.requests) == ("failed", 0.0, 2)
        assert failed.lost.output_tokens == 2 * 500
        server.faults = None
        run = resume(folder)
        assert run.standings == auction().run().standings
        assert len(server.requests) == 3 + len(made(run)) - 1
        assert lost_in(made(run)) == failed.lost
        assert harbor("verify", folder, "--deep").returncode == 0
        server.fail("refused")
        with pytest.raises(RunPaused):
            auction(spoken("openai chat", server), retry_seconds=0.3, **PRICES).run(out=tmp_path / "refused")
        assert read_calls(tmp_path / "refused" / CALLS)[-1].lost == NO_REQUESTS  # nobody has heard them


def test_a_model_and_its_fallback_that_both_hang_are_asked_twice_each(tmp_path):
    with provider(seed=SEED, faults=Faults("hang", only=range(1, 1_000))) as server:
        own = spoken("openai chat", server) | {"timeout_seconds": LIMIT, "max_tokens": 500, **PRICES}
        other = ModelSettings(**own | {"use": "openai:gpt-4o"})
        hosted = auction(own, fallback="other")
        hosted = hosted.model_copy(update={"models": hosted.models | {"other": other}})
        paused = pytest.raises(RunPaused, match="2 requests of one")
        with pytest.warns(UserWarning, match="answers in its place"), paused:
            run_leaping(hosted.arun(out=tmp_path / "run"), server)
    [failed] = read_calls(tmp_path / "run" / CALLS)
    assert failed.lost.requests == len(server.requests) == 2 + 2


def test_a_call_that_is_stopped_under_way_is_in_the_ledger_and_is_paid_for_once_when_it_is_made_anew(tmp_path):
    folder = tmp_path / "run"

    async def stopped(server):
        running = asyncio.ensure_future(hosted.arun(out=folder))
        while not server.stuck:
            await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    with provider(seed=SEED, faults=Faults("hang", only={2})) as server:
        hosted = auction(spoken("openai chat", server), **PRICES)
        asyncio.run(stopped(server))
        failed = read_calls(folder / CALLS)[-1]
        assert (failed.outcome, failed.lost.requests) == ("failed", 1)
        before = paid_for(folder, hosted.models)
        assert before > failed.lost.cost_dollars > 0
        run = resume(folder)
        answered = sum(call.cost_dollars for call in made(run))
        assert lost_in(made(run)) == failed.lost
        assert paid_for(folder, hosted.models) == pytest.approx(answered + failed.lost.cost_dollars)
        assert harbor("verify", folder, "--deep").returncode == 0


@pytest.mark.parametrize("form", FORMATS)
def test_no_package_gives_up_an_answer_before_the_line_does(form, monkeypatch, server):
    seen = []

    async def looked_at(response):
        seen.append(response.request.extensions["timeout"])

    monkeypatch.setattr(connections, "_bounded", looked_at)
    auction(spoken(form, server), lots=1).run()
    assert {limits["read"] for limits in seen} == {None}
    assert {limits["connect"] for limits in seen} == {None if form == "google" else connections.CONNECT_SECONDS}
