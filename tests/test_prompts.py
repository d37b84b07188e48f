"""What models read: every fact is explained, one scale for weights, and reply schemas in the order of thought."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from harbor import Auction, Bidder, Item, houses
from harbor._core.decisions import BidReply
from harbor._core.prose import from_prose, in_prose
from harbor._games.english.thoughts import PROMPTS as ENGLISH
from harbor._games.replies import BeliefReply, FusedReply, LimitReply, PredictReply, ProfileReply
from harbor._models.simulated.chat_model import read_facts
from harbor.graphs._context.node import PROMPTS
from harbor.graphs._nodes.profile import PROFILE

PLAIN = {"task", "game", "item", "start", "text", "listing", "bidder", "rival", "round", "amount", "bid", "name"}
PLAIN |= {"profit", "supply", "day", "true_value", "your_highest_bid", "lowest_winning_bid", "items"}
"""Facts whose names say what they are, or whose prompt says it in other words."""
RANGE = "from -1 (certainly not) over 0 (unknown) to 1 (certainly)"
SCALE = f"A profile gives each persona of `catalog` a weight {RANGE}."
REPLIED = {
    "plan": {"plan"},
    "contest_plan": {"plan"},
    "limit": {"limit"},
    "predict": {"interest", "limit", "expected_interest_of_yours"},
}
"""Fields of a reply, by its purpose, that its prompt speaks of; besides `reasons`, which every reply has."""
_FACTS = re.compile(r"<facts>\n.*?\n</facts>", re.DOTALL)
_NAMED = re.compile(r"`([a-z_]+)`")
MAPS = {"catalog", "profile", "profile_of_you", "bids", "actions", "values"}
"""Facts whose keys are names of bidders or ids of personas."""


def keys(facts: Any) -> Iterator[str]:
    if isinstance(facts, dict):
        for key, value in facts.items():
            yield key
            if key not in MAPS or isinstance(value, list):
                yield from keys(value)
    elif isinstance(facts, list):
        for value in facts:
            yield from keys(value)


def auctions() -> dict[str, Auction]:
    everything: dict[str, Any] = {"theory_of_mind": "second", "memory": "list", "learning": True}
    minds = [Bidder("Ann", strategy="on", **everything), Bidder("Ben", strategy="fused", **everything), Bidder("Cho")]
    minds += [Bidder("Dee", bidding="limit", **everything)]
    games: dict[str, dict[str, Any]] = {
        "water": {"game": "water", "days": 3},
        **{
            game: {"game": game, "runs": 2, "show": "actions and values", "rational_rivals": True}
            for game in ("second-price", "first-price", "english-private")
        },
        "uniform": {"game": "first-price", "runs": 1, "distribution": {"kind": "uniform", "low": 0, "high": 90}},
        "beauty": {"game": "beauty", "runs": 2},
    }
    names = {"water": ("Alex", "Bob")}
    many = [Item(name=f"Lot {number}", start=1_000, true_value=2_000) for number in range(24)]
    few = [Bidder("Ann", budget=12_000, theory_of_mind="inferred"), Bidder("Ben", budget=12_000)]
    sales = {"english": Auction(items=houses(3, 1), bidders=minds), "long english": Auction(items=many, bidders=few)}
    return sales | {
        game: Auction(bidders=[Bidder(name) for name in names.get(game, ("Ann", "Ben"))], rules=rules)
        for game, rules in games.items()
    }


@pytest.fixture(scope="module", params=auctions())
def calls(request, tmp_path_factory) -> list[tuple[str, str, dict[str, Any]]]:
    """Give the calls of an auction: their purpose, and the words and the facts of their prompts."""
    folder = tmp_path_factory.mktemp("prompts") / "run"
    auctions()[request.param].run(out=folder)
    made = []
    for line in (folder / "calls.jsonl").read_text().splitlines():
        call = json.loads(line)
        text = "\n".join(call["prompt"])
        made.append((call["purpose"], _FACTS.sub("", text).replace("\n", " "), read_facts(text)))
    assert made
    return made


def test_every_fact_of_a_prompt_is_explained_in_it(calls):
    assert {
        (purpose, key) for purpose, words, facts in calls for key in set(keys(facts)) - PLAIN if f"`{key}`" not in words
    } == set()


def test_a_prompt_speaks_of_no_fact_that_is_not_sent(calls):
    assert {
        (purpose, name)
        for purpose, words, facts in calls
        for name in set(_NAMED.findall(words)) - {"reasons", *keys(facts), *REPLIED.get(purpose, ())}
    } == set()


def test_every_fact_of_a_prompt_has_a_sentence_of_its_own_and_is_read_back_from_it(calls):
    for purpose, _, facts in calls:
        prose = in_prose(facts)
        assert json.dumps(from_prose(prose)) == json.dumps(facts), purpose
        assert "The fact " not in prose, purpose


def test_a_prompt_has_no_mark_left(calls):
    assert not [words for _, words, _ in calls if "[if" in words or "\n\n\n" in words]


def texts_of(folder: Traversable) -> dict[str, str]:
    return {path.name: path.read_text().replace("\n", " ") for path in folder.iterdir() if path.name.endswith(".md")}


def test_every_prompt_that_shows_profiles_gives_the_same_scale():
    texts = texts_of(ENGLISH)
    weighing = {name for name, text in texts.items() if "profile" in text}
    assert weighing == {"plan.md", "replan.md", "predict.md", "profile.md", "mirror.md", "strategize.md", "fused.md"}
    assert {name for name, text in texts.items() if SCALE in text} == weighing


def test_every_prompt_of_another_game_that_shows_profiles_gives_the_same_scale_or_is_told_it_with_them():
    texts = texts_of(PROMPTS)
    weighing = {name for name, text in texts.items() if "profile" in text}
    assert weighing == {"profile.md", "mirror.md", "predict.md"}
    assert {name for name, text in texts.items() if RANGE in text} == weighing - {"predict.md"}
    assert RANGE in (
        PROFILE.tells or ""
    )  # the sentence that goes with profiles wherever a prompt does not know of them


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
    assert not {"ge", "le"} & {*keys({"facts": [schema(BeliefReply), schema(PredictReply), schema(BidReply)]})}
