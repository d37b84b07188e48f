"""Harbor's catalogues: ten personas and forty houses, as published, and a second set with listings in other words."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from importlib.resources import files
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor._core.basics.errors import ConfigError
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.draws import MatchedItems, matched_sale
from harbor.evaluation._experiments.trials import trials
from harbor.personas import houses, personas
from harbor.personas._catalog.catalogue import HOMES, HOMES_LOW_OVERLAP, named_by_words, nearest_in_words, sample
from support.commands import harbor

# SPEC section 3: start and true value in $1000, in any order within a persona.
PRICES = {
    "First-Time Homebuyers": [(160, 400)] * 4,
    "Upgrade to a Larger Home": [(190, 475)] * 3 + [(180, 400)],
    "Downsizing": [(160, 400), (160, 400), (150, 375), (160, 400)],
    "Investment Buyers": [(180, 400), (180, 450), (170, 400), (180, 450)],
    "Relocation for Work": [(170, 425), (160, 400), (180, 450), (170, 425)],
    "Vacation Homes": [(200, 500), (220, 550), (200, 550), (230, 575)],
    "Eco-Conscious Buyers": [(160, 400), (180, 450), (170, 425), (180, 450)],
    "Urban Dwellers": [(150, 400), (160, 425), (150, 400), (150, 400)],
    "Rural Home Seekers": [(200, 500), (190, 475), (200, 500), (200, 500)],
    "Multigenerational Living": [(230, 575), (200, 525), (240, 600), (240, 600)],
}
NAMES = {entry.name: entry.id for entry in personas().values()}
EVERY = list(HOMES.items.values())
IDS = list(HOMES.personas)
SECOND = HOMES_LOW_OVERLAP.items
FOR_ONE = {key: item for key, item in SECOND.items() if len(item.suits) == 1}
FOR_TWO = {key: item for key, item in SECOND.items() if len(item.suits) == 2}
some = st.dictionaries(st.sampled_from(sorted(IDS)), st.integers(0, 4), min_size=1, max_size=4)


# ---------------------------------------------------------------- the catalog


def test_there_are_ten_personas_and_forty_houses_at_prices_as_published():
    assert (list(NAMES), len(EVERY)) == (list(PRICES), 40)
    for name, prices in PRICES.items():
        found = [(item.start, item.true_value) for item in EVERY if item.persona == NAMES[name]]
        assert Counter(found) == Counter((Decimal(1000 * start), Decimal(1000 * true)) for start, true in prices), name


def test_no_listing_and_no_persona_names_a_persona():
    houses = [*EVERY, *SECOND.values()]
    texts = [text for item in houses for text in (item.listing, item.name)] + [one.text for one in personas().values()]
    for text in texts:
        assert text.isprintable()
        assert not [word for name in NAMES.items() for word in name if word.casefold() in text.casefold()], text


def test_labels_are_kept_apart_from_the_texts():
    data = files("harbor.personas._catalog.data")
    first, second = (
        tomllib.loads((data / name).read_text("utf-8"))["houses"] for name in ("houses.toml", "houses-low-overlap.toml")
    )
    assert {key for entry in first for key in entry} == {"id", "name", "start", "true_value", "listing"}
    assert not any("persona" in entry for entry in second)
    labels = tomllib.loads((data / "labels.toml").read_text("utf-8"))
    assert set(labels) == {"persona_of"}
    assert set(labels["persona_of"]) == {entry["id"] for entry in first}
    assert set(labels["persona_of"].values()) == set(NAMES.values())


def test_the_catalog_order_does_not_tell_the_label():
    for every in (EVERY, SECOND.values()):
        neighbours = sum(one.persona == other.persona for one, other in pairwise(every))
        assert neighbours < 10  # in blocks of four there would be thirty


# ---------------------------------------------------------------- a sample


def test_equal_seeds_give_equal_sales_and_other_seeds_others():
    assert houses(10, seed=7) == houses(10, seed=7)
    assert len({tuple(item.name for item in houses(10, seed=seed)) for seed in range(20)}) == 20


@settings(max_examples=100)
@given(st.integers(0, 40), st.integers(0, 2**32))
def test_a_sample_is_as_large_as_demanded_and_without_repeats(count, seed):
    sale = houses(count, seed)
    assert len(sale) == len({item.name for item in sale}) == count
    assert set(sale) <= set(EVERY)


@settings(max_examples=150)
@given(some, st.integers(0, 10), st.integers(0, 2**32))
def test_matched_houses_are_exactly_as_many_as_demanded(matched, more, seed):
    sale = houses(sum(matched.values()) + more, seed, matched)
    found = Counter(item.persona for item in sale)
    assert {id: found[id] for id in matched} == matched  # noqa: A001
    assert len(sale) == len({item.name for item in sale}) == sum(matched.values()) + more


def test_matched_houses_stand_anywhere_in_the_order():
    samples = [houses(10, seed, {"downsizing": 2}) for seed in range(60)]
    places = {place for items in samples for place, item in enumerate(items) if item.persona == "downsizing"}
    assert places == set(range(10))


@pytest.mark.parametrize(("count", "matched", "shown"), [
    (41, None, ["41", "40"]),
    (10, {"downsizing": 5}, ["5", "'downsizing'", "4"]),
    (10, {"downsizing": -1}, ["-1", "'downsizing'"]),
    (3, {"downsizing": 2, "urban-dwellers": 2}, ["4", "3"]),
    (40, {"downsizing": 3}, ["37", "36"]),
    (10, {"downsizers": 1}, ["'downsizers'", "'downsizing'"]),
])  # fmt: skip
def test_more_houses_than_there_are_is_refused_in_one_line(count, matched, shown):
    with pytest.raises(ConfigError) as refusal:
        houses(count, 7, matched)
    assert str(refusal.value).isprintable()
    assert [part for part in shown if part not in str(refusal.value)] == []


# ---------------------------------------------------------------- the second set of houses


def test_forty_houses_have_the_personas_and_prices_of_the_first_set_six_suit_two_and_six_suit_nobody():
    first, second = (
        Counter((item.persona, item.start, item.true_value) for item in items.values())
        for items in (HOMES.items, FOR_ONE)
    )
    assert (HOMES_LOW_OVERLAP.personas, first) == (HOMES.personas, second)
    assert (len(SECOND), len(FOR_ONE), len(FOR_TWO)) == (52, 40, 6)
    assert {item.name for item in SECOND.values()}.isdisjoint(item.name for item in HOMES.items.values())


# ---------------------------------------------------------------- words


def test_shared_words_name_the_persona_of_every_house_of_the_first_set_and_of_few_of_the_second():
    assert named_by_words(HOMES) == (40, 40)
    nearest = nearest_in_words(HOMES_LOW_OVERLAP)
    assert sum(nearest.get(key) in item.suits for key, item in FOR_ONE.items()) <= 0.6 * len(FOR_ONE)
    assert named_by_words(HOMES_LOW_OVERLAP)[1] == 46


def test_a_listing_that_shares_no_word_with_any_persona_is_near_to_nobody():
    items = {"a": SECOND["upper-raven"].model_copy(update={"listing": "Xyzzy plugh."})}
    alone = replace(HOMES, items=items)
    assert nearest_in_words(alone) == {}
    assert named_by_words(alone) == (0, 1)


def test_the_listing_of_houses_says_how_far_words_alone_tell_the_label():
    shown = harbor("houses", "--catalogue", "homes").stdout
    assert shown.splitlines()[-1] == "Shared words alone name the persona of 40 of the 40 that suit somebody."
    rows = {row["id"]: row for row in json.loads(harbor("houses", "--catalogue", "homes-low-overlap", "--json").stdout)}
    assert rows["windmill-croft"]["persona"] == ["rural-home-seekers", "eco-conscious-buyers"]
    assert all(row["nearest_in_words"] in (None, *IDS) for row in rows.values())


# ---------------------------------------------------------------- samples


@given(
    st.integers(0, 2**32),
    st.lists(st.sampled_from(IDS), min_size=1, max_size=4, unique=True),
    st.integers(0, 4),
    st.integers(1, 6),
)
def test_a_house_that_suits_two_never_makes_a_match_too_many(seed, personas, each, more):
    matched = dict.fromkeys(personas, each)
    sale = sample(HOMES_LOW_OVERLAP, each * len(personas) + more, seed, matched)
    assert {one: sum(one in item.suits for item in sale) for one in personas} == matched
    wanted = MatchedItems(count=each * len(personas) + more, matched=matched)
    drawn = matched_sale(HOMES_LOW_OVERLAP, wanted, seed, {one: [one] for one in personas})
    assert {one: sum(one in item.suits for item in drawn) for one in personas} == matched


def test_the_set_of_houses_is_a_condition_under_which_seeds_and_personas_stay():
    bidders = [{"name": "Ann", "persona": "@1"}, {"name": "Ben", "persona": "@2"}]
    sets = {"high": "homes@1", "low": "homes-low-overlap@1"}
    told = {"name": "overlap", "title": "Overlap", "question": "How much of it is words?", "source": "nobody"}
    conditions = [{"name": name, "auction": {"catalogue": catalogue}} for name, catalogue in sets.items()]
    auction = {"items": {"count": 6, "matched": {"@1": 2, "@2": 2}}, "bidders": bidders}
    arms, metrics = [{"name": "one"}], ["acquisition_rate"]
    design = Experiment(**told, repeats=3, auction=auction, arms=arms, conditions=conditions, metrics=metrics)
    held = {(one.condition, one.repeat): one.config for one in trials(design)}
    for repeat in (1, 2, 3):
        high, low = held["high", repeat], held["low", repeat]
        assert (high.seed, high.bidders) == (low.seed, low.bidders)
        assert {item.name for item in low.items} <= {item.name for item in SECOND.values()}
        for bidder in low.bidders:
            assert sum(not {*bidder.persona}.isdisjoint(item.suits) for item in low.items) == 2
