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

from harbor import Auction, Bidder, Item, Simulated, of_type, resume
from harbor._config.thinking import BUNDLES
from harbor._core.basics.actions import Unreadable
from harbor._core.basics.errors import ConfigError
from harbor._core.prompts.prompts import facts_in
from harbor._core.settings import read_settings
from harbor._games.english.thoughts import PROMPTS as ENGLISH
from harbor._models.simulated.chat_model import read_facts
from harbor._runs.resolve import resolve
from harbor.evaluation._metrics.behaviour import bids
from harbor.events import Believed, Decided, Planned, PublicEvent
from harbor.games import Amount, Ask, AuctionConfig, Bid, Number, Withdraw
from harbor.graphs._context.deciding import heard
from harbor.testing._playing import equal
from support.cases import crossed
from support.folders import calls as calls_in
from support.folders import halved

LARGE_STEPS = {"increment_share": 0.2}
LOTS = [Item(name=f"Lot {letter}", start=1_000, true_value=2_000) for letter in "ABC"]
GAMES: dict[str, dict[str, Any]] = {
    "english": {"items": LOTS, "rules": {"reveal": "price", **LARGE_STEPS}},
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


def run(folder: Path, bidders: Sequence[Bidder], **settings: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Hold an auction; return its log and the calls."""
    usual = {} if "rules" in settings else {"items": LOTS, "rules": LARGE_STEPS}
    log = Auction(bidders=bidders, **usual | settings).run(out=folder / "run").log
    return log, calls_in(folder / "run")


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


@pytest.mark.parametrize(("reply", "plan", "bid"), [("tool",) * 3, ("json",) * 3, ("text", "text", "words")])
def test_all_replies_have_the_form_that_is_asked_for(reply, plan, bid):
    forms = {call["purpose"]: call["form"] for call in held("english", reply=reply)[1]}
    assert (forms["plan"], forms["bid"]) == (plan, bid)


AMOUNT = Ask("Ann", "Lot A", 1, Amount(1_000, 9_000))


def test_the_last_line_that_answers_is_the_answer():
    for said, reasons, answer in (
        ("I bid $1,200.", "", Bid(1200)),
        ("It is worth $3,000 or $4,000.\n\n**I bid $1,200.**\n", "It is worth $3,000 or $4,000.", Bid(1200)),
        ("Too dear.\nI'm out!", "Too dear.", Withdraw()),
        ("I bid $1,100.\nNo: more.\nI bid $1,300.", "I bid $1,100.\nNo: more.", Bid(1300)),
        ("I bid $1,200.\nThat leaves $300 for the rest.", "That leaves $300 for the rest.", Bid(1200)),
    ):
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
        told, turns = facts_in(texts(one)), other["prompt"]
        if game == "english":
            planned = json.loads(turns[2])  # an answer of its own
            ranks = {one["item"]: one["priority"] for one in planned["priorities"]}
            assert (planned["plan"], ranks) == (told.pop("plan"), told.pop("priorities"))
        assert facts_in("\n".join([turns[0], *turns[1::2]])) == told


def test_a_turn_repeats_nothing_that_an_earlier_one_told():
    _, calls = held("english", context="dialogue")
    later = [call for call in bid_calls(calls, "Alex") if facts_in(texts(call))["item"] != "Lot A"]
    rules, *turns = max((call["prompt"] for call in later), key=len)
    told = [json.loads(text.split("<facts>\n")[1].split("\n</facts>")[0]) for text in (rules, *turns[::2])]
    assert len(told) > 4
    assert {"rules", "all_items", "initial_budget"} <= told[0].keys()
    for name in ("rules", "all_items", "initial_budget", "results", "item", "budget"):
        assert sum(name in facts for facts in told) == 1


def test_each_turn_tells_anew_what_is_of_its_call_alone():
    _, calls = held("english", context="dialogue", strategy="on", reply="text")
    last = max(bid_calls(calls, "Alex"), key=lambda call: len(call["prompt"]))
    turns = last["prompt"][3::2]
    assert len(turns) > 1
    assert all(f'"{name}":' in turn for turn in turns for name in ("strategy", "strategy_reasons", "in_words"))


def test_a_resumed_dialogue_asks_what_it_would_have_asked(tmp_path):
    whole, _ = run(tmp_path, people(protocol="aucarena"), items=LOTS[:2])
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


VALUES = [("native", "style"), ("native", "unsaid"), ("native", 500), ("aucarena", 0.5), ("harbor", "style")]


@pytest.mark.parametrize(("protocol", "value"), VALUES)
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
    beliefs = of_type(wrong_sums(tmp_path, 0.5, lots=6)[0], Believed)
    mended = [one for one in beliefs if one.corrections and one.errors_self_again < one.corrections]
    assert mended
    assert all(one.held != one.said for one in mended)
    assert {one.corrections for one in beliefs if not one.errors_self} == {0}


# ---------------------------------------------------------------- whose prompts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Copy Harbor's own prompts of the ascending auction to a folder."""
    return Path(shutil.copytree(str(ENGLISH), tmp_path / "prompts"))


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


BLANK = "<facts>\n${facts}\n</facts>\n"
WRONG = [
    ("No blank.", "must have '<facts>"),
    (f"[facts leadr, bids]\n{BLANK}", "speaks of `leadr`, and this prompt tells no such fact"),
    (f"{BLANK}`history` has all bids.", "speaks of `history`"),  # told by papers alone
    (f"{BLANK}`earned` is what counts.", "speaks of `earned`"),  # told by replan alone
    (f"[hint plan]\n\n{BLANK}", "unknown mark '[hint plan]'"),
]


@pytest.mark.parametrize(("text", "why"), WRONG)
def test_a_prompt_that_cannot_be_filled_is_refused_with_its_name(text, why, folder):
    (folder / "bid.md").write_text(text, encoding="utf-8")
    said = refused(prompts=str(folder))
    assert ("bid.md" in said, why in said) == (True, True), said


def test_a_prompt_of_ones_own_may_name_keys_of_its_answer_and_a_prompt_for_a_paper_facts_that_only_papers_tell(folder):
    (folder / "bid.md").write_text(f"{BLANK}`action` and `amount` answer, `estimate` and `leader` are facts.\n")
    resolved(prompts=str(folder))
    (folder / "believe.md").write_text(f"{BLANK}`history` has all bids on the `items`.\n")
    resolved(protocol="aucarena", prompts=str(folder))
    assert "speaks of `history`" in refused(prompts=str(folder))


HELD = {"persona": "downsizing"}


def test_a_setting_that_contradicts_another_or_can_not_be_is_refused_in_one_line():
    for mind, why in (
        ({"reply": "text", "bidding": "limit"}, "reply 'text' is a bid in words"),
        ({"reply": "text", "strategy": "fused"}, "strategy 'fused' asks for more than a bid"),
        ({"strategy": "on", "bidding": "limit"}, "strategy 'on' is chosen at each call, bidding 'limit' once per item"),
        ({"strategy": "fused", "bidding": "limit"}, "'fused' is chosen at each call, bidding 'limit' once per item"),
        ({"context": "dialogue", "bidding": "limit"}, "context 'dialogue' grows"),
        ({"protocol": "aucarena", "bidding": "limit"}, "'dialogue', which protocol 'aucarena' sets, grows"),
        ({"believe": False, "correct_beliefs": "model"}, "believe is false"),
        ({"persona_value": 500}, "persona_value 500 is about items that suit a persona, and there is none"),
        ({"relative_objective": True, "objective": "a wanted item"}, "nothing to compare with rivals"),
        ({**HELD, "persona_value": 0}, "persona_value 0: must be greater than 0"),
        ({**HELD, "persona_value": float("nan")}, "persona_value nan: is not a finite number"),
        ({**HELD, "persona_value": 10**12 + 1}, "must be 1000000000000 or less"),
        ({**HELD, "persona_value": 0.001}, "at most 2 places after the point"),
        ({**HELD, "persona_value": "500"}, "must be 'style', 'unsaid', or an amount of dollars, such as 5000"),
        ({**HELD, "persona_value": True}, "persona_value True: is not a number"),
    ):
        with pytest.raises(ConfigError) as told:
            Bidder("Ann", **mind)
        assert why in str(told.value)
        assert "\n" not in str(told.value)


def test_a_run_keeps_its_prompts_whatever_becomes_of_their_folder(folder, tmp_path):
    whole, _ = run(tmp_path, people(bidding="call", prompts=str(folder)), items=LOTS[:2])
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


EAGER: dict[str, Any] = {"simulated": {"simulated": {"over_budget_rate": 0.5}}}


def test_every_earlier_turn_is_one_that_was_sent(tmp_path):
    _, calls = run(tmp_path, people(protocol="harbor", strategy="on"), models=EAGER, items=LOTS[:2])
    for name in NAMES:
        pairs = pairwise(bid_calls(calls, name))
        grown = [(before, after) for before, after in pairs if len(after["prompt"]) > len(before["prompt"])]
        assert grown
        assert all(sent_before(*pair) for pair in grown)


def test_a_dialogue_through_a_session_keeps_refusals(tmp_path):
    bidders = [Bidder(name, reply="text", context="dialogue", bounds="untold") for name in NAMES]
    _, calls = run(tmp_path, bidders, models=EAGER, rules={"game": "second-price", "runs": 3})
    turns = [turn for call in calls if call["purpose"] == "second_price" for turn in call["prompt"][1:-1:2]]
    assert [turn for turn in turns if "refused" in turn]
    for name in NAMES:
        assert all(sent_before(*pair) for pair in pairwise(bid_calls(calls, name)))
