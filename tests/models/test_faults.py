"""What an error of a provider means, from its words where it has no status and no headers."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as some
from langchain_anthropic import ChatAnthropic
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from openai import RateLimitError

from harbor import ModelSettings
from harbor._models.calls.faults import (
    LONGEST_ASKED,
    StrangeAnswer,
    at_host,
    end_of_pause,
    fault_of,
    host_of,
    status_in_words,
)
from harbor._models.calls.line import identity_of
from harbor._models.connections import connected
from support.providers import Faults, provider

RETRY_INFO = {"error": {"code": 429, "details": [{"@type": "type/google.rpc.RetryInfo", "retryDelay": "13.5s"}]}}


class Refused(Exception):
    """An error of a package, which tells its status and details by different names."""

    def __init__(self, words, **told):
        super().__init__(words)
        vars(self).update(told)


def test_a_pause_is_found_in_the_body_of_an_error():
    pauses = {"in 1.25s.": 1.25, "in 20ms.": 0.02, "in 1m3.2s. Visit our pages.": 63.2, "in 2h0m0.5s.": 7200.5}
    errors = {Refused("429 RESOURCE_EXHAUSTED", code=429, details=RETRY_INFO): 13.5}
    for when, seconds in (pauses | {"in 2 hours.": 7200, "later.": None}).items():
        said = f"Rate limit reached. Please try again {when}"
        errors[Refused(said, status_code=429, message=said)] = seconds
    for error, seconds in errors.items():
        fault = fault_of(error)
        assert (fault.kind, fault.retry_after) == ("busy", seconds)


def refused(**headers):
    """A refusal that comes with headers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = httpx.Request("POST", "http://localhost")
    return RateLimitError("busy", response=httpx.Response(429, headers=named, request=request), body=None)


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ("0", 0), ("7200", 7200), ("0.25", 0.25), (" 5 ", 5), ("2 hours", 7200), ("1h30m", 5400), ("250ms", 0.25),
        ("1 minute, 30 seconds", 90), ("1e12", LONGEST_ASKED), ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST_ASKED),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("Wed, 21 Oct 2015 07:28:00", 0), ("-5", None), ("inf", None),
        ("nan", None), ("9" * 400, None), ("soon", None), ("", None),
    ],
)  # fmt: skip
def test_a_retry_after_of_any_form_is_seconds_or_nothing(told, seconds):
    assert fault_of(refused(retry_after=told)).retry_after == seconds


@pytest.mark.parametrize(("milliseconds", "seconds"), [("250", 0.25), ("0", 0), ("nan", 3), ("1e15", LONGEST_ASKED)])
def test_milliseconds_go_before_seconds_where_they_are_a_number(milliseconds, seconds):
    assert fault_of(refused(retry_after_ms=milliseconds, retry_after="3")).retry_after == seconds


@given(some.text(some.characters(min_codepoint=32, max_codepoint=126)) | (some.floats() | some.integers()).map(str))
def test_whatever_a_retry_after_is_it_breaks_nothing(told):
    asked = fault_of(refused(retry_after=told.strip())).retry_after
    assert asked is None or 0 <= asked <= LONGEST_ASKED
    end_of_pause(asked or 0)


TOO_LONG = {
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens": 8192,
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.": 4096,
    "prompt is too long: 208310 tokens > 200000 maximum": 200_000,
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease": 200_000,
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).": 1_048_576,
    "the request exceeds the available context size (4096 tokens), try increasing it": 4_096,
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length": 32_768,
    "{'code': 'context_length_exceeded', 'message': 'Please reduce the length of the messages'}": None,
    "Input is too long for requested model.": None,
    "maximum context length is 99999999999999999999 tokens": None,
}


def test_the_words_of_each_server_for_a_prompt_that_is_too_long_are_known():
    faults = [fault_of(Refused(words, status_code=400)) for words in TOO_LONG]
    assert [(fault.kind, fault.most_tokens) for fault in faults] == [("long", most) for most in TOO_LONG.values()]
    assert fault_of(ValueError("finish reason: length")).kind == "odd"


@pytest.mark.parametrize(
    ("words", "is_for_streams"),
    [
        ("`stream` must be set to true", True), ("Parameter stream must be true for this model", True),
        ("Streaming is required for operations that may take longer than 10 minutes", True),
        ("Non-streaming requests are not supported", True), ("stream_options is not supported", False),
    ],
)  # fmt: skip
def test_the_words_in_which_servers_ask_for_a_stream_are_known(words, is_for_streams):
    told = fault_of(Refused(words, status_code=400)).words
    assert told.endswith("give extra = { streaming = true }") == is_for_streams


def test_a_pause_is_told_with_its_end_and_its_length():
    now = datetime.now(UTC).astimezone()
    assert end_of_pause(7200).startswith(f"{now + timedelta(hours=2):%Y-%m-}")
    for seconds, told in ((7200, "(2 h 0 min)"), (90, "(0 h 2 min)"), (1.5, "(1.5 s)")):
        assert end_of_pause(seconds).endswith(told)


def test_a_stream_that_ends_before_it_begins_is_a_fault_that_passes():
    said = ["No data received from Ollama stream.", "No generations found in stream.", "something else"]
    assert [fault_of(ValueError(words)).kind for words in said] == ["passing", "passing", "odd"]


# ---------------------------------------------------------------- in a few words, over real sockets


CHATS = {
    "openai": lambda url: ChatOpenAI(model="x", base_url=url and f"{url}/v1", api_key="nobody", max_retries=0),
    "anthropic": lambda url: ChatAnthropic(model="x", base_url=url, api_key="nobody", max_retries=0),
    "ollama": lambda url: ChatOllama(model="x", base_url=url),
}


async def failed(kind, url):
    """Say in few words and in a sentence why a call has failed."""
    chat = CHATS[kind](url)
    async with connected([chat]):
        with pytest.raises(Exception) as raised:
            await chat.ainvoke("hello")
    return told(raised.value)


def told(error):
    fault = fault_of(error)
    return status_in_words(fault, error), at_host(fault, error, "there:1").words


@pytest.mark.parametrize("kind", CHATS)
async def test_why_there_is_no_connection_is_told(kind, monkeypatch):
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        why = await failed(kind, f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert why == ("no connection (connection refused)", "no connection to there:1 (connection refused)")
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as server:
        why = await failed(kind, f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert why[0] == "no connection (no TLS there)"

    async def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    why = await failed(kind, "http://no.such.invalid")
    assert why == ("no connection (unknown host)", "no connection to there:1 (unknown host)")


async def test_a_server_that_answers_is_told_by_its_status_and_what_is_no_answer_in_words_of_its_own():
    for kind in ("503", "429"):
        with provider(faults=Faults(kind)) as server:
            words, whole = await failed("openai", server.url)
        assert (words, "there:1" in whole) == (kind, False)
    assert told(TimeoutError())[0] == "no answer in time"
    assert told(StrangeAnswer("a web page"))[0] == "an odd answer"


def test_a_host_is_shown_without_a_user_a_path_or_a_query():
    hosts = {
        "https://api.openai.com/v1/": "api.openai.com", "http://localhost:8000/v1?key=secret#here": "localhost:8000",
        "https://me:secret@host.example:8443/v1": "host.example:8443", "http://[::1]:8000/v1": "[::1]:8000",
        "http://host:port/v1": "http://host:port/v1", "me:secret@host": "host", "google_genai": "google_genai",
    }  # fmt: skip
    assert {address: host_of(address) for address in hosts} == hosts


def test_the_host_of_a_provider_is_known_without_an_address_in_the_settings(monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    hosts = [identity_of(chat(None), ModelSettings(use=f"{name}:x")).host for name, chat in CHATS.items()]
    assert hosts == ["api.openai.com", "api.anthropic.com", "127.0.0.1:11434"]
