"""The built-in model: it plays from the facts of a prompt, and errs as often as it is told."""

import asyncio
import itertools
import json
from collections.abc import Sequence
from contextlib import nullcontext
from decimal import Decimal
from functools import partial
from statistics import mean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor import Auction, Bidder, EnglishRules, Item, ModelSettings, Simulated, SimulatedChat
from harbor._core.basics.errors import Unanswered
from harbor._core.basics.numbers import stream
from harbor._core.log.acts import Tried
from harbor._core.log.log import of_type, read_log
from harbor._games.english import policy
from harbor._games.english.events import ItemSold
from harbor._games.english.thoughts import PROMPTS
from harbor._games.english.valuation import Option, rank, shadow_price
from harbor._models.calls.prompt import Prompt
from harbor._models.simulated.chat_model import read_facts, reply_to
from harbor.evaluation._metrics.behaviour import bids
from harbor.graphs._context.prompting import fill
from harbor.personas._catalog.catalogue import HOMES, personas
from harbor.personas._catalog.traits import fit

Row = dict[str, Any]
LOT = Item(name="Lot A", start=1_000, true_value=2_000)


def item(name: str = "Lot A", start: float = 1_000, estimate: float = 2_200, **more: Any) -> Row:
    return {"item": name, "start": start, "estimate": estimate, **more}


def prompt(task: str, objective: str = "profit", tastes: Sequence[str] = (), **facts: Any) -> Prompt:
    told = {"you": "Ann", "personas": [{"weight": 1 / len(tastes), "text": text} for text in tastes]}
    return fill(PROMPTS / f"{task}.md", told | {"objective": objective}, facts, PROMPTS / "system.md")


def items_prompt(task: str, items: Sequence[Row], **more: Any) -> Prompt:
    return prompt(task, items=list(items), mean_estimate=mean(row["estimate"] for row in items), **more)


def bid_prompt(least: float = 1_000, budget: float = 10_000, items: Sequence[Row] = (), **more: Any) -> Prompt:
    return items_prompt("bid", items or [item()], budget=budget, minimum=least, **more)


def belief_prompt(price: float | None = 1_500, true: float = 2_000, **belief: Any) -> Prompt:
    """Build the prompt of Ann, who believes this, after Lot A went to her at a price, or to nobody."""
    belief = {"budget": 10_000, "profits": profits(Ann=0, Ben=0), "wins": []} | belief
    winner = None if price is None else "Ann"
    results = [{"item": "Lot A", "winner": winner, "price": price, "true_value": true}]
    return prompt("believe", belief=belief, results=results)


def profits(**profits: float) -> list[Row]:
    return [{"bidder": bidder, "profit": profit} for bidder, profit in profits.items()]


def messages(asked: Prompt) -> list[tuple[str, str]]:
    return [("system", asked.system), ("human", asked.human)]


def facts_of(asked: Prompt) -> Row:
    return read_facts(f"{asked.system}\n{asked.human}")


def text_of(asked: Prompt, chat: SimulatedChat) -> str:
    return str(chat.invoke(messages(asked)).text)


def reply(asked: Prompt, **settings: Any) -> Row:
    return json.loads(text_of(asked, SimulatedChat(settings=Simulated(**settings))))


MANY = [bid_prompt(1_000 + number) for number in range(40)]
"""Prompts that differ a little, so that a chance is taken anew in each."""


def plan(items: Sequence[Row], budget: float, objective: str = "profit") -> dict[str, int]:
    planned = reply(items_prompt("plan", items, objective=objective, budget=budget))
    return {row["item"]: row["priority"] for row in planned["priorities"]}


# ---------------------------------------------------------------- a chat model like any other


def test_answers_follow_from_the_facts_and_the_seed_and_not_from_the_order_of_calls():
    settings = Simulated(unreadable_rate=0.5, low_bid_rate=0.5)
    one, same, other = (SimulatedChat(settings=settings, seed=seed) for seed in (3, 3, 4))
    forwards = [text_of(asked, one) for asked in MANY]
    assert [text_of(asked, same) for asked in reversed(MANY)] == forwards[::-1]
    assert [text_of(asked, other) for asked in MANY] != forwards
    assert reply(bid_prompt()) == reply_to(facts_of(bid_prompt()), Simulated(), stream(0, "any"))


async def test_it_refuses_a_prompt_without_facts_whether_awaited_or_not():
    refused = partial(pytest.raises, ValueError, match="answers Harbor's prompts only")
    for text in ("Hello!", "", "<facts></facts>", '<facts>\n{"budget": 1}\n</facts>'):
        with refused():
            SimulatedChat().invoke(text)
        with refused():
            await SimulatedChat().ainvoke(text)


async def test_it_answers_after_its_latency_and_the_loop_turns_meanwhile():
    async def turns(latency_seconds: float) -> int:
        chat = SimulatedChat(settings=Simulated(latency_seconds=latency_seconds))
        answer = asyncio.ensure_future(chat.ainvoke(messages(bid_prompt())))
        for turn in itertools.count():
            if answer.done():
                return turn
            await asyncio.sleep(0)
        raise AssertionError

    assert await turns(0.2) > 10 * await turns(0)
    assert reply(bid_prompt(), latency_seconds=0.01)["action"] == "bid"  # without the loop


# ---------------------------------------------------------------- errors on demand


def test_at_rate_zero_nothing_goes_wrong_and_at_rate_one_everything():
    assert [reply(asked)["amount"] for asked in MANY] == [1_000 + number for number in range(40)]
    assert all(reply(asked, over_budget_rate=1)["amount"] > 10_000 for asked in MANY)
    for least in (0.05, 1, 47.5, 1_000):
        assert reply(bid_prompt(least), low_bid_rate=1)["amount"] < least
    for rate in ("low_bid_rate", "over_budget_rate"):  # a withdrawal is no failed bid
        answer = reply(bid_prompt(least=5_000), **{rate: 1})
        assert (answer["action"], answer["amount"]) == ("withdraw", None)
    right, wrong = reply(belief_prompt()), reply(belief_prompt(), wrong_sum_rate=1)
    assert (right["budget"], right["wins"]) == (8_500, wrong["wins"])
    assert right["budget"] != wrong["budget"]
    for asked in (bid_prompt(), belief_prompt()):
        with pytest.raises(json.JSONDecodeError):
            reply(asked, unreadable_rate=1)


RATES = {
    "unreadable_rate": "it is not a JSON object", "low_bid_rate": "below the least bid",
    "over_budget_rate": "above the greatest bid",
}  # fmt: skip


@pytest.mark.parametrize("rate", RATES)
def test_at_rate_one_half_about_half_goes_wrong_and_each_error_is_a_failed_bid_in_the_log(rate, tmp_path):
    right = {json.dumps(reply(asked)) for asked in MANY}
    chat = SimulatedChat(settings=Simulated(**{rate: 0.5}))
    assert 10 <= sum(text_of(asked, chat) not in right for asked in MANY) <= 30
    bidders = [Bidder("Ann", planning="none", bidding="call")]
    models = {"simulated": ModelSettings(simulated=Simulated(**{rate: 1}))}
    auction = Auction(items=[LOT], bidders=bidders, rules=EnglishRules(reasks=1), models=models)
    # a model that says nothing of use has played nothing
    with pytest.raises(Unanswered) if rate == "unreadable_rate" else nullcontext():
        auction.run(out=tmp_path / "run")
    failed = of_type(read_log(tmp_path / "run" / "events.jsonl").entries, Tried)
    assert [RATES[rate] in failure.reason for failure in failed] == [True, True]


# ---------------------------------------------------------------- policies and objectives


@pytest.mark.parametrize(("least", "action"), [(1_980, "bid"), (1_981, "withdraw")])
def test_the_minimum_policy_raises_while_under_its_share_of_the_estimate_and_cares_for_nothing_else(least, action):
    items = [item(listing="a loft", priority=1), item("Lot B", 10, 9_000)]
    answer = reply(bid_prompt(least, items=items, tastes=["a farm"]), policy="minimum", limit_share=Decimal("0.9"))
    assert (answer["action"], answer["amount"]) == (action, least if action == "bid" else None)


CHEAP_AND_DEAR = [item(f"Cheap {n}", 1_000, 1_700) for n in (1, 2, 3)] + [item("Dear", 5_000, 11_000)]
WANTED = "I want The Blue House, at any price"
STREET = [item(f"The {colour} House", 1_000, 2_000) for colour in ("Blue", "Red", "Green")]
DEAR_FIRST, WANTED_LAST = [CHEAP_AND_DEAR[3], *CHEAP_AND_DEAR[:3]], [*STREET[1:], STREET[0]]
POOR_FIRST = [item("Poor", 1_000, 1_500), *(item(f"Good {n}", 1_000, 4_000) for n in (1, 2))]


def test_what_the_objective_wants_has_the_top_priority():
    profit, count = plan(CHEAP_AND_DEAR, 8_000), plan(CHEAP_AND_DEAR, 8_000, "items")
    assert profit["Dear"] == 3
    assert count["Dear"] < max(count[f"Cheap {n}"] for n in (1, 2, 3)) == 3
    assert [name for name, priority in plan(STREET, 9_000, WANTED).items() if priority == 3] == ["The Blue House"]


BIDS: dict[str, tuple[float, float, list[Row], str, str]] = {
    "a dear item for profit": (5_000, 6_000, DEAR_FIRST, "profit", "bid"),
    "a dear item for the number of items": (5_000, 6_000, DEAR_FIRST, "items", "withdraw"),
    "the whole budget for what is wanted": (9_000, 9_000, STREET, WANTED, "bid"),
    "the whole budget for profit": (9_000, 9_000, STREET, "profit", "withdraw"),
    "before what is wanted": (1_000, 2_500, WANTED_LAST, WANTED, "withdraw"),
    "before what nobody wants": (1_000, 2_500, WANTED_LAST, "profit", "bid"),
    "a name that begins another": (9_000, 9_000, [item("House 1")], "Get me House 10!", "withdraw"),
    "a name that only sounds wanted": (9_000, 9_000, [item("Item")], "items", "withdraw"),
    "a letter that only sounds wanted": (9_000, 9_000, [item("I")], "profit", "withdraw"),
    "a poor bargain with a short budget": (1_000, 2_700, POOR_FIRST, "profit", "withdraw"),
    "a poor bargain with a long one": (1_000, 99_000, POOR_FIRST, "profit", "bid"),
}


@pytest.mark.parametrize(("least", "budget", "items", "objective", "action"), BIDS.values(), ids=BIDS)
def test_it_bids_as_far_as_its_objective_and_its_budget_say(least, budget, items, objective, action):
    assert reply(bid_prompt(least, budget, items, objective=objective))["action"] == action


# ---------------------------------------------------------------- judgement


LISTINGS = {house.persona: house.listing for house in HOMES.items.values()}
TOWN, LAND = LISTINGS["urban-dwellers"], LISTINGS["rural-home-seekers"]


@pytest.mark.parametrize("persona", sorted(personas()))
def test_a_persona_likes_its_own_houses_better_than_others(persona):
    likings: dict[bool, list[float]] = {True: [], False: []}
    for house in HOMES.items.values():
        likings[house.persona == persona].append(fit({personas()[persona].text: 1.0}, house.listing))
    assert len(likings[True]) == 4
    assert mean(likings[True]) > mean(likings[False])


@pytest.mark.parametrize(
    ("objective", "listing", "more"),
    [("profit", TOWN, 500), ("profit", LAND, 0), ("profit", "", 0), ("items", TOWN, 0)],
)
def test_a_preference_adds_its_dollars_to_what_suits_and_nothing_to_the_rest(objective, listing, more):
    told: Row = {"objective": objective, "personas": [{"weight": 1.0, "text": personas()["urban-dwellers"].text}]}
    sold = {**item(listing=listing), "value": 2_000}
    assert policy.worth({**told, "persona_value": 500}, sold) == 2_000 + more


def test_a_persona_of_which_nothing_is_said_is_played_as_style_and_a_preference_is_no_profit():
    lots, runs = [Item(name="Loft", start=1_000, true_value=2_000, listing=TOWN)], {}
    for value in ("style", "unsaid", 5_000):
        bidders = [Bidder("Ann", persona="urban-dwellers", persona_value=value), Bidder("Ben", budget=20_000)]
        runs[value] = Auction(items=lots, bidders=bidders).run()
    assert runs["style"].standings == runs["unsaid"].standings
    [dear] = of_type(runs[5_000].log, ItemSold)
    assert (dear.winner, runs[5_000].standings[-1].profit) == ("Ann", 2_000 - dear.price)


def test_a_fitting_house_is_bid_on_for_longer_by_its_listing_which_holds_no_label():
    def highest(name: str) -> int:
        asked = (bid_prompt(n, items=[house], tastes=[personas()[name].text]) for n in range(500, 1_200, 5))
        return max(amount for one in asked if (amount := reply(one)["amount"]))

    house = item(start=100, estimate=1_000, listing=TOWN)
    assert highest("urban-dwellers") > highest("rural-home-seekers")
    texts = " ".join(house.listing for house in HOMES.items.values())
    assert [label for label in LISTINGS if label and label in texts] == []


amounts = st.decimals(min_value=1, max_value=10**6, places=2).map(float)
rows = st.lists(st.tuples(amounts, amounts), min_size=1, max_size=8).map(
    lambda found: [item(f"Lot {number}", *amounts) for number, amounts in enumerate(found)]
)


@given(
    items=rows,
    budget=amounts,
    share=st.floats(0.001, 1),
    priority=st.integers(1, 3),
    objective=st.sampled_from(["profit", "items", "Lot 0", "Lot 1", "something nice"]),
    policy=st.sampled_from(["judge", "minimum"]),
)
def test_no_bid_is_ever_illegal(items, budget, share, priority, objective, policy):
    items[0]["priority"] = priority
    least = max(0.01, round(budget * share, 2))
    facts = facts_of(bid_prompt(least, budget, items, objective=objective))
    answer = reply_to(facts, Simulated(policy=policy), stream(0, "any"))
    assert answer["action"] in ("bid", "withdraw")
    assert answer["amount"] is None or least <= answer["amount"] <= budget


@given(items=rows, budget=amounts, objective=st.sampled_from(["profit", "items", "Lot 0"]))
def test_a_plan_always_covers_every_item(items, budget, objective):
    facts = {"task": "plan", "you": "Ann", "personas": [], "objective": objective, "budget": budget, "items": items}
    answer = reply_to(facts, Simulated(), stream(0, "any"))
    assert [row["item"] for row in answer["priorities"]] == [row["item"] for row in items]
    assert {row["priority"] for row in answer["priorities"]} <= {1, 2, 3}


OPTIONS = st.lists(st.builds(Option, st.text(), st.floats(1, 1e6), st.floats(1, 1e6)), max_size=8)


@given(OPTIONS, st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_dollar_is_never_worth_more_to_who_has_more(options, budget, more):
    assert 1 <= shadow_price(options, budget + more) <= shadow_price(options, budget)


@given(OPTIONS, st.floats(0, 1e6))
def test_what_has_a_priority_above_one_fits_the_budget(options, budget):
    named = [Option(str(number), option.worth, option.cost) for number, option in enumerate(options)]
    ranks = rank(named, budget)
    assert sum(option.cost for option in named if ranks[option.name] > 1) <= budget * (1 + 1e-9)


# ---------------------------------------------------------------- beliefs


WON = {"bidder": "Ann", "item": "Lot A", "price": 1_500}
CENTS = belief_prompt(0.1, 0.3, budget=0.3, profits=profits(Ann=0.1))


@pytest.mark.parametrize(
    ("asked", "reasons", "budget", "profits_", "wins"),
    [
        (belief_prompt(), "Ann paid $1,500 for Lot A.", 8_500, profits(Ann=500, Ben=0), [WON]),
        (belief_prompt(None, wins=[WON]), "Lot A was not sold.", 10_000, profits(Ann=0, Ben=0), [WON]),
        (CENTS, "Ann paid $", 0.2, profits(Ann=0.3), [WON | {"price": 0.1}]),
    ],
    ids=["a sale", "an item that nobody buys", "cents"],
)
def test_a_belief_adds_up_to_the_cent(asked, reasons, budget, profits_, wins):
    answer = reply(asked)
    assert answer.pop("reasons").startswith(reasons)
    assert answer == {"budget": budget, "profits": profits_, "wins": wins}


# ---------------------------------------------------------------- estimates that are off


def test_an_estimate_is_taken_for_what_it_says_until_a_true_value_is_known_and_then_true_values_count():
    for overestimate in ("-0.1", "0", "0.1", "0.3"):
        off = 1 + Decimal(overestimate)
        row = item("Barn", 100, float(400 * off))
        facts = {"objective": "profit", "items": [row], "budget": 1_000}
        assert [option.worth for option in policy.weighed(facts)] == [row["estimate"]]
        [option] = policy.weighed(facts | {"true_per_estimate": float(round(1 / off, 4))})
        assert option.worth == pytest.approx(400, rel=1e-4)


@pytest.mark.parametrize("overestimate", ["-0.1", "0.3"])
def test_in_a_sale_only_the_first_item_is_bid_for_by_the_estimate_as_it_is(overestimate):
    items = [Item(name=name, start=100, true_value=400) for name in ("Barn", "Mill")]
    bidders = [Bidder(name, overestimate=Decimal(overestimate), budget=5_000) for name in ("Ann", "Ben")]
    log = Auction(items=items, bidders=bidders).run().log
    highest = {one: max(bid.amount for bid in [*bids(log)] if bid.item == one) for one in ("Barn", "Mill")}
    assert highest["Barn"] <= 400 * (1 + Decimal(overestimate))
    assert 370 <= highest["Mill"] <= 400
