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
ADDRESS = {"base_url": "https://name.openai.azure.com"}
VERSION = {"extra": {"api_version": "2024-10-21"}}
NAMED = {"api_key_env": "AZURE_OPENAI_API_KEY"}
LINES = {
    "address": 'the address of your resource (base_url = "https://NAME.openai.azure.com")',
    "version": 'the version of the API (extra = { api_version = "2024-10-21" })',
    "key": 'the key (api_key_env = "AZURE_OPENAI_API_KEY")',
}


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


@pytest.mark.parametrize(
    ("given", "lacks"),
    [
        ({}, "address version key"), (ADDRESS, "version key"), (VERSION, "address key"), (NAMED, "address version"),
        (ADDRESS | VERSION, "key"), (ADDRESS | NAMED, "version"), (VERSION | NAMED, "address"),
    ],
)  # fmt: skip
def test_what_azure_lacks_is_named_in_one_line_with_the_setting_of_each(given, lacks):
    with pytest.raises(ConfigError) as refused:
        open_chat("mine", ModelSettings(use="azure_openai:mine-4o", **given), 0)
    told = ", ".join(LINES[one] for one in lacks.split())
    assert str(refused.value) == (
        f"model 'azure_openai:mine-4o' lacks {told}; write that in its table, where use is \"azure_openai:\" with the"
        " name of your deployment"
    )


def test_azure_takes_all_from_the_environment(monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", ADDRESS["base_url"])
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    assert open_chat("mine", ModelSettings(use="azure_openai:mine-4o"), 0)


def test_a_key_of_azure_in_the_environment_goes_to_no_address_that_settings_name(monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    with pytest.raises(ConfigError, match="lacks the key"):
        open_chat("mine", ModelSettings(use="azure_openai:mine-4o", **ADDRESS, **VERSION), 0)


def test_a_server_that_only_streams_is_told_after_one_request_with_the_setting_that_helps():
    with provider(seed=SEED) as server:
        server.streams = True
        with pytest.raises(ModelError, match=r"only supports streaming.*give extra = \{ streaming = true \}"):
            auction(spoken("openai chat", server)).run()
        assert len(server.requests) == 1


@pytest.mark.parametrize("reply", ["tool", "json", "text"])
def test_a_server_that_only_streams_is_played_and_counted_with_that_setting(reply, offline):
    more = {"reply": reply, "input_price": 1.0, "output_price": 1.0}
    with provider(seed=SEED) as server:
        whole = auction(spoken("openai chat", server), **more).run()
        server.streams, asked = True, len(server.requests)
        run = auction(spoken("openai chat", server), extra={"streaming": True}, **more).run()
        assert told(run.log) == told(offline.log)
        assert len(server.requests) == 2 * asked
        assert tokens(run) == tokens(whole)


def tokens(run):
    called = of_type(run.log, ModelCalled)
    return [(call.bidder, call.purpose, call.input_tokens, call.output_tokens, call.finish) for call in called]


@pytest.mark.parametrize(
    "words",
    [
        "This model only supports streaming.",
        "`stream` must be set to true",
        "Parameter stream must be true for this model",
        "Streaming is required for operations that may take longer than 10 minutes",
        "Non-streaming requests are not supported",
    ],
)
def test_the_words_in_which_servers_ask_for_a_stream_are_known(words):
    class Refused(Exception):
        status_code = 400

    assert fault_of(Refused(words)).words.endswith("give extra = { streaming = true }")
    assert "streaming = true" not in fault_of(Refused("stream_options is not supported")).words
