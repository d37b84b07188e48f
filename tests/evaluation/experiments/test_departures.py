"""The departures of published experiments are told as they are: in the presets, on the command line and in the docs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harbor import Auction, Bidder, Item
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.library import experiment, presets
from harbor.evaluation._experiments.trials import trials

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


BUNDLES = {name: bundle(experiment(name)) for name in presets() if name not in ("bidding", "multiverse")}


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
    for preset in (one for one, used in BUNDLES.items() if used == name):
        told = " ".join(one.what for one in experiment(preset).deviations)
        words = {our for theirs, our in BEYOND[name].items() if theirs not in IDLE.get((name, preset), ())}
        assert [one for one in words if one not in told] == [], preset


@pytest.mark.parametrize("name", sorted(BUNDLES))
def test_what_public_code_tells_is_not_said_to_be_untold(name):
    known = IN_CODE.get(BUNDLES[name], {})
    told = [(one.what.partition(":")[0], one.what) for one in experiment(name).deviations]
    for aspect, what in told:
        fact = known.get(aspect.lower())
        assert not (fact and any(words in what for words in NOT_TOLD)) or fact in what, what
    if BUNDLES[name] == "econarena":  # its keys are the paper's, but for which of them may be left out
        assert "Calls" not in dict(told)
        assert [words for words in ("the paper's keys", "has to be there") if words not in dict(told)["Answers"]] == []
