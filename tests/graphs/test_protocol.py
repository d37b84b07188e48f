"""What a model is told and asked, setting by setting, in real sales and games on the built-in model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from harbor import Auction, Bidder, Item, Simulated, resume
from harbor._config.auction import AuctionConfig
from harbor._config.thinking import BUNDLES
from harbor._core.asking.amounts import Amount, Number
from harbor._core.asking.asks import Ask
from harbor._core.basics.actions import Bid, Unreadable, Withdraw
from harbor._core.basics.errors import ConfigError
from harbor._core.log.events import PublicEvent
from harbor._core.log.log import of_type
from harbor._core.log.thoughts import Believed, Decided, Planned
from harbor._core.prompts.prompts import facts_in
from harbor._core.settings import read_settings
from harbor._games.english.thoughts import PROMPTS as ENGLISH
from harbor._models.simulated.chat_model import read_facts
from harbor._runs.resolve import resolve
from harbor.evaluation._metrics.behaviour import bids
from harbor.graphs._context.deciding import heard
from harbor.testing._playing import equal
from support.cases import crossed
from support.folders import halved

LOTS = [Item(name=f"Lot {letter}", start=1_000, true_value=2_000) for letter in "ABC"]
GAMES: dict[str, dict[str, Any]] = {
    "english": {"items": LOTS, "rules": {"reveal": "price"}},
    "water": {"rules": {"game": "water", "days": 4}},
    "beauty": {"rules": {"game": "beauty", "runs": 3}},
    "second-price": {"rules": {"game": "second-price", "runs": 3}},
    "english-private": {"rules": {"game": "english-private", "runs": 2}},
}
NAMES = ("Alex", "Bob", "Cindy")
CHANGES: list[dict[str, Any]] = [
    *({"reply": reply} for reply in ("tool", "json", "text")),
    *({"context": "dialogue"}, {"facts": "prose"}, {"bounds": "untold"}, {"hints": False}),
    {"relative_objective": True},
    {"reply": "text", "context": "dialogue", "facts": "prose", "bounds": "untold", "hints": False},
]


def calls_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]


def run(folder: Path, bidders: Sequence[Bidder], **settings: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Hold an auction; return its log and the calls."""
    usual = {} if "rules" in settings else {"items": LOTS}
    log = Auction(bidders=bidders, **usual | settings).run(out=folder / "run").log
    return log, calls_of(folder / "run")


@cache
def held(game: str, **mind: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Hold a small game between three bidders of one mind; return its log and the calls."""
    settings = {"budget": 10_000, "bidding": "call", **mind} if game == "english" else mind
    with TemporaryDirectory() as folder:
        return run(Path(folder), [Bidder(name, **settings) for name in NAMES], **GAMES[game])


def people(**mind: Any) -> list[Bidder]:
    return [Bidder(name, budget=10_000, **mind) for name in NAMES]


def public(log: Any) -> list[Any]:
    return [entry.event for entry in log if isinstance(entry.event, PublicEvent)][1:]


def bid_calls(calls: Sequence[dict[str, Any]], bidder: str) -> list[dict[str, Any]]:
    purposes = {"bid", "fused", *(game.replace("-", "_") for game in GAMES)}
    return [call for call in calls if call["bidder"] == bidder and call["purpose"] in purposes]


def texts(call: dict[str, Any]) -> str:
    return "\n".join(call["prompt"])


@pytest.mark.parametrize(("game", "change"), crossed([*GAMES], CHANGES))
def test_the_built_in_model_understands_every_protocol(game, change):
    assert public(held(game, **change)[0]) == public(held(game)[0])


# ---------------------------------------------------------------- reply


@pytest.mark.parametrize("reply", ["tool", "json", "text"])
def test_all_replies_have_the_form_that_is_asked_for(reply):
    _, calls = held("english", reply=reply)
    forms = {call["purpose"]: call["form"] for call in calls}
    told = {"tool": ("tool", "tool"), "json": ("json", "json"), "text": ("text", "words")}
    assert (forms["plan"], forms["bid"]) == told[reply]


AMOUNT = Ask("Ann", "Lot A", 1, Amount(1_000, 9_000))


@pytest.mark.parametrize(
    ("said", "reasons", "answer"),
    [
        ("I bid $1,200.", "", Bid(1200)),
        ("It is worth $3,000 or $4,000.\n\n**I bid $1,200.**\n", "It is worth $3,000 or $4,000.", Bid(1200)),
        ("Too dear.\nI'm out!", "Too dear.", Withdraw()),
        ("I bid $1,100.\nNo: more.\nI bid $1,300.", "I bid $1,100.\nNo: more.", Bid(1300)),
        ("I bid $1,200.\nThat leaves $300 for the rest.", "That leaves $300 for the rest.", Bid(1200)),
    ],
)
def test_the_last_line_that_answers_is_the_answer(said, reasons, answer):
    assert heard(said, AMOUNT) == (reasons, answer)


def test_words_that_say_no_plain_answer_are_a_failed_bid_and_a_number_is_chosen_in_words():
    for said in ("I would bid $1,200 or $1,300.", "Let me think.", "\n \n", "I do not bid $1,200."):
        assert isinstance(heard(said, AMOUNT)[1], Unreadable), said
    assert heard("Half of it.\nI choose 33.5.", Ask("Ann", "run 1", 1, Number(0, 100)))[1].words == "I bid $33.50."


# ---------------------------------------------------------------- context


@pytest.mark.parametrize("game", GAMES)
def test_all_turns_of_a_dialogue_together_tell_what_a_fresh_prompt_tells(game):
    fresh, dialogue = (bid_calls(held(game, context=how)[1], "Alex") for how in ("fresh", "dialogue"))
    assert len(fresh) == len(dialogue)
    for one, other in zip(fresh, dialogue, strict=True):
        asked = [text for place, text in enumerate(other["prompt"]) if place < 1 or place % 2]
        told = facts_in(texts(one))
        if game == "english":
            planned = json.loads(other["prompt"][2])  # an answer of its own
            ranks = {one["item"]: one["priority"] for one in planned["priorities"]}
            assert (planned["plan"], ranks) == (told.pop("plan"), told.pop("priorities"))
        assert facts_in("\n".join(asked)) == told


def test_a_turn_repeats_nothing_that_an_earlier_one_told():
    _, calls = held("english", context="dialogue")
    later = [call for call in bid_calls(calls, "Alex") if facts_in(texts(call))["item"] != "Lot A"]
    rules, *turns = max((call["prompt"] for call in later), key=len)
    told = [json.loads(text.split("<facts>\n")[1].split("\n</facts>")[0]) for text in (rules, *turns[::2])]
    assert len(told) > 4
    for name in ("rules", "all_items", "initial_budget", "results", "item", "budget"):
        assert sum(name in facts for facts in told) == 1
    assert {"rules", "all_items", "initial_budget"} <= told[0].keys()


def test_each_turn_tells_anew_what_is_of_its_call_alone():
    _, calls = held("english", context="dialogue", strategy="on", reply="text")
    last = max(bid_calls(calls, "Alex"), key=lambda call: len(call["prompt"]))
    turns = last["prompt"][3::2]
    assert len(turns) > 1
    assert all(f'"{name}":' in turn for turn in turns for name in ("strategy", "strategy_reasons", "in_words"))


def test_a_resumed_dialogue_asks_what_it_would_have_asked(tmp_path):
    whole, _ = run(tmp_path, people(protocol="aucarena"))
    equal(whole, resume(halved(tmp_path / "run")).log)


# ---------------------------------------------------------------- facts, bounds, hints, objective


def test_untold_bounds_are_in_no_prompt_for_a_bid():
    _, calls = held("english", bounds="untold")
    for call in bid_calls(calls, "Alex"):
        facts = facts_in(texts(call))
        assert not {"minimum", "budget"} & set(facts)
        assert {"initial_budget", "starting_price", "increment", "highest_bid"} <= set(facts)
        assert "`minimum`" not in texts(call)


def test_hints_are_sentences_that_can_be_left_out():
    with_hints, without = (held("english", hints=hints)[1] for hints in (True, False))
    lost = {line for call in with_hints for line in texts(call).splitlines()}
    lost -= {line for call in without for line in texts(call).splitlines()}
    assert "Give a 3 to no more items than your money can pay for at the prices that you expect." in lost
    assert not [line for line in lost if "`" in line]


@pytest.mark.parametrize(
    ("protocol", "value"),
    [("native", "style"), ("native", "unsaid"), ("native", 500), ("aucarena", 0.5), ("harbor", "style")],
)
def test_what_an_item_that_suits_a_persona_counts_for_is_told_as_the_setting_says(protocol, value, tmp_path):
    mind = {"protocol": protocol, "persona_value": value, "hints": False}
    _, calls = run(tmp_path, [Bidder("Alex", persona="downsizing", **mind)])
    for said in map(texts, calls):
        assert ("brings no extra profit" in said) == (value == "style")
        assert ("than its true value" in said) == (value not in ("style", "unsaid"))
        assert read_facts(said).get("persona_value") == (None if isinstance(value, str) else value)


def test_the_bundles_say_nothing_of_it_as_their_papers():
    values = {name: Bidder("Alex", persona="downsizing", protocol=name).persona_value for name in BUNDLES}
    assert {name for name, value in values.items() if value == "unsaid"} == {"aucarena", "harbor"}
    assert set(values.values()) == {"style", "unsaid"}


def test_one_call_a_decision_is_left_without_plans_and_beliefs():
    for game in ("water", "english"):
        log, calls = held(game, planning="none", believe=False)
        assert len(calls) == len(of_type(log, Decided))


# ---------------------------------------------------------------- corrections


def wrong_sums(folder: Path, rate: float, lots: int = 3) -> tuple[Any, list[dict[str, Any]]]:
    models = {"simulated": {"simulated": Simulated(wrong_sum_rate=rate)}}
    items = [Item(name=f"Lot {number}", start=1_000, true_value=2_000) for number in range(lots)]
    return run(folder, people(correct_beliefs="model"), items=items, models=models)


def test_a_model_is_told_what_is_wrong_alone_and_asked_four_times_more_and_believed(tmp_path):
    log, calls = wrong_sums(tmp_path, 1)
    again = [facts_in(texts(call)) for call in calls if call["purpose"] == "believe" and "`wrong`" in texts(call)]
    assert again
    assert all(facts["wrong"] == [{"field": "budget", "bidder": facts["you"]}] for facts in again)
    for believed in of_type(log, Believed):
        assert (believed.errors_self, believed.corrections, believed.errors_self_again) == (1, 4, 4)


def test_a_model_that_corrects_itself_goes_on_with_the_truth(tmp_path):
    log, _ = wrong_sums(tmp_path, 0.5, lots=6)
    beliefs = of_type(log, Believed)
    mended = [one for one in beliefs if one.corrections and one.errors_self_again < one.corrections]
    assert mended
    assert all(one.held != one.said for one in mended)
    assert {one.corrections for one in beliefs if not one.errors_self} == {0}


# ---------------------------------------------------------------- whose prompts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Copy Harbor's own prompts of the ascending auction to a folder."""
    folder = tmp_path / "prompts"
    folder.mkdir()
    for name in ("system", "plan", "bid", "limit", "believe", "replan"):
        shutil.copy(str(ENGLISH / f"{name}.md"), folder / f"{name}.md")
    return folder


def resolved(**mind: Any) -> None:
    resolve(AuctionConfig(items=LOTS, bidders=[Bidder("Ann", bidding="call", **mind), Bidder("Ben", rule="truthful")]))


def refused(**mind: Any) -> str:
    with pytest.raises(ConfigError) as error:
        resolved(**mind)
    return str(error.value)


def test_a_folder_of_prompts_takes_the_place_of_ours(folder):
    (folder / "bid.md").write_text("Du bist am Zug.\n\n<facts>\n${facts}\n</facts>\n", encoding="utf-8")
    log, calls = held("english", prompts=str(folder))
    assert all("Du bist am Zug." in texts(call) for call in bid_calls(calls, "Alex"))
    assert [*bids(log)]
    assert len({call["version"] for call in bid_calls(calls, "Alex")}) == 1


def test_a_prompt_that_is_missing_is_named_and_one_that_is_not_needed_may_be_missing(folder):
    (folder / "replan.md").unlink()
    assert refused(prompts=str(folder)).endswith("lacks 'replan.md', which this bidder needs; write it")
    assert "'nowhere' is no folder; name one with a file for each prompt" in refused(prompts="nowhere")
    log, _ = held("english", prompts=str(folder), planning="static")
    assert of_type(log, Planned)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("No blank.", "must have '<facts>"),
        ("<facts>\n${facts}\n</facts>\n${budget}", "no other blank"),
        ("[if plan]\nNothing of it.\n\n<facts>\n${facts}\n</facts>", "before no text about `plan`"),
        ("[facts leadr, bids]\n<facts>\n${facts}\n</facts>\n", "speaks of `leadr`, and this prompt tells no such fact"),
        ("<facts>\n${facts}\n</facts>\n`history` has all bids.", "speaks of `history`"),  # told by papers alone
        ("<facts>\n${facts}\n</facts>\n`earned` is what counts.", "speaks of `earned`"),  # told by replan alone
        ("[hint plan]\n\n<facts>\n${facts}\n</facts>\n", "unknown mark '[hint plan]'"),
    ],
)
def test_a_prompt_that_cannot_be_filled_is_refused_with_its_name(text, why, folder):
    (folder / "bid.md").write_text(text, encoding="utf-8")
    said = refused(prompts=str(folder))
    assert ("bid.md" in said, why in said) == (True, True), said


def test_a_prompt_of_ones_own_may_name_keys_of_its_answer_and_a_prompt_for_a_paper_facts_that_only_papers_tell(folder):
    facts = "<facts>\n${facts}\n</facts>\n"
    (folder / "bid.md").write_text(
        f"{facts}`action` and `amount` are your answer, `estimate` and `leader` facts.\n", encoding="utf-8"
    )
    resolved(prompts=str(folder))
    (folder / "believe.md").write_text(f"{facts}`history` has all bids on the `items`.\n", encoding="utf-8")
    resolved(protocol="aucarena", prompts=str(folder))
    assert "speaks of `history`" in refused(prompts=str(folder))


@pytest.mark.parametrize(
    ("mind", "why"),
    [
        ({"reply": "text", "bidding": "limit"}, "reply 'text' is a bid in words"),
        ({"reply": "text", "strategy": "fused"}, "strategy 'fused' asks for more than a bid"),
        ({"context": "dialogue", "bidding": "limit"}, "context 'dialogue' grows"),
        ({"protocol": "aucarena", "bidding": "limit"}, "'dialogue', which protocol 'aucarena' sets, grows"),
        ({"believe": False, "correct_beliefs": "model"}, "believe is false"),
        ({"persona_value": 500}, "persona_value 500 is about items that suit a persona, and there is none"),
        ({"relative_objective": True, "objective": "a wanted item"}, "nothing to compare with rivals"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(mind, why):
    with pytest.raises(ConfigError, match=why):
        Bidder("Ann", **mind)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (0, "persona_value 0: must be greater than 0"),
        (float("nan"), "persona_value nan: is not a finite number"),
        (10**12 + 1, "must be 1000000000000 or less"),
        (0.001, "at most 2 places after the point"),
        ("500", "persona_value '500': must be 'style', 'unsaid', or an amount of dollars, such as 5000"),
        (True, "persona_value True: is not a number"),
    ],
)
def test_what_a_persona_can_not_be_worth_is_refused(value, why):
    with pytest.raises(ConfigError) as told:
        Bidder("Ann", persona="downsizing", persona_value=value)
    assert why in str(told.value)
    assert "\n" not in str(told.value)


def test_a_run_keeps_its_prompts_whatever_becomes_of_their_folder(folder, tmp_path):
    whole, _ = run(tmp_path, people(bidding="call", prompts=str(folder)))
    shutil.rmtree(folder)
    equal(whole, resume(halved(tmp_path / "run")).log)


def test_a_file_that_was_sent_names_no_folder_of_prompts(tmp_path):
    (tmp_path / "sent.json").write_text('{"items": {"count": 2}, "bidders": [{"name": "Ann", "prompts": "/home"}]}')
    with pytest.raises(ConfigError, match="names the folder '/home' of prompts, and a file may have been sent"):
        read_settings(tmp_path / "sent.json", AuctionConfig)


def sent_before(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Say whether a prompt goes on from the one before: the text of a task stands after the facts of the last turn."""
    sent = [*before["prompt"][1:], before["reply"]]
    return all(one.startswith(two) for one, two in zip(sent, after["prompt"][1:-1], strict=True))


def test_every_earlier_turn_is_one_that_was_sent(tmp_path):
    models = {"simulated": {"simulated": {"over_budget_rate": 0.5}}}
    _, calls = run(tmp_path, people(protocol="harbor", strategy="on"), models=models)
    for name in NAMES:
        pairs = pairwise(bid_calls(calls, name))
        grown = [(before, after) for before, after in pairs if len(after["prompt"]) > len(before["prompt"])]
        assert grown
        assert all(sent_before(*pair) for pair in grown)


def test_a_dialogue_through_a_session_keeps_refusals(tmp_path):
    models = {"simulated": {"simulated": {"over_budget_rate": 0.5}}}
    bidders = [Bidder(name, reply="text", context="dialogue", bounds="untold") for name in NAMES]
    _, calls = run(tmp_path, bidders, models=models, rules={"game": "second-price", "runs": 3})
    turns = [turn for call in calls if call["purpose"] == "second_price" for turn in call["prompt"][1:-1:2]]
    assert [turn for turn in turns if "refused" in turn]
    for name in NAMES:
        assert all(sent_before(*pair) for pair in pairwise(bid_calls(calls, name)))
