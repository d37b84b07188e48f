"""A game over the wire is the game that is held offline, in every wire format, whatever goes wrong on the way."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from openai._utils import is_given
from openai.resources.chat.completions import completions

from harbor import Auction, Bidder, Item, ModelSettings, houses
from harbor._config.thinking import BUNDLES
from harbor._core.asking.decisions import BidReply
from harbor._core.basics.errors import ConfigError, ModelError
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._models.calls.messages import Usage
from harbor._models.connections import connected
from harbor._models.providers import open_chat
from harbor.evaluation._rating.judging import judge
from harbor.evaluation._rating.sheets import write_sheets
from harbor.evaluation._rating.transcript import rateables
from support.cases import crossed
from support.commands import harbor
from support.formats import FORMATS, ITEMS, SEED, asked, auction, retries, spoken, told
from support.leaping import LIMIT, run_leaping
from support.providers import BROKEN, BUSY, STUCK, Faults, provider

ANY_FORM = ("response_format", "response_format.json_schema")


def is_same(run, offline):
    return run.standings == offline.standings and told(run.log) == told(offline.log)


@pytest.mark.parametrize("form", FORMATS)
def test_a_run_over_the_wire_is_the_one_that_is_held_offline_also_beside_others_and_in_several_threads(
    form, offline, server
):
    async def several():
        return await asyncio.gather(*(auction(spoken(form, server)).arun() for _ in range(2)))

    with ThreadPoolExecutor(2) as threads:
        runs = [run for runs in threads.map(lambda _: asyncio.run(several()), "12") for run in runs]
    assert all(is_same(run, offline) for run in runs)
    assert {tuple(asked(run.log)) for run in runs} == {tuple(asked(offline.log))}
    assert len(server.requests) == len(runs) * len(of_type(offline.log, ModelCalled))
    assert server.is_left()


PLAYED = {"econarena": {"rules": {"game": "beauty", "runs": 1}}, "alympics": {"rules": {"game": "water", "days": 2}}}
"""A game of the protocols that know no auction of items."""


@pytest.mark.parametrize(("protocol", "form"), crossed([*BUNDLES], FORMATS))
def test_replies_of_each_protocol_mean_in_every_wire_format_what_they_mean_offline(protocol, form, server):
    def played(**settings):
        bidders = [Bidder(name, model="mine", protocol=protocol) for name in ("Alex", "Bob", "Cindy")]
        models = {"mine": ModelSettings(**settings)}
        return Auction(bidders=bidders, models=models, seed=SEED, **PLAYED.get(protocol, {"items": ITEMS})).run()

    online = played(**spoken(form, server))
    assert is_same(online, offline := played())
    assert asked(online.log) == asked(offline.log)


NESTED = {"extra_body": {"top_k": 4, "n": 1}, "model_kwargs": {"user": "me", "extra_query": {"a": "b"}}}
SAMPLED = {"temperature": 0.5, "max_tokens": 300, "seed": 7}


@pytest.mark.parametrize("settings", [SAMPLED, {"extra": NESTED}, {"extra": {"streaming": True}}], ids=repr)
async def test_a_request_over_connections_of_a_run_is_the_one_that_the_package_sends(settings, monkeypatch):
    walked = []

    async def walk(data, kind):
        walked.append(data)
        return await transform(data, kind)

    transform = completions.async_maybe_transform
    monkeypatch.setattr(completions, "async_maybe_transform", walk)
    answer = AIMessage("", tool_calls=[{"name": "BidReply", "args": {"action": "withdraw"}, "id": "1"}])
    with provider(answer=lambda _: answer) as server:
        chat = open_chat("mine", ModelSettings(**spoken("openai chat", server) | settings), SEED)
        server.streams = "streaming" in settings.get("extra", {})
        asking = chat.bind_tools([BidReply], tool_choice="any")
        said = [await asking.ainvoke("What do you bid?")]
        async with connected([chat]):
            said.append(await asking.ainvoke("What do you bid?"))
        theirs, ours = server.requests
    assert (theirs.body, theirs.path) == (ours.body, ours.path)
    assert {**theirs.headers, "content-length": ""} == {**ours.headers, "content-length": ""}
    assert said[0].tool_calls[0]["args"] == said[1].tool_calls[0]["args"]
    assert [bool(data["messages"]) and is_given(data["tools"]) for data in walked] == [True, False]


@pytest.mark.parametrize(("kind", "form"), crossed([*BROKEN, *BUSY], FORMATS))
def test_a_call_that_fails_is_asked_again_and_changes_nothing(form, kind, offline):
    with provider(seed=SEED, faults=Faults(kind, only={2}, retry_after=0.01)) as server:
        run = auction(spoken(form, server)).run()
        assert is_same(run, offline)
        assert asked(run.log) == asked(offline.log)
        assert (retries(run.log), len(server.requests)) == (1, len(of_type(run.log, ModelCalled)) + 1)


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
        left_open = auction(spoken(form, server)).run()
        server.refuses = server.ignores = ()
        set_so = auction(spoken(form, server), reply=found).run()
    for run in (left_open, set_so):
        assert is_same(run, offline)
        assert {call.form for call in of_type(run.log, ModelCalled)} == {found}


# ---------------------------------------------------------------- Azure, and servers that answer in streams alone


KEY = "az-0123456789abcdef"
VERSION, NAMED = {"extra": {"api_version": "2024-10-21"}}, {"api_key_env": "AZURE_OPENAI_API_KEY"}
RESOURCE = {"base_url": "https://name.openai.azure.com"}


@pytest.fixture
def bare(monkeypatch):
    for name in [name for name in os.environ if "OPENAI" in name]:
        monkeypatch.delenv(name)


def test_azure_is_played_at_its_own_paths_with_its_own_header(bare, monkeypatch, offline):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    with provider(seed=SEED, key=KEY) as server:
        run = auction({"use": "azure_openai:mine-4o", "base_url": server.url, **NAMED, **VERSION}).run()
        assert told(run.log) == told(offline.log)
        assert {heard.path for heard in server.requests} == {"/openai/deployments/mine-4o/chat/completions"}
        assert {heard.headers["api-key"] for heard in server.requests} == {KEY}


def made(**settings):
    return open_chat("mine", ModelSettings(use="azure_openai:mine-4o", **settings), 0)


@pytest.mark.parametrize(
    ("given", "lacks"),
    [
        ({}, "the address .*base_url = .*the version .*api_version = .*the key .*api_key_env = "),
        (RESOURCE | VERSION, r"the key \(api_key_env = [^)]*\);"), (RESOURCE | NAMED, r"the version [^)]*\);"),
        (VERSION | NAMED, r"the address [^)]*\);"),
    ],
)  # fmt: skip
def test_what_azure_lacks_is_named_in_one_line_with_the_setting_of_each(given, lacks, bare):
    with pytest.raises(ConfigError, match=rf"^model 'azure_openai:mine-4o' lacks {lacks}[^\n]* in its table[^\n]*$"):
        made(**given)


def test_azure_takes_all_from_the_environment_but_its_key_goes_to_no_address_that_settings_name(bare, monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    with pytest.raises(ConfigError, match="lacks the key"):
        made(**RESOURCE, **VERSION)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://name.openai.azure.com")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    assert made()


@pytest.mark.parametrize("reply", ["tool", "json"])
def test_a_server_that_only_streams_says_so_and_is_played_and_counted_with_the_setting_that_helps(
    reply, offline, server
):
    def tokens(run):
        called = of_type(run.log, ModelCalled)
        return [(call.bidder, call.purpose, call.input_tokens, call.output_tokens, call.finish) for call in called]

    sale, streamed = (
        auction(spoken("openai chat", server), reply=reply, extra=extra) for extra in ({}, {"streaming": True})
    )
    server.streams = True
    with pytest.raises(ModelError, match=r"only supports streaming.*give extra = \{ streaming = true \}"):
        sale.run()
    assert len(server.requests) == 1
    server.streams = False
    whole = sale.run()
    server.streams, asked = True, len(server.requests) - 1
    run = streamed.run()
    assert told(run.log) == told(offline.log)
    assert len(server.requests) == 1 + 2 * asked
    assert tokens(run) == tokens(whole)


# ---------------------------------------------------------------- connections, and chat models that are given


class OtherProvider(ChatOpenAI):
    """A model of a package that builds on OpenAI's, as those of DeepSeek and xAI do."""


@pytest.mark.parametrize("kind", [ChatOpenAI, OtherProvider])
def test_a_model_that_is_given_to_runs_in_a_row_has_no_failed_call_and_stays_as_it_was(server, kind):
    chat = kind(model="gpt-4o-mini", base_url=server.openai_url, api_key="nobody", max_retries=0)
    client = chat.root_async_client
    for _ in range(2):
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


# ---------------------------------------------------------------- what providers keep of the beginnings of prompts


HOUSES = houses(2, seed=3)
LOTS = [Item(name=f"Lot {one}", start=1_000 * one, true_value=2_000 * one) for one in range(1, 6)]


def played_on_houses(**settings):
    bidders = [Bidder(name, model="mine", theory_of_mind="true", persona="downsizing") for name in ("Ann", "Ben")]
    return Auction(items=HOUSES, bidders=bidders, models={"mine": ModelSettings(**settings)}, seed=3).run()


def test_the_end_of_the_system_prompt_is_marked_for_anthropic_and_read_again_at_a_lower_price():
    with provider(seed=3) as server:
        prices = {"input_price": 10.0, "cached_price": 1.0, "output_price": 0.0}
        run = played_on_houses(use="anthropic:claude", base_url=server.anthropic_url, **prices)
        calls = of_type(run.log, ModelCalled)
        assert run.standings == played_on_houses().standings
        assert all(heard.body["system"][-1]["cache_control"] == {"type": "ephemeral"} for heard in server.requests)
        read, kept = sum(call.input_tokens for call in calls), sum(call.cached_tokens for call in calls)
        assert kept > read / 4
        assert sum(call.cost_dollars for call in calls) < (10 * 1.25 * (read - kept) + kept) / 1e6


@pytest.mark.parametrize(
    ("cached", "written", "dollars"), [(0, 0, 8.0), (1_000_000, 0, 2.0), (0, 1_000_000, 10.0), (500_000, 500_000, 6.0)]
)
def test_input_costs_less_where_it_was_kept_and_more_where_it_is_from_now_on(cached, written, dollars):
    settings = ModelSettings(use="anthropic:claude", input_price=8.0, cached_price=2.0, output_price=1.0)
    usage = Usage(told=True, input_tokens=1_000_000, cached_tokens=cached, written_tokens=written)
    assert usage.cost(settings) == pytest.approx(dollars)


KEPT = {
    "openai chat": {"tool": (0.87, 0.8), "json": (0.86, 0.76), "text": (0.86, 0.76)},
    "anthropic": {"tool": (0.82, 0.77), "json": (0.82, 0.78), "text": (0.82, 0.78)},
}
"""The least share of tokens from a cache, of bidding by call and by limit; providers count in steps or up to a mark."""


@pytest.mark.parametrize(("form", "reply", "bidding"), crossed([*KEPT], ["tool", "json", "text"], ["call", "limit"]))
def test_providers_keep_most_of_what_a_bidder_sends(form, reply, bidding):
    with provider(seed=3) as server:
        bidders = [Bidder(name, model="mine", budget=20_000, bidding=bidding) for name in ("Ann", "Ben", "Cho")]
        models = {"mine": ModelSettings(**spoken(form, server), reply=reply)}
        calls = of_type(Auction(items=LOTS, bidders=bidders, models=models, seed=3).run().log, ModelCalled)
    least = KEPT[form][reply][bidding == "limit"]
    assert sum(call.cached_tokens for call in calls) >= least * sum(call.input_tokens for call in calls)


def test_all_shapes_of_replies_are_offered_in_each_call_and_the_wanted_one_is_forced_but_a_papers_bundle_has_one():
    with provider(seed=3) as server:
        played_on_houses(use="openai:gpt-4o", base_url=server.openai_url)
        bodies = [heard.body for heard in server.requests]
        assert len({json.dumps(body["tools"]) for body in bodies}) == 1
        forced = {body["tool_choice"]["function"]["name"] for body in bodies}
        assert forced == {tool["function"]["name"] for tool in bodies[0]["tools"]} > {"LimitReply"}
        assert all(isinstance(body["messages"][0]["content"], str) for body in bodies)  # without a mark of Anthropic's
        models = {"mine": ModelSettings(use="openai:gpt-4o", base_url=server.openai_url)}
        bidders = [Bidder(name, model="mine", protocol="aucarena", reply="tool") for name in ("Ann", "Ben")]
        Auction(items=HOUSES, bidders=bidders, models=models, seed=3).run()
        assert {len(heard.body["tools"]) for heard in server.requests[len(bodies) :]} == {1}
