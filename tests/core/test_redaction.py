"""Keys do not get into messages: known ones, pieces of them, and whatever looks like one; other text stays."""

from __future__ import annotations

import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from harbor import ModelSettings, SimulatedChat
from harbor._config.auction import AuctionConfig
from harbor._core.basics import redaction
from harbor._core.basics.errors import ConfigError
from harbor._core.basics.redaction import PIECE, known_secret, known_secrets_of, redact
from harbor._core.settings import check

QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
KEYS = st.text(string.ascii_letters + string.digits + "-_+/=", min_size=PIECE, max_size=60)
WORDS = st.text(st.characters(codec="ascii", categories=("L", "N", "P", "Zs")), max_size=60)


@pytest.fixture(autouse=True)
def forgetting(monkeypatch):
    monkeypatch.setattr(redaction, "_KNOWN", set())
    monkeypatch.setattr(redaction, "_VARIABLES", set())


def pieces(key: str) -> set[str]:
    return {key[at : at + PIECE] for at in range(len(key) - PIECE + 1)}


@given(key=KEYS, before=WORDS, after=WORDS, data=st.data())
@settings(QUICK, max_examples=300)
def test_no_piece_of_a_known_key_survives_wherever_and_however_often_it_stands(key, before, after, data):
    redaction._KNOWN.clear()
    known_secret(key)
    first = data.draw(st.integers(0, len(key) - PIECE))
    last = data.draw(st.integers(first + PIECE, len(key)))
    told = redact(f"{before}{key[first:last]}{after}{key}{key}{before}")
    assert not any(piece in part for part in told.split(redaction.HIDDEN) for piece in pieces(key))


@given(st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=12), max_size=40).map(" ".join))
@settings(QUICK, max_examples=200)
def test_ordinary_words_do_not_change(text):
    redaction._KNOWN.clear()
    known_secret("Zq4-7781-PRIVATE-0099")
    assert redact(text) == text


BEGINNINGS = (
    "sk-", "pk-", "xai-", "gsk_", "key-", "hf_", "r8_", "ghp_", "gho_", "pplx-", "nvapi-", "csk-", "tgp_", "fw_",
)  # fmt: skip
SHAPES = (*(f"{one}{'a1B2' * 5}" for one in (*BEGINNINGS, "AIza", "AQ.", "eyJ")), "AKIAIOSFODNN7EXAMPLE")


@pytest.mark.parametrize("key", SHAPES)
def test_a_key_is_hidden_by_how_its_providers_keys_begin(key):
    assert redact(f"The key {key} is refused.") == "The key [redacted] is refused."


@pytest.mark.parametrize("text", [
    "bearer authentication is required, basic authentication too",
    "model 'openai:gpt-4.1' at http://localhost:8000/v1?model=a&seed=3: 404",
    "resume with: harbor resume runs/20261122T054013Z-key-findings-of-ours-a1b2c3",
    "the key of the house at 12 Key Street, token by token",
    "20261122T054013Z-demo-a1b2c3, digest 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
])  # fmt: skip
def test_text_that_only_resembles_a_key_does_not_change(text):
    assert redact(text) == text


@pytest.mark.parametrize("text", [
    "AIzaSyD4x7PqR2sT8uVwXyZ0123456789abcdef", "Authorization: Bearer abc123def456ghi789",
    "authorization: basic dXNlcjpzZWNyZXQ=", "https://user:pa55word@models.example/v1",
    "https://models.example/v1beta/models?alt=json&key=qwertyuiopas: 400", "hf_AbCdEfGhIjKlMnOpQrSt",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
])  # fmt: skip
def test_what_looks_like_a_key_is_hidden_in_every_form(text):
    told = redact(text)
    assert "[redacted]" in told
    secrets = ("4x7PqR2s", "abc123de", "dXNlcjpz", "pa55word", "qwertyui", "AbCdEfGh", "eyJ", "c2lnbmF0")
    assert [part for part in secrets if part in told] == []


def test_the_keys_of_a_chat_model_object_are_hidden():
    class Keyed(SimulatedChat):
        api_key: SecretStr = SecretStr("0000-keyed-object-0000")
        default_headers: dict[str, str]

    known_secrets_of(Keyed(default_headers={"X-Api-Key": "1111-in-a-header-1111", "X-Team": "a team of ours"}))
    told = redact("0000-keyed-object-0000 1111-in-a-header-1111 a team of ours")
    assert told == "[redacted] [redacted] a team of ours"


def test_a_variable_that_settings_name_is_hidden_whatever_its_name_ends_in(monkeypatch):
    monkeypatch.setenv("MY_SERVER", "value-of-my-server")
    assert redact("value-of-my-server") == "value-of-my-server"
    ModelSettings(use="openai:x", api_key_env="MY_SERVER")
    assert redact("it said value-of-my-server and of-my-server") == "it said [redacted] and [redacted]"


@pytest.mark.parametrize("name", ["hf_hub_token", "Mail_Password", "aws_secret", "KEY"])
def test_a_variable_is_hidden_if_its_name_ends_as_those_of_keys_do_in_any_case(name, monkeypatch):
    monkeypatch.setenv(name, "zq4-7781-private")
    assert redact("it said zq4-7781-private and 81-private") == "it said [redacted] and [redacted]"


def test_a_variable_that_only_begins_as_those_of_keys_do_or_has_the_path_of_one_hides_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("KEYBOARD_TOKENS", "qwerty and more")
    monkeypatch.setenv("SSL_KEY", str(tmp_path))
    for text in ("qwerty and more", f"no such file: {tmp_path}/runs"):
        assert redact(text) == text


@pytest.mark.parametrize("word", ["known-secret-of-mine-", "://a:", "Bearer "])
def test_a_long_text_is_read_once(word):
    known_secret("known-secret-of-mine-known-secret-of-mine")
    text = word * (250_000 // len(word))
    assert len(redact(text)) <= len(text)  # in a second; where it was read again and again, not before the day ends


VALUE = "q9W8e7R6t5Y4u3I2"


@pytest.mark.parametrize("settings", [
    {"api_key": VALUE}, {"api_key_env": f"{VALUE}-x"}, {"api_key_env": 7},
    {"base_url": f"https://user:{VALUE}@models.example/v1"}, {"base_url": f"https://models.example/v1?key={VALUE}"},
    {"headers": {"Authorization": f"Bearer {VALUE}"}}, {"headers": {"X-Note": f"Bearer {VALUE}"}},
    {"extra": {"auth": [{"token": VALUE}]}}, {"timeout_seconds": f"sk-{VALUE}"},
])  # fmt: skip
def test_a_refused_setting_is_told_without_a_key(settings):
    with pytest.raises(ConfigError) as refused:
        check(AuctionConfig, {"bidders": [{"name": "Ann"}], "models": {"mine": settings}}, "config")
    assert "models.mine" in str(refused.value)
    assert VALUE not in str(refused.value)
    assert "\n" not in str(refused.value)
