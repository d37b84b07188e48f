"""Azure, and servers that answer in streams alone: they work by documented settings, and an error names these."""

from __future__ import annotations

import os

import pytest

from harbor import ModelSettings
from harbor._core.basics.errors import ConfigError, ModelError
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._models.calls.faults import fault_of
from harbor._models.providers import open_chat
from support.formats import SEED, auction, spoken, told
from support.providers import provider

KEY = "az-0123456789abcdef"


VERSION = {"extra": {"api_version": "2024-10-21"}}
NAMED = {"api_key_env": "AZURE_OPENAI_API_KEY"}


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    for name in [name for name in os.environ if "OPENAI" in name]:
        monkeypatch.delenv(name)


def test_azure_is_played_at_its_own_paths_with_its_own_header(monkeypatch, offline):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    with provider(seed=SEED, key=KEY) as server:
        run = auction({"use": "azure_openai:mine-4o", "base_url": server.url, **NAMED, **VERSION}).run()
        assert told(run.log) == told(offline.log)
        assert {heard.path for heard in server.requests} == {"/openai/deployments/mine-4o/chat/completions"}
        assert {heard.headers["api-key"] for heard in server.requests} == {KEY}


def made(**settings):
    return open_chat("mine", ModelSettings(use="azure_openai:mine-4o", **settings), 0)


def test_what_azure_lacks_is_named_in_one_line_with_the_setting_of_each():
    resource = {"base_url": "https://name.openai.azure.com"}
    for given, lacks in (
        ({}, "the address .*base_url = .*the version .*api_version = .*the key .*api_key_env = "),
        (resource | VERSION, r"the key \(api_key_env = [^)]*\);"), (resource | NAMED, r"the version [^)]*\);"),
        (VERSION | NAMED, r"the address [^)]*\);"),
    ):  # fmt: skip
        with pytest.raises(
            ConfigError, match=rf"^model 'azure_openai:mine-4o' lacks {lacks}.* in its table"
        ) as refused:
            made(**given)
        assert "\n" not in str(refused.value)


def test_azure_takes_all_from_the_environment_but_its_key_goes_to_no_address_that_settings_name(monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    with pytest.raises(ConfigError, match="lacks the key"):
        made(base_url="https://name.openai.azure.com", **VERSION)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://name.openai.azure.com")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    assert made()


@pytest.mark.parametrize("reply", ["tool", "json", "text"])
def test_a_server_that_only_streams_says_so_and_is_played_and_counted_with_the_setting_that_helps(
    reply, offline, server
):
    def tokens(run):
        called = of_type(run.log, ModelCalled)
        return [(call.bidder, call.purpose, call.input_tokens, call.output_tokens, call.finish) for call in called]

    more = {"reply": reply, "input_price": 1.0, "output_price": 1.0}
    server.streams = True
    with pytest.raises(ModelError, match=r"only supports streaming.*give extra = \{ streaming = true \}"):
        auction(spoken("openai chat", server), **more).run()
    assert len(server.requests) == 1
    server.streams = False
    whole = auction(spoken("openai chat", server), **more).run()
    server.streams, asked = True, len(server.requests) - 1
    run = auction(spoken("openai chat", server), extra={"streaming": True}, **more).run()
    assert told(run.log) == told(offline.log)
    assert len(server.requests) == 1 + 2 * asked
    assert tokens(run) == tokens(whole)


def test_the_words_in_which_servers_ask_for_a_stream_are_known():
    class Refused(Exception):
        status_code = 400

    for words in (
        "`stream` must be set to true",
        "Parameter stream must be true for this model",
        "Streaming is required for operations that may take longer than 10 minutes",
        "Non-streaming requests are not supported",
    ):
        assert fault_of(Refused(words)).words.endswith("give extra = { streaming = true }")
    assert "streaming = true" not in fault_of(Refused("stream_options is not supported")).words
