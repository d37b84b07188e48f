"""Personas of one's own with items of one's own, drawn in matched samples without a package."""

from __future__ import annotations

import pytest

from harbor import Auction, Bidder, Item, of_type
from harbor._config.auction import AuctionConfig, check
from harbor._core.basics.errors import ConfigError
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._metrics.measurement import measure
from harbor.events import ItemLabelled, ItemSold, Profiled
from harbor.personas._catalog.catalogue import resolve_items

PERSONAS = [
    {"id": "readers", "name": "Readers", "text": "You read novels and want first editions of them."},
    {"id": "walkers", "name": "Walkers", "text": "You walk in the hills and want maps and stout boots."},
]


def thing(name: str, persona: object = None) -> dict:
    return {"name": name, "start": 100, "true_value": 250, "listing": f"A {name} for sale.", "persona": persona}


THINGS = [
    *(thing(f"novel {number}", "readers") for number in range(3)),
    *(thing(f"map {number}", "walkers") for number in range(3)),
    thing("walk in words", ["readers", "walkers"]),
    *(thing(f"plate {number}") for number in range(3)),
]
SALE = {
    "seed": 2,
    "personas": PERSONAS,
    "items": {"count": 6, "matched": 2, "of": THINGS},
    "bidders": [
        {"name": name, "persona": persona, "theory_of_mind": "inferred"}
        for name, persona in (("Ann", "readers"), ("Ben", "walkers"))
    ],
}


def test_a_matched_sample_of_items_in_the_settings_is_sold_and_profiled_over_ones_own_personas_too():
    log = Auction(**SALE).run().log
    sold = of_type(log, ItemLabelled)
    assert {one.item for one in sold} <= {one["name"] for one in THINGS}
    suits = [(one.persona,) if isinstance(one.persona, str) else one.persona or () for one in sold]
    assert [len(sold), *(sum(one in among for among in suits) for one in ("readers", "walkers"))] == [6, 2, 2]
    assert all({"readers", "walkers"} <= set(one.weights) for one in of_type(log, Profiled))


def test_an_item_that_suits_two_counts_for_either_of_them():
    items = [thing("walk in words", ["readers", "walkers"]), thing("plate")]
    bidders = [Bidder("Ann", persona="readers"), Bidder("Ben", persona="walkers"), Bidder("Cho", persona="downsizing")]
    log = Auction(personas=PERSONAS, items=items, bidders=bidders).run().log
    assert of_type(log, ItemLabelled)[0].persona == ("readers", "walkers")
    winner = next(one.winner for one in of_type(log, ItemSold) if one.item == "walk in words")
    rates = {one.bidder: one.value for one in measure(["acquisition_rate"], log)}
    assert {name: rates[name] for name in ("Ann", "Ben")} == {"Ann": winner == "Ann", "Ben": winner == "Ben"}
    assert rates["Cho"] is None


@pytest.mark.parametrize(("written", "held", "suits"), [
    ([], None, ()),
    (["readers"], "readers", ("readers",)),
    (["readers", "walkers"], ("readers", "walkers"), ("readers", "walkers")),
])  # fmt: skip
def test_whom_an_item_suits_is_written_as_an_id_as_several_or_not_at_all(written, held, suits):
    item = Item(**thing("map", written))
    assert (item.persona, item.suits) == (held, suits)


@pytest.mark.parametrize(("change", "complaint"), [
    ({"of": [thing("map", "walker")]}, "item 'map': unknown persona 'walker'; did you mean 'walkers'?"),
    ({"of": [thing("map"), thing("map")]}, "item name 'map' is there twice"),
    ({"of": [thing("map", ["walkers", "walkers"])]}, "names 'walkers' twice; name each persona once"),
    ({"count": 11, "matched": None}, "11 items demanded, but catalogue 'items.of' has 10; ask for at most 10"),
    ({"count": 8, "matched": 4}, "4 items demanded, but persona 'readers' has 3; ask for at most 3"),
    ({"of": [thing("map", "walkers")], "count": 1},
     "no item of the catalogue 'items.of' suits your persona 'readers'; drop matched, list items, or name items whose"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_line(change, complaint):
    with pytest.raises(ConfigError) as refused:
        resolve_items(check(AuctionConfig, SALE | {"items": SALE["items"] | change}, "test"))
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


def design(personas=("readers", "walkers")) -> Experiment:
    items = {"count": 5, "matched": {"@1": 2, "@2": 1}, "of": THINGS}
    bidders = [{"name": "Ann", "persona": "@1"}, {"name": "Ben", "persona": "@2"}]
    told = {"name": "shop", "title": "Shop", "question": "Who?", "source": "nobody", "repeats": 2}
    auction, arms = {"personas": PERSONAS, "items": items, "bidders": bidders}, [{"name": "one"}]
    return Experiment(**told, auction=auction, arms=arms, metrics=["acquisition_rate"], personas=list(personas))


def test_slots_of_an_experiment_take_ones_own_personas_and_items_match_them():
    for one in (trial.config for trial in trials(design())):
        wanted = {bidder.name: next(iter(bidder.persona)) for bidder in one.bidders}
        assert set(wanted.values()) == {"readers", "walkers"}
        assert [sum(wanted[name] in item.suits for item in one.items) for name in ("Ann", "Ben")] == [2, 1]
        assert [persona.id for persona in one.personas] == ["readers", "walkers"]


def test_a_pool_with_a_persona_that_nothing_suits_is_refused_with_the_arm():
    with pytest.raises(ConfigError, match=r"arm 'one', .*more than 0 items demanded that suit persona 'downsizing'"):
        trials(design(personas=["downsizing", "readers"]))
