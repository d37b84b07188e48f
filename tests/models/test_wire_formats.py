"""A game over the wire is the game that is held offline, in every wire format, whatever goes wrong on the way."""

from __future__ import annotations

import asyncio
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from openai._utils import is_given
from openai.resources.chat.completions import completions

from harbor import Auction, Bidder, ModelSettings
from harbor._config.thinking import BUNDLES
from harbor._core.asking.decisions import BidReply
from harbor._core.basics.errors import ModelError
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._models.connections import connected
from harbor._models.providers import open_chat
from harbor.evaluation._rating.judging import judge
from harbor.evaluation._rating.sheets import write_sheets
from harbor.evaluation._rating.transcript import rateables
from support.cases import crossed
from support.commands import harbor
from support.formats import FORMATS, ITEMS, SEED, asked, auction, retries, spoken, told
from support.leaping import LIMIT, run_leaping
from support.providers import BROKEN, STUCK, TRANSIENT, Faults, provider

ANY_FORM = ("response_format", "response_format.json_schema")
QUICK = tuple(kind for kind in TRANSIENT if kind not in STUCK and kind != "429 date")


def is_same(run, offline):
    return run.standings == offline.standings and told(run.log) == told(offline.log)


@pytest.mark.parametrize("form", FORMATS)
def test_a_run_over_the_wire_is_the_one_that_is_held_offline_also_beside_others_and_in_several_threads(
    form, offline, server
):
    async def several():
        return await asyncio.gather(*(auction(spoken(form, server)).arun() for _ in range(4)))

    run = auction(spoken(form, server)).run()
    assert is_same(run, offline)
    assert asked(run.log) == asked(offline.log)
    assert len(server.requests) == len(of_type(run.log, ModelCalled))
    with ThreadPoolExecutor(2) as threads:
        runs = [run for runs in threads.map(lambda _: asyncio.run(several()), "12") for run in runs]
    assert all(is_same(run, offline) for run in runs)
    assert len(server.requests) == 9 * len(of_type(run.log, ModelCalled))
    assert server.is_left()


PLAYED = {"native": "english", "harbor": "english", "aucarena": "english", "econarena": "beauty", "alympics": "water"}
"""A game that each protocol knows."""


@pytest.mark.parametrize(("protocol", "form"), crossed([*BUNDLES], FORMATS))
def test_replies_of_each_protocol_mean_in_every_wire_format_what_they_mean_offline(protocol, form, server):
    game = PLAYED[protocol]
    rules = {"game": game, **({"runs": 1} if game == "beauty" else {"days": 2} if game == "water" else {})}
    items = {"items": ITEMS} if game == "english" else {}

    def played(**settings):
        bidders = [Bidder(name, model="mine", protocol=protocol) for name in ("Alex", "Bob", "Cindy")]
        models = {"mine": ModelSettings(**settings)}
        return Auction(**items, bidders=bidders, rules=rules, models=models, seed=SEED).run()

    online = played(**spoken(form, server))
    assert is_same(online, offline := played())
    assert asked(online.log) == asked(offline.log)


SETTINGS = {
    "plain": {},
    "sampled": {"temperature": 0.5, "max_tokens": 300, "seed": 7},
    "extra": {"extra": {"extra_body": {"top_k": 4, "n": 1}, "model_kwargs": {"user": "me", "extra_query": {"a": "b"}}}},
    "streamed": {"extra": {"streaming": True}},
}


@pytest.mark.parametrize("settings", SETTINGS)
async def test_a_request_over_connections_of_a_run_is_the_one_that_the_package_sends(settings, monkeypatch):
    walked = []

    async def walk(data, kind):
        walked.append(data)
        return await transform(data, kind)

    transform = completions.async_maybe_transform
    monkeypatch.setattr(completions, "async_maybe_transform", walk)
    answer = AIMessage("", tool_calls=[{"name": "BidReply", "args": {"action": "withdraw"}, "id": "1"}])
    with provider(answer=lambda _: answer) as server:
        chat = open_chat("mine", ModelSettings(**spoken("openai chat", server) | SETTINGS[settings]), SEED)
        server.streams = settings == "streamed"
        asking = chat.bind_tools([BidReply], tool_choice="any")
        said = [await asking.ainvoke("What do you bid?")]
        async with connected([chat]):
            said.append(await asking.ainvoke("What do you bid?"))
        theirs, ours = server.requests
    assert theirs.body == ours.body
    assert theirs.path == ours.path
    assert {**theirs.headers, "content-length": ""} == {**ours.headers, "content-length": ""}
    assert said[0].tool_calls[0]["args"] == said[1].tool_calls[0]["args"]
    assert [bool(data["messages"]) and is_given(data["tools"]) for data in walked] == [True, False]


@pytest.mark.parametrize(("kind", "form"), crossed(["401", "404"], FORMATS))
def test_what_is_refused_for_good_is_asked_once(form, kind):
    with provider(seed=SEED, faults=Faults(kind)) as server:
        with pytest.raises(ModelError, match=r"is refused: .*(API key|x-api-key|exist)"):
            auction(spoken(form, server)).run()
        assert len(server.requests) == 1


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_faults_of_all_kinds_that_pass_change_nothing(form, offline):
    with provider(seed=SEED, faults=Faults(QUICK, share=0.2, seed=1, retry_after=0.01)) as server:
        run = auction(spoken(form, server)).run()
        assert is_same(run, offline)
        assert asked(run.log) == asked(offline.log)
        assert len(server.requests) == len(of_type(run.log, ModelCalled)) + retries(run.log)
        assert retries(run.log) > 0


@pytest.mark.parametrize(("kind", "form"), crossed([*BROKEN, "429 date"], FORMATS))
def test_a_call_that_fails_is_asked_again(form, kind, offline):
    with provider(seed=SEED, faults=Faults(kind, only={2}, retry_after=0.01)) as server:
        run = auction(spoken(form, server)).run()
        assert is_same(run, offline)
        assert retries(run.log) == 1


@pytest.mark.parametrize(("kind", "form"), crossed(STUCK, FORMATS))
def test_a_call_that_hangs_is_given_up_and_asked_again(form, kind, offline):
    with provider(seed=SEED, faults=Faults(kind, only={2})) as server:
        run = run_leaping(auction(spoken(form, server), timeout_seconds=LIMIT).arun(), server)
        assert is_same(run, offline)
        assert retries(run.log) >= 1  # a call beside it is given up, too


TOOLLESS = {
    "no tools": (("tools",), (), "json"),
    "text alone": (("tools", *ANY_FORM), (), "text"),
    "passes over tools": ((), ("tools",), "json"),
}


@pytest.mark.parametrize(("form", "which"), crossed(FORMATS, [*TOOLLESS]))
def test_a_server_that_takes_no_tools_is_asked_in_another_form(form, which, offline):
    refuses, ignores, found = TOOLLESS[which]
    with provider(seed=SEED, refuses=refuses, ignores=ignores) as server:
        run = auction(spoken(form, server)).run()
        assert is_same(run, offline)
        assert {call.form for call in of_type(run.log, ModelCalled)} == {found}
        server.refuses = server.ignores = ()
        run = auction(spoken(form, server), reply=found).run()
        assert is_same(run, offline)
        assert {call.form for call in of_type(run.log, ModelCalled)} == {found}


# ---------------------------------------------------------------- connections, and chat models that are given


class OtherProvider(ChatOpenAI):
    """A model of a package that builds on OpenAI's, as those of DeepSeek and xAI do."""


@pytest.mark.parametrize("kind", [ChatOpenAI, OtherProvider])
def test_a_model_that_is_given_to_runs_in_a_row_has_no_failed_call_and_stays_as_it_was(server, kind):
    chat = kind(model="gpt-4o-mini", base_url=server.openai_url, api_key="nobody", max_retries=0)
    client = chat.root_async_client
    for _ in range(3):
        log = auction({}).run(models={"mine": chat}).log
        assert {(call.outcome, call.retries) for call in of_type(log, ModelCalled)} == {("ok", 0)}
        assert server.is_left()
    assert chat.root_async_client is client


def test_a_run_that_breaks_off_closes_its_connections_too(server):
    def listen(entry):
        if isinstance(entry.event, ModelCalled):
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        auction(spoken("openai chat", server)).run(listen=listen)
    assert server.connections
    assert server.is_left()


def test_a_judge_over_the_wire_has_no_failed_call_and_closes_its_connections(server, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    monkeypatch.setenv("OPENAI_API_KEY", "nobody")
    auction({}).run(out=tmp_path / "run")
    for ratings in (tmp_path / "one", tmp_path / "two"):
        write_sheets(ratings, rateables([tmp_path / "run"]), raters=0)
        judged = asyncio.run(judge(ratings, "openai:gpt-4o-mini"))
        assert {call.outcome for call in judged.calls} == {"ok"}
        assert server.is_left()
    shutil.rmtree(ratings / "judges")
    said = harbor("rate", "judge", ratings, "--model", "openai:gpt-4o-mini").stdout
    assert "records in" in said
    assert "mean nothing" not in said
