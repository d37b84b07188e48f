"""What calls tell beside their tokens is counted, told in words, and charged by its upper bound."""

from __future__ import annotations

import pytest

from harbor._cli.display.result_tables import call_tables
from harbor._core.basics.errors import Unanswered
from harbor._core.log.acts import Tried
from harbor._core.log.events import ModelCalled, Spent
from harbor._core.log.log_entries import Entry
from harbor._runs.inputs import Result, answered
from harbor.evaluation._metrics.calls import calls

PLAIN = {
    "bidder": "Ann", "purpose": "bid", "prompt": "", "attempt": 1, "outcome": "ok", "input_tokens": 1,
    "output_tokens": 1, "cost_dollars": 0.5, "cached": False, "began": 0.0, "seconds": 0.0,
}  # fmt: skip
ODD = {
    "outcome": "refused", "marks": ("drafts", "new one"), "not_taken": ("temperature",), "key_env": "SECOND_KEY",
    "fallback": "spare", "probes": Spent(2, 20, 4, 0.25), "lost": Spent(1, 100, 300, 1.0),
}  # fmt: skip


def log_of(*changes, model="m"):
    given = PLAIN | {"model": model}
    told = [*(ModelCalled(**given | one) for one in changes), Tried("Ann", "Vase", 1, 1, "it refuses: I can't")]
    return [Entry(at, 0.0, event) for at, event in enumerate(told)]


def test_requests_without_a_reply_are_told_apart_and_the_most_that_is_to_be_paid_is_their_sum_if_it_is_known():
    total = (found := calls(log_of({}, ODD))).total
    assert (total.count, total.input_tokens, total.cost_dollars) == (2, 2, 1.0)
    assert (total.refused, total.probes, total.lost) == (1, ODD["probes"], ODD["lost"])
    assert total.most_dollars == found.as_json()["total"]["most_dollars"] == 2.25
    unknown = calls(log_of({"lost": Spent(1, 1, 1, None)}, ODD)).total
    assert (unknown.lost.cost_dollars, unknown.most_dollars, unknown.cost_dollars) == (None, None, 1.0)


def test_requests_marks_settings_that_were_not_taken_keys_and_stand_ins_are_counted_by_name():
    table, *words = call_tables(calls(log_of({}, {"marks": ("drafts",)}, ODD)))
    assert words == [
        "2 requests found out how a model takes questions: 20 tokens in, 4 out, $0.25",
        "1 request lost, without an answer: at most 100 tokens in, 300 out, $1.00",
        "to pay for calls and for these requests, at most: $2.75", "2 replies had drafts before the answer",
        "1 reply had the mark 'new one'", "1 call went without 'temperature', which the server does not take",
        "1 call used the key in SECOND_KEY", "1 call went to 'spare' in place of the bidder's model",
    ]  # fmt: skip
    assert {row["refused"] for row in table.rows} != {None}
    assert len([*call_tables(calls(log_of({}, {})))]) == 1


@pytest.mark.parametrize("beside", [[], [{"model": "good"}]], ids=["alone", "beside a good one"])
@pytest.mark.parametrize(("outcome", "told"), [("refused", r" \(2 refused\)"), ("unreadable", "")])
def test_a_run_in_which_no_answer_of_a_model_was_usable_is_an_error_that_names_it(outcome, told, beside):
    log = log_of({"outcome": outcome}, {"outcome": outcome}, {"outcome": "failed"}, *beside)
    words = f"none of 2 answers of model 'm' could be used{told}, .*most often: it refuses: I can't"
    with pytest.raises(Unanswered, match=words):
        answered(Result(tuple(log), None))
    for other in ({"outcome": outcome}, {"outcome": "failed", "model": "odd"}):  # one usable, and one never answered
        answered(Result(tuple(log_of(other, {})), None))
