"""Arms that differ in nothing but what a mind is told of its rivals, and placebos in the place of profiles."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from harbor import Auction, Bidder, ModelSettings, Result, SimulatedChat, houses, of_type, resume
from harbor._config.auction import check
from harbor._config.thinking import MindSettings, Placebo
from harbor._core.basics.errors import ConfigError
from harbor._core.log.events import CatalogShown
from harbor._core.log.thoughts import Mirrored, Planned, Profiled
from harbor._games.english.events import ItemOpened, RoundClosed
from harbor._models.calls.client import ModelClient
from harbor._models.replies.replay import RawCall
from harbor._models.simulated.chat_model import read_facts
from harbor.events import Acted, BidderSeated, Lot, Predicted, Prediction, SaleOpened, Signal
from harbor.games import Amount, Ask, AuctionConfig, Bid, Event, Withdraw
from harbor.graphs import View
from harbor.graphs._context.context import BidderContext
from harbor.graphs._nodes.believe import MIRROR
from harbor.graphs._nodes.plan import PREDICT
from harbor.graphs._nodes.profile import PROFILE
from harbor.graphs._wiring.bidder import GraphBidder
from harbor.graphs._wiring.steps import told
from harbor.personas import personas
from support.asked import LARGE_STEPS, prompt_facts
from support.folders import halved

TEXTS = {key: one.text for key, one in personas().items()}

# ---------------------------------------------------------------- arms that differ in nothing else

CATALOG = dict(list(TEXTS.items())[:3])
FIRST, SECOND, THIRD = CATALOG
PLACEBOS: tuple[Placebo, ...] = ("uniform", "shuffled", "another", "blank")
ARMS: Mapping[str, Mapping[str, Any]] = {
    "b": {"theory_of_mind": "true"},
    "c": {"theory_of_mind": "inferred", "strategy": "on"},
    "d": {"theory_of_mind": "true", "strategy": "on"},
    "e": {"theory_of_mind": "second", "strategy": "on"},
}
CONCLUDED = {"forecasts", "strategy", "strategy_reasons"}
"""What theory of mind and the strategy that follows from it add to the prompt of a bid."""
EXPLAINED = {"catalog", "rivals", "shares_of_you", "forecasts", "expected_interest_of_yours", "strategy"}
"""What its texts explain besides: all calls of a bidder begin alike, so this is what any of them may be told."""


def asked_to_bid(**switches: Any) -> str:
    """Give the prompt of a bid after the same public events, with what the mind concluded before."""
    lots = tuple(Lot(name, Decimal(1_000)) for name in ("Lot A", "Lot B"))
    theory = switches.get("theory_of_mind", "none") != "none"
    seen: list[Event] = [
        BidderSeated("Ann", Decimal(10_000), {}, "profit"),
        Signal("Ann", {lot.name: Decimal(2_200) for lot in lots}, noisy=True),
        *([CatalogShown("Ann", CATALOG)] if theory else []),
        SaleOpened(("Ann", "Ben", "Cho"), lots, "true value"),
        Planned("Ann", "Buy.", {"Lot A": 3, "Lot B": 2}),
        *([Predicted("Ann", "Lot A", (Prediction("Ben", 0.75, Decimal(1_800), 0.5),))] if theory else []),
        ItemOpened("Lot A", Decimal(1_000), Decimal(100)),
        Acted("Ben", "Lot A", Bid(Decimal(1_000))),
        Acted("Cho", "Lot A", Withdraw()),
        RoundClosed("Lot A", 1, "Ben", Decimal(1_000)),
    ]
    made = list[RawCall]()
    model = ModelClient("Ann", "model", SimulatedChat(), ModelSettings(), seen.append, made.append)
    mind = BidderContext(model, MindSettings(bidding="call", **switches), lambda: seen.append)
    asyncio.run(GraphBidder(mind).act(Ask("Ann", "Lot A", 2, Amount(Decimal(1_100), Decimal(10_000)), 1, ""), [*seen]))
    assert made[-1].purpose == "bid"
    return "\n".join(made[-1].prompt)


@pytest.mark.parametrize("arm", ARMS)
def test_a_bid_is_asked_for_in_the_words_of_the_baseline_but_for_what_theory_of_mind_is_told(arm):
    plain, knowing = asked_to_bid(), asked_to_bid(**ARMS[arm])
    told, facts = read_facts(plain), read_facts(knowing)
    assert facts.keys() - told.keys() == CONCLUDED & facts.keys()
    assert {key: facts[key] for key in told} == told
    assert (told["leader"], told["withdrawn"]) == ("Ben", ["Cho"])
    assert set(facts["forecasts"][0]) == {"rival", "interest", "limit", "expected_interest_of_yours"}
    words = [re.sub(r"<facts>\n.*?\n</facts>", "", text) for text in (plain, knowing)]
    usual, more = (re.split(r"\n(?=\n|- |`strategy`)", text) for text in words)
    assert [part for part in more if part in usual] == usual
    explained = [re.match(r"(?:- )?`(\w+)`", part) for part in more if part not in usual]
    assert {name and name[1] for name in explained} - EXPLAINED == set()


# ---------------------------------------------------------------- placebos

TRUTH = {"Ben": "urban-dwellers", "Cho": "rural-home-seekers"}


def sale(folder: Path, rivals: Mapping[str, str] = TRUTH, **mind: Any) -> Result:
    """Hold a sale of three houses against two rivals that bid by a rule, whatever their personas are."""
    bidders = [Bidder("Ann", **mind)]
    bidders += [Bidder(name, persona=persona, rule="minimum-raise") for name, persona in rivals.items()]
    return Auction(seed=3, items=houses(3, 5), bidders=bidders, rules=LARGE_STEPS).run(out=folder)


SEEN = View(
    name="Ann",
    bidders=("Ann", "Ben", "Cho", "Dan"),
    catalog=CATALOG,
    notes={
        "profile": {"Ben": {FIRST: 0.8, SECOND: -0.4, THIRD: 0.0}, "Cho": {FIRST: -1.0, SECOND: 1.0, THIRD: -1.0}},
        "mirror": {"Ben": {FIRST: 0.5, SECOND: 0.1, THIRD: 0.2}},
    },
)


ZEROS = dict.fromkeys(CATALOG, 0.0)


def test_a_placebo_stands_in_the_place_of_profiles():
    for placebo, profiles, mirrors in (
        ("none", SEEN.profiles, SEEN.mirrors),
        ("uniform", {"Ben": ZEROS, "Cho": ZEROS}, {"Ben": ZEROS}),
        ("another", {"Ben": SEEN.profiles["Cho"], "Cho": {}}, {"Ben": {}}),
        ("blank", {"Ben": {}, "Cho": {}}, {"Ben": {}}),
    ):
        given = told(SEEN, PREDICT, placebo, 0)
        assert (given.profiles, given.mirrors) == (profiles, mirrors)


def test_shuffled_weights_are_those_of_the_profile_dealt_by_the_seed():
    dealt = [told(SEEN, PREDICT, "shuffled", seed).profiles for seed in range(20)]
    assert told(SEEN, PREDICT, "shuffled", 7).profiles == dealt[7]
    of_each = {rival: sorted(one.values()) for rival, one in SEEN.profiles.items()}
    assert all({rival: sorted(one.values()) for rival, one in found.items()} == of_each for found in dealt)
    assert {max(found["Cho"], key=found["Cho"].__getitem__) for found in dealt} == set(CATALOG)


def test_profiling_itself_goes_on_from_its_own_profiles():
    assert all(told(SEEN, node, placebo, 0) == SEEN for node in (PROFILE, MIRROR) for placebo in PLACEBOS)


@pytest.mark.parametrize(("placebo", "strategy"), [("none", "on"), ("shuffled", "fused"), ("blank", "on")])
def test_under_a_placebo_nothing_that_depends_on_the_true_profile_reaches_a_prompt(tmp_path, placebo, strategy):
    others = {"Ben": "vacation-homes", "Cho": "eco-conscious-buyers"}
    asked = []
    for number, rivals in enumerate((TRUTH, others)):
        mind = {"theory_of_mind": "true", "strategy": strategy, "placebo": placebo}
        log = sale(tmp_path / str(number), rivals, **mind).log
        seated = next(one for one in of_type(log, BidderSeated) if one.bidder == "Ann")
        assert {rival: max(one, key=one.__getitem__) for rival, one in seated.rivals.items()} == rivals
        asked.append(prompt_facts(tmp_path / str(number)))
    assert (asked[0] == asked[1]) == (placebo != "none")
    tasks = {task for task, facts in asked[0] if "rivals" in facts}
    assert tasks == {"plan", "replan", "predict", "fused" if strategy == "fused" else "strategize"}


class Opinionated(SimulatedChat):
    """Profiles every rival as one kind of buyer, and is the built-in model in all else."""

    kind: str

    def _answer(self, messages: Any, tools: Any) -> Any:
        result = super()._answer(messages, tools)
        for call in result.generations[0].message.tool_calls:  # type: ignore[attr-defined]
            if "shares" in call["args"]:
                others = [{"persona": one, "share": 7} for one in personas() if one != self.kind]
                call["args"]["shares"] = [{"persona": self.kind, "share": 37}, *others]
        return result


@pytest.mark.parametrize("placebo", ["uniform", "shuffled"])
def test_under_a_placebo_what_was_inferred_reaches_no_later_thought_and_stays_in_the_log(tmp_path, placebo):
    later = []
    rivals = [Bidder(name, rule="minimum-raise") for name in TRUTH]
    ann = Bidder("Ann", model="mine", theory_of_mind="second", strategy="on", placebo=placebo)
    for kind in ("downsizing", "vacation-homes"):
        auction = Auction(seed=3, items=houses(3, 5), bidders=[ann, *rivals], rules=LARGE_STEPS)
        log = auction.run(out=tmp_path / kind, models={"mine": Opinionated(kind=kind)}).log
        assert {max(one.weights, key=one.weights.__getitem__) for one in of_type(log, Profiled)} == {kind}
        assert of_type(log, Mirrored)
        later.append([one for one in prompt_facts(tmp_path / kind) if one[0] not in ("profile", "mirror")])
    assert later[0] == later[1]
    assert any("shares_of_you" in row for _, facts in later[0] for row in facts.get("rivals", []))


def test_of_another_placebo_what_is_told_of_a_rival_does_not_depend_on_its_own_persona(tmp_path):
    told_of: list[Any] = []
    for number, persona in enumerate(("urban-dwellers", "vacation-homes")):
        sale(tmp_path / str(number), {**TRUTH, "Ben": persona}, theory_of_mind="true", placebo="another")
        facts = next(facts for task, facts in prompt_facts(tmp_path / str(number)) if task == "plan")
        told_of.append({row["rival"]: row["shares"] for row in facts["rivals"]})
    assert told_of[0]["Ben"] == told_of[1]["Ben"]
    assert told_of[0]["Cho"] != told_of[1]["Cho"]


def test_a_resumed_run_deals_the_same_placebo(tmp_path):
    folder = tmp_path / "run"
    sale(folder, theory_of_mind="inferred", strategy="on", placebo="shuffled")
    before = prompt_facts(folder)
    assert prompt_facts(halved(folder)) != before
    resume(folder)
    assert prompt_facts(folder) == before


# ---------------------------------------------------------------- what is refused


def test_a_placebo_with_nothing_to_replace_is_refused_in_one_line():
    for ann, complaint in (
        ({"rule": "truthful", "theory_of_mind": "true"}, "placebo 'uniform' is for the thoughts of a model; drop it"),
        ({"agent": True}, "placebo 'uniform' is for the thoughts of a model; drop it"),
        ({}, "placebo 'uniform' replaces the results of a theory of mind; set theory_of_mind, or drop it"),
        ({"theory_of_mind": "true", "placebo": "another"}, "placebo 'another' needs two rivals; add one"),
    ):
        given = {"bidders": [{"name": "Ann", "placebo": "uniform", **ann}, {"name": "Ben"}]}
        with pytest.raises(ConfigError) as refused:
            check(AuctionConfig, given, "auction")
        assert complaint in str(refused.value)
        assert "\n" not in str(refused.value)
