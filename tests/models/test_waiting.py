"""A bidder waits once for calls that overlap, and a request that may have been answered may be charged."""

from __future__ import annotations

import httpx
import pytest

from harbor._models.calls.waiting import Waiting, may_be_charged

REQUEST = httpx.Request("POST", "http://localhost")


def test_calls_that_overlap_are_waited_for_once():
    now = [1.0]
    waiting = Waiting(clock=lambda: now[0])
    with waiting.counted():
        now[0] = 3.0
        with waiting.counted():
            now[0] = 6.0
        assert (waiting.seconds, waiting.is_on) == (5.0, True)
        now[0] = 7.0
    now[0] = 10.0
    with waiting.counted():
        now[0] = 12.0
    assert (waiting.seconds, waiting.is_on) == (8.0, False)


@pytest.mark.parametrize(
    ("error", "may_be"),
    [
        *((status, False) for status in (400, 401, 404, 429, 500, 502, 503)),
        *((status, True) for status in (504, 524)),
        (httpx.ConnectError("refused", request=REQUEST), False),
        (httpx.ReadTimeout("late", request=REQUEST), True),
        (httpx.RemoteProtocolError("cut off", request=REQUEST), True),
    ],
    ids=str,
)
def test_a_request_may_be_charged_unless_it_was_not_sent_or_was_refused(error, may_be):
    if isinstance(error, int):
        error = httpx.HTTPStatusError("an error", request=REQUEST, response=httpx.Response(error))
    assert may_be_charged(error) == may_be
