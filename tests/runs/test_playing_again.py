"""Runs played again from settings, seed and recorded answers: honest ones follow, and any difference is found."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import sys
from functools import reduce
from hashlib import sha256
from operator import getitem
from random import Random

import pytest
from langchain_core.language_models import BaseChatModel

from harbor import Auction, Bidder, Item, ModelSettings, Person, Simulated, SimulatedChat, houses, run_series
from harbor._config.auction import Series, read_settings
from harbor._core.basics.errors import ConfigError, LogError, RunFolderError
from harbor._core.faces import __version__
from harbor._core.log.events import Answered, ModelCalled, SeatFailed
from harbor._core.log.thoughts import Recalled
from harbor._runs.deep_verification import TAKEN, UNTOLD, play_again, verdicts
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.runner import run_experiment
from support.clerk import Clerk
from support.folders import TINY
from support.forging import forged as forged_somewhere
from support.forging import lines_of, write
from support.plugins import install, installed

THREE = {
    "water": {"days": 4}, "second-price": {"runs": 3, "show": "actions and values"}, "first-price": {"runs": 3},
    "english-private": {"runs": 2}, "beauty": {"runs": 3},
}  # fmt: skip
SLIPS = Simulated(unreadable_rate=0.1, low_bid_rate=0.2, over_budget_rate=0.1, wrong_sum_rate=0.3)
MINDS = {
    "a theory of mind of two levels": {"theory_of_mind": "second", "strategy": "on", "believe": False},
    "true personas": {"theory_of_mind": "true", "strategy": "fused", "placebo": "shuffled"},
    "limits": {"bidding": "limit", "theory_of_mind": "inferred", "chain_of_thought": False},
    "a dialogue in words": {"reply": "text", "context": "dialogue", "facts": "prose", "bounds": "untold"},
    "a protocol of a paper": {"protocol": "aucarena", "correct_beliefs": "model"},
    "JSON": {"reply": "json", "planning": "static"},
}


class Moody(SimulatedChat):
    """The built-in model, but some tasks fail or take for ever."""

    fails: tuple[str, ...] = ()
    hangs: tuple[str, ...] = ()

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        task = re.search(r'"task":"(\w+)"', str(messages[1].content))[1]
        if task in self.fails:
            raise RuntimeError(f"no {task} today")
        if task in self.hangs:
            await asyncio.Event().wait()
        return await super()._agenerate(messages, stop, run_manager, **kwargs)


def sale(**mind):
    by_call = {"bidding": "call", **mind}
    return Auction(
        seed=7, items=houses(2, seed=7),
        bidders=[Bidder("Ann", persona="urban-dwellers", **by_call),
                 Bidder("Ben", persona="rural-home-seekers", **by_call), Bidder("Cho", rule="minimum-raise")],
        models={"simulated": ModelSettings(repairs=1, simulated=SLIPS)}, failed_calls="play on",
    )  # fmt: skip


def mixed():
    """A sale with a model that is given as an object, and with an agent."""
    bidders = [Bidder("Ann", model="mine", timeout_seconds=2), Bidder("Dot", agent=True), Bidder("Eve", rule="random")]
    return Auction(
        seed=7, items=houses(2, seed=7), bidders=bidders, models={"mine": ModelSettings()}, failed_calls="play on"
    )


def series():
    return Auction(
        seed=5,
        items=[Item(name="Lot A", start=1000, true_value=2000), Item(name="Lot B", start=1000, true_value=2000)],
        bidders=[Bidder("Ann", budget=4000, memory="full", learning=True),
                 Bidder("Ben", budget=4000, memory="episodes", learning=True),
                 Bidder("Cho", budget=4000, rule="minimum-raise")],
        series=Series(auctions=3, shuffled=True),
    )  # fmt: skip


def contents(folder):
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    sale(theory_of_mind="inferred").run(out=folder)
    return folder


@pytest.fixture
def forged(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "forged")


@pytest.fixture
def forged_series(in_a_row, tmp_path):
    return shutil.copytree(in_a_row, tmp_path / "forged")


@pytest.fixture(scope="module")
def in_a_row(tmp_path_factory):
    folder = tmp_path_factory.mktemp("series") / "run"
    run_series(series(), out=folder)
    return folder


# ---------------------------------------------------------------- honest runs


@pytest.mark.parametrize("mind", MINDS.values(), ids=MINDS)
def test_a_run_follows_whatever_its_bidders_think(mind, tmp_path):
    sale(**mind).run(out=tmp_path / "run")
    assert play_again(tmp_path / "run").follows


@pytest.mark.parametrize(("game", "rules"), THREE.items())
def test_a_run_of_every_game_follows(game, rules, tmp_path):
    models = {"simulated": ModelSettings(simulated=Simulated(unreadable_rate=0.2, over_budget_rate=0.1))}
    bidders = [Bidder("Alex"), Bidder("Bob"), Bidder("Cindy", rule="rational")]
    Auction(seed=3, bidders=bidders, rules={"game": game, **rules}, models=models).run(out=tmp_path / "run")
    verdict = play_again(tmp_path / "run")
    assert (verdict.follows, verdict.level, verdict.unchecked) == (True, "deep", (TAKEN[ModelCalled],))


def test_a_run_of_scripts_follows(tmp_path):
    bidders = [Bidder(name, rule=rule) for name, rule in (("A", "minimum-raise"), ("B", "random"), ("C", "adversary"))]
    Auction(seed=3, items=houses(2, seed=3), bidders=bidders).run(out=tmp_path / "run")
    assert play_again(tmp_path / "run").follows


@pytest.mark.parametrize("mood", [{}, {"fails": ("replan", "bid")}, {"hangs": ("believe",)}], ids=str)
def test_failures_agents_and_models_that_were_given_follow_and_it_says_what_it_took_for_granted(mood, tmp_path):
    chat = Moody(settings=SLIPS, **mood)
    mixed().run(out=tmp_path / "run", models={"mine": chat}, agents={"Dot": Clerk(fails_at=5)})
    verdict = play_again(tmp_path / "run")
    assert verdict.follows, verdict.words
    assert set(verdict.unchecked) == {TAKEN[Answered], TAKEN[ModelCalled], TAKEN[SeatFailed]}


def test_what_a_person_said_is_played_again(tmp_path):
    person = Person()

    async def answer():
        while (call := await person.asks.get()) is not None:
            person.answers.put_nowait("I withdraw" if call.ask.round > 1 else f"{call.ask.minimum}")

    async def hold():
        auction = Auction(items=houses(2, seed=1), bidders=[Bidder("Ann"), Bidder("Pat", person=True)])
        answering = asyncio.ensure_future(answer())
        await auction.arun(tmp_path / "run", people={"Pat": person})
        answering.cancel()

    asyncio.run(hold())
    verdict = play_again(tmp_path / "run")
    assert verdict.follows, verdict.words


def test_a_series_follows_with_its_memories(in_a_row):
    verdict = play_again(in_a_row)
    assert (verdict.follows, verdict.unchecked) == (True, (TAKEN[Recalled], TAKEN[ModelCalled]))


@pytest.mark.slow
def test_what_was_learned_in_a_store_of_other_runs_is_taken_as_told(tmp_path):
    settings = series().model_dump() | {"memory": {"store": str(tmp_path / "store")}}
    for number in ("1", "2"):
        run_series(Auction(**settings), out=tmp_path / number)
    verdict = play_again(tmp_path / "2")
    assert verdict.follows, verdict.words
    assert UNTOLD in verdict.unchecked


class Broken(Exception):
    """Breaks a run off, as a crash would."""


@pytest.mark.parametrize("after", [1, 9, 30, 100, 101, 102])
def test_an_interrupted_run_follows_as_far_as_it_goes(after, tmp_path):
    def crash(entry):
        if entry.seq == after:
            raise Broken

    with pytest.raises(Broken):
        sale().run(out=tmp_path / "run", listen=crash)
    verdict = play_again(tmp_path / "run")
    assert verdict.follows, verdict.words
    assert verdict.unchecked[0] == f"the log ends at line {after + 1}, before the sale closed"


def test_a_folder_that_is_played_again_is_only_read_and_nothing_is_made_or_contacted(in_a_row, whole, monkeypatch):
    before = contents(in_a_row), contents(whole)

    def refuse(*_, **__):
        raise AssertionError

    contacts = {BaseChatModel: "__init__", socket.socket: "connect", socket: "getaddrinfo", Person: "act"}
    for place, name in contacts.items():
        monkeypatch.setattr(place, name, refuse)
    assert play_again(in_a_row).follows
    assert play_again(whole).follows
    assert (contents(in_a_row), contents(whole)) == before


def test_every_game_of_an_experiment_is_played_again_and_the_first_difference_is_told(tmp_path):
    asyncio.run(run_experiment(read_settings(TINY, Experiment), tmp_path / "run"))
    before = contents(tmp_path / "run")
    assert [verdict.follows for _, verdict in verdicts(tmp_path / "run")] == [True] * 4
    assert contents(tmp_path / "run") == before
    game = next((tmp_path / "run" / "games").rglob("events.jsonl")).parent
    entries = lines(game)
    at = first(entries, "item_sold")
    entries[at]["price"] = 1
    write_log(game, entries)
    assert difference(tmp_path / "run").line == at + 1
    assert [path for path, verdict in verdicts(tmp_path / "run") if not verdict.follows] == [game / "events.jsonl"]


# ---------------------------------------------------------------- forgeries


def lines(folder):
    return lines_of(folder / "events.jsonl")


def write_log(folder, entries):
    write(folder / "events.jsonl", entries)


def calls(folder):
    """Read the calls, without the digests of their lines, which whoever forges one would leave out."""
    recorded = map(json.loads, (folder / "calls.jsonl").read_bytes().splitlines())
    return [{name: value for name, value in call.items() if name != "digest"} for call in recorded]


def write_calls(folder, recorded):
    """Write calls with digests that fit."""
    bodies = [json.dumps(call)[:-1] for call in recorded]
    told = [f'{body}, "digest": "{sha256(body.encode()).hexdigest()[:16]}"}}\n' for body in bodies]
    (folder / "calls.jsonl").write_text("".join(told))


def write_config(folder, edit):
    """Change settings, with a manifest that fits."""
    settings = json.loads((folder / "config.json").read_text())
    edit(settings)
    text = json.dumps(settings, indent=2)
    (folder / "config.json").write_text(text + "\n")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "config_digest": sha256(text.encode()).hexdigest()}))


def first(entries, type, **fields):  # noqa: A002
    return next(n for n, one in enumerate(entries) if one.get("type") == type and fields.items() <= one.items())


def difference(folder, entries=None):
    """Return the difference that is found in a folder, after its log is written anew with these entries."""
    if entries:
        write_log(folder, entries)
    verdict = play_again(folder)
    assert (verdict.follows, verdict.level) == (False, "deep")
    assert verdict.expected != verdict.found
    return verdict


def change(values, path, value):
    """Set the value at a path of keys."""
    *outer, name = path
    reduce(getitem, outer, values)[name] = value


def test_a_log_written_anew_with_the_same_events_follows(forged):
    write_log(forged, lines(forged))
    write_calls(forged, calls(forged))
    write_config(forged, lambda _: None)
    assert play_again(forged).follows


@pytest.mark.parametrize(("kind", "changed", "was_there"), [
    ("planned", {"text": "I was told to."}, True),
    ("decided", {"amount": 1}, True),
    ("tried", {"reason": "no reason"}, True),
    ("bidder_seated", {"budget": 1}, True),
    ("item_labelled", {"true_value": 1}, True),
    ("item_sold", {"price": 1}, True),
    ("profiled", {"rival": "Cho"}, True),
    ("log_opened", {"seed": 8}, True),
    ("model_called", {"finish": ""}, False),  # written though it has its default
    ("model_called", {"retries": 0}, False),
])  # fmt: skip
def test_an_edited_event_is_found_at_its_line(forged, kind, changed, was_there):
    entries = lines(forged)
    at = first(entries, kind)
    assert (changed.keys() <= entries[at].keys()) is was_there
    entries[at] |= changed
    verdict = difference(forged, entries)
    assert (verdict.line, verdict.event, json.loads(verdict.found)) == (at + 1, kind, changed)


@pytest.mark.parametrize(
    ("kind", "left_out"),
    [("acted", ("round",)), ("model_called", ("answered_by",)), ("sale_opened", ("lots", 0, "listing"))],
)
def test_a_field_that_is_left_out_is_found_though_reading_fills_it_in(kind, left_out, forged):
    entries = lines(forged)
    *outer, name = left_out
    at = next(n for n, one in enumerate(entries) if one["type"] == kind and left_out[0] in one)
    del reduce(getitem, outer, entries[at])[name]
    verdict = difference(forged, entries)
    assert (verdict.line, verdict.event) == (at + 1, kind)
    expected = verdict.expected.removesuffix("...")
    assert f'"{name}": ' in expected
    assert expected.startswith(f'{{"{left_out[0]}": ')


@pytest.mark.slow
def test_whatever_is_forged_in_whichever_event_is_found(whole, tmp_path):
    honest, missed = lines(whole), []
    folder = shutil.copytree(whole, tmp_path / "forged")
    for seed in range(60):
        done, entries = forged_somewhere(honest, Random(seed), lambda told: told[1:])
        write_log(folder, entries)
        try:
            if entries != honest[:-1] and play_again(folder).follows:  # that is a run that was interrupted
                missed.append(done)
        except LogError:  # what is no event at all
            pass
    assert not missed


def test_thoughts_that_change_places_are_found(forged):
    entries = lines(forged)
    one, other = [at for at, entry in enumerate(entries) if entry["type"] == "planned"][:2]
    entries[one], entries[other] = entries[other], entries[one]
    assert difference(forged, entries).line <= one + 1


@pytest.mark.parametrize("how", ["dropped", "doubled", "added after the end"])
def test_an_event_that_is_dropped_doubled_or_added_after_the_end_is_found(how, forged):
    entries = lines(forged)
    at = first(entries, "decided")
    line, changed = {
        "dropped": (at + 1, [*entries[:at], *entries[at + 1 :]]),
        "doubled": (at + 2, [*entries[: at + 1], *entries[at:]]),
        "added after the end": (len(entries), [*entries, entries[-1]]),
    }[how]
    assert difference(forged, changed).line in (line, line + 1)


def test_a_changed_reply_is_found_where_the_log_tells_of_it(forged):
    recorded = calls(forged)
    call = next(call for call in recorded if call["purpose"] == "plan" and call["outcome"] == "ok")
    call["reply"] = json.dumps({**json.loads(call["reply"]), "plan": "because"})
    write_calls(forged, recorded)
    verdict, line = difference(forged), first(lines(forged), "planned", bidder=call["bidder"]) + 1
    assert (verdict.line, verdict.event) == (line, "planned")
    assert "because" in verdict.expected


def test_a_changed_prompt_is_found_with_the_first_place_that_differs(forged):
    recorded = calls(forged)
    call = next(call for call in recorded if call["purpose"] == "bid" and call["bidder"] == "Ben")
    call["prompt"][1] = call["prompt"][1][:50] + "secretly " + call["prompt"][1][50:]
    write_calls(forged, recorded)
    verdict = difference(forged)
    entry = lines(forged)[verdict.line - 1]
    assert (entry["type"], entry["bidder"], entry["began"]) == ("model_called", "Ben", call["began"])
    assert re.search(r"^the 'bid' prompt of 'Ben', attempt 1, message 2, character 5\d: ", verdict.found)
    assert "secretly" in verdict.found
    assert "secretly" not in verdict.expected


def told_of(folder, call):
    """Return the number of the line of the log that tells of a call."""
    return first(lines(folder), "model_called", began=call["began"], bidder=call["bidder"]) + 1


@pytest.mark.parametrize("how", [{}, {"doubled": True}, {"input_tokens": 1}, {"model": "openai:gpt-4o"}],
                         ids=["dropped", "doubled", "cheaper", "another's"])  # fmt: skip
def test_each_call_is_recorded_once_and_as_the_log_tells_it(how, forged):
    recorded = calls(forged)
    call = recorded[20]
    if how == {"doubled": True}:
        recorded.insert(30, call)
    else:
        recorded[20:21] = [{**call, **how}] if how else []
    write_calls(forged, recorded)
    verdict = difference(forged)
    assert (verdict.line, verdict.event) == (told_of(forged, call), "model_called")


def test_a_call_whose_line_is_damaged_counts_as_lost(forged):
    call = calls(forged)[20]
    text = (forged / "calls.jsonl").read_text().splitlines(keepends=True)
    text[20] = text[20].replace('"purpose"', '"porpoise"')
    (forged / "calls.jsonl").write_text("".join(text))
    verdict = difference(forged)
    asked = f"{call['purpose']!r} of {call['bidder']!r}, attempt {call['attempt']}"
    answer = f"the answer to {asked}, in calls.jsonl"
    assert (verdict.line, verdict.expected) == (told_of(forged, call), answer)


def test_a_call_in_another_form_than_those_before_it_follows_and_its_words_are_compared_all_the_same(forged):
    recorded, entries = calls(forged), lines(forged)
    call = next(call for call in recorded[20:] if call["purpose"] == "bid")
    line = told_of(forged, call)
    entries[line - 1]["form"] = call["form"] = "text"
    call["prompt"][0] += "\nReply with one JSON object of this JSON schema, and nothing else: {}\n"
    write_log(forged, entries)
    write_calls(forged, recorded)
    assert play_again(forged).follows
    call["prompt"][1] += "!"
    write_calls(forged, recorded)
    assert difference(forged).line == line


def test_calls_of_a_seat_that_failed_may_be_lost_as_nobody_needs_them(tmp_path):
    chat = Moody(settings=SLIPS, hangs=("believe",))
    mixed().run(out=tmp_path / "run", models={"mine": chat}, agents={"Dot": Clerk(fails_at=5)})
    recorded = calls(tmp_path / "run")
    lost = [call for call in recorded if call["outcome"] == "failed"]
    assert lost
    write_calls(tmp_path / "run", [call for call in recorded if call not in lost])
    assert play_again(tmp_path / "run").follows


def test_a_call_that_no_event_tells_of_is_found(forged):
    extra = {**calls(forged)[0], "began": 9.5, "purpose": "cheat"}
    write_calls(forged, [*calls(forged), extra])
    assert "'cheat' of" in difference(forged).found


@pytest.mark.parametrize(("path", "value", "event"), [
    (("seed",), 8, "log_opened"), (("bidders", 1, "budget"), 700_000, "bidder_seated"),
    (("bidders", 0, "overestimate"), 0.3, "signal"), (("rules", "reasks"), 0, "log_opened"),
    (("bidders", 0, "chain_of_thought"), False, "model_called"),
])  # fmt: skip
def test_changed_settings_are_found(path, value, event, forged):
    write_config(forged, lambda settings: change(settings, path, value))
    assert difference(forged).event == event


def test_a_rank_that_the_log_of_a_series_tells_wrongly_is_found(forged_series):
    entries = lines(forged_series)
    entries[3]["ranks"]["Ann"] += 1
    verdict = difference(forged_series, entries)
    assert (verdict.line, verdict.event) == (4, "auction_held")


def test_a_memory_that_was_put_in_the_log_of_a_series_is_found_by_the_prompt_that_lacks_it(forged_series):
    entries = lines(forged_series / "2")
    memory = {"kind": "learning", "text": "Ben always gives in."}
    entries[first(entries, "recalled")]["memories"].append(memory)
    write_log(forged_series / "2", entries)
    verdict = difference(forged_series)
    assert verdict.event == "model_called"
    assert "Ben always gives in" in verdict.expected


def test_auctions_of_a_series_that_change_places_are_refused(forged_series):
    for old, new in ("1x", "21", "x2"):
        (forged_series / old).rename(forged_series / new)
    with pytest.raises(RunFolderError, match="is not what its series gives"):
        play_again(forged_series)


# ---------------------------------------------------------------- what can't be played again


def test_a_package_that_only_a_strangers_folder_names_is_not_loaded(tmp_path):
    modules = {
        "timid.py": """
        from harbor.games import Policy, ScriptedPolicy, Withdraw

        class Timid(Policy):
            def decide(self, ask, seen):
                return Withdraw()

        TIMID = ScriptedPolicy(name="timid", description="withdraws", make=lambda _: Timid())
        """
    }
    site = install(tmp_path / "site", "timid", modules, {"harbor.policies": {"timid": "timid:TIMID"}})
    folder = tmp_path / "run"
    with installed(site):
        Auction(items=houses(1, seed=1), bidders=[Bidder("Ann", rule="timid"), Bidder("Ben")]).run(out=folder)
        assert play_again(folder).follows
    (folder / "mark").unlink()
    with installed(site):
        with pytest.raises(ConfigError, match="no package is loaded for a folder that is not marked as yours"):
            play_again(folder)
        assert "timid" not in sys.modules


def test_a_run_without_its_calls_or_of_another_version_is_refused_with_the_way_out(forged):
    entries = lines(forged)
    write_log(forged, [entries[0] | {"harbor": "0.0.9"}, *entries[1:]])
    with pytest.raises(LogError, match=rf"is of harbor 0\.0\.9, and this is {re.escape(__version__)}"):
        play_again(forged)
    write_log(forged, entries)
    (forged / "calls.jsonl").unlink()
    with pytest.raises(LogError, match=r"has no calls\.jsonl, so it can't be played again; verify it without --deep"):
        play_again(forged)


def test_a_run_whose_settings_were_changed_or_name_nothing_is_refused(forged):
    write_config(forged, lambda settings: settings["bidders"][0].update(nodes=["nothing"]))
    with pytest.raises(ConfigError):
        play_again(forged)
    (forged / "config.json").write_text("{}")
    with pytest.raises(RunFolderError, match="was changed"):
        play_again(forged)


async def test_in_a_running_event_loop_it_says_what_to_do_instead(whole):
    with pytest.raises(ConfigError, match=r"await asyncio\.to_thread\(play_again, folder\)"):
        play_again(whole)
    assert (await asyncio.to_thread(play_again, whole)).follows
