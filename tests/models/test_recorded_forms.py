"""The form of replies that a resumed run goes on with: what the server can do, not what one bidder's protocol wants."""

from __future__ import annotations

import pytest

from harbor._models.replies.replay import RawCall, ReplayCache


def recorded(bidder: str, form: str, outcome: str = "ok") -> RawCall:
    told = {"bidder": bidder, "purpose": "bid", "model": "mine", "version": "0", "attempt": 1, "outcome": outcome}
    spent = {"input_tokens": 1, "output_tokens": 1, "cost_dollars": 0.0, "cached": False, "began": 0.0, "seconds": 0.0}
    return RawCall(**told, **spent, prompt=["?"], reply="!", error="", form=form)


@pytest.mark.parametrize(
    ("calls", "form"),
    [
        ([recorded("Ben", "tool")], "tool"),
        ([recorded("Ann", "text"), recorded("Ben", "tool")], "tool"),
        ([recorded("Ben", "words"), recorded("Ben", "json")], "json"),
        ([recorded("Ben", "tool", "failed"), recorded("Ben", "json")], "json"),
        ([recorded("Ann", "text"), recorded("Ben", "words")], None),
    ],
)
def test_a_resumed_run_knows_the_form_in_which_bidders_were_answered_who_leave_it_open(calls, form):
    assert ReplayCache((), calls).form("mine", ["Ben"]) == form
