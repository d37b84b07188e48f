"""The built-in model: it plays from the facts of a prompt, and errs as often as it is told."""

import asyncio
import itertools
import json
from collections.abc import Sequence
from contextlib import nullcontext
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor import Auction, Bidder, EnglishRules, Item, ModelSettings, Simulated, SimulatedChat
from harbor._core.asking.decisions import BidReply
from harbor._core.basics.errors import Unanswered
from harbor._core.basics.numbers import stream
from harbor._core.log.acts import Tried
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type, read_log
from harbor._games.english import policy
from harbor._games.english.events import ItemSold
from harbor._games.english.thoughts import PROMPTS
from harbor._games.english.valuation import Option, rank, shadow_price
from harbor._models.calls.client import ModelClient
from harbor._models.calls.prompt import Prompt
from harbor._models.simulated.chat_model import read_facts, reply_to
from harbor.evaluation._metrics.behaviour import bids
from harbor.graphs._context.prompting import fill
from harbor.personas._catalog.catalogue import HOMES, personas
from harbor.personas._catalog.traits import fit

Row = dict[str, Any]


def item(name: str = "Lot A", start: float = 1_000, estimate: float = 2_200, **more: Any) -> Row:
    return {"item": name, "start": start, "estimate": estimate, **more}


def prompt(task: str, objective: str = "profit", tastes: Sequence[str] = (), **facts: Any) -> Prompt:
    told = {"you": "Ann", "personas": [{"weight": 1 / len(tastes), "text": text} for text in tastes]}
    return fill(PROMPTS / f"{task}.md", told | {"objective": objective}, facts, PROMPTS / "system.md")


def bid_prompt(least: float = 1_000, budget: float = 10_000, items: Sequence[Row] = (), **more: Any) -> Prompt:
    items = list(items) or [item()]
    return prompt("bid", budget=budget, minimum=least, items=items, mean_estimate=_mean(items), **more)


def _mean(items: Sequence[Row]) -> float:
    return sum(row["estimate"] for row in items) / len(items)


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


def text_of(asked: Prompt, chat: SimulatedChat | None = None) -> str:
    return str((chat or SimulatedChat()).invoke(messages(asked)).text)


def reply(asked: Prompt, **settings: Any) -> Row:
    return json.loads(text_of(asked, SimulatedChat(settings=Simulated(**settings))))


def many() -> list[Prompt]:
    """Build prompts that differ a little, so that a chance is taken anew in each."""
    return [bid_prompt(1_000 + number) for number in range(40)]


def plan(items: Sequence[Row], budget: float, objective: str = "profit") -> dict[str, int]:
    asked = prompt("plan", objective, budget=budget, items=list(items), mean_estimate=_mean(items))
    return {row["item"]: row["priority"] for row in reply(asked)["priorities"]}


# ---------------------------------------------------------------- a chat model like any other


def test_answers_follow_from_prompt_and_seed_and_not_from_the_order_of_calls():
    settings = Simulated(unreadable_rate=0.5, low_bid_rate=0.5)
    one, same, other = (SimulatedChat(settings=settings, seed=seed) for seed in (3, 3, 4))
    forwards = [text_of(asked, one) for asked in many()]
    assert [text_of(asked, same) for asked in reversed(many())] == forwards[::-1]
    assert [text_of(asked, other) for asked in many()] != forwards


def test_it_answers_a_plain_call_with_json_text():
    assert set(reply(bid_prompt())) == {"reasons", "action", "amount"}


@pytest.mark.parametrize("unreadable", [False, True])
def test_it_calls_a_tool_that_is_bound_unless_its_reply_has_to_be_unreadable(unreadable):
    chat = SimulatedChat(settings=Simulated(unreadable_rate=int(unreadable))).bind_tools([BidReply])
    called = [
        (call["name"], BidReply(**call["args"]).action) for call in chat.invoke(messages(bid_prompt())).tool_calls
    ]
    assert called == ([] if unreadable else [("BidReply", "bid")])


async def test_it_answers_the_same_whether_awaited_or_not():
    asked, chat = messages(bid_prompt()), SimulatedChat()
    assert (await chat.ainvoke(asked)).text == chat.invoke(asked).text


def test_it_answers_after_its_latency_without_an_event_loop():
    assert json.loads(text_of(bid_prompt(), SimulatedChat(settings=Simulated(latency_seconds=0.01))))["action"] == "bid"


@pytest.mark.parametrize("text", ["Hello!", "", "<facts></facts>", '<facts>\n{"budget": 1}\n</facts>'])
async def test_it_refuses_a_prompt_without_facts_whether_awaited_or_not(text):
    with pytest.raises(ValueError, match="answers Harbor's prompts only"):
        SimulatedChat().invoke(text)
    with pytest.raises(ValueError, match="answers Harbor's prompts only"):
        await SimulatedChat().ainvoke(text)


def test_it_knows_nothing_but_the_facts_of_the_prompt():
    asked = bid_prompt()
    facts = read_facts(asked.system + "\n" + asked.human)
    assert reply(asked) == reply_to(facts, Simulated(), stream(0, "any"))


def test_latency_blocks_nobody():
    ticks = itertools.count()
    called: list[ModelCalled] = []
    chat = SimulatedChat(settings=Simulated(latency_seconds=0.5))
    model = ModelClient("Ann", "m", chat, ModelSettings(), called.append, lambda _: None, lambda: float(next(ticks)))

    async def together() -> None:
        await asyncio.gather(*(model.ask(asked, BidReply) for asked in many()[:5]))

    asyncio.run(together())
    assert len(called) == 5
    assert max(call.began for call in called) < min(call.began + call.seconds for call in called)


async def test_the_loop_turns_while_an_answer_is_awaited():
    async def turns(latency_seconds: float) -> int:
        chat = SimulatedChat(settings=Simulated(latency_seconds=latency_seconds))
        answer = asyncio.ensure_future(chat.ainvoke(messages(bid_prompt())))
        for turn in itertools.count():
            if answer.done():
                return turn
            await asyncio.sleep(0)
        raise AssertionError

    assert await turns(0.2) > 10 * await turns(0)


# ---------------------------------------------------------------- errors on demand


def test_at_rate_zero_nothing_goes_wrong():
    replies = [reply(asked) for asked in many()]
    assert [answer["amount"] for answer in replies] == [1_000 + number for number in range(40)]
    assert reply(belief_prompt())["budget"] == 8_500


@pytest.mark.parametrize("asked", [bid_prompt(), belief_prompt()])
def test_at_unreadable_rate_one_every_reply_is_unreadable(asked):
    with pytest.raises(json.JSONDecodeError):
        reply(asked, unreadable_rate=1)


@pytest.mark.parametrize("least", [0.05, 1, 47.5, 1_000])
def test_at_low_bid_rate_one_every_bid_is_too_low(least):
    assert reply(bid_prompt(least), low_bid_rate=1)["amount"] < least


def test_at_over_budget_rate_one_every_bid_is_above_the_budget():
    assert all(reply(asked, over_budget_rate=1)["amount"] > 10_000 for asked in many())


@pytest.mark.parametrize("rate", ["low_bid_rate", "over_budget_rate"])
def test_a_withdrawal_is_no_failed_bid(rate):
    answer = reply(bid_prompt(least=5_000), **{rate: 1})
    assert (answer["action"], answer["amount"]) == ("withdraw", None)


def test_at_wrong_sum_rate_one_every_belief_is_wrong():
    right, wrong = reply(belief_prompt()), reply(belief_prompt(), wrong_sum_rate=1)
    assert right["budget"] != wrong["budget"]
    assert right["wins"] == wrong["wins"]


@pytest.mark.parametrize("rate", ["unreadable_rate", "low_bid_rate", "over_budget_rate"])
def test_at_rate_one_half_about_half_goes_wrong(rate):
    right = {json.dumps(reply(asked)) for asked in many()}
    chat = SimulatedChat(settings=Simulated(**{rate: 0.5}))
    assert 10 <= sum(text_of(asked, chat) not in right for asked in many()) <= 30


@pytest.mark.parametrize(
    ("rate", "reason"),
    [
        ("unreadable_rate", "it is not a JSON object"), ("low_bid_rate", "below the least bid"),
        ("over_budget_rate", "above the greatest bid"),
    ],
)  # fmt: skip
def test_an_error_on_demand_is_a_failed_bid_in_the_log(rate, reason, tmp_path):
    auction = Auction(
        items=[Item(name="Lot A", start=1_000, true_value=2_000)],
        bidders=[Bidder("Ann", planning="none", bidding="call")],
        rules=EnglishRules(reasks=1),
        models={"simulated": ModelSettings(simulated=Simulated(**{rate: 1}))},
    )
    unusable = rate == "unreadable_rate"  # a model that says nothing of use has played nothing
    with pytest.raises(Unanswered) if unusable else nullcontext():
        auction.run(out=tmp_path / "run")
    failed = of_type(read_log(tmp_path / "run" / "events.jsonl").entries, Tried)
    assert [reason in failure.reason for failure in failed] == [True, True]


# ---------------------------------------------------------------- the minimum policy


@pytest.mark.parametrize(("least", "action"), [(1_980, "bid"), (1_981, "withdraw")])
def test_the_minimum_policy_raises_while_under_its_share_of_the_estimate(least, action):
    answer = reply(bid_prompt(least), policy="minimum", limit_share=Decimal("0.9"))
    assert (answer["action"], answer["amount"]) == (action, least if action == "bid" else None)


def test_the_minimum_policy_cares_for_nothing_but_the_estimate():
    asked = bid_prompt(1_900, items=[item(listing="a loft", priority=1), item("Lot B", 10, 9_000)], tastes=["a farm"])
    assert reply(asked, policy="minimum")["amount"] == 1_900


# ---------------------------------------------------------------- objectives


CHEAP_AND_DEAR = [item(f"Cheap {n}", 1_000, 1_700) for n in (1, 2, 3)] + [item("Dear", 5_000, 11_000)]


def test_for_the_number_of_items_the_cheap_ones_come_first():
    profit, count = plan(CHEAP_AND_DEAR, 8_000), plan(CHEAP_AND_DEAR, 8_000, "items")
    assert profit["Dear"] == 3
    assert count["Dear"] < max(count[f"Cheap {n}"] for n in (1, 2, 3)) == 3


def test_a_bidder_for_the_number_of_items_wins_more_of_them():
    start_and_true = [(1_000, 2_000)] * 4 + [(5_000, 12_000)] * 2
    items = [Item(name=f"Lot {n}", start=s, true_value=v) for n, (s, v) in enumerate(start_and_true)]
    bidders = [Bidder("Ann", objective="items", budget=12_000), Bidder("Ben", budget=12_000)]
    won = {row.bidder: row.items_won for row in Auction(items=items, bidders=bidders).run().standings}
    assert won["Ann"] > won["Ben"]


WANTED = "I want The Blue House, at any price"
STREET = [item(f"The {colour} House", 1_000, 2_000) for colour in ("Blue", "Red", "Green")]
DEAR_FIRST, WANTED_LAST = [CHEAP_AND_DEAR[3], *CHEAP_AND_DEAR[:3]], [*STREET[1:], STREET[0]]
POOR_FIRST = [item("Poor", 1_000, 1_500), *(item(f"Good {n}", 1_000, 4_000) for n in (1, 2))]


@pytest.mark.parametrize(
    ("least", "budget", "items", "objective", "action"),
    [
        pytest.param(5_000, 6_000, DEAR_FIRST, "profit", "bid", id="a dear item for profit"),
        pytest.param(5_000, 6_000, DEAR_FIRST, "items", "withdraw", id="a dear item for the number of items"),
        pytest.param(9_000, 9_000, STREET, WANTED, "bid", id="the whole budget for what is wanted"),
        pytest.param(9_000, 9_000, STREET, "profit", "withdraw", id="the whole budget for profit"),
        pytest.param(1_000, 2_500, WANTED_LAST, WANTED, "withdraw", id="before what is wanted"),
        pytest.param(1_000, 2_500, WANTED_LAST, "profit", "bid", id="before what nobody wants"),
        pytest.param(9_000, 9_000, [item("House 1")], "Get me House 10!", "withdraw", id="a name that begins another"),
        *(
            pytest.param(9_000, 9_000, [item(name)], objective, "withdraw", id=f"{name} that only sounds wanted")
            for name, objective in (("Item", "items"), ("Profit", "profit"), ("I", "profit"))
        ),
        pytest.param(1_000, 2_700, POOR_FIRST, "profit", "withdraw", id="a poor bargain with a short budget"),
        pytest.param(1_000, 99_000, POOR_FIRST, "profit", "bid", id="a poor bargain with a long one"),
    ],
)
def test_it_bids_as_far_as_its_objective_and_its_budget_say(least, budget, items, objective, action):
    assert reply(bid_prompt(least, budget, items, objective=objective))["action"] == action


def test_the_wanted_item_alone_has_top_priority():
    priorities = plan(STREET, 9_000, WANTED)
    assert [name for name, priority in priorities.items() if priority == 3] == ["The Blue House"]


def test_a_wanted_item_is_bought_in_a_real_sale():
    items = [Item(name=row["item"], start=1_000, true_value=2_000) for row in STREET]
    bidders = [Bidder("Ann", objective=WANTED, budget=4_000), Bidder("Ben", budget=4_000), Bidder("Cho", budget=4_000)]
    sold = {sale.item: sale.winner for sale in of_type(Auction(items=items, bidders=bidders).run().log, ItemSold)}
    assert sold["The Blue House"] == "Ann"


# ---------------------------------------------------------------- judgement


@pytest.mark.parametrize("persona", sorted(personas()))
def test_a_persona_likes_its_own_houses_better_than_others(persona):
    own: list[float] = []
    others: list[float] = []
    for house in HOMES.items.values():
        suits = fit({personas()[persona].text: 1.0}, house.listing)
        (own if house.persona == persona else others).append(suits)
    assert len(own) == 4
    assert sum(own) / len(own) > sum(others) / len(others)


LISTINGS = {house.persona: house.listing for house in HOMES.items.values()}


@pytest.mark.parametrize(
    ("objective", "listing", "more"),
    [
        ("profit", LISTINGS["urban-dwellers"], 500), ("profit", LISTINGS["rural-home-seekers"], 0), ("profit", "", 0),
        ("items", LISTINGS["urban-dwellers"], 0),
    ],
)  # fmt: skip
def test_a_preference_adds_its_dollars_to_what_suits_and_nothing_to_the_rest(objective, listing, more):
    told: Row = {"objective": objective, "personas": [{"weight": 1.0, "text": personas()["urban-dwellers"].text}]}
    sold = {**item(listing=listing), "value": 2_000}
    assert policy.worth({**told, "persona_value": 500}, sold) == 2_000 + more


def test_a_persona_of_which_nothing_is_said_is_played_as_style():
    listing = next(house.listing for house in HOMES.items.values() if house.persona == "urban-dwellers")
    lots = [Item(name="Loft", start=1_000, true_value=2_000, listing=listing)]
    runs = {}
    for value in ("style", "unsaid", 5_000):
        bidders = [Bidder("Ann", persona="urban-dwellers", persona_value=value), Bidder("Ben", budget=20_000)]
        runs[value] = Auction(items=lots, bidders=bidders).run()
    assert runs["style"].standings == runs["unsaid"].standings
    [dear] = of_type(runs[5_000].log, ItemSold)
    assert dear.winner == "Ann"
    assert runs[5_000].standings[-1].profit == 2_000 - dear.price  # a preference is no profit


def test_a_fitting_house_is_bid_on_for_longer():
    def highest(name: str) -> int:
        asked = (bid_prompt(n, items=[house], tastes=[personas()[name].text]) for n in range(500, 1_200, 5))
        return max(amount for one in asked if (amount := reply(one)["amount"]))

    house = item(start=100, estimate=1_000, listing=LISTINGS["urban-dwellers"])
    assert highest("urban-dwellers") > highest("rural-home-seekers")


def test_a_label_is_no_fact_that_it_could_read():
    texts = " ".join(house.listing for house in HOMES.items.values())
    assert [label for label in LISTINGS if label and label in texts] == []


amounts = st.decimals(min_value=1, max_value=10**6, places=2).map(float)
rows = st.lists(
    st.builds(lambda start, estimate: {"start": start, "estimate": estimate}, amounts, amounts), min_size=1, max_size=8
).map(lambda found: [{"item": f"Lot {number}", **row} for number, row in enumerate(found)])


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
    facts = read_facts((asked := bid_prompt(least, budget, items, objective=objective)).system + "\n" + asked.human)
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


def test_it_spends_no_more_than_its_budget_over_a_whole_sale():
    items = [Item(name=f"Lot {letter}", start=1_000, true_value=3_000) for letter in "ABCDEFGH"]
    budgets = {"Ann": 5_001, "Ben": 7_777, "Cho": 12_345}
    result = Auction(items=items, bidders=[Bidder(name, budget=budget) for name, budget in budgets.items()]).run()
    assert all(row.spent <= budgets[row.bidder] for row in result.standings)
    assert of_type(result.log, Tried) == []
    assert {bid.bidder for bid in [*bids(result.log)]} == {*budgets}


# ---------------------------------------------------------------- beliefs


WON = {"bidder": "Ann", "item": "Lot A", "price": 1_500}


@pytest.mark.parametrize(
    ("asked", "reasons", "budget", "profits_", "wins"),
    [
        (belief_prompt(), "Ann paid $1,500 for Lot A.", 8_500, profits(Ann=500, Ben=0), [WON]),
        (belief_prompt(None, wins=[WON]), "Lot A was not sold.", 10_000, profits(Ann=0, Ben=0), [WON]),
        (
            belief_prompt(0.1, 0.3, budget=0.3, profits=profits(Ann=0.1)),
            "Ann paid $", 0.2, profits(Ann=0.3), [WON | {"price": 0.1}],
        ),
    ],
    ids=["a sale", "an item that nobody buys", "cents"],
)  # fmt: skip
def test_a_belief_adds_up_to_the_cent(asked, reasons, budget, profits_, wins):
    answer = reply(asked)
    assert answer.pop("reasons").startswith(reasons)
    assert answer == {"budget": budget, "profits": profits_, "wins": wins}


# ---------------------------------------------------------------- estimates that are off


@pytest.mark.parametrize("overestimate", ["-0.1", "0", "0.1", "0.3"])
def test_once_a_true_value_is_known_a_bidder_counts_on_true_values_whatever_its_overestimate(overestimate):
    off = 1 + Decimal(overestimate)
    items = [{"item": "Barn", "start": 100, "estimate": float(400 * off)}]
    facts = {"objective": "profit", "items": items, "budget": 1_000, "true_per_estimate": float(round(1 / off, 4))}
    (option,) = policy.weighed(facts)
    assert option.worth == pytest.approx(400, rel=1e-4)


def test_before_the_first_true_value_is_known_an_estimate_is_taken_for_what_it_says():
    facts = {"objective": "profit", "items": [{"item": "Barn", "start": 100, "estimate": 440}], "budget": 1_000}
    assert [option.worth for option in policy.weighed(facts)] == [440]


@pytest.mark.parametrize("overestimate", ["-0.1", "0.3"])
def test_in_a_sale_only_the_first_item_is_bid_for_by_the_estimate_as_it_is(overestimate):
    items = [Item(name=name, start=100, true_value=400) for name in ("Barn", "Mill")]
    bidders = [Bidder(name, overestimate=Decimal(overestimate), budget=5_000) for name in ("Ann", "Ben")]
    log = Auction(items=items, bidders=bidders).run().log
    highest = {one: max(bid.amount for bid in [*bids(log)] if bid.item == one) for one in ("Barn", "Mill")}
    assert highest["Barn"] <= 400 * (1 + Decimal(overestimate))
    assert 370 <= highest["Mill"] <= 400
