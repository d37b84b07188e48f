"""What models read: every fact has a sentence, no mark is left, and reply schemas are in the order of thought."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from harbor import Auction, Bidder, Item, houses
from harbor._core.asking.decisions import BidReply
from harbor._core.prompts.prose import from_prose, in_prose
from harbor._games.replies import BeliefReply, FusedReply, LimitReply, PredictReply, ProfileReply
from harbor._models.simulated.chat_model import read_facts


def auctions() -> dict[str, Auction]:
    everything: dict[str, Any] = {"theory_of_mind": "second", "memory": "list", "learning": True}
    minds = [Bidder("Ann", strategy="on", **everything), Bidder("Ben", strategy="fused", **everything), Bidder("Cho")]
    minds += [Bidder("Dee", bidding="limit", **everything)]
    many = [Item(name=f"Lot {number}", start=1_000, true_value=2_000) for number in range(24)]
    few = [Bidder("Ann", budget=12_000, theory_of_mind="inferred"), Bidder("Ben", budget=12_000)]
    session = {"runs": 2, "show": "actions and values", "rational_rivals": True}
    games: dict[str, dict[str, Any]] = {
        "water": {"days": 3}, **dict.fromkeys(("second-price", "first-price", "english-private"), session),
        "uniform": {"game": "first-price", "runs": 1, "distribution": {"kind": "uniform", "low": 0, "high": 90}},
        "beauty": {"runs": 2},
    }  # fmt: skip
    pair = [Bidder("Alex"), Bidder("Bob")]
    sales = {"english": Auction(items=houses(3, 1), bidders=minds), "long english": Auction(items=many, bidders=few)}
    return sales | {name: Auction(bidders=pair, rules={"game": name, **rules}) for name, rules in games.items()}


@pytest.fixture(scope="module", params=auctions())
def calls(request, tmp_path_factory) -> list[tuple[str, str, dict[str, Any]]]:
    """Give the calls of an auction: their purpose, the words of their prompts and the facts in these."""
    folder = tmp_path_factory.mktemp("prompts") / "run"
    auctions()[request.param].run(out=folder)
    made = []
    for line in (folder / "calls.jsonl").read_text().splitlines():
        call = json.loads(line)
        text = "\n".join(call["prompt"])
        made.append((call["purpose"], text, read_facts(text)))
    assert made
    return made


def test_every_fact_of_a_prompt_has_a_sentence_of_its_own_that_is_read_back_and_no_mark_is_left(calls):
    for purpose, words, facts in calls:
        prose = in_prose(facts)
        assert json.dumps(from_prose(prose)) == json.dumps(facts), purpose
        assert "The fact " not in prose, purpose
        assert "[if" not in words, purpose
        assert "\n\n\n" not in words, purpose


def schema(kind: Any) -> dict[str, Any]:
    return convert_to_openai_tool(kind)["function"]["parameters"]["properties"]  # type: ignore[no-any-return]


def test_the_fields_of_a_reply_come_in_the_order_of_thought():
    assert list(schema(FusedReply)) == ["reasons", "strategy", "action", "amount"]
    assert list(schema(BidReply)) == ["reasons", "action", "amount"]
    assert list(schema(LimitReply)) == ["reasons", "limit"]
    assert next(iter(schema(BeliefReply))) == "reasons"


def test_bounds_are_written_in_the_words_of_json_schema():
    number, null = schema(BidReply)["amount"]["anyOf"]
    assert (number["type"], number["minimum"], null["type"]) == ("number", 0, "null")
    weight = schema(ProfileReply)["weights"]["items"]["properties"]["weight"]
    assert (weight["minimum"], weight["maximum"]) == (-1, 1)
    shapes = json.dumps([schema(BeliefReply), schema(PredictReply), schema(BidReply)])
    assert '"ge"' not in shapes
    assert '"le"' not in shapes
