"""Minds in the games of days and runs: what they are asked, what they expect, and how the built-in model plays."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harbor import Auction, Bidder, ModelSettings, Simulated, SimulatedChat, of_type
from harbor._core.log.events import ThoughtFailed
from harbor._games.beauty.rules import answer_best
from harbor._games.sessions.measures import Played, results_of
from harbor._games.water.play import dry_days, forecast, least_bid
from harbor._games.water.rules import RESIDENTS, DayClosed, DayOpened, Resident, Water
from harbor._models.simulated.chat_model import read_facts
from harbor.events import Acted, BiddersAsked, Decided, Expected, ModelCalled, Planned, SeatFailed, Signal, Tried
from harbor.games import Bid, Chance, Entry, Withdraw
from support.best_response import best_response
from support.folders import calls

GAMES = ["water", "second-price", "first-price", "english-private", "beauty"]
RUNS = 3


def names(game: str) -> list[str]:
    return list(RESIDENTS) if game == "water" else ["Ann", "Ben", "Cho"]


def settings(game: str, **more: Any) -> dict[str, Any]:
    length = {"days": RUNS} if game == "water" else {"runs": RUNS}
    return {"game": game, **length, **more}


def played(game: str, bidder: dict[str, Any] | None = None, out: Any = None, **more: Any) -> tuple[Entry, ...]:
    bidders = [Bidder(name, **(bidder or {})) for name in names(game)]
    return Auction(seed=2, bidders=bidders, rules=settings(game, **more)).run(out=out).log


def prompts(folder: Any) -> list[dict[str, Any]]:
    """The facts of every prompt of a run, with the name of its bidder."""
    return [{"bidder": call["bidder"], **read_facts("\n".join(call["prompt"]))} for call in calls(folder)]


@cache
def held(game: str) -> tuple[tuple[Entry, ...], list[dict[str, Any]]]:
    """Hold a game once; give its log and its prompts, both to read only."""
    with TemporaryDirectory() as folder:
        return played(game, out=Path(folder, "run")), prompts(Path(folder))


# ---------------------------------------------------------------- the room and the graph


@pytest.mark.parametrize("game", GAMES)
def test_minds_play_a_game_to_its_end_plan_after_all_parts_but_the_last_and_expect_every_rivals_next_bid(game):
    (log, _), (first, *others) = held(game), names(game)
    assert not of_type(log, Tried) + of_type(log, SeatFailed) + of_type(log, ThoughtFailed)
    assert {decided.bidder for decided in of_type(log, Decided)} == {first, *others}
    assert [bool(planned.text) for planned in of_type(log, Planned) if planned.bidder == first] == [True] * RUNS
    expected = [set(one.bids) for one in of_type(log, Expected) if one.bidder == first]
    assert expected == [set(others)] * (RUNS - 1)


def test_the_dead_think_no_more():
    log = played("water", days=12, supplies=[12] * 12)
    first = next(day for day in of_type(log, DayClosed) if not day.statuses.get("Eric", day.statuses["Alex"]).health)
    died = int(first.item.split()[1])
    assert len([one for one in of_type(log, Planned) if one.bidder == "Eric"]) <= died
    assert all("Eric" not in one.bids for one in of_type(log, Expected) if int(one.closed.split()[1]) >= died)


def test_believing_comes_before_replanning_and_nothing_else_lengthens_the_chain():
    log, _ = held("beauty")
    purposes = [call.purpose for call in of_type(log, ModelCalled) if call.bidder == "Ann"]
    assert purposes == ["contest_plan", "beauty", *["contest_believe", "contest_replan", "beauty"] * (RUNS - 1)]


# ---------------------------------------------------------------- what a prompt says


def test_a_private_value_is_in_no_prompt_but_its_own(tmp_path):
    log = played("second-price", out=tmp_path / "run", show="actions")
    values = {(one.bidder, item): str(value) for one in of_type(log, Signal) for item, value in one.values.items()}
    for facts in (one for one in prompts(tmp_path / "run") if "minimum" in one):
        me, run, past = facts["bidder"], facts["run"], facts.pop("past")
        assert str(facts["value"]) == values[me, run].rstrip("0").rstrip(".")
        bids = {str(bid) for one in past for bid in one["actions"].values()}
        others = {value for (name, item), value in values.items() if item == run and name != me} - bids
        assert not {value for value in others if value in json.dumps(facts)}


@pytest.mark.parametrize(("game", "history", "shown"), [("beauty", 0, 0), ("beauty", 1, 1), ("water", 9, 2)])
def test_as_many_past_runs_are_shown_as_the_session_says_or_as_there_are(tmp_path, game, history, shown):
    log = played(game, out=tmp_path / "run", history=history)
    last = [facts for facts in prompts(tmp_path / "run") if "minimum" in facts][-1]
    assert len(last["past"]) == shown
    assert (not of_type(log, Expected)) == (not history)
    assert not of_type(played("second-price", show="nothing"), Expected)


@pytest.mark.parametrize("on", [False, True])
def test_without_a_chain_of_thought_no_reasons_are_asked_for_and_the_built_in_model_gives_none(on, tmp_path):
    log = played("beauty", {"chain_of_thought": on}, out=tmp_path / "run")
    assert {facts["give_reasons"] for facts in prompts(tmp_path / "run")} == {on}
    assert {bool(decided.reasons) for decided in of_type(log, Decided)} == {on}


def test_a_persona_reaches_the_prompts_of_its_bidder_alone(tmp_path):
    bidders = [Bidder("Alex", persona="gardener"), Bidder("Bob")]
    rules = {"game": "water", "days": 1, "residents": {name: {"need": 8, "salary": 70} for name in ("Alex", "Bob")}}
    own = {"id": "gardener", "name": "Gardener", "text": "You would rather drink than save."}
    Auction(bidders=bidders, rules=rules, personas=[own]).run(out=tmp_path / "run")
    who = {(facts["bidder"], "personas" in facts) for facts in prompts(tmp_path / "run")}
    assert who == {("Alex", True), ("Bob", False)}


class Terse(SimulatedChat):
    """Leaves reasons out, as it is told to."""

    def _answer(self, messages, tools):
        result = super()._answer(messages, tools)
        for call in result.generations[0].message.tool_calls:
            del call["args"]["reasons"]
        return result


@pytest.mark.parametrize(("game", "asked"), [("beauty", False), ("water", True)])
def test_a_model_that_leaves_the_reasons_out_is_understood_whether_they_are_asked_for_or_not(game, asked):
    bidders = [Bidder(name, model="terse", chain_of_thought=asked) for name in names(game)]
    log = Auction(bidders=bidders, rules=settings(game)).run(models={"terse": Terse()}).log
    assert not of_type(log, Tried) + of_type(log, ThoughtFailed)


def test_on_a_day_without_water_minds_know_it_and_go_on(tmp_path):
    log = played("water", days=4, supplies=[0, 0, 50, 0], out=tmp_path / "run")
    assert not of_type(log, SeatFailed)
    told = {(facts["today"], facts["supply_today"]) for facts in prompts(tmp_path / "run") if "minimum" in facts}
    assert told == {("day 1", 0), ("day 2", 0), ("day 3", 50), ("day 4", 0)}


# ---------------------------------------------------------------- every fact of a prompt, against the log


def water_facts(log: tuple[Entry, ...], day: int) -> dict[str, Any]:
    """What is to be known in the morning of a day, folded from the public log by other means than a view's."""
    closed = of_type(log, DayClosed)[: day - 1]
    shown = {one.item: [act for act in of_type(log, Acted) if act.item == one.item] for one in closed}
    bids = {item: {act.bidder: bid_in(act.act) for act in acts} for item, acts in shown.items()}
    supplies = [opened.supply for opened in of_type(log, DayOpened)]
    status = dict.fromkeys(RESIDENTS, (8, 0, 1))
    for one in closed:
        status |= {name: (after.health, float(after.balance), after.dry) for name, after in one.statuses.items()}
    past = [
        {
            "day": one.item,
            "supply": supplies[number],
            "bids": bids[one.item],
            "above_balance": [act.bidder for act in shown[one.item] if getattr(act.act, "offered", None)],
            "served": list(one.served),
        }
        for number, one in enumerate(closed)
    ]
    return {"supply_today": supplies[day - 1], "days_left": 10 - day, "past": past, "status": status}


def bid_in(act: Any) -> float | None:
    bid = act.amount if isinstance(act, Bid) else act.offered
    return None if bid is None else float(bid)


def as_told(facts: dict[str, Any]) -> dict[str, Any]:
    status = {
        one["name"]: (one["health"], one["balance_before_salary"], one["health_lost_if_dry"])
        for one in facts["residents"]
    }
    return {key: facts[key] for key in ("supply_today", "days_left", "past")} | {"status": status}


@pytest.mark.parametrize(("history", "shown"), [({}, 5), ({"history": 0}, 0)])
def test_every_fact_of_the_water_prompts_is_that_of_the_log(history, shown, tmp_path):
    bidders = [Bidder(name) for name in ("Alex", "Bob", "Cindy", "David")] + [Bidder("Eric", rule="adversary")]
    rules = {"game": "water", "days": 9, "supply": "low", **history}
    log = Auction(seed=2, bidders=bidders, rules=rules).run(out=tmp_path / "run").log
    asked = [facts for facts in prompts(tmp_path / "run") if "today" in facts]
    assert {facts["task"] for facts in asked} == {"contest_plan", "contest_believe", "contest_replan", "water"}
    for facts in asked:
        day = int(facts["today"].removeprefix("day "))
        known, told = water_facts(log, day), as_told(facts)
        living = {name: one for name, one in known["status"].items() if one[0] > 0}
        assert told == {**known, "past": known["past"][max(0, day - 1 - shown) :], "status": living}
        if "minimum" in facts:
            balance = living[facts["bidder"]][1] + float(RESIDENTS[facts["bidder"]].salary)
            assert facts["maximum"] == pytest.approx(balance)


def test_a_player_is_told_its_own_results_of_the_runs_that_are_shown(tmp_path):
    log = played("second-price", out=tmp_path / "run", history=1)
    settled = {(one.bidder, one.item): one for one in results_of(log)}
    drawn = {(one.bidder, item): float(value) for one in of_type(log, Signal) for item, value in one.values.items()}
    for facts in prompts(tmp_path / "run"):
        me = facts["bidder"]
        assert len(facts["your_results"]) == min(1, RUNS - facts["runs_left"])
        assert facts["value"] == drawn[me, facts["run"]]
        for mine in facts["your_results"]:
            one = settled[me, mine["run"]]
            told = tuple(mine[key] for key in ("action", "won", "paid", "assets_at_end", "value"))
            assert told == (float(one.action), one.won, float(one.paid), float(one.assets), drawn[me, mine["run"]])


def test_a_plan_and_what_is_expected_are_handed_on():
    log, told = held("beauty")
    asked = [facts for facts in told if facts["bidder"] == "Ann"]
    bids, replans = ([one for one in asked if one["task"] == task] for task in ("beauty", "contest_replan"))
    plans = [planned.text for planned in of_type(log, Planned) if planned.bidder == "Ann"]
    told = [one.bids.items() for one in of_type(log, Expected) if one.bidder == "Ann"]
    expected = [[{"rival": name, "bid": float(bid)} for name, bid in one] for one in told]
    assert ([facts["plan"] for facts in bids], [facts["plan"] for facts in replans]) == (plans, plans[:-1])
    assert [facts["forecasts"] for facts in replans] == expected
    assert [facts.get("forecasts") for facts in bids] == [None, *expected]


def test_who_has_dropped_out_is_told_within_a_run_and_forgotten_in_the_next():
    log, asked = held("english-private")
    gone, out = defaultdict(set), {}
    for event in (entry.event for entry in log):
        if isinstance(event, BiddersAsked):
            out[event.item, event.round] = {*gone[event.item]}
        if isinstance(event, Acted) and isinstance(event.act, Withdraw):
            gone[event.item].add(event.bidder)
    rounds = {(one.bidder, one.item, float(one.amount or 0)): one.round for one in of_type(log, Decided)}
    keys = [((one["bidder"], one["run"], float(one["minimum"])), one) for one in asked if "minimum" in one]
    made = [(rounds[key], facts) for key, facts in keys if key in rounds]
    assert any("withdrawn" in facts for _, facts in made)
    assert all({*facts.get("withdrawn", [])} == out[facts["run"], number] for number, facts in made)


# ---------------------------------------------------------------- how the built-in model plays


@pytest.mark.parametrize("game", ["second-price", "english-private"])
def test_the_built_in_model_is_truthful_where_that_is_dominant(game):
    assert {deviation for runs in Played.of(held(game)[0]).deviations().values() for deviation in runs} == {0.0}


def numbers(log: tuple[Entry, ...]) -> list[float]:
    picks = defaultdict(list)
    for act in of_type(log, Acted):
        picks[act.item].append(float(act.act.amount))
    return [fmean(one) for one in picks.values()]


def test_the_deeper_it_reasons_the_lower_it_picks_and_among_rational_others_nought():
    def first(level: int) -> float:
        models = {"simulated": ModelSettings(simulated=Simulated(level=level))}
        bidders = [Bidder(name) for name in names("beauty")]
        return numbers(Auction(bidders=bidders, rules=settings("beauty", runs=1), models=models).run().log)[0]

    assert first(0) == 50
    assert first(1) == pytest.approx(answer_best(50, 3, 2 / 3), abs=1e-4)
    assert first(3) < first(2) < first(1)
    assert numbers(played("beauty", rational_rivals=True)) == [0.0] * RUNS


@given(
    st.decimals(0, 100, places=2), st.integers(2, 9), st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(9, 10)])
)
def test_its_best_answer_is_that_of_the_rules(others, count, fraction):
    best = best_response([others] * (count - 1), fraction)
    assert answer_best(float(others), count, float(fraction)) == pytest.approx(float(best), abs=1e-4)


@given(st.integers(1, 10), st.integers(1, 6))
def test_dry_days_are_as_many_as_are_lived_through(health, cost):
    days = dry_days(health, cost)
    assert health - sum(range(cost, cost + days)) > 0
    assert health - sum(range(cost, cost + days + 1)) <= 0


offers = st.dictionaries(
    st.sampled_from(["Bob", "Cindy", "David"]), st.tuples(st.integers(0, 300), st.integers(1, 12)), max_size=3
)


@given(st.integers(1, 12), st.integers(0, 30), offers)
def test_the_least_bid_is_served_and_a_cent_less_is_not(need, supply, rivals):
    price = least_bid(need, supply, {name: (float(bid), units) for name, (bid, units) in rivals.items()})
    needs = {"Alex": need, **{name: units for name, (_, units) in rivals.items()}}
    rules = Water({name: Resident(need=units, salary=1) for name, units in needs.items()}, [supply], (supply, supply))

    def is_served(bid: Decimal) -> bool:
        bids = {"Alex": bid, **{name: Decimal(offer) for name, (offer, _) in rivals.items()}}
        return "Alex" in rules._allocate(bids, supply, Chance(Random(0)))

    if price == float("inf"):
        assert need > supply
        return
    cents = Decimal(str(round(price, 2)))
    assume(all(units != need for _, units in rivals.values()))  # equal bids for equal needs are drawn by lot
    assert is_served(cents)
    assert not any(is_served(Decimal(bid)) for bid in {0, *(bid for bid, _ in rivals.values())} if bid < cents - 1)


@pytest.mark.parametrize(("health", "cost", "shown", "bid"), [(2, 3, 0, 175), (8, 1, 2, 40)])
def test_a_rival_that_must_drink_bids_all_it_has_and_a_failed_bid_above_the_balance_is_no_sign_of_what_it_bids(
    health, cost, shown, bid
):
    status = {"need": 9, "salary": 75, "health": health, "balance_before_salary": 100, "health_lost_if_dry": cost}
    past = [{"bids": {"Bob": 40}, "above_balance": []}, {"bids": {"Bob": 9_999}, "above_balance": ["Bob"]}][:shown]
    facts = {"game": "water", "residents": [{"name": "Bob", **status}], "past": past, "rivals": ["Bob"]}
    assert forecast("Bob", facts, Simulated()) == bid
