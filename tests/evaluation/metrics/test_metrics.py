"""Standings, items and calls of a log, and its summary: worked numbers on small logs."""

from __future__ import annotations

import json
from dataclasses import astuple, fields, replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor._cli.display.result_tables import call_tables
from harbor._core.basics.errors import Unanswered
from harbor._core.log import events
from harbor._core.log.acts import Tried
from harbor._core.log.events import BidderLabelled, ItemLabelled, Lot, ModelCalled, Paused, Spent
from harbor._core.log.log_entries import Entry
from harbor._core.plugins.finding import found
from harbor._games.english.events import ItemUnsold, SaleOpened
from harbor._games.english.measures import Standing, items, standings
from harbor._runs.inputs import Result, answered
from harbor.evaluation._metrics.calls import Calls, CallTotals, Refusals, calls, refusals, summed
from harbor.evaluation._metrics.summary import summarise
from support.sold import sold

LABELS = [
    events.LogOpened(2, "0.1.0", "run-7", 7, parts=(found("game", "english").part,)),
    *(ItemLabelled(item, Decimal(value), "") for item, value in (("Vase", 150), ("Urn", 60), ("Clock", 800))),
    BidderLabelled("Ann", {"downsizing": 1.0}, "simulated"), BidderLabelled("Ben", {}, "minimum-raise"),
    BidderLabelled("Cho", {}, "truthful"),
]  # fmt: skip
LOTS = tuple(Lot(item, Decimal(start)) for item, start in (("Vase", 100), ("Urn", 50), ("Clock", 300)))
OPENED = SaleOpened(("Ann", "Ben", "Cho"), LOTS, "price")


def log(*happened):
    return [Entry(number, number / 10, event) for number, event in enumerate(happened)]


def asked(item, round, attempt=1):  # noqa: A002
    return events.BiddersAsked(item, round, attempt, ("Ann", "Ben"))


def called(bidder, began, seconds, tokens=(100, 10)):
    return ModelCalled(bidder, "bid", "simulated", "bid-1", 1, "ok", *tokens, None, False, began, seconds)


# The vase, worth 150, goes for 120 in two rounds; the urn, worth 60, for 90.50 in one round with one re-ask; the
# clock, worth 800, is unsold after one round. Starts are 100, 50 and 300: all items could have earned 560.
HELD = [
    OPENED, asked("Vase", 1), asked("Vase", 2), *sold("Vase", "Ann", Decimal(120)), asked("Urn", 1),
    asked("Urn", 1, attempt=2), *sold("Urn", "Ben", Decimal("90.5")), asked("Clock", 1), ItemUnsold("Clock"),
    events.SaleClosed(),
]  # fmt: skip


# ---------------------------------------------------------------- results


def test_standings_rank_by_profit_with_worked_numbers_and_equal_profits_by_seat():
    assert standings(log(*LABELS, *HELD)) == [
        Standing("Ann", "downsizing", 1, Decimal(120), Decimal(30), 30 / 560),
        Standing("Cho", None, 0, Decimal(0), Decimal(0), 0.0),
        Standing("Ben", None, 1, Decimal("90.5"), Decimal("-30.5"), -30.5 / 560),
    ]
    assert [row.bidder for row in standings(log(*LABELS, OPENED))] == ["Ann", "Ben", "Cho"]
    worthless = [ItemLabelled("Vase", Decimal(100), ""), BidderLabelled("Ann", {}, "truthful")]
    for happened in ([*worthless, SaleOpened(("Ann",), LOTS[:1], "price")], LABELS):  # nothing could be earned
        assert standings(log(*happened))[0].profit_ratio is None


def test_items_come_in_order_with_their_rounds_and_a_reask_is_no_round():
    sold_ones = [("Vase", "Ann", Decimal(120), 2, True), ("Urn", "Ben", Decimal("90.5"), 1, True)]
    assert [astuple(one) for one in items(log(*LABELS, *HELD))] == [*sold_ones, ("Clock", None, None, 1, True)]
    unreached = [(item, None, None, 0, False) for item in ("Urn", "Clock")]
    assert [astuple(one) for one in items(log(*LABELS, *HELD[:6]))][1:] == unreached


# ---------------------------------------------------------------- calls


def test_the_chain_of_a_turn_is_the_longest_run_of_calls_that_waited_for_each_other_and_chains_add_up():
    turns = {
        (("Ann", 0, 1), ("Ann", 1, 1), ("Ann", 2, 1)): 3,  # one after another
        (("Ann", 0, 1), ("Ann", 0.5, 1)): 1,  # overlapping
        (("Ann", 0, 5), ("Ann", 0, 1), ("Ann", 1, 1), ("Ann", 2, 1)): 3,  # a long one beside three short ones
        (("Ann", 0, 1), ("Ann", 1, 1), ("Ben", 0, 1), ("Ben", 1, 1), ("Ben", 2, 1)): 3,  # bidders think side by side
        (("Ann", 2, 1), ("Ann", 0, 1), ("Ann", 1, 1)): 3,  # whatever their order in the log
        (("Ann", 3, 0), ("Ann", 3, 0)): 2,  # of no length, one after another
    }
    row = [Paused(())]
    for turn, chain in turns.items():
        assert calls(log(Paused(()), *(called(*call) for call in turn))).chain == chain, turn
        row += [*(called(*call) for call in turn), asked("Vase", 1)]
    assert calls(log(*row)).chain == sum(turns.values())
    assert calls(log(*LABELS, *HELD)) == Calls()


tokens = st.integers(0, 10**6)
made = st.builds(
    ModelCalled, bidder=st.sampled_from(["Ann", "Ben", "Cho"]), purpose=st.sampled_from(["bid", "plan"]),
    model=st.sampled_from(["openai:gpt", "mine"]), prompt=st.just("v"), attempt=st.just(1),
    outcome=st.sampled_from(["ok", "unreadable", "failed"]), input_tokens=tokens, output_tokens=tokens,
    cost_dollars=st.none() | st.floats(0, 10), cached=st.booleans(), began=st.just(0.0), seconds=st.just(0.0),
    cached_tokens=tokens, reasoning_tokens=tokens, retries=st.integers(0, 5),
    marks=st.lists(st.sampled_from(["drafts", "words"]), unique=True).map(tuple),
    probes=st.builds(Spent, tokens, tokens, tokens, st.just(0.25)),
    lost=st.builds(Spent, tokens, tokens, tokens, st.just(0.5)),
)  # fmt: skip


@given(st.lists(made, max_size=12))
def test_whatever_the_calls_each_way_to_group_them_adds_up_to_the_total(happened):
    found = calls(log(*happened))
    numbers = {field.name for field in fields(CallTotals)} - {"cost_dollars", "probes", "lost", "noted"}
    for groups in (found.by_bidder, found.by_purpose, found.by_model):
        for names, start in ((("probes", "lost"), events.NO_REQUESTS), (numbers, 0)):
            for name in names:
                assert sum((getattr(one, name) for one in groups.values()), start) == getattr(found.total, name)
        assert set(summed(one.noted for one in groups.values())) == set(found.total.noted)
        costs = [one.cost_dollars for one in groups.values()]
        assert found.total.cost_dollars == (None if None in costs else pytest.approx(sum(costs)))
    assert (found.total.cost_dollars is None) == (found.total.unpriced > 0)
    assert found.total.input_tokens == sum(one.input_tokens for one in happened)
    assert json.loads(json.dumps(found.as_json()))["total"]["count"] == len(happened)


def test_an_answer_at_an_unknown_price_makes_the_cost_unknown_and_a_failed_call_without_tokens_does_not():
    paid, lost = replace(called("Ann", 0, 1), cost_dollars=0.25), called("Ann", 1, 1, (0, 0))
    total = calls(log(paid, replace(lost, outcome="failed"))).total
    assert (total.count, total.failed, total.cost_dollars, total.unpriced) == (2, 1, 0.25, 0)
    total = calls(log(called("Ben", 0, 1), paid)).total
    assert (total.cost_dollars, total.unpriced) == (None, 1)


# ---------------------------------------------------------------- what calls tell beside their tokens

PLAIN = replace(called("Ann", 0, 0, (1, 1)), model="m", cost_dollars=0.5)
ODD = {
    "outcome": "refused", "marks": ("drafts", "new one"), "not_taken": ("temperature",), "key_env": "SECOND_KEY",
    "fallback": "spare", "probes": Spent(2, 20, 4, 0.25), "lost": Spent(1, 100, 300, 1.0),
}  # fmt: skip


def log_of(*changes):
    return log(*(replace(PLAIN, **one) for one in changes), Tried("Ann", "Vase", 1, 1, "it refuses: I can't"))


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


# ---------------------------------------------------------------- the summary


def refused(bidder, reason="too low"):
    return Tried(bidder, "Vase", 1, 1, reason)


def test_refused_answers_are_counted_beside_how_often_a_bidder_was_asked_over_all_logs_of_a_series():
    labels = [BidderLabelled("Ann", {}, "agent (mine:bid)"), BidderLabelled("Ben", {}, "rational")]
    said = events.Answered("Ann", "Perhaps.")
    one = log(*labels, asked("Vase", 1), said, refused("Ann"), asked("Vase", 1, 2), refused("Ann"), refused("Ben"))
    told = "'Perhaps.': too low"
    assert refusals(one) == [Refusals("Ann", 2, 2, told, agent=True), Refusals("Ben", 1, 2, "too low", agent=False)]
    both = [(found.refused, found.asked, found.entire) for found in refusals(one, log(*labels, asked("Vase", 1)))]
    assert both == [(2, 3, False), (1, 3, False)]
    alarming = {(1, True): True, (1, False): False, (3, False): True, (3, True): True}  # of an agent, at once
    assert {of: Refusals("Ann", of[0], 3, "odd", of[1]).alarming for of in alarming} == alarming


def test_a_model_that_refuses_to_answer_is_warned_of_with_its_own_words_whatever_was_refused_before():
    by_model = replace(called("Ann", 0, 1), outcome="refused")
    sorry = refused("Ann", 'it is a refusal to answer ("I\'m sorry")')
    bids = (called("Ann", 0, 1), refused("Ann"), by_model, by_model, sorry, called("Ann", 0, 1), refused("Ann"))
    [found] = refusals(log(asked("Vase", 1), *bids, asked("Vase", 1, 2), called("Ben", 0, 1), asked("Vase", 2)))
    assert (found.refused, found.by_model, found.first, found.alarming) == (3, 2, sorry.reason, True)


def test_the_json_of_a_summary_has_the_documented_shape_and_plain_numbers_and_scripts_are_not_called_simulated():
    shown = (summary := summarise(log(*LABELS, *HELD, called("Ann", 0, 1)))).as_json()
    assert (summary.run, summary.seed, summary.simulated) == ("run-7", 7, True)
    assert summary.seconds == 2.1  # the last of 22 entries, a tenth of a second apart
    ben = {"bidder": "Ben", "persona": None, "items_won": 1, "spent": 90.5, "profit": -30.5}
    assert shown["standings"][2] == ben | {"profit_ratio": -30.5 / 560}
    assert shown["items"][::2] == [
        {"name": "Vase", "winner": "Ann", "price": 120, "rounds": 2},
        {"name": "Clock", "winner": None, "price": None, "rounds": 1},
    ]
    assert list(shown["calls"]) == ["total", "by_bidder", "by_purpose", "by_model"]
    assert shown["calls"]["total"] == shown["calls"]["by_bidder"]["Ann"]
    assert shown["calls"]["total"].items() >= {"count": 1, "input_tokens": 100, "output_tokens": 10}.items()
    assert set(shown) >= {"run", "seed", "standings", "items", "calls", "seconds"}
    assert type(shown["items"][0]["price"]) is int
    scripted = [one for one in LABELS if not (isinstance(one, BidderLabelled) and one.bidder == "Ann")]
    assert not summarise(log(*scripted, *HELD)).simulated
