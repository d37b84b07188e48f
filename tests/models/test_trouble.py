"""The trouble of a call in a few words, over real sockets: why there is no connection, a status, a time-out."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI

from harbor import ModelSettings
from harbor._models.calls.faults import StrangeAnswer, at_host, fault_of, host_of, status_in_words
from harbor._models.calls.line import identity_of
from harbor._models.connections import connected
from support.providers import Faults, provider

CHATS = {
    "openai": lambda url: ChatOpenAI(model="x", base_url=f"{url}/v1", api_key="nobody", max_retries=0),
    "anthropic": lambda url: ChatAnthropic(model="x", base_url=url, api_key="nobody", max_retries=0),
    "ollama": lambda url: ChatOllama(model="x", base_url=url),
}


async def failed(chat):
    async with connected([chat]):
        with pytest.raises(Exception) as raised:
            await chat.ainvoke("hello")
    return raised.value


def told(error):
    fault = fault_of(error)
    return status_in_words(fault, error), at_host(fault, error, "there:1").words


@pytest.mark.parametrize("kind", CHATS)
async def test_a_port_at_which_nobody_listens_refuses_the_connection(kind):
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        error = await failed(CHATS[kind](f"http://127.0.0.1:{taken.getsockname()[1]}"))
    assert told(error) == ("no connection (connection refused)", "no connection to there:1 (connection refused)")


@pytest.mark.parametrize("kind", CHATS)
async def test_a_name_that_nobody_knows_is_an_unknown_host(kind, monkeypatch):
    async def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    error = await failed(CHATS[kind]("http://no.such.invalid"))
    assert told(error) == ("no connection (unknown host)", "no connection to there:1 (unknown host)")


@pytest.mark.parametrize("kind", CHATS)
async def test_a_server_without_tls_is_told_so(kind):
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as server:
        error = await failed(CHATS[kind](f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
    assert told(error)[0] == "no connection (no TLS there)"


@pytest.mark.parametrize(("kind", "status"), [("503", "503"), ("429", "429"), ("500", "500")])
async def test_a_server_that_answers_is_told_by_its_status(kind, status):
    with provider(faults=Faults(kind)) as server:
        error = await failed(CHATS["openai"](server.url))
    words, whole = told(error)
    assert words == status
    assert "there:1" not in whole


@pytest.mark.parametrize(
    ("error", "words"), [(TimeoutError(), "no answer in time"), (StrangeAnswer("a web page"), "an odd answer")]
)
def test_what_is_no_answer_has_words_of_its_own(error, words):
    assert status_in_words(fault_of(error), error) == words


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://api.openai.com/v1/", "api.openai.com"),
        ("http://localhost:8000/v1?key=secret#here", "localhost:8000"),
        ("https://me:secret@host.example:8443/v1", "host.example:8443"),
        ("http://[::1]:8000/v1", "[::1]:8000"),
        ("http://host:port/v1", "http://host:port/v1"),
        ("me:secret@host", "host"),
        ("google_genai", "google_genai"),
    ],
)
def test_a_host_is_shown_without_a_user_a_path_or_a_query(address, host):
    assert host_of(address) == host


@pytest.mark.parametrize(
    ("use", "chat", "host"),
    [
        ("openai:x", lambda: ChatOpenAI(model="x", api_key="nobody"), "api.openai.com"),
        ("anthropic:x", lambda: ChatAnthropic(model="x", api_key="nobody"), "api.anthropic.com"),
        ("ollama:x", lambda: ChatOllama(model="x"), "127.0.0.1:11434"),
    ],
)
def test_the_host_of_a_provider_is_known_without_an_address_in_the_settings(use, chat, host, monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    assert identity_of(chat(), ModelSettings(use=use)).host == host
