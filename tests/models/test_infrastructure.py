"""A provider's bad minute never becomes play: what passes is tried again, what does not pauses or stops the run."""

from __future__ import annotations

import asyncio
import functools

import pytest

from harbor import Auction, Bidder, Item, ModelSettings
from harbor._core.basics.errors import ModelError, RunPaused
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._games.english.events import ItemSold
from harbor._models.governor.local import LocalGovernor
from harbor._models.governor.terms import Gone
from harbor._runs.inputs import RunInputs
from harbor._runs.run import Run, start
from harbor._runs.series import resume
from support.providers import CONTENT, PERMANENT, Faults, provider

SEED = 5
ITEMS = [Item(name=f"Lot {number}", start=1_000, true_value=2_000 + 300 * number) for number in (1, 2)]


def auction(server=None, failed_calls="stop", **settings):
    use = {"use": "openai:gpt-4o-mini", "base_url": server.openai_url} if server else {}
    own = {"models": {"mine": ModelSettings(**use, **settings)}, "failed_calls": failed_calls, "seed": SEED}
    return Auction(items=ITEMS, bidders=[Bidder(name, model="mine", bidding="call") for name in ("Ann", "Ben")], **own)


def served(server):
    return sum(heard.status == 200 for heard in server.requests)


def outcomes(log):
    return {call.outcome for call in of_type(log, ModelCalled)}


@pytest.mark.parametrize("kind", PERMANENT)
def test_what_is_refused_stops_the_run_with_the_words_of_the_provider(kind):
    with provider(seed=SEED, faults=Faults(kind, seed=1)) as server:
        with pytest.raises(ModelError, match=r"'mine' \(openai:gpt-4o-mini\) is refused: OpenAI\w+: Error code: 4"):
            auction(server).run()
        assert len(server.requests) == 1


@pytest.mark.parametrize("kind", [kind for kind in CONTENT if kind not in ("wrong tool", "huge")])
def test_what_the_model_does_wrong_is_play(kind):
    with provider(seed=SEED, faults=Faults(kind, share=0.2, seed=3)) as server:
        run = auction(server, reply="tool").run()
        assert outcomes(run.log) == {"ok", "refused" if kind == "refusal" else "unreadable"}
        assert not any(call.retries for call in of_type(run.log, ModelCalled))


def test_an_outage_pauses_the_run_and_resuming_pays_nothing_twice(tmp_path, server):
    def fail_later(entry):
        if isinstance(entry.event, ItemSold):
            server.fail("unavailable")

    with pytest.raises(RunPaused, match=r"'mine' .* has not answered"):
        auction(server, retry_seconds=0.3).run(out=tmp_path / "run", listen=fail_later)
    answered = served(server)
    server.recover()
    run = resume(tmp_path / "run")
    assert run.standings == auction().run().standings
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
        assert {type(end) for end in asyncio.run(three())} == {RunPaused}


@pytest.mark.parametrize("kind", ["503", "401"])
def test_a_run_plays_on_without_answers_only_if_it_is_told_to_and_is_no_result_if_nothing_was_answered(kind):
    with provider(seed=SEED, faults=Faults(kind, share=0.3, seed=2)) as server:
        run = auction(server, failed_calls="play on", retry_seconds=0).run()
        assert outcomes(run.log) >= {"ok", "failed"}
        server.faults = Faults(kind)
        with pytest.raises(ModelError, match="no model has answered any of"):
            auction(server, failed_calls="play on", retry_seconds=0).run()


def test_a_resumed_run_asks_in_the_form_that_it_has_recorded(tmp_path, server):
    def stop(entry):
        if isinstance(entry.event, ItemSold):
            raise KeyboardInterrupt

    server.refuses = ("tools", "response_format")
    with pytest.raises(KeyboardInterrupt):
        auction(server).run(out=tmp_path / "run", listen=stop)
    run = resume(tmp_path / "run")
    assert run.standings == auction().run().standings
    assert {call.form for call in of_type(run.log, ModelCalled)} == {"text"}


def test_two_servers_play_in_one_auction(server):
    with provider(seed=SEED, name="yours") as other:
        yours = ModelSettings(use="anthropic:claude", base_url=other.anthropic_url)
        sale = auction(server)
        bidders = (sale.bidders[0], Bidder("Ben", model="yours", bidding="call"))
        run = sale.model_copy(update={"bidders": bidders, "models": {**sale.models, "yours": yours}}).run()
    assert outcomes(run.log) == {"ok"}
    assert server.requests
    assert other.requests


class GoneAfterSix(LocalGovernor):
    """The governor of a driver that ends in the middle of a game."""

    calls = 0

    async def enter(self, request):
        self.calls += 1
        if self.calls > 6:
            raise Gone("the driver is gone")
        return await super().enter(request)


def test_a_worker_whose_driver_is_gone_does_not_play_on_without_answers(server):
    run = Run(auction(server, failed_calls="play on"), RunInputs(governor=GoneAfterSix()))
    with pytest.raises(RunPaused, match="the driver is gone"):
        asyncio.run(start(run))
