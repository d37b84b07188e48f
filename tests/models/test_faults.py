"""What an error of a provider means, from its words where it has no status and no headers."""

from __future__ import annotations

import pytest

from harbor._models.calls.faults import fault_of

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
        (OfOpenAI("Rate limit reached. Please try again in 1.25s."), 1.25),
        (OfOpenAI("Rate limit reached. Please try again in 20ms."), 0.02),
        (OfOpenAI("Rate limit reached. Please try again later."), None),
    ],
)
def test_a_pause_is_found_in_the_body_of_an_error(error, seconds):
    fault = fault_of(error)
    assert fault.kind == "busy"
    assert fault.retry_after == seconds


@pytest.mark.parametrize("words", ["No data received from Ollama stream.", "No generations found in stream."])
def test_a_stream_that_ends_before_it_begins_is_a_fault_that_passes(words):
    assert fault_of(ValueError(words)).kind == "passing"
    assert fault_of(ValueError("something else")).kind == "odd"
