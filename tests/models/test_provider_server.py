"""The providers on loopback that other tests rely on: real clients get what the built-in model says, and faults."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from contextlib import suppress
from email.utils import parsedate_to_datetime
from math import inf

import anthropic
import httpx
import openai
import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI

from harbor import Auction, Bidder, Item, ModelSettings, SimulatedChat
from harbor._core.asking.decisions import BidReply
from harbor._core.basics.numbers import derive
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._models.connections import connected
from support.processes import LONG
from support.providers import KINDS, Faults, Limits, provider

SEED, NAME, KEY = 5, "mine", "sk-0123456789abcdefghijklmnopqrstuvwxyz"
ITEMS = [Item(name="Lot A", start=1_000, true_value=2_000)]
BIDDERS = [Bidder("Ann", model=NAME, bidding="call"), Bidder("Ben", model=NAME, bidding="call")]
OWN = {"api_key": KEY, "max_retries": 0}
BEARER = {"headers": {"Authorization": f"Bearer {KEY}"}}
CLIENTS = {
    "chat": lambda at, **more: ChatOpenAI(model="gpt-4o-mini", base_url=at.openai_url, **OWN, **more),
    "responses": lambda at, **more: CLIENTS["chat"](at, use_responses_api=True, **more),
    "anthropic": lambda at, **more: ChatAnthropic(model="claude-haiku-4-5", base_url=at.anthropic_url, **OWN, **more),
    "google": lambda at, **more: ChatGoogleGenerativeAI(
        model="gemini-2.5-flash", base_url=at.google_url, api_key=KEY, max_retries=1, **more
    ),
    "ollama": lambda at, **more: ChatOllama(model="llama3.2", base_url=at.ollama_url, client_kwargs=BEARER, **more),
}
WIRES = pytest.mark.parametrize("wire", CLIENTS)
PLAIN = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}


def said(asked):
    """What a model says whose answers are no matter."""
    used = {"input_tokens": 10_000, "output_tokens": 4, "total_tokens": 10_004}
    return AIMessage('{"number": 7}', usage_metadata=used)


@pytest.fixture
def server():
    with provider(seed=SEED, name=NAME, key=KEY) as serving:
        yield serving


@pytest.fixture
def talker():
    with provider(answer=said) as serving:
        yield serving


@pytest.fixture(scope="module")
def prompt(tmp_path_factory):
    """A bidder's prompt for its first bid."""
    folder = tmp_path_factory.mktemp("run")
    auction().run(out=folder / "run")
    calls = [json.loads(line) for line in (folder / "run" / "calls.jsonl").read_text().splitlines()]
    system, human = next(call["prompt"] for call in calls if call["purpose"] == "bid")
    return [SystemMessage(system), HumanMessage(human)]


@pytest.fixture(scope="module")
def expected(prompt):
    """What the built-in model bids."""
    [call] = SimulatedChat(seed=derive(SEED, "model", NAME)).bind_tools([BidReply]).invoke(prompt).tool_calls
    return call["args"]


def auction():
    return Auction(items=ITEMS, bidders=BIDDERS, models={NAME: ModelSettings()}, seed=SEED)


def post(server, **more):
    return httpx.post(f"{server.openai_url}/chat/completions", json=PLAIN | more, timeout=LONG, verify=False)


def bidding(chat):
    return chat.bind_tools([BidReply], tool_choice="any")


def shaped(chat):
    return chat.with_structured_output(BidReply, method="json_schema", include_raw=True)


def ask(wire, server, prompt, shape=bidding, **settings):
    """Ask by a client of its own, which is closed afterwards."""

    async def asked():
        chat = CLIENTS[wire](server, **settings)
        async with connected([chat]):
            return await shape(chat).ainvoke(prompt)

    return asyncio.run(asked())


@WIRES
def test_an_auction_over_every_wire_is_the_one_that_is_held_offline(wire, server):
    async def held():
        chat = CLIENTS[wire](server)
        async with connected([chat]):
            return await auction().arun(models={NAME: chat})

    offline, online = auction().run(), asyncio.run(held())
    assert online.standings == offline.standings
    assert {call.outcome for call in of_type(online.log, ModelCalled)} == {"ok"}
    assert len(server.requests) == len(of_type(online.log, ModelCalled))


@WIRES
def test_a_client_gets_the_reply_and_the_usage_of_the_built_in_model(wire, server, prompt, expected):
    reply = ask(wire, server, prompt)
    assert [call["args"] for call in reply.tool_calls] == [expected]
    offline = SimulatedChat(seed=derive(SEED, "model", NAME)).bind_tools([BidReply]).invoke(prompt).usage_metadata
    assert reply.usage_metadata["output_tokens"] == offline["output_tokens"]
    assert reply.usage_metadata["input_tokens"] == pytest.approx(offline["input_tokens"], rel=0.25)


@WIRES
def test_a_client_that_asks_for_json_gets_json(wire, server, prompt, expected):
    assert ask(wire, server, prompt, shaped)["parsed"] == BidReply.model_validate(expected)
    assert json.loads(str(ask(wire, server, prompt, lambda chat: chat).text)) == expected


@WIRES
def test_a_wrong_key_is_refused_in_the_providers_words(wire, server, prompt):
    server.key = "another"
    with pytest.raises(Exception, match=r"(?i)(incorrect|invalid|not valid|unauthorized).*|.*key"):
        ask(wire, server, prompt)
    assert [heard.status for heard in server.requests] == [400 if wire == "google" else 401]


@WIRES
def test_an_error_reaches_the_client_as_one(wire, server, prompt):
    for kind in ("429", "429 date", "429 bare", "529", "500", "503", "404", "403", "quota", "400"):
        server.faults = Faults(kind)
        with pytest.raises(Exception, match=r".") as caught:
            ask(wire, server, prompt)
        status = 400 if (kind, wire) == ("quota", "anthropic") else 429 if kind == "quota" else int(kind.split()[0])
        assert (kind, server.requests[-1].status) == (kind, status)
        assert caught.type not in (KeyError, TypeError, AttributeError), kind


@WIRES
def test_a_broken_reply_is_no_answer_and_the_same_request_is_answered_afterwards(wire, server, prompt, expected):
    for kind in ("reset", "cut", "html", "truncated"):
        server.faults, spoiled = Faults(kind, only={len(server.requests) + 1}), None
        with suppress(Exception):  # some clients take a page of HTML for an answer
            spoiled = ask(wire, server, prompt)
        assert not getattr(spoiled, "tool_calls", ()), kind
        assert [call["args"] for call in ask(wire, server, prompt).tool_calls] == [expected], kind


@WIRES
def test_what_a_model_does_wrong_reaches_the_client(wire, server, prompt, expected):
    server.faults = Faults("wrong tool")
    assert [call["name"] for call in ask(wire, server, prompt).tool_calls] == ["think_aloud"]
    server.faults = Faults("wrong arguments")
    assert [call["args"] for call in ask(wire, server, prompt).tool_calls] == [{"answer": ["BidReply"]}]
    server.faults = Faults("prose")
    assert "think" in str(ask(wire, server, prompt).text)
    for kind in ("empty", "refusal", "length"):
        server.faults = Faults(kind)
        reply = ask(wire, server, prompt)
        assert expected not in [call["args"] for call in reply.tool_calls]


@WIRES
def test_a_reply_ends_where_its_tokens_do(wire, server, prompt, expected):
    limit = {"google": "max_output_tokens", "ollama": "num_predict"}.get(wire, "max_tokens")
    reply = ask(wire, server, prompt, **{limit: 2})
    assert expected not in [call["args"] for call in reply.tool_calls]
    assert reply.usage_metadata["output_tokens"] == 2


@WIRES
def test_a_parameter_that_is_refused_or_ignored(wire, server, prompt):
    server.refuses = {"temperature"}
    with pytest.raises(Exception, match="temperature"):
        ask(wire, server, prompt, temperature=0)
    server.refuses = {"tools"}
    with pytest.raises(Exception, match="tools"):
        ask(wire, server, prompt)
    server.refuses, server.ignores = {"tool_choice.required"} if wire == "ollama" else (), {"tools"}
    reply = ask(wire, server, prompt)
    assert not reply.tool_calls
    assert "think" in str(reply.text)
    server.refuses = {"response_format.json_schema"}
    with pytest.raises(Exception, match="json_schema"):
        ask(wire, server, prompt, shaped)


def test_a_hanging_request_is_never_answered_and_ends_with_its_client(talker):
    talker.faults, hasty = Faults("hang"), httpx.Timeout(LONG, read=0.1)
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{talker.openai_url}/chat/completions", json=PLAIN, timeout=hasty, verify=False)
    assert talker.is_left()
    assert talker.gate.inside == 0


def test_a_server_that_stops_lets_go_of_who_hangs():
    with provider(answer=said, faults=Faults("hang")) as server:
        ended = threading.Event()

        def hang():
            with pytest.raises(httpx.TransportError):
                post(server)
            ended.set()

        threading.Thread(target=hang).start()
        while not server.requests:
            time.sleep(0)
    assert ended.wait(LONG)


def test_an_endless_reply_has_no_end_and_a_huge_one_has_ten_megabytes(talker):
    talker.faults = Faults("endless")
    with httpx.stream("POST", f"{talker.openai_url}/chat/completions", json=PLAIN, timeout=LONG) as reply:
        assert sum(len(part) for part, _ in zip(reply.iter_bytes(), range(50), strict=False)) > 100_000
    talker.faults = Faults("huge")
    assert len(post(talker).content) >= 10_000_000


def test_a_wait_is_given_in_seconds_or_as_a_date(talker):
    talker.faults = Faults("429", retry_after=4)
    assert post(talker).headers["retry-after"] == "4"
    talker.faults, before = Faults("429 date", retry_after=4), int(time.time())  # a date has whole seconds
    date = parsedate_to_datetime(post(talker).headers["retry-after"]).timestamp()
    assert before <= date - 4 <= time.time()
    talker.faults = Faults("429 bare")
    assert "retry-after" not in post(talker).headers


def test_errors_have_the_shapes_of_their_providers(server):
    headers = {"authorization": f"Bearer {KEY}", "x-api-key": KEY, "x-goog-api-key": KEY}

    def error(path, kind):
        server.faults = Faults(kind)
        reply = httpx.post(f"{server.url}{path}", json=PLAIN, headers=headers, verify=False)
        return reply.status_code, reply.json()["error"]

    status, quota = error("/v1/chat/completions", "quota")
    assert (status, quota["code"]) == (429, "insufficient_quota")
    status, overloaded = error("/v1/messages", "529")
    assert (status, overloaded["type"]) == (529, "overloaded_error")
    status, busy = error("/v1beta/models/gemini:generateContent", "429")
    assert (status, busy["status"], busy["details"][0]["retryDelay"]) == (429, "RESOURCE_EXHAUSTED", "1s")
    assert KEY[-20:] in error("/v1/chat/completions", "echoed key")[1]["message"]


def test_an_unknown_fault_is_refused():
    with pytest.raises(ValueError, match="unknown faults"):
        Faults(("500", "fire"))


def test_faults_hit_their_share_of_requests_in_any_order_and_spare_the_next_try():
    def statuses(server, seeds):
        with httpx.Client(verify=False) as client:
            address = f"{server.openai_url}/chat/completions"
            return {seed: client.post(address, json=PLAIN | {"seed": seed}).status_code for seed in seeds}

    faults = Faults(("500", "429"), share=0.2, seed=3)
    with provider(answer=said, faults=faults) as server, provider(answer=said, faults=faults) as other:
        first, again = statuses(server, range(100)), statuses(server, range(100))
        assert statuses(other, reversed(range(100))) == first
    hit = [status for status in first.values() if status != 200]
    assert 10 <= len(hit) <= 30
    assert set(hit) == {500, 429}
    assert again != first


def test_a_slow_start_is_a_fault_of_the_first_requests(talker):
    talker.faults = Faults("503", only=range(1, 4))
    assert [post(talker).status_code for _ in range(5)] == [503, 503, 503, 200, 200]


@pytest.mark.parametrize("outage", ["refused", "reset"])
def test_nobody_is_answered_in_an_outage_and_everybody_after_it(outage, talker):
    with httpx.Client(verify=False) as client:
        address = f"{talker.openai_url}/chat/completions"
        assert client.post(address, json=PLAIN).is_success
        with talker.down(outage):
            for _ in range(2):
                with pytest.raises(httpx.TransportError):
                    client.post(address, json=PLAIN)
        assert client.post(address, json=PLAIN).is_success
    with talker.down("unavailable"):
        assert post(talker).status_code == 503
    assert post(talker).is_success


def test_a_model_that_is_gone_is_not_found_and_others_are(talker):
    talker.gone = {"gpt-4o-mini"}
    assert post(talker).json()["error"]["code"] == "model_not_found"
    assert post(talker, model="gpt-4o").json()["model"] == "gpt-4o-2024-08-06"


async def several(server, number):
    async with httpx.AsyncClient(verify=False, timeout=LONG) as client:
        asked = [client.post(f"{server.openai_url}/chat/completions", json=PLAIN) for _ in range(number)]
        return [reply.status_code for reply in await asyncio.gather(*asked)]


def test_only_so_many_calls_are_let_in_at_once():
    with provider(answer=said, latency=1.5, limits=Limits(at_once=4, retry_after=2)) as server:
        statuses = asyncio.run(several(server, 10))
        assert sorted(statuses) == [200] * 4 + [429] * 6
        assert (server.peak, server.accepted, server.rejected, server.connections) == (4, 4, 6, 10)
        server.latency = 0
        assert post(server).status_code == 200


def test_only_so_many_calls_are_let_in_in_any_window(talker):
    talker.limits = Limits(per_window=3, window=60)
    assert [post(talker).status_code for _ in range(5)] == [200, 200, 200, 429, 429]
    talker.limits = Limits(per_window=3, window=0.001)
    assert post(talker).status_code == 200


def test_a_long_prefix_that_was_seen_before_is_cached_in_steps_of_128_tokens(talker):
    def cached(text):
        used = post(talker, messages=[{"role": "user", "content": text}]).json()["usage"]
        return used["prompt_tokens_details"]["cached_tokens"]

    long = "word " * 2_000
    assert [cached(long), cached(long), cached(long[:5_000] + "other" * 1_000)] == [0, 2_432, 1_152]
    assert [cached("x" * 4_000), cached("x" * 4_000)] == [0, 0]


def test_anthropic_caches_what_is_marked_and_long_enough(talker):
    def used(text, **mark):
        block = {"type": "text", "text": text, **mark}
        body = {"model": "claude", "max_tokens": 9, "system": [block], "messages": PLAIN["messages"]}
        usage = httpx.post(f"{talker.url}/v1/messages", json=body, verify=False).json()["usage"]
        return usage["cache_creation_input_tokens"], usage["cache_read_input_tokens"], usage["input_tokens"]

    mark = {"cache_control": {"type": "ephemeral"}}
    assert used("y" * 8_000) == (0, 0, 10_000)
    assert used("y" * 8_000, **mark) == (2_000, 0, 8_000)
    assert used("y" * 8_000, **mark) == (0, 2_000, 8_000)
    assert used("z" * 4_000, **mark) == (0, 0, 10_000)


@pytest.mark.parametrize("wire", ["chat", "google"])
def test_thought_is_counted_apart(wire, server, prompt):
    server.mind.thought = 50
    assert ask(wire, server, prompt).usage_metadata["output_token_details"]["reasoning"] == 50


def test_requests_are_kept_as_they_came(talker):
    post(talker)
    [heard] = talker.requests
    assert (heard.number, heard.method, heard.path, heard.body) == (1, "POST", "/v1/chat/completions", PLAIN)
    assert heard.headers["content-type"] == "application/json"
    assert heard.began <= heard.ended <= time.monotonic()


def lines(prompt, names):
    messages = [{"role": "system", "content": prompt[0].content}, {"role": "user", "content": prompt[1].content}]
    body = {"model": "gpt-4o-mini", "messages": messages}
    return [{"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body} for name in names]


def test_a_batch_of_openai_is_complete_after_its_polls_and_answers_as_the_plain_endpoint(server, prompt, expected):
    server.polls = 2
    client = openai.OpenAI(base_url=server.openai_url, api_key=KEY, max_retries=0)
    content = "\n".join(json.dumps(line) for line in [*lines(prompt, "ab"), *lines(prompt[:1] * 2, "c")])
    file = client.files.create(file=("batch.jsonl", content.encode()), purpose="batch")
    batch = client.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h")
    looks = [client.batches.retrieve(batch.id) for _ in range(3)]
    assert [look.status for look in looks] == ["in_progress", "in_progress", "completed"]
    results = [json.loads(line) for line in client.files.content(looks[-1].output_file_id).text.splitlines()]
    assert [line["custom_id"] for line in results] == ["a", "b"]
    for line in results:
        assert json.loads(line["response"]["body"]["choices"][0]["message"]["content"]) == expected
    [failed] = client.files.content(looks[-1].error_file_id).text.splitlines()
    assert json.loads(failed)["response"]["status_code"] == 400


def test_a_batch_of_anthropic_is_complete_after_its_polls_and_answers_as_the_plain_endpoint(server, prompt, expected):
    server.polls = inf
    client = anthropic.Anthropic(base_url=server.anthropic_url, api_key=KEY, max_retries=0)
    asked = {"model": "claude-haiku-4-5", "max_tokens": 5_000, "system": prompt[0].content}
    asked["messages"] = [{"role": "user", "content": prompt[1].content}]
    batch = client.messages.batches.create(requests=[{"custom_id": name, "params": asked} for name in "ab"])
    assert client.messages.batches.retrieve(batch.id).processing_status == "in_progress"
    server.polls = 0
    assert client.messages.batches.retrieve(batch.id).request_counts.succeeded == 2
    results = list(client.messages.batches.results(batch.id))
    assert [json.loads(line.result.message.content[0].text) for line in results] == [expected] * 2


def test_every_kind_of_fault_ends_without_an_error_of_the_server(talker, caplog):
    address = f"{talker.openai_url}/chat/completions"
    with httpx.Client(verify=False, timeout=0.2) as client:
        for kind in KINDS:
            talker.faults = Faults(kind)
            with suppress(httpx.TransportError), client.stream("POST", address, json=PLAIN) as reply:
                next(reply.iter_bytes())
    assert talker.is_left()
    assert not caplog.records
