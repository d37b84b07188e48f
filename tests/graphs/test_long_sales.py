"""Sales of many items: what a prompt shows of them is bounded, and the budget is spent over the whole sale."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from harbor import Auction, Bidder, Item, ModelSettings, Result, Simulated, of_type
from harbor._games.english.all_rivals import retold
from harbor._games.english.facts import SHOWN
from harbor._games.english.thought_facts import LISTED, PAGE
from harbor._models.simulated.chat_model import read_facts
from harbor.events import Believed, ItemSold, LotClosed
from support.folders import calls

NAMES = ("Ann", "Ben", "Cho")
WRONG = Simulated(wrong_sum_rate=1.0)
UNCORRECTED: dict[str, Any] = {"correct_beliefs": "none", "theory_of_mind": "inferred", "simulated": WRONG}
PAPER = {"protocol": "aucarena", "reply": "tool", "context": "fresh", "facts": "json", "correct_beliefs": "house"}
"""The prompts of a paper, which list items in another way."""


@cache
def held(items: int, simulated: Simulated | None = None, **mind: Any) -> tuple[Result, tuple[dict[str, Any], ...]]:
    """Hold a sale to bidders with money for a part of it; give it and its calls."""
    grades = [(number, number % 7 % 5) for number in range(1, items + 1)]
    lots = [Item(name=f"Lot {n}", start=1_000 + 500 * one, true_value=2_000 + 1_000 * one) for n, one in grades]
    bidders = [Bidder(name, budget=700 * items, **mind) for name in NAMES]
    models = {"simulated": ModelSettings(use="simulated", simulated=simulated or Simulated())}
    with TemporaryDirectory() as folder:
        result = Auction(seed=3, items=lots, bidders=bidders, models=models).run(out=Path(folder, "run"))
        return result, tuple(calls(Path(folder)))


def tokens(items: int) -> dict[str, float]:
    made = held(items)[1]
    found = {one: mean(call["input_tokens"] for call in made if call["purpose"] == one) for one in ("limit", "replan")}
    return found | {"all": mean(call["input_tokens"] for call in made)}


@pytest.mark.studies
def test_a_call_in_a_sale_of_160_items_costs_at_most_a_quarter_more_than_in_one_of_40():
    few, many = tokens(40), tokens(160)
    assert {purpose: many[purpose] <= 1.25 * few[purpose] for purpose in few} == dict.fromkeys(few, True)


def told(items: int, **mind: Any) -> list[dict[str, Any]]:
    """Read the facts of all prompts of a sale."""
    return [read_facts("\n".join(call["prompt"])) for call in held(items, **mind)[1]]


def test_no_prompt_lists_more_items_than_the_bound():
    asked = told(45)
    assert {len(facts["all_items"]) for facts in asked} == {LISTED, 45 - 2 * PAGE}
    for facts in asked:
        assert len(facts.get("results", ())) < 2 * PAGE
        assert len(facts.get("priorities", ())) <= LISTED
        assert len(facts.get("over", ())) <= 1


def test_no_prompt_of_a_paper_lists_more_items_than_the_bound():
    asked = told(25, **PAPER)
    assert max(len(facts["items"]) for facts in asked if "items" in facts) == SHOWN
    for facts in asked:
        assert len(facts.get("wins", ())) <= SHOWN
        assert len(facts.get("belief", {}).get("wins", ())) <= SHOWN


def test_what_is_listed_and_what_is_summed_up_make_all_the_items():
    seen = set()
    for facts in told(45):
        earlier = facts.get("earlier_results", {"number": 0, "estimates": 0})
        later = facts.get("later_items", {"number": 0, "estimate_total": 0})
        assert earlier["number"] + len(facts["all_items"]) + later["number"] == 45
        estimates = sum(item["estimate"] for item in facts["all_items"])
        seen.add((facts["you"], earlier["estimates"] + estimates + later["estimate_total"]))
    assert len(seen) == len(NAMES)


def test_the_built_in_model_works_out_the_mean_estimate_of_all_items_from_every_page():
    work_out, means = retold(lambda known, *_: dict(known)), set()
    for facts in (one for one in told(45) if one["task"] in ("plan", "replan", "bid")):
        means.add((facts["you"], work_out(facts, Simulated(), Random(0))["mean_estimate"]))
    assert len(means) == len(NAMES)


def test_who_is_not_corrected_is_told_of_earlier_items_and_of_rivals_money_by_its_own_account_alone():
    asked = told(25 + PAGE, **UNCORRECTED)
    earlier = [facts["earlier_results"] for facts in asked if "earlier_results" in facts]
    assert {*map(frozenset, earlier)} == {frozenset({"number", "estimates"})}
    replans = [facts for facts in asked if facts["task"] == "replan" and "rivals" in facts and "belief" in facts]
    assert replans
    for facts in replans:
        belief = facts["belief"]
        for rival in facts["rivals"]:
            wins = sum(win["price"] for win in belief["wins"] if win["bidder"] == rival["rival"])
            before = sum(row["paid"] for row in belief.get("earlier_wins", ()) if row["bidder"] == rival["rival"])
            assert rival["spent"] == pytest.approx(wins + before)


def test_what_a_paper_lists_and_what_it_sums_up_make_all_the_items_to_come():
    seen = set()
    for facts in (one for one in told(25, **PAPER) if "items" in one):
        later = facts.get("later_items", {"number": 0, "start_total": 0, "estimate_total": 0})
        finished = int(facts["items"][0]["item"].removeprefix("Lot ")) - 1
        assert finished + len(facts["items"]) + later["number"] == 25
        estimates = sum(item["estimate"] for item in facts["items"]) + later["estimate_total"]
        seen.add((facts["you"], finished, estimates))
    assert {you for you, *_ in seen} == {*NAMES}
    assert all(one[2] > other[2] for one, other in pairwise(sorted(seen)) if one[0] == other[0])


def test_the_list_of_items_goes_on_after_every_ten_and_has_the_ten_before_and_its_plan_a_priority_for_what_is_up():
    starts: dict[int, int] = {}
    for facts in told(45):
        earlier = facts.get("earlier_results", {"number": 0})["number"]
        assert facts["all_items"][0]["item"] == f"Lot {earlier + 1}"
        assert facts["task"] != "limit" or facts["item"] in facts["priorities"]
        starts[earlier + len(facts.get("results", ()))] = earlier
    assert starts == {over: max(0, over // PAGE * PAGE - PAGE) for over in starts}
    assert {*starts.values()} == {0, 10, 20}


def test_money_is_kept_for_better_items_that_are_only_summed_up():
    half = 30  # of the items, the poorer ones first
    lots = [Item(name=f"Lot {n}", start=1_000, true_value=1_500 if n <= half else 3_000) for n in range(1, 61)]
    bidders = [Bidder(name, budget=18_000, planning="none") for name in NAMES]
    result = Auction(seed=3, items=lots, bidders=bidders).run()
    spent = [event.price for event in of_type(result.log, ItemSold) if int(event.item.removeprefix("Lot ")) <= half]
    assert sum(spent) < sum(standing.spent for standing in result.standings) / 5


def sold_up_to(last: str, result: Result) -> set[str]:
    """Name the items that were sold, up to the last one of which a bidder was asked what it believes."""
    closed = [event.item for event in of_type(result.log, LotClosed)]
    sold = [event.item for event in of_type(result.log, ItemSold)]
    found = {item for item in sold if closed.index(item) <= closed.index(last)}
    assert len(found) >= len(sold) - 2 > 2 * PAGE  # after that nobody can pay for anything
    return found


@pytest.mark.parametrize("corrected", [True, False])
def test_wins_that_a_prompt_sums_up_are_neither_asked_for_nor_counted_and_are_kept(corrected):
    result = (held(45) if corrected else held(25 + PAGE, **UNCORRECTED))[0]
    last = [event for event in of_type(result.log, Believed) if event.bidder == "Ann"][-1]
    if corrected:
        assert last.errors_self == last.errors_others == 0
        assert 0 < sum(map(len, last.said.wins.values())) < 2 * PAGE
    assert {win.item for wins in last.held.wins.values() for win in wins} == sold_up_to(last.closed[-1], result)
