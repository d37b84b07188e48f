"""A provider's bad minute never becomes play: what passes is tried again, what does not pauses or stops the run."""

from __future__ import annotations

import asyncio
import functools

import pytest

from harbor import Auction, Bidder, Item, ModelSettings
from harbor._core.basics.errors import ModelError, RunPaused
from harbor._core.log.events import BidderLabelled, ModelCalled
from harbor._core.log.log import of_type
from harbor._games.english.events import ItemSold
from harbor._models.governor.terms import Gone, Ticket
from harbor._runs.inputs import RunInputs
from harbor._runs.run import Run, start
from harbor._runs.series import resume
from support.leaping import LIMIT, run_leaping
from support.providers import CONTENT, PERMANENT, TRANSIENT, Faults, provider

SEED = 5
ITEMS = [Item(name=f"Lot {number}", start=1_000, true_value=2_000 + 300 * number) for number in (1, 2)]
QUICK = tuple(kind for kind in TRANSIENT if kind not in ("hang", "endless"))


def auction(server=None, bidders=("Ann", "Ben"), failed_calls="stop", **settings):
    use = {"use": "openai:gpt-4o-mini", "base_url": server.openai_url} if server else {}
    own = {"models": {"mine": ModelSettings(**use, **settings)}, "failed_calls": failed_calls, "seed": SEED}
    return Auction(items=ITEMS, bidders=[Bidder(name, model="mine", bidding="call") for name in bidders], **own)


def played(log):
    """Return the events but for calls, the first line, which names the run, and which model is said to play."""
    events = [entry.event for entry in log if not isinstance(entry.event, ModelCalled)][1:]
    return [event for event in events if not isinstance(event, BidderLabelled)]


def served(server):
    return sum(heard.status == 200 for heard in server.requests)


def outcomes(log):
    return {call.outcome for call in of_type(log, ModelCalled)}


@pytest.fixture(scope="module")
def offline():
    return auction().run()


@pytest.mark.parametrize("kind", QUICK)
def test_a_fault_that_passes_changes_nothing_but_clocks_and_retries(kind, offline):
    with provider(seed=SEED, faults=Faults(kind, share=0.2, seed=1, retry_after=0.01)) as server:
        run = auction(server).run()
        calls = of_type(run.log, ModelCalled)
        assert run.standings == offline.standings
        assert played(run.log) == played(offline.log)
        assert len(server.requests) == len(calls) + sum(call.retries for call in calls)
        assert len(calls) < len(server.requests)


@pytest.mark.parametrize("kind", ["hang", "endless"])
def test_a_call_that_hangs_is_asked_again_and_the_bidder_loses_no_time(kind):
    offline = auction(bidders=["Ann"]).run()
    with provider(seed=SEED, faults=Faults(kind, only={2}, seed=1)) as server:
        alone = auction(server, bidders=["Ann"], timeout_seconds=LIMIT)
        run = run_leaping(alone.arun(), server)
        assert run.standings == offline.standings
        assert sum(call.retries for call in of_type(run.log, ModelCalled)) == 1


@pytest.mark.parametrize("kind", PERMANENT)
def test_what_is_refused_stops_the_run_with_the_words_of_the_provider(kind, tmp_path):
    said = r"model 'mine' \(openai:gpt-4o-mini\) is refused: OpenAI\w+: Error code: 4"
    with provider(seed=SEED, faults=Faults(kind, seed=1)) as server:
        with pytest.raises(ModelError, match=said):
            auction(server).run(out=tmp_path / "run")
        assert len(server.requests) == 1


@pytest.mark.parametrize("kind", [kind for kind in CONTENT if kind != "wrong tool"])
def test_what_the_model_does_wrong_is_play(kind):
    with provider(seed=SEED, faults=Faults(kind, share=0.2, seed=3)) as server:
        run = auction(server, reply="tool").run()
        assert outcomes(run.log) == {"ok", "refused" if kind == "refusal" else "unreadable"}
        assert not any(call.retries for call in of_type(run.log, ModelCalled))


def test_an_outage_pauses_the_run_and_resuming_pays_nothing_twice(tmp_path, offline):
    with provider(seed=SEED) as server:

        def fail_later(entry):
            if isinstance(entry.event, ItemSold):
                server.fail("unavailable")

        with pytest.raises(RunPaused, match=r"'mine' .* has not answered"):
            auction(server, retry_seconds=0.3).run(out=tmp_path / "run", listen=fail_later)
        answered = served(server)
        server.recover()
        run = resume(tmp_path / "run")
        assert run.standings == offline.standings
        assert outcomes(run.log) == {"ok"}
        assert 0 < answered < served(server) == len(of_type(run.log, ModelCalled))


TWO_HOURS = (
    r"'mine' .* asks to wait until \d{4}-\d\d-\d\d \d\d:\d\d .* \((2 h 0|1 h 5\d) min\), and a run waits for 600 s"
)


@pytest.mark.parametrize("kind", ["429", "429 date", "503 later"])
def test_a_pause_of_two_hours_pauses_the_run_at_once_and_every_later_one_of_the_process(kind, tmp_path):
    with provider(seed=SEED, faults=Faults(kind, only=range(7, 1_000), retry_after=7200)) as server:
        first = functools.partial(auction(server).run, out=tmp_path / "run")
        for pausing in (first, lambda: resume(tmp_path / "run"), auction(server).run):
            with pytest.raises(RunPaused, match=TWO_HOURS):
                pausing()
    assert served(server) == 6


def test_a_pause_of_two_hours_pauses_all_games_that_run_beside():
    async def three():
        return await asyncio.gather(*(auction(server).arun() for _ in range(3)), return_exceptions=True)

    with provider(seed=SEED, faults=Faults("429", only=range(7, 1_000), retry_after=7200)) as server:
        ends = asyncio.run(three())
    assert {type(end) for end in ends} == {RunPaused}


def test_a_long_pause_is_named_whatever_the_run_waits_for():
    said = "asks to wait until .* and a run waits for 0 s; it has not answered 1 request in"
    faults = Faults("429", retry_after=7200)
    with provider(seed=SEED, faults=faults) as server, pytest.raises(RunPaused, match=said):
        auction(server, retry_seconds=0).run()


@pytest.mark.parametrize("kind", ["503", "401"])
def test_a_run_plays_on_without_answers_only_if_it_is_told_to(kind):
    with provider(seed=SEED, faults=Faults(kind, share=0.3, seed=2)) as server:
        run = auction(server, failed_calls="play on", retry_seconds=0).run()
        assert outcomes(run.log) >= {"ok", "failed"}


def test_a_run_of_which_nothing_was_answered_is_no_result():
    said = "no model has answered any of"
    with provider(seed=SEED, faults=Faults("401")) as server, pytest.raises(ModelError, match=said):
        auction(server, failed_calls="play on").run()


@pytest.mark.parametrize(
    ("refuses", "ignores", "form"),
    [((), (), "tool"), (("tools",), (), "json"), (("tools", "response_format"), (), "text"), ((), ("tools",), "json")],
)
def test_what_a_server_can_do_is_found_out_once_and_stands_in_the_log(refuses, ignores, form, offline):
    with provider(seed=SEED, refuses=refuses, ignores=ignores) as server:
        run = auction(server).run()
        calls = of_type(run.log, ModelCalled)
        assert run.standings == offline.standings
        assert {call.form for call in calls} == {form}
        assert len(server.requests) - len(calls) == len(refuses) + 2 * len(ignores)


def test_a_resumed_run_asks_in_the_form_that_it_has_recorded(tmp_path, offline):
    def stop(entry):
        if isinstance(entry.event, ItemSold):
            raise KeyboardInterrupt

    with provider(seed=SEED, refuses=("tools", "response_format")) as server:
        with pytest.raises(KeyboardInterrupt):
            auction(server).run(out=tmp_path / "run", listen=stop)
        run = resume(tmp_path / "run")
        assert run.standings == offline.standings
        assert {call.form for call in of_type(run.log, ModelCalled)} == {"text"}


def test_two_servers_play_in_one_auction():
    with provider(seed=SEED, name="mine") as one, provider(seed=SEED, name="yours") as two:
        models = {
            "mine": ModelSettings(use="openai:gpt-4o-mini", base_url=one.openai_url),
            "yours": ModelSettings(use="anthropic:claude", base_url=two.anthropic_url),
        }
        bidders = [Bidder(name, model=model, bidding="call") for name, model in (("Ann", "mine"), ("Ben", "yours"))]
        run = Auction(items=ITEMS, bidders=bidders, models=models, seed=SEED).run()
    assert outcomes(run.log) == {"ok"}
    assert one.requests
    assert two.requests


def test_a_base_url_that_answers_web_pages_is_told_of_and_not_asked_for_ever():
    told = pytest.raises((ModelError, RunPaused), match=r"web page|Connection error")
    with provider(seed=SEED, faults=Faults("html")) as server, told:
        auction(server, retry_seconds=0.5).run()


class GoneAfterSix:
    """The governor of a driver that ends in the middle of a game."""

    def __init__(self):
        self.calls = 0

    async def enter(self, request):
        self.calls += 1
        if self.calls > 6:
            raise Gone("the driver is gone")
        return Ticket(request.account, self.calls)

    def leave(self, ticket, verdict):
        pass


def test_a_worker_whose_driver_is_gone_does_not_play_on_without_answers():
    with provider(seed=SEED) as server:
        run = Run(auction(server, failed_calls="play on"), RunInputs(governor=GoneAfterSix()))
        with pytest.raises(RunPaused, match="the driver is gone"):
            asyncio.run(start(run))
