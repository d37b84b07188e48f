"""Every published experiment does what its paper did, as this table tells it, or declares what it does instead."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from harbor import Auction, Bidder, Item
from harbor._config.auction import AuctionConfig
from harbor._config.thinking import BUNDLES
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor._core.log.thoughts import Belief, Planned, Win
from harbor._core.prompts.prompts import chosen
from harbor._games.sessions.settings import SessionRules, ValueRules
from harbor._games.water.rules import DayClosed, WaterRules
from harbor._runs.inputs import RunInputs
from harbor._runs.run import start
from harbor._runs.series import prepare
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.library import experiment, presets
from harbor.evaluation._experiments.trial_runs import logs_of, offline
from harbor.evaluation._experiments.trials import trials
from harbor.graphs._context.node import PROMPTS
from harbor.graphs._nodes.believe import compare
from support.small import brief

OWN = {"bidding", "multiverse", "tom-everywhere"}
"""Harbor's own experiments, which no paper has."""
NOT_PRINTED = "not printed"
"""What neither the paper nor its public code tells. Whatever we do then has to be declared."""
BDI = "plan, bid, belief, replan"
"""The calls of AucArena's bidder and of Harbor's: a plan, then bids, and a belief and a new plan after each item."""
CHEAP, DEAR = (1000, 2000), (5000, 10000)
AUCARENA = {
    "temperature": 0.7, "calls": BDI, "attempts": "until legal", "prompts": "aucarena",
    "answers": "read by a second model", "dialogue": "the plan with its reasons", "products": "named and described",
    "beliefs": {"fields of two items won": 1, "told of a wrong one": "what is right"},
}  # fmt: skip
PLANNERS = {"calls": {"No plan": "bid, belief", "Static": "plan, bid, belief", "Adaptive": BDI}, "status": "the belief"}
TEN = {"items": {CHEAP: 8, DEAR: 2}, "budgets": {10_000, 20_000}}
TWENTY = {"items": {CHEAP: 16, DEAR: 4}, "order": {"random"}}
LATER = {**AUCARENA, "temperature": 0, "items": {(price, 2 * price): 2 for price in (1000, 2000, 3000, 4000, 5000)}}
HOUSES = {"temperature": 0, "calls": BDI, "attempts": "until legal", "prompts": "harbor", "budgets": {1_000_000}}
ECONARENA = {
    "games": {
        "melee": {"one run": 150, "groups": 50, "history": 30}, "rational": {"one run": 150, "history": 30},
        "senior": {"one run": "20, 60 and 100"}, "self-play": NOT_PRINTED,
    },
    "temperature": "the provider's", "calls": "bid", "attempts": 1, "prompts": "econarena",
    "answers": "in keys of its own, the reason last", "history": {(1, 0, "actions"), (6, 3, "actions")},
    "rivals": {"rational": "perfectly rational", "self-play": "equally rational"},
}  # fmt: skip
UNPRINTED = {**ECONARENA, "games": NOT_PRINTED, "history": {(1, 0, "actions")}}
PAPERS: dict[str, dict[str, Any]] = {
    "rationality": {"games": 30, "order": {"random"}, **TEN, **AUCARENA},
    "adaptability": {
        "games": {"random": 30} | dict.fromkeys(("early", "middle", "late"), NOT_PRINTED),
        "order": {"random", "dear at 1 and 2", "dear at 5 and 6", "dear at 9 and 10"}, **TEN, **AUCARENA, **PLANNERS,
    },
    "intraspecific": {"games": 30, "budgets": {10_000, 20_000}, **TWENTY, **AUCARENA},
    "interspecific": {"games": "30 and 10", "budgets": {10_000, 20_000, 30_000}, **TWENTY, **AUCARENA},
    "learning": {"games": "5 students, 1 model", "budgets": {15_000}, **TWENTY, **AUCARENA},
    "standard": {"games": 10, "order": {"random", "ascending", "descending"}, "budgets": {20_000, 40_000}, **LATER},
    "learning-people": {"games": 5, "budgets": {15_000}, **TWENTY, **AUCARENA},
    "planners": {"games": 10, "order": NOT_PRINTED, "budgets": {20_000, 40_000}, **LATER, **PLANNERS},
    "by-item": {"games": 10, "order": {"ascending", "descending"}, "budgets": {10_000, 20_000, 40_000}, **LATER},
    "people": {"games": 4, "order": {"random", "ascending", "descending"}, "budgets": {20_000}, **LATER},
    "persona-behaviour": {"games": 5, "items": (10, {3}), **HOUSES},
    "persona-profit": {"games": "five times, rotated", "items": (10, {2}), **HOUSES},
    "profiling": {"games": 5, "items": (10, {0, 1, 2, 3, 4}), **HOUSES},
    "profiling-capacity": {"games": 5, "items": (15, {2}), **HOUSES},
    "tom": {"games": "five times, rotated", "items": (10, {2}), **HOUSES},
    "beauty": {**ECONARENA, "bound": 100},
    "second-price": {**ECONARENA, "values": "M", "history": {(1, 0, "actions"), (6, 3, "actions", "once")}},
    "chain-of-thought": {**UNPRINTED, "rivals": dict.fromkeys(("plain", "step-by-step"), "perfectly rational")},
    "history": {
        **UNPRINTED,
        "rivals": dict.fromkeys(("none", "actions", "actions-and-values"), "equally rational"),
        "history": {(1, 0, "actions"), (6, 3, "actions", "once"), (6, 3, "actions and values", "once")},
    },
    "english-private": {**UNPRINTED, "rivals": dict.fromkeys(("sealed", "ascending"), "equally rational")},
    "water": {
        "games": 10, "temperature": 0.7, "most tokens": 800, "calls": "bid", "attempts": 1, "prompts": "alympics",
        "answers": "read by a second model", "history": {"all"}, "supplies": {(10, 20), (15, 25), (20, 30)},
    },
}  # fmt: skip
"""How the papers did it: AucArena sec. 4 and its code (github.com/jiangjiechen/auction-arena), later version sec. 4;
Harbor sec. 4 and App. B; EconArena sec. 4, App. B and its authors' package econarena 0.0.4; Alympics sec. 3 and 4,
App. A and its code (github.com/microsoft/Alympics).

`calls` are those of a bidder; `answers` are its bids; `dialogue` is what stands before the bids on an item, and
`status` what a bidder that does not plan anew is told there of the sale so far. `history` is what a prompt shows of
past runs or days: runs, how many are shown, what of each, and whether values are drawn once.
"""


def ours(design: Experiment) -> dict[str, Any]:
    """How our design does it, read from the settings of all its games."""
    held = trials(design, 1)
    configs = [one.config for one in held]
    minds = {bidder.name: bidder for config in configs for bidder in config.bidders if bidder.uses_model}
    models = [model for config in configs for model in config.models.values()]
    calls = {name: mind_calls(bidder) for name, bidder in minds.items()}
    parts = [design.auction, *(one.auction for one in (*design.arms, *design.conditions))]
    sold = [one["items"] for one in parts if "items" in one]
    listings = [item.get("listing") for one in sold if isinstance(one, list) for item in one]
    return {
        "games": games(design.games),
        "temperature": only(model.temperature for model in models),
        "calls": only(calls.values()) if len(set(calls.values())) == 1 else calls,
        "most tokens": only(model.max_tokens for model in models),
        "attempts": only(config.rules.reasks + 1 for config in configs),
        "prompts": only(bidder.protocol for bidder in minds.values()),
        "items": items(sold),
        "products": "named and described" if all(listings) else "prices alone",
        "order": {order(design, arm.order or other.order or design.order) for arm, other in design.cells},
        "budgets": {int(bidder.budget) for config in configs for bidder in config.bidders},
        "history": {history(config) for config in configs},
        "rivals": {one.arm: told for one in held if (told := rivals(one.config))},
        "bound": only(getattr(config.rules, "bound", None) for config in configs[:1]),
        "values": only(getattr(config.rules, "group", None) for config in configs[:1]),
        "supplies": {getattr(config.rules, "supply", None) for config in configs},
        "answers": only(answers(config, bidder.protocol) for config in configs for bidder in minds.values()),
        "beliefs": beliefs(),
        "dialogue": "the plan with its reasons" if "reasons" in {one.name for one in fields(Planned)} else "the plan",
        "status": "the belief" if "belief" in (chosen((PROMPTS / "aucarena" / "bid.md").read_text()) or ()) else "wins",
    }


def only(values: Any) -> Any:
    (value,) = set(values)
    return value


def answers(config: AuctionConfig, protocol: str) -> str:
    """How a bid is given: in keys of the paper, or in words that rules read."""
    own = BUNDLES[protocol].replies
    if not own:
        return "read by rules"
    plain = (own[config.rules.game].first, own[config.rules.game].later)
    return "in keys of its own, the reason last" if {form.all_keys()[-1] for form in plain} == {"reason"} else "other"


def mind_calls(bidder: Any) -> str:
    plan, replan = bidder.planning != "none", bidder.planning == "adaptive"
    made = {"plan": plan, "bid": True, "belief": bidder.believe, "replan": replan}
    return ", ".join(name for name, is_made in made.items() if is_made)


def games(counts: Mapping[tuple[str, str], int]) -> Any:
    """One number, if all arms and conditions have it, or numbers by arm, and by condition where they differ."""
    if len(set(counts.values())) == 1:
        return next(iter(counts.values()))
    return {arm: {condition: n for (own, condition), n in counts.items() if own == arm} for arm, _ in counts}


def items(sold: list[Any]) -> Any:
    """The prices, each with how often it is sold; of houses how many there are, and how many match each bidder."""
    if sold and not isinstance(sold[0], list):
        return only(one["count"] for one in sold), {n for one in sold for n in one["matched"].values()}
    return Counter((one["start"], one["true_value"]) for one in (sold[0] if sold else []))


def order(design: Experiment, one: Any) -> str:
    if "series" in design.auction:
        return "random" if design.auction["series"]["shuffled"] else "given"
    if isinstance(one, str):
        return one
    return f"dear at {' and '.join(str(place) for place, name in enumerate(one, 1) if name in ('Item E', 'Item J'))}"


def beliefs() -> dict[str, Any]:
    """How a belief is counted, and what a model is told of it, where somebody else has won two items."""
    truth = Belief(budget=Decimal(0), profits={}, wins={"Ben": (Win("Vase", Decimal(1)), Win("Urn", Decimal(2)))})
    counted = [one for one in compare(Belief(Decimal(0), {}, {}), truth, "Ann") if one.kind == "win"]
    says_more = {key for one in counted for key in one.told()} - {"field", "bidder", "item"}
    return {
        "fields of two items won": len(counted),
        "told of a wrong one": "what is right" if says_more else "where it is",
    }


def history(config: AuctionConfig) -> Any:
    rules = config.rules
    if isinstance(rules, WaterRules):
        return rules.history
    if isinstance(rules, SessionRules):
        once = ("once",) if isinstance(rules, ValueRules) and rules.draw == "once" else ()
        return (rules.runs, rules.history, rules.show, *once)
    return "beliefs"


def rivals(config: AuctionConfig) -> str:
    rules = config.rules
    if not isinstance(rules, SessionRules):
        return ""
    return "perfectly rational" if rules.rational_rivals else "equally rational" if rules.equal_rivals else ""


@pytest.mark.parametrize("name", sorted(PAPERS))
def test_a_preset_does_what_its_paper_did_or_declares_what_it_does_instead(name):
    design = experiment(name)
    declared = {one.what.partition(":")[0].lower() for one in design.deviations}
    found = ours(design)
    undeclared = {
        aspect: (printed, found[aspect])
        for aspect, printed in PAPERS[name].items()
        if found[aspect] != printed and ABOUT.get(aspect, aspect) not in declared
    }
    assert undeclared == {}
    assert "prompts" in declared  # they are in our own words


ABOUT = {"attempts": "calls", "most tokens": "temperature", "products": "items", "items": "prices"}
"""The word that a deviation of an aspect begins with, where it is another one."""


@pytest.mark.parametrize(("name", "one_run"), [("beauty", "one-run"), ("second-price", "low")])
def test_econarena_has_as_many_sessions_as_the_paper_prints(name, one_run):
    found = experiment(name).games
    groups = {"low", "medium", "high"} - {one_run}
    assert {n for (arm, condition), n in found.items() if arm == "melee" and condition in groups} == {50}
    assert {found[arm, one_run] for arm in ("melee", "rational")} == {150}
    assert {found[arm, "history"] * 6 for arm in ("melee", "rational")} == {180}
    assert found["senior", one_run] == 100


def test_every_published_preset_has_its_paper_in_the_table():
    assert set(presets()) - OWN == set(PAPERS)


@pytest.mark.parametrize(("name", "arm", "condition"), [
    ("beauty", "melee", "history"), ("second-price", "self-play", "history"), ("water", "no-persona", "medium"),
])  # fmt: skip
def test_econarena_and_alympics_ask_once_a_run_or_a_day(name, arm, condition):
    trial = next(one for one in trials(experiment(name), 1) if (one.arm, one.condition) == (arm, condition))
    (log,) = logs_of(asyncio.run(start(prepare(brief(offline(trial.config)), RunInputs()))))
    called = Counter(call.bidder for call in of_type(log, ModelCalled))
    lived = Counter(bidder for day in of_type(log, DayClosed) for bidder in day.statuses)
    assert called == (lived or dict.fromkeys(called, 2))
    assert max(called.values()) == (4 if lived else 2)


PUBLISHED = {
    "beauty": (33, "25985ba93e91f53e"), "people": (18, "83ebb1c09f8ae93a"), "persona-profit": (16, "f3dc997b6255bd75"),
    "profiling": (2, "d1609fe20dd645ac"), "profiling-capacity": (1, "cb0b90552692c23e"),
    "rationality": (20, "3b314f0838f7da87"), "second-price": (33, "2ea9238360b9d62f"),
    "standard": (42, "d484ad52fa9364de"), "tom": (45, "ca7ef9b52d4b5c5e"), "water": (42, "ebcbc6f5ce7f72a8"),
}  # fmt: skip
"""How many numbers each preset repeats from its paper, and a digest of them, their places and sources."""


@pytest.mark.parametrize("name", sorted(PAPERS))
def test_published_values_are_unchanged_to_the_digit_and_say_of_how_many_games_they_are(name):
    values = [(one, at) for one in experiment(name).published for at in one.values]
    rows = [
        [one.source, one.model, one.metric, at.arm, at.condition, at.bidder, at.about, at.at, repr(at.value)]
        for one, at in values
    ]
    digest = sha256(json.dumps(rows).encode()).hexdigest()[:16]
    assert (len(rows), digest if rows else "") == PUBLISHED.get(name, (0, ""))
    assert all(one.games(at) or one.derived for one, at in values)


# ---------------------------------------------------------------- how departures are told

NOT_TOLD = ("not print", "not tell", "not told", "not say", "names no")
IN_CODE: dict[str, dict[str, str]] = {
    "alympics": {"temperature": "0.7", "calls": "cannot win", "answers": "whole dollars"},
    "econarena": {"temperature": "the provider's own", "bound": "package econarena has 100", "values": "has group M"},
    "aucarena": {"rule": "code has 4", "people": "code has a page", "order": "code draws it anew"},
}
"""By bundle and aspect: what a paper's public code tells, in the words in which a preset has to tell it."""
CANARIES = ("worth nothing", "no extra profit")
"""Sentences of ours that no paper has, and that tell a model what to do."""
BEYOND: dict[str, dict[str, str]] = {
    "alympics": {"on average": "the mean supply", "step by step": "step by step", "the lot decides": "the lot"},
    "aucarena": {"at the same moment": "at the same moment", "drawn by lot": "by lot"},
    "econarena": {"nobody can foresee": "nobody can foresee", "entrance fee": "a broken rule costs"},
    "harbor": {"at the same moment": "at the same moment", "drawn by lot": "by lot"},
}
"""By bundle: words of its prompts that are not in the paper's, and the words in which a preset has to tell them."""
IDLE = {("econarena", "beauty"): {"nobody can foresee", "entrance fee"}}
"""What the prompts of a preset do not tell, though others of its bundle do."""


def bundle(design: Experiment) -> str:
    """Name the bundle of prompts of a preset: one for all its models."""
    (name,) = {one.protocol for trial in trials(design, 1) for one in trial.config.bidders if one.uses_model}
    return name


USED = {name: bundle(experiment(name)) for name in presets() if name not in ("bidding", "multiverse")}


def prompts(name: str, folder: Path) -> str:
    """Give all that models read in short games under a bundle, on one line."""
    mind: dict[str, Any] = {"protocol": name}
    if name in ("aucarena", "harbor"):
        bidder = Bidder("Ann", persona="downsizing", **mind)
        held = Auction(items=[Item(name="Clock", start=1_000, true_value=2_000)], bidders=[bidder])
    elif name == "alympics":
        held = Auction(bidders=[Bidder("Alex", **mind), Bidder("Bob", **mind)], rules={"game": "water", "days": 2})
    else:
        rules = {"game": "second-price", "runs": 1, "rational_rivals": True}
        held = Auction(bidders=[Bidder("Ann", **mind), Bidder("Ben", **mind)], rules=rules)
    held.run(out=folder)
    calls = map(json.loads, (folder / "calls.jsonl").read_text().splitlines())
    return " ".join(" ".join("\n".join(call["prompt"]) for call in calls).split())


@pytest.mark.parametrize("name", sorted(BEYOND))
def test_what_a_prompt_tells_beyond_the_papers_is_declared_by_every_preset_that_uses_it(name, tmp_path):
    text = prompts(name, tmp_path / "run")
    assert [canary for canary in CANARIES if canary in text] == []
    assert [words for words in BEYOND[name] if words not in text] == []
    for preset in (one for one, used in USED.items() if used == name):
        told = " ".join(one.what for one in experiment(preset).deviations)
        words = {our for theirs, our in BEYOND[name].items() if theirs not in IDLE.get((name, preset), ())}
        assert [one for one in words if one not in told] == [], preset


@pytest.mark.parametrize("name", sorted(USED))
def test_what_public_code_tells_is_not_said_to_be_untold(name):
    known = IN_CODE.get(USED[name], {})
    told = [(one.what.partition(":")[0], one.what) for one in experiment(name).deviations]
    for aspect, what in told:
        fact = known.get(aspect.lower())
        assert not (fact and any(words in what for words in NOT_TOLD)) or fact in what, what
    if USED[name] == "econarena":  # its keys are the paper's, but for which of them may be left out
        assert "Calls" not in dict(told)
        assert [words for words in ("the paper's keys", "has to be there") if words not in dict(told)["Answers"]] == []
