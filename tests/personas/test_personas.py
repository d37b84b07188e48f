"""The catalogue: ten personas and forty houses, as published in number and price, with labels apart from texts."""

from __future__ import annotations

import tomllib
from collections import Counter
from decimal import Decimal
from importlib.resources import files
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor._core.basics.errors import ConfigError
from harbor.personas._catalog.catalogue import HOMES, houses, personas

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
some = st.dictionaries(st.sampled_from(sorted(NAMES.values())), st.integers(0, 4), min_size=1, max_size=4)


# ---------------------------------------------------------------- the catalog


def test_there_are_ten_personas_and_forty_houses_four_for_each():
    assert list(NAMES) == list(PRICES)
    assert Counter(item.persona for item in EVERY) == dict.fromkeys(NAMES.values(), 4)


def test_prices_are_as_published():
    for name, prices in PRICES.items():
        found = [(item.start, item.true_value) for item in EVERY if item.persona == NAMES[name]]
        assert Counter(found) == Counter((Decimal(1000 * start), Decimal(1000 * true)) for start, true in prices), name


def test_no_listing_and_no_persona_names_a_persona():
    texts = [text for item in EVERY for text in (item.listing, item.name)] + [one.text for one in personas().values()]
    for text in texts:
        assert text.isprintable()
        assert not [word for name in NAMES.items() for word in name if word.casefold() in text.casefold()], text


def test_labels_are_kept_apart_from_the_texts():
    data = files("harbor.personas._catalog.data")
    listed = tomllib.loads((data / "houses.toml").read_text("utf-8"))["houses"]
    assert {key for entry in listed for key in entry} == {"id", "name", "start", "true_value", "listing"}
    labels = tomllib.loads((data / "labels.toml").read_text("utf-8"))
    assert set(labels) == {"persona_of"}
    assert set(labels["persona_of"]) == {entry["id"] for entry in listed}
    assert set(labels["persona_of"].values()) == set(NAMES.values())


def test_the_catalog_order_does_not_tell_the_label():
    neighbours = sum(one.persona == other.persona for one, other in pairwise(EVERY))
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
