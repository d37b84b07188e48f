"""Catalogues from a stranger's package or file: personas and items of another world, in auctions and experiments."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from harbor import Auction, Bidder, Houses, Item
from harbor._core.basics.errors import ConfigError
from harbor._core.plugins.extensions import lacks
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._metrics.behaviour import bids
from harbor.events import BidderSeated, CatalogShown, ItemLabelled, Planned, Profiled, SeatFailed
from harbor.games import Persona, of_type
from harbor.personas._catalog.catalogue import HOMES, Catalogue, catalogue_of
from support.commands import harbor, mistake
from support.plugins import install, installed

WINES = """
name = "wines"
description = "bottles and who drinks them"
version = "3"

[[personas]]
id = "collectors"
name = "Collectors"
text = "You collect rare old bottles from famous cellars, dusty labels and great vintages, to lay down for decades."

[[personas]]
id = "picnickers"
name = "Picnickers"
text = "You want fresh young fizzy cheap wine in cans for a picnic by the river, cold and sweet."
"""
LISTINGS = {"collectors": "A rare old bottle, great vintage", "picnickers": "Fresh young fizzy sweet wine in cans"}
ITEM = (
    '[[items]]\nid = "{persona}-{number}"\npersona = "{persona}"\nname = "{persona} {number}"\n'
    'start = 100\ntrue_value = 300\nlisting = "{listing}, lot {number}."\n'
)
BOTTLES = "".join(
    ITEM.format(persona=persona, number=number, listing=listing)
    for persona, listing in LISTINGS.items()
    for number in range(3)
)
GUESTS = ITEM.format(persona="hosts", number=0, listing="A magnum")
MODULE = """
from importlib.resources import files
from harbor.personas import Catalogue
WINES = Catalogue.read(files(__package__) / "wines.toml")
"""
PARTS = {"name": "mine", "description": "my own", "version": "1", "personas": HOMES.personas, "items": HOMES.items}
BIDDERS = [
    Bidder(name, persona=persona, theory_of_mind="inferred")
    for name, persona in (("Ann", "collectors"), ("Ben", "picnickers"))
]


@pytest.fixture
def wines(tmp_path) -> Path:
    """A package with a catalogue of wines."""
    modules = {"cellar/__init__.py": MODULE, "cellar/wines.toml": WINES + BOTTLES + GUESTS}
    place = install(tmp_path / "site", "cellar", modules, {"harbor.catalogues": {"wines": "cellar:WINES"}}, "0.4")
    with installed(place):
        yield place


def wine_sale(**settings) -> Auction:
    return Auction(
        **{"catalogue": "wines@3", "seed": 4, "items": Houses(count=4, matched=2), "bidders": BIDDERS} | settings
    )


# ---------------------------------------------------------------- the value


DOWNSIZING = HOMES.personas["downsizing"]
COTTAGE = Item(name="Cottage", start=1, true_value=2)


@pytest.mark.parametrize(("part", "complaint"), [
    *(({part: None}, f"lacks {part}: ") for part in ("name", "description", "version", "personas", "items")),
    *(({part: {}}, f"lacks {part}; give it one or more") for part in ("personas", "items")),
    ({"personas": {"upsizing": DOWNSIZING}}, "has persona 'downsizing' under the id 'upsizing'; write the same"),
    ({"personas": {one: Persona(id=one, name=one, text="You.") for one in ("a", "b")}},
     "has the text 'You.' twice; change one"),
    ({"items": {"a": COTTAGE, "b": COTTAGE}}, "has the item name 'Cottage' twice; change one"),
    ({"personas": {"a": "You."}}, "has 'You.' among its personas; give a Persona"),
    ({"items": {"a": {"name": "Cup"}}}, "has {'name': 'Cup'} among its items; give an Item"),
    ({"version": "1@2"}, "has the version '1@2'; write it without '@'"),
])  # fmt: skip
def test_what_a_catalogue_lacks_or_has_wrong_is_said_in_one_line(part, complaint):
    assert lacks(Catalogue(**PARTS | part)).startswith(complaint)


@pytest.mark.parametrize(("text", "complaint"), [
    (WINES, "items is missing; write [[items]]"),
    (WINES + BOTTLES + BOTTLES, "item name 'collectors-0' is there twice; rename or drop one"),
    (WINES.replace("text", "txt") + BOTTLES, "unknown key 'txt'; did you mean 'text'? (at personas[0])"),
    ("nothing", "is not TOML"),
])  # fmt: skip
def test_a_file_that_is_no_catalogue_is_one_line_that_names_the_package(text, complaint, tmp_path):
    modules = {"spilt/__init__.py": MODULE, "spilt/wines.toml": text}
    place = install(tmp_path, "spilt", modules, {"harbor.catalogues": {"wines": "spilt:WINES"}})
    with installed(place), pytest.raises(ConfigError) as refused:
        catalogue_of("wines")
    assert str(refused.value).startswith("package 'spilt' 0.1, entry point 'wines'")
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


# ---------------------------------------------------------------- in an auction


@pytest.mark.parametrize("catalogue", ["wines@3", "cellar:WINES"])
def test_personas_and_items_come_from_the_catalogue_that_the_settings_name_and_their_texts_are_read(wines, catalogue):
    log = wine_sale(catalogue=catalogue, items=Houses(count=6, matched=3)).run().log
    assert Counter(label.persona for label in of_type(log, ItemLabelled)) == {"collectors": 3, "picnickers": 3}
    assert {tuple(shown.personas) for shown in of_type(log, CatalogShown)} == {("collectors", "picnickers")}
    assert "rare old bottles" in next(iter(of_type(log, BidderSeated)[0].personas))
    assert of_type(log, SeatFailed) == []
    assert [*bids(log)]
    assert of_type(log, Planned)
    last = {(one.bidder, one.rival): one.weights for one in of_type(log, Profiled)}
    assert last["Ann", "Ben"]["picnickers"] > last["Ann", "Ben"]["collectors"]
    assert last["Ben", "Ann"]["collectors"] > last["Ben", "Ann"]["picnickers"]


@pytest.mark.parametrize(("settings", "complaint"), [
    ({"catalogue": "wines@2"},
     "catalogue 'wines@2' is not installed, as the package 'cellar' 0.4 brings 'wines@3'; name that one, or"
     " install the package that brings 'wines@2'"),
    ({"catalogue": "cellar:WINES@3"}, "catalogue 'cellar:WINES@3': code that you name is as it is; drop @3"),
    ({"items": Houses(count=9)}, "9 items demanded, but catalogue 'wines' has 7; ask for at most 7"),
])  # fmt: skip
def test_what_a_catalogue_does_not_have_is_refused_before_anything_is_written(settings, complaint, wines, tmp_path):
    with pytest.raises(ConfigError) as refused:
        wine_sale(**settings).run(out=tmp_path / "run")
    assert complaint in str(refused.value)
    assert not (tmp_path / "run").exists()


def test_items_match_a_persona_of_ones_own_where_the_catalogue_has_items_for_it(wines):
    mine, bidders = Persona(name="My own", text="You give dinners.", id="hosts"), [Bidder("Ann", persona="hosts")]
    log = wine_sale(personas=[mine], bidders=bidders, items=Houses(count=2, matched=1)).run().log
    assert [label.persona for label in of_type(log, ItemLabelled)].count("hosts") == 1


# ---------------------------------------------------------------- in an experiment

DESIGN = {
    "name": "tasting", "title": "Tasting", "question": "Who drinks what?", "source": "nobody", "repeats": 2,
    "auction": {
        "catalogue": "wines@3",
        "items": {"count": 4, "matched": {"@1": 2, "@2": 1}},
        "bidders": [{"name": "Ann", "persona": "@1"}, {"name": "Ben", "persona": "@2"}],
    },
    "arms": [{"name": "one"}], "metrics": ["acquisition_rate"],
}  # fmt: skip


def test_the_personas_of_slots_and_the_matched_items_come_from_the_designs_own_catalogue(wines):
    first, second = (one.config for one in trials(Experiment(**DESIGN)))
    assert {first.catalogue, second.catalogue} == {"wines@3"}
    personas = [{bidder.name: next(iter(bidder.persona)) for bidder in one.bidders} for one in (first, second)]
    assert personas[0] == {"Ann": personas[1]["Ben"], "Ben": personas[1]["Ann"]}
    for config, of in zip((first, second), personas, strict=True):
        suits = [item.persona for item in config.items]
        assert (suits.count(of["Ann"]), suits.count(of["Ben"])) == (2, 1)


# ---------------------------------------------------------------- the command line


def test_personas_and_items_of_any_catalogue_are_listed(wines):
    personas = harbor("personas", "--catalogue", "wines", "--json")
    assert [one["id"] for one in json.loads(personas.stdout)] == ["collectors", "picnickers"]
    items = harbor("houses", "--catalogue", "wines@3", "--json")
    assert {one["persona"] for one in json.loads(items.stdout)} == {"collectors", "picnickers", "hosts"}
    assert "hosts-0" in harbor("houses", "--catalogue", "cellar:WINES").stdout
    assert mistake(harbor("personas", "--catalogue", "home")) == "unknown catalogue 'home'; did you mean 'homes'?"
