"""The metrics: worked numbers on small logs."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields, replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor._core.log import events
from harbor._core.log.acts import Tried
from harbor._core.log.events import BidderLabelled, ItemLabelled, Lot, ModelCalled, Paused, Spent
from harbor._core.log.log_entries import Entry
from harbor._core.plugins.finding import found
from harbor._games.english.events import ItemUnsold, SaleOpened
from harbor._games.english.measures import ItemResult, Standing, items, standings
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


def test_there_is_no_profit_ratio_where_nothing_could_be_earned():
    sale = SaleOpened(("Ann",), (Lot("Vase", Decimal(100)),), "price")
    worthless = [ItemLabelled("Vase", Decimal(100), ""), BidderLabelled("Ann", {}, "truthful"), sale]
    for happened in (worthless, LABELS):
        assert standings(log(*happened))[0].profit_ratio is None


def test_a_win_of_bidder_10_is_not_credited_to_bidder_1():
    names = ("Bidder 10", "Bidder 1")
    labels = [ItemLabelled("Vase", Decimal(150), ""), *(BidderLabelled(name, {}, "truthful") for name in names)]
    sale = SaleOpened(names, (Lot("Vase", Decimal(100)),), "price")
    found = standings(log(*labels, sale, *sold("Vase", "Bidder 10", Decimal(120))))
    assert [(row.bidder, row.items_won) for row in found] == [("Bidder 10", 1), ("Bidder 1", 0)]


def test_items_come_in_order_with_their_rounds_and_a_reask_is_no_round():
    assert items(log(*LABELS, *HELD)) == [
        ItemResult("Vase", "Ann", Decimal(120), 2, closed=True),
        ItemResult("Urn", "Ben", Decimal("90.5"), 1, closed=True),
        ItemResult("Clock", None, None, 1, closed=True),
    ]
    unreached = [ItemResult(item, None, None, 0, closed=False) for item in ("Urn", "Clock")]
    assert items(log(*LABELS, *HELD[:6]))[1:] == unreached


# ---------------------------------------------------------------- calls


def test_calls_and_tokens_are_added_up():
    happened = [Paused(()), called("Ann", 0, 1, (100, 10)), called("Ben", 0, 1, (250, 5))]
    found = calls(log(*happened))
    assert (found.count, found.input_tokens, found.output_tokens, found.chain) == (2, 350, 15, 1)
    assert calls(log(*LABELS, *HELD)) == Calls()


@pytest.mark.parametrize(("turn", "chain"), [
    ([("Ann", 0, 1), ("Ann", 1, 1), ("Ann", 2, 1)], 3),  # one after another
    ([("Ann", 0, 1), ("Ann", 0.5, 1)], 1),  # overlapping
    ([("Ann", 0, 1), ("Ann", 0, 1), ("Ann", 1, 1)], 2),  # two at once, then one
    ([("Ann", 0, 5), ("Ann", 0, 1), ("Ann", 1, 1), ("Ann", 2, 1)], 3),  # a long one beside three short ones
    ([("Ann", 0, 1), ("Ben", 1, 1), ("Cho", 2, 1)], 1),  # bidders think side by side
    ([("Ann", 0, 1), ("Ann", 1, 1), ("Ben", 0, 1), ("Ben", 1, 1), ("Ben", 2, 1)], 3),  # the slowest counts
    ([("Ann", 2, 1), ("Ann", 0, 1), ("Ann", 1, 1)], 3),  # whatever their order in the log
    ([("Ann", 3, 0), ("Ann", 3, 0)], 2),  # of no length, one after another
])  # fmt: skip
def test_the_chain_of_a_turn_is_the_longest_run_of_calls_that_waited_for_each_other(turn, chain):
    assert calls(log(Paused(()), *(called(*call) for call in turn))).chain == chain


def test_the_chains_of_turns_add_up():
    turns = [Paused(()), called("Ann", 0, 1), called("Ben", 0, 1)]
    turns += [asked("Vase", 1), called("Ann", 1, 1), called("Ann", 2, 1), called("Ben", 1, 1)]
    turns += [asked("Vase", 1, attempt=2), called("Ben", 3, 1)]
    assert calls(log(*turns)).chain == 1 + 2 + 1


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
    known = {field.name for field in fields(CallTotals)} - {"cost_dollars", "probes", "lost", "noted"}
    for groups in (found.by_bidder, found.by_purpose, found.by_model):
        for name in ("probes", "lost"):
            assert sum((getattr(one, name) for one in groups.values()), events.NO_REQUESTS) == getattr(
                found.total, name
            )
        assert set(summed(one.noted for one in groups.values())) == set(found.total.noted)
        for name in known:
            assert sum(getattr(one, name) for one in groups.values()) == getattr(found.total, name)
        costs = [one.cost_dollars for one in groups.values()]
        if found.total.cost_dollars is None:
            assert None in costs
        else:
            assert found.total.cost_dollars == pytest.approx(sum(costs))
    assert (found.total.cost_dollars is None) == (found.total.unpriced > 0)
    assert json.loads(json.dumps(found.as_json()))["total"]["count"] == len(happened)


def test_an_answer_at_an_unknown_price_makes_the_cost_unknown_and_a_failed_call_without_tokens_does_not():
    paid, lost = replace(called("Ann", 0, 1), cost_dollars=0.25), called("Ann", 1, 1, (0, 0))
    total = calls(log(paid, replace(lost, outcome="failed"))).total
    assert (total.count, total.failed, total.cost_dollars, total.unpriced) == (2, 1, 0.25, 0)
    total = calls(log(called("Ben", 0, 1), paid)).total
    assert (total.cost_dollars, total.unpriced) == (None, 1)


# ---------------------------------------------------------------- the summary


def refused(bidder, reason="too low"):
    return Tried(bidder, "Vase", 1, 1, reason)


def test_refused_answers_are_counted_beside_how_often_a_bidder_was_asked_over_all_logs_of_a_series():
    labels = [BidderLabelled("Ann", {}, "agent (mine:bid)"), BidderLabelled("Ben", {}, "rational")]
    said = events.Answered("Ann", "Perhaps.")
    one = log(*labels, asked("Vase", 1), said, refused("Ann"), asked("Vase", 1, 2), refused("Ann"), refused("Ben"))
    other = log(*labels, asked("Vase", 1))
    told = "'Perhaps.': too low"
    assert refusals(one) == [Refusals("Ann", 2, 2, told, agent=True), Refusals("Ben", 1, 2, "too low", agent=False)]
    both = [(found.refused, found.asked, found.entire) for found in refusals(one, other)]
    assert both == [(2, 3, False), (1, 3, False)]


def test_an_agent_is_warned_of_at_once_and_anybody_else_if_no_answer_was_taken():
    alarming = {(1, True): True, (1, False): False, (3, False): True, (3, True): True}
    assert {of: Refusals("Ann", of[0], 3, "odd", of[1]).alarming for of in alarming} == alarming


def test_a_model_that_refuses_to_answer_is_warned_of_with_its_own_words_whatever_was_refused_before():
    by_model = replace(called("Ann", 0, 1), outcome="refused")
    sorry = refused("Ann", 'it is a refusal to answer ("I\'m sorry")')
    bids = (called("Ann", 0, 1), refused("Ann"), by_model, by_model, sorry, called("Ann", 0, 1), refused("Ann"))
    [found] = refusals(log(asked("Vase", 1), *bids, asked("Vase", 1, 2), called("Ben", 0, 1), asked("Vase", 2)))
    assert (found.refused, found.by_model, found.first, found.alarming) == (3, 2, sorry.reason, True)


def test_a_summary_is_drawn_from_the_log_alone_and_one_of_scripts_is_not_called_simulated():
    summary = summarise(log(*LABELS, *HELD))
    assert (summary.run, summary.seed, summary.simulated) == ("run-7", 7, True)
    assert summary.seconds == 2  # the last of 21 entries, a tenth of a second apart
    assert [row.bidder for row in summary.standings] == ["Ann", "Cho", "Ben"]
    scripted = [one for one in LABELS if not (isinstance(one, BidderLabelled) and one.bidder == "Ann")]
    assert not summarise(log(*scripted, *HELD)).simulated


def test_the_json_of_a_summary_has_the_documented_shape_and_plain_numbers():
    shown = summarise(log(*LABELS, *HELD, called("Ann", 0, 1))).as_json()
    ben = {"bidder": "Ben", "persona": None, "items_won": 1, "spent": 90.5, "profit": -30.5}
    assert shown["standings"][2] == ben | {"profit_ratio": -30.5 / 560}
    assert shown["items"][0] == {"name": "Vase", "winner": "Ann", "price": 120, "rounds": 2}
    assert shown["items"][2] == {"name": "Clock", "winner": None, "price": None, "rounds": 1}
    assert list(shown["calls"]) == ["total", "by_bidder", "by_purpose", "by_model"]
    assert shown["calls"]["total"] == shown["calls"]["by_bidder"]["Ann"]
    assert shown["calls"]["total"].items() >= {"count": 1, "input_tokens": 100, "output_tokens": 10}.items()
    assert set(shown) >= {"run", "seed", "standings", "items", "calls", "seconds"}
    assert type(shown["items"][0]["price"]) is int


def test_a_name_that_nobody_brings_is_looked_for_again_without_reading_a_file():
    """Tables ask for the metric of every label."""
    program = """if True:
        import sys
        from harbor.evaluation._metrics.measurement import metric_or_none
        metric_or_none("trueskill")
        opened = []
        sys.addaudithook(lambda event, words: opened.append(words[0]) if event == "open" else None)
        assert metric_or_none("trueskill") is None
        print(len(opened))
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
