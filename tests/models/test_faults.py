"""What an error of a provider means, from its words where it has no status and no headers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as some
from openai import RateLimitError

from harbor._models.calls.faults import LONGEST_ASKED, end_of_pause, fault_of

RETRY_INFO = {"error": {"code": 429, "details": [{"@type": "type/google.rpc.RetryInfo", "retryDelay": "13.5s"}]}}


class OfGoogle(Exception):
    def __init__(self, details):
        super().__init__("429 RESOURCE_EXHAUSTED")
        self.code, self.details = 429, details


class OfOpenAI(Exception):
    def __init__(self, message):
        super().__init__(message)
        self.status_code, self.message = 429, message


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (OfGoogle(RETRY_INFO), 13.5),
        *(
            (OfOpenAI(f"Rate limit reached. Please try again {when}"), seconds)
            for when, seconds in (
                ("in 1.25s.", 1.25), ("in 20ms.", 0.02), ("in 1m3.2s. Visit our pages.", 63.2),
                ("in 2h0m0.5s.", 7200.5), ("in 2 hours.", 7200), ("later.", None),
            )
        ),
    ],
)  # fmt: skip
def test_a_pause_is_found_in_the_body_of_an_error(error, seconds):
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
        ("0", 0), ("7200", 7200), ("0.25", 0.25), (" 5 ", 5), ("2 hours", 7200), ("1h30m", 5400),
        ("1 minute, 30 seconds", 90), ("250ms", 0.25), ("1e12", LONGEST_ASKED),
        ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST_ASKED), ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wed, 21 Oct 2015 07:28:00", 0), ("-5", None), ("inf", None), ("nan", None), ("9" * 400, None),
        ("soon", None), ("", None),
    ],
)  # fmt: skip
def test_a_retry_after_of_any_form_is_seconds_or_nothing(told, seconds):
    assert fault_of(refused(retry_after=told)).retry_after == seconds


@pytest.mark.parametrize(
    ("milliseconds", "seconds"), [("250", 0.25), ("0", 0), ("-1", 3), ("nan", 3), ("soon", 3), ("1e15", LONGEST_ASKED)]
)
def test_milliseconds_go_before_seconds_where_they_are_a_number(milliseconds, seconds):
    assert fault_of(refused(retry_after_ms=milliseconds, retry_after="3")).retry_after == seconds


@pytest.mark.parametrize("hours", [1, 24 * 30])
def test_a_date_is_seconds_from_now(hours):
    date = format_datetime(datetime.now(UTC) + timedelta(hours=hours), usegmt=True)
    asked = fault_of(refused(retry_after=date)).retry_after
    assert 3_600 * hours - 600 < asked <= 3_600 * hours


@given(
    some.text(some.characters(min_codepoint=32, max_codepoint=126)) | some.floats().map(str) | some.integers().map(str)
)
def test_whatever_a_retry_after_is_it_breaks_nothing(told):
    asked = fault_of(refused(retry_after=told.strip())).retry_after
    assert asked is None or 0 <= asked <= LONGEST_ASKED
    end_of_pause(asked or 0)


def test_a_pause_is_told_with_its_end_and_its_length():
    now = datetime.now(UTC).astimezone()
    assert end_of_pause(7200).startswith(f"{now + timedelta(hours=2):%Y-%m-}")
    for seconds, told in ((7200, "(2 h 0 min)"), (90, "(0 h 2 min)"), (1.5, "(1.5 s)")):
        assert end_of_pause(seconds).endswith(told)


@pytest.mark.parametrize("words", ["No data received from Ollama stream.", "No generations found in stream."])
def test_a_stream_that_ends_before_it_begins_is_a_fault_that_passes(words):
    assert fault_of(ValueError(words)).kind == "passing"
    assert fault_of(ValueError("something else")).kind == "odd"
