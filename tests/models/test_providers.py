"""Any model by name: LangChain's providers with their real packages, made from settings."""

from __future__ import annotations

import sys

import pytest
from langchain.chat_models import base
from langchain_anthropic import ChatAnthropic
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from harbor import ModelSettings
from harbor._config.models import PROVIDERS
from harbor._core.basics.errors import ConfigError
from harbor._models.providers import open_chat

PACKAGES = {
    "openai": ChatOpenAI, "anthropic": ChatAnthropic, "ollama": ChatOllama, "google_genai": ChatGoogleGenerativeAI,
}  # fmt: skip


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "key-of-the-provider")
    monkeypatch.setenv("MY_SERVER", "key-of-my-server")


def opened(use, **settings):
    return open_chat("mine", ModelSettings(use=use, **settings), seed=0)


def test_the_providers_are_those_that_langchain_knows():
    known = {name: module.partition(".")[0].replace("_", "-") for name, (module, *_) in base._BUILTIN_PROVIDERS.items()}
    assert known == PROVIDERS


@pytest.mark.parametrize(("provider", "kind"), PACKAGES.items())
def test_a_model_is_named_by_its_provider_and_has_no_retries_and_no_temperature_of_its_own(provider, kind):
    chat = opened(f"{provider}:name:with:colons")
    assert isinstance(chat, kind)
    assert "name:with:colons" in (getattr(chat, "model_name", ""), chat.model)
    assert chat.temperature == kind.model_fields["temperature"].default
    assert provider == "ollama" or chat.max_retries == (provider == "google_genai")


URL, TEAM = "http://127.0.0.1:1/v1", {"X-Team": "two"}
SETTINGS = {
    "openai": (
        {"base_url": URL, "api_key_env": "MY_SERVER", "temperature": 0.5, "max_tokens": 7, "reasoning": "low"}
        | {"seed": 3, "extra": {"top_p": 0.9}},
        {"openai_api_base": URL, "openai_api_key": SecretStr("key-of-my-server"), "temperature": 0.5, "max_tokens": 7}
        | {"reasoning_effort": "low", "seed": 3, "top_p": 0.9, "default_headers": TEAM},
    ),
    "anthropic": (
        {"max_tokens": 4_000, "reasoning": 2_000},
        {"max_tokens": 4_000, "thinking": {"type": "enabled", "budget_tokens": 2_000}, "default_headers": TEAM},
    ),
    "google_genai": (
        {"max_tokens": 7, "reasoning": 100},
        {"max_output_tokens": 7, "thinking_budget": 100, "additional_headers": TEAM},
    ),
    "ollama": (
        {"max_tokens": 7, "seed": 3, "reasoning": "low", "api_key_env": "MY_SERVER"},
        {"num_predict": 7, "seed": 3, "reasoning": "low"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("provider", SETTINGS)
def test_the_settings_arrive_under_the_names_of_their_package(provider):
    given, arrived = SETTINGS[provider]
    chat = opened(f"{provider}:some", headers=TEAM, **given)
    assert {name: getattr(chat, name) for name in arrived} == arrived
    if provider == "ollama":
        headers = chat._async_client._client.headers
        assert (headers["x-team"], headers["authorization"]) == ("two", "Bearer key-of-my-server")


def test_a_setting_of_no_package_and_a_key_that_is_lacking_are_refused_and_a_server_of_ones_own_gets_no_other(
    monkeypatch,
):
    assert opened("openai:gpt", base_url=URL).openai_api_key.get_secret_value() == "none"
    with pytest.raises(
        ConfigError, match="'anthropic:claude' takes no 'seed': langchain-anthropic has no such setting"
    ):
        opened("anthropic:claude", seed=3)
    for name in ("MY_SERVER", "OPENAI_API_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(ConfigError, match=r"api_key_env: the environment variable 'MY_SERVER' is not set"):
        opened("openai:gpt", api_key_env="MY_SERVER")
    with pytest.raises(ConfigError, match=r"'openai:gpt' can't be made: .*; is its API key set"):
        opened("openai:gpt")


@pytest.mark.parametrize("provider", PACKAGES)
def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch, provider):
    package = PROVIDERS[provider]
    monkeypatch.setitem(sys.modules, package.replace("-", "_"), None)
    monkeypatch.setattr(base, "_get_chat_model_creator", base._get_chat_model_creator.__wrapped__)  # no cache
    with pytest.raises(ConfigError) as caught:
        opened(f"{provider}:some-model")
    needs = f"model '{provider}:some-model' needs {package}, which is not installed; run: pip install {package}"
    assert str(caught.value) == needs


@pytest.mark.parametrize(
    "settings",
    [
        {"headers": {"Authorization": "Bearer abcdefgh"}}, {"headers": {"x-api-key": "abcdefgh"}},
        {"extra": {"api_key": "abcdefgh"}}, {"extra": {"model_kwargs": {"token": "abcdefgh"}}},
        {"base_url": "https://me:abcdefgh@host/v1"},
    ],
)  # fmt: skip
def test_a_key_in_the_settings_is_refused_and_not_shown(settings):
    with pytest.raises(ConfigError, match="api_key_env") as caught:
        ModelSettings(use="openai:gpt", **settings)
    assert "abcdefgh" not in str(caught.value)


SENSELESS = [
    ("timeout_seconds", 0), ("retry_seconds", -1), ("repairs", -1), ("max_tokens", 0), ("base_url", "localhost:8000"),
    ("reply", "xml"), ("reasoning", -1), ("api_key_env", "sk-123"), ("requests_per_minute", float("nan")),
    *(("max_concurrent", value) for value in (0, -1, "no")), ("tokens_per_minute", float("inf")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), SENSELESS)
def test_settings_that_make_no_sense_are_refused_in_one_line(name, value):
    with pytest.raises(ConfigError, match=rf"^ModelSettings: {name}[^\n]*$"):
        ModelSettings(use="openai:gpt", **{name: value})
