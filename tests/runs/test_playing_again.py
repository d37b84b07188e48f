"""Runs played again from settings, seed and recorded answers: honest ones follow, and any difference is found."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
from functools import reduce
from hashlib import sha256
from operator import getitem
from random import Random

import pytest
from langchain_core.language_models import BaseChatModel

from harbor import Auction, Bidder, Item, ModelSettings, Person, Simulated, houses, of_type, run_series
from harbor._config.auction import read_settings
from harbor._core.basics.errors import ConfigError, LogError, RunFolderError
from harbor._core.faces import __version__
from harbor._core.log.events import Answered, ModelCalled, SeatFailed, ThoughtFailed
from harbor._core.log.thoughts import Recalled
from harbor._runs.deep_verification import TAKEN, UNTOLD, play_again, verdicts
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.runner import run_experiment
from support.breaking import Broken, breaking_at
from support.clerk import Clerk
from support.folders import TINY, contents
from support.forging import forged as forged_somewhere
from support.forging import lines_of, write
from support.moody_chat import MoodyChat
from support.processes import closed

THREE = {
    "water": {"days": 3}, "second-price": {"runs": 2, "show": "actions and values"}, "first-price": {"runs": 2},
    "english-private": {"runs": 2}, "beauty": {"runs": 2},
}  # fmt: skip
SLIPS = Simulated(unreadable_rate=0.1, low_bid_rate=0.2, over_budget_rate=0.1, wrong_sum_rate=0.3)
MINDS = [
    ({"theory_of_mind": "second", "strategy": "on", "believe": False},
     {"reply": "text", "context": "dialogue", "facts": "prose", "bounds": "untold"}),
    ({"bidding": "limit", "theory_of_mind": "inferred", "chain_of_thought": False},
     {"theory_of_mind": "true", "strategy": "fused", "placebo": "shuffled"}),
    ({"protocol": "aucarena", "correct_beliefs": "model"}, {"reply": "json", "planning": "static"}),
]  # fmt: skip


def sale(*minds):
    """A sale with two bidders of these minds, or of two that infer each other's, whose model slips."""
    ann, ben = minds or [{"theory_of_mind": "inferred"}] * 2
    return Auction(
        seed=7, items=houses(2, seed=7),
        bidders=[Bidder("Ann", persona="urban-dwellers", **{"bidding": "call", **ann}),
                 Bidder("Ben", persona="rural-home-seekers", **{"bidding": "call", **ben}),
                 Bidder("Cho", rule="minimum-raise")],
        models={"simulated": ModelSettings(repairs=1, simulated=SLIPS)}, failed_calls="play on",
    )  # fmt: skip


def mixed(out, **mood):
    """Hold a sale with a model that is given as an object, and with an agent that fails."""
    bidders = [Bidder("Ann", model="mine", timeout_seconds=2), Bidder("Dot", agent=True), Bidder("Eve", rule="random")]
    models = {"mine": ModelSettings()}
    sale = Auction(seed=7, items=houses(2, seed=7), bidders=bidders, models=models, failed_calls="play on")
    sale.run(out=out, models={"mine": MoodyChat(settings=SLIPS, **mood)}, agents={"Dot": Clerk(fails_at=5)})


def series(**more):
    return Auction(
        seed=5, items=[Item(name=f"Lot {letter}", start=1000, true_value=2000) for letter in "AB"],
        bidders=[Bidder("Ann", budget=4000, memory="full", learning=True),
                 Bidder("Ben", budget=4000, memory="episodes", learning=True),
                 Bidder("Cho", budget=4000, rule="minimum-raise")],
        series={"auctions": 2, "shuffled": True}, **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    sale().run(out=folder)
    return folder


@pytest.fixture
def forged(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "forged")


@pytest.fixture(scope="module")
def in_a_row(tmp_path_factory):
    folder = tmp_path_factory.mktemp("series") / "run"
    run_series(series(), out=folder)
    closed(folder)
    return folder


# ---------------------------------------------------------------- honest runs


def follows(folder):
    verdict = play_again(folder)
    assert verdict.follows, verdict.words
    return verdict.unchecked


@pytest.mark.parametrize("minds", MINDS, ids=str)
def test_a_run_follows_whatever_its_bidders_think(minds, tmp_path):
    sale(*minds).run(out=tmp_path / "run")
    follows(tmp_path / "run")


def test_a_run_whose_profiles_failed_follows_although_the_log_tells_of_them_before_their_calls(tmp_path):
    bidders = [Bidder("Ann", model="mine", theory_of_mind="inferred"), Bidder("Ben", rule="random")]
    sale = Auction(items=houses(2, seed=7), bidders=bidders, models={"mine": ModelSettings()}, failed_calls="play on")
    log = sale.run(out=tmp_path / "run", models={"mine": MoodyChat(fails=("profile",))}).log
    assert of_type(log, ThoughtFailed)[0].purpose == "profile"
    follows(tmp_path / "run")


@pytest.mark.parametrize(("game", "rules"), THREE.items())
def test_a_run_of_every_game_follows(game, rules, tmp_path):
    models = {"simulated": ModelSettings(simulated=Simulated(unreadable_rate=0.2, over_budget_rate=0.1))}
    bidders = [Bidder("Alex"), Bidder("Bob"), Bidder("Cindy", rule="rational")]
    Auction(seed=3, bidders=bidders, rules={"game": game, **rules}, models=models).run(out=tmp_path / "run")
    assert follows(tmp_path / "run") == (TAKEN[ModelCalled],)


def test_a_run_of_scripts_follows(tmp_path):
    bidders = [Bidder(rule, rule=rule) for rule in ("minimum-raise", "random", "adversary")]
    Auction(seed=3, items=houses(2, seed=3), bidders=bidders).run(out=tmp_path / "run")
    assert follows(tmp_path / "run") == ()


@pytest.mark.parametrize("mood", [{}, {"fails": ("replan", "bid")}, {"hangs": ("believe",)}], ids=str)
def test_failures_agents_and_models_that_were_given_follow_and_it_says_what_it_took_for_granted(mood, tmp_path):
    mixed(run := tmp_path / "run", **mood)
    assert set(follows(run)) == {TAKEN[Answered], TAKEN[ModelCalled], TAKEN[SeatFailed]}
    if "hangs" in mood:  # nobody needs the calls of a seat that failed, so they may be lost
        needed = [call for call in calls(run) if call["outcome"] != "failed"]
        assert len(needed) < len(calls(run))
        write_calls(run, needed)
        follows(run)


async def test_what_a_person_said_is_played_again(tmp_path):
    person = Person()

    async def answer():
        while (call := await person.asks.get()) is not None:
            person.answers.put_nowait("I withdraw" if call.ask.round > 1 else f"{call.ask.minimum}")

    answering = asyncio.ensure_future(answer())
    auction = Auction(items=houses(2, seed=1), bidders=[Bidder("Ann"), Bidder("Pat", person=True)])
    await auction.arun(tmp_path / "run", people={"Pat": person})
    answering.cancel()
    await asyncio.to_thread(follows, tmp_path / "run")


@pytest.mark.slow
def test_what_was_learned_in_a_store_of_other_runs_is_taken_as_told(tmp_path):
    for number in ("1", "2"):
        run_series(series(memory={"store": str(tmp_path / "store")}), out=tmp_path / number)
    assert UNTOLD in follows(tmp_path / "2")


@pytest.mark.parametrize("after", [1, 30, 101])
def test_an_interrupted_run_follows_as_far_as_it_goes(after, tmp_path):
    with pytest.raises(Broken):
        sale({}, {}).run(out=tmp_path / "run", listen=breaking_at(after))
    assert follows(tmp_path / "run")[0] == f"the log ends at line {after + 1}, before the sale closed"


def test_a_run_and_a_series_that_are_played_again_are_only_read_and_nothing_is_made_or_contacted(
    in_a_row, whole, monkeypatch
):
    before = contents(in_a_row), contents(whole)

    def refuse(*_, **__):
        raise AssertionError

    contacts = {BaseChatModel: "__init__", socket.socket: "connect", socket: "getaddrinfo", Person: "act"}
    for place, name in contacts.items():
        monkeypatch.setattr(place, name, refuse)
    assert follows(in_a_row) == (TAKEN[Recalled], TAKEN[ModelCalled])
    follows(whole)
    assert (contents(in_a_row), contents(whole)) == before


def test_every_game_of_an_experiment_is_played_again_and_the_first_difference_is_told(tmp_path):
    run = tmp_path / "run"
    asyncio.run(run_experiment(read_settings(TINY, Experiment), run))
    before = contents(run)
    assert [verdict.follows for _, verdict in verdicts(run)] == [True] * 4
    assert contents(run) == before
    log = next((run / "games").rglob("events.jsonl"))
    entries = lines_of(log)
    at = first(entries, "item_sold")
    entries[at]["price"] = 1
    write(log, entries)
    assert difference(run).line == at + 1
    assert [path for path, verdict in verdicts(run) if not verdict.follows] == [log]


# ---------------------------------------------------------------- forgeries


def lines(folder):
    return lines_of(folder / "events.jsonl")


def calls(folder):
    """Read the calls, without the digests of their lines, which whoever forges one would leave out."""
    recorded = map(json.loads, (folder / "calls.jsonl").read_bytes().splitlines())
    return [{name: value for name, value in call.items() if name != "digest"} for call in recorded]


def write_calls(folder, recorded):
    """Write calls with digests that fit."""
    bodies = [json.dumps(call)[:-1] for call in recorded]
    told = [f'{body}, "digest": "{sha256(body.encode()).hexdigest()[:16]}"}}\n' for body in bodies]
    (folder / "calls.jsonl").write_text("".join(told))


def write_config(folder, path, value):
    """Change a setting, with a manifest that fits."""
    settings = json.loads((folder / "config.json").read_text())
    reduce(getitem, path[:-1], settings)[path[-1]] = value
    text = json.dumps(settings, indent=2)
    (folder / "config.json").write_text(text + "\n")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "config_digest": sha256(text.encode()).hexdigest()}))


def first(entries, type, **fields):  # noqa: A002
    return next(n for n, one in enumerate(entries) if one.get("type") == type and fields.items() <= one.items())


def difference(folder, entries=None, recorded=None):
    """Return the difference that is found in a folder, after its log or its calls are written anew."""
    if entries:
        write(folder / "events.jsonl", entries)
    if recorded:
        write_calls(folder, recorded)
    verdict = play_again(folder)
    assert (verdict.follows, verdict.level) == (False, "deep")
    assert verdict.expected != verdict.found
    return verdict


@pytest.mark.parametrize(("kind", "path", "value"), [
    ("planned", ("text",), "I was told to."), ("decided", ("amount",), 1), ("tried", ("reason",), "no reason"),
    ("bidder_seated", ("budget",), 1), ("item_labelled", ("true_value",), 1), ("item_sold", ("price",), 1),
    ("profiled", ("rival",), "Cho"), ("log_opened", ("seed",), 8),
    ("model_called", ("finish",), ""), ("model_called", ("retries",), 0),  # written though it has its default
    ("acted", ("round",), None), ("model_called", ("answered_by",), None),  # left out, though reading fills it in
    ("sale_opened", ("lots", 0, "listing"), None),
])  # fmt: skip
def test_an_event_in_which_a_field_is_edited_or_left_out_is_found_at_its_line(forged, kind, path, value):
    entries, was_there = lines(forged), value is None or kind != "model_called"
    at = next(n for n, one in enumerate(entries) if one["type"] == kind and (path[0] in one) is was_there)
    *outer, name = path
    holder = reduce(getitem, outer, entries[at])
    holder[name] = value
    if value is None:
        del holder[name]
    verdict = difference(forged, entries)
    assert (verdict.line, verdict.event) == (at + 1, kind)
    if value is None:
        assert f'"{name}": ' in verdict.expected.removesuffix("...")
        assert verdict.expected.startswith(f'{{"{path[0]}": ')
    else:
        assert json.loads(verdict.found) == {name: value}


@pytest.mark.slow
def test_whatever_is_forged_in_whichever_event_is_found(forged):
    honest, missed = lines(forged), []
    for seed in range(60):
        done, entries = forged_somewhere(honest, Random(seed), lambda told: told[1:])
        write(forged / "events.jsonl", entries)
        try:
            if entries != honest[:-1] and play_again(forged).follows:  # that is a run that was interrupted
                missed.append(done)
        except LogError:  # what is no event at all
            pass
    assert not missed


def test_a_changed_reply_is_found_where_the_log_tells_of_it(forged):
    recorded = calls(forged)
    call = next(call for call in recorded if call["purpose"] == "plan" and call["outcome"] == "ok")
    call["reply"] = json.dumps({**json.loads(call["reply"]), "plan": "because"})
    verdict, line = difference(forged, recorded=recorded), first(lines(forged), "planned", bidder=call["bidder"]) + 1
    assert (verdict.line, verdict.event) == (line, "planned")
    assert "because" in verdict.expected


def told_of(folder, call):
    """Return the number of the line of the log that tells of a call."""
    return first(lines(folder), "model_called", began=call["began"], bidder=call["bidder"]) + 1


def test_a_changed_prompt_is_found_with_the_first_place_that_differs(forged):
    recorded = calls(forged)
    call = next(call for call in recorded if call["purpose"] == "bid" and call["bidder"] == "Ben")
    call["prompt"][1] = call["prompt"][1][:50] + "secretly " + call["prompt"][1][50:]
    verdict = difference(forged, recorded=recorded)
    assert (verdict.line, verdict.event) == (told_of(forged, call), "model_called")
    assert re.search(r"^the 'bid' prompt of 'Ben', attempt 1, message 2, character 5\d: ", verdict.found)
    assert ("secretly" in verdict.found, "secretly" in verdict.expected) == (True, False)


@pytest.mark.parametrize("how", ["dropped", "doubled", "damaged", "cheaper", "another's"])
def test_each_call_is_recorded_once_and_as_the_log_tells_it(how, forged):
    recorded = calls(forged)
    call = recorded[20]
    recorded[20:21] = {
        "dropped": [], "doubled": [call, call], "damaged": [{**call, "porpoise": call["purpose"]}],
        "cheaper": [{**call, "input_tokens": 1}], "another's": [{**call, "model": "openai:gpt-4o"}],
    }[how]  # fmt: skip
    verdict = difference(forged, recorded=recorded)
    assert (verdict.line, verdict.event) == (told_of(forged, call), "model_called")
    if how in ("dropped", "damaged"):
        asked = f"{call['purpose']!r} of {call['bidder']!r}, attempt {call['attempt']}"
        assert verdict.expected == f"the answer to {asked}, in calls.jsonl"


def test_a_call_in_another_form_than_those_before_it_follows_and_its_words_are_compared_all_the_same(forged):
    recorded, entries = calls(forged), lines(forged)
    call = next(call for call in recorded[20:] if call["purpose"] == "bid")
    line = told_of(forged, call)
    entries[line - 1]["form"] = call["form"] = "text"
    call["prompt"][0] += "\nReply with one JSON object of this JSON schema, and nothing else: {}\n"
    write(forged / "events.jsonl", entries)
    write_calls(forged, recorded)
    follows(forged)
    call["prompt"][1] += "!"
    assert difference(forged, recorded=recorded).line == line


def test_a_call_that_no_event_tells_of_is_found(forged):
    recorded = calls(forged)
    recorded.append({**recorded[0], "began": 9.5, "purpose": "cheat"})
    assert "'cheat' of" in difference(forged, recorded=recorded).found


@pytest.mark.parametrize(("path", "value", "event"), [
    (("seed",), 8, "log_opened"), (("bidders", 1, "budget"), 700_000, "bidder_seated"),
    (("bidders", 0, "overestimate"), 0.3, "signal"), (("rules", "reasks"), 0, "log_opened"),
    (("bidders", 0, "chain_of_thought"), False, "model_called"),
])  # fmt: skip
def test_changed_settings_are_found(path, value, event, forged):
    write_config(forged, path, value)
    assert difference(forged).event == event


def test_a_memory_or_a_wrong_rank_that_was_put_in_a_series_is_found_and_auctions_that_change_places_are_refused(
    in_a_row, tmp_path
):
    forged = shutil.copytree(in_a_row, tmp_path / "forged")
    honest, entries = lines(forged / "2"), lines(forged / "2")
    entries[first(entries, "recalled")]["memories"].append({"kind": "learning", "text": "Ben always gives in."})
    write(forged / "2" / "events.jsonl", entries)
    verdict = difference(forged)  # the prompt lacks it
    assert (verdict.event, "Ben always gives in" in verdict.expected) == ("model_called", True)
    write(forged / "2" / "events.jsonl", honest)
    entries = lines(forged)
    entries[3]["ranks"]["Ann"] += 1
    verdict = difference(forged, entries)
    assert (verdict.line, verdict.event) == (4, "auction_held")
    for old, new in ("1x", "21", "x2"):
        (forged / old).rename(forged / new)
    with pytest.raises(RunFolderError, match="is not what its series gives"):
        play_again(forged)


# ---------------------------------------------------------------- what can't be played again


def test_a_run_without_its_calls_or_settings_or_of_another_version_is_refused_with_the_way_out(forged):
    def refused(error, match):
        with pytest.raises(error, match=match):
            play_again(forged)

    entries = lines(forged)
    write(forged / "events.jsonl", [entries[0] | {"harbor": "0.0.9"}, *entries[1:]])
    refused(LogError, rf"is of harbor 0\.0\.9, and this is {re.escape(__version__)}")
    write(forged / "events.jsonl", entries)
    aside = (forged / "calls.jsonl").rename(forged.parent / "calls")
    refused(LogError, r"has no calls\.jsonl, so it can't be played again; verify it without --deep")
    aside.rename(forged / "calls.jsonl")
    write_config(forged, ("bidders", 0, "nodes"), ["nothing"])
    refused(ConfigError, "nothing")
    (forged / "config.json").write_text("{}")
    refused(RunFolderError, "was changed")


async def test_in_a_running_event_loop_it_says_what_to_do_instead(whole):
    with pytest.raises(ConfigError, match=r"await asyncio\.to_thread\(play_again, folder\)"):
        play_again(whole)
    assert (await asyncio.to_thread(play_again, whole)).follows
