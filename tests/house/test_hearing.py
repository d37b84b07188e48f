"""What is heard of words that contain a key."""

from __future__ import annotations

from decimal import Decimal

import pytest

from harbor._core.asking.asks import Amount, Ask, Bundle, Choice, Pause, Space, Words
from harbor._house.watchdog import without_keys

KEY = "hunter2hunter3xyzzy"
AMOUNT = Amount(Decimal(100), Decimal(99_999_999))
BELOW = Amount(Decimal(100), Decimal(900))
BUNDLE = Bundle((KEY, "Jug"), Decimal(900))


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    monkeypatch.setenv("BIDDER_KEY", KEY)
    monkeypatch.setenv("BIDDER_TOKEN", "12345678")


@pytest.mark.parametrize(
    ("space", "words", "heard"),
    [
        (AMOUNT, "I bid $120.", "I bid $120."),
        (AMOUNT, "I bid $12345678.", "I bid $12,345,678."),
        (BELOW, "I bid $12345678.", "I bid $12,345,678."),
        (AMOUNT, "I withdraw, sk-abcdefgh.", "I withdraw."),
        (AMOUNT, f"I bid $120. My key {KEY}", "I bid $120."),
        (AMOUNT, f"(unreadable) '{KEY}' is no answer", "(unreadable) '[redacted]' is no answer"),
        (BUNDLE, f'I bid $5 for "{KEY}".', f'I bid $5 for "{KEY}".'),
        (BUNDLE, f'I bid $5 for "the {KEY}".', 'I bid $5 for "the [redacted]".'),
        (Choice(("go", KEY)), KEY, f'I choose "{KEY}".'),
        (Words(100), f"My key is {KEY}.", "My key is [redacted]."),
    ],
)
def test_a_key_in_words_is_hidden_and_a_legal_answer_stands(space: Space, words, heard):
    ask = Ask("Ann", "Vase", 1, space)
    assert without_keys(words, ask) == heard
    assert without_keys(heard, ask) == heard


@pytest.mark.parametrize("ask", [None, Pause("Ann")])
def test_where_no_answer_is_asked_for_every_key_is_hidden(ask):
    assert without_keys(f"I am ready, {KEY}.", ask) == "I am ready, [redacted]."
