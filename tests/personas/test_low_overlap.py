"""The second set of houses: the same prices, listings that share few words with personas, two buyers or none."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.draws import MatchedItems, matched_sale
from harbor.evaluation._experiments.trials import trials
from harbor.personas._catalog.catalogue import HOMES, HOMES_LOW_OVERLAP, named_by_words, nearest_in_words, sample
from support.commands import harbor

EVERY = HOMES_LOW_OVERLAP.items
FOR_ONE = {key: item for key, item in EVERY.items() if len(item.suits) == 1}
FOR_TWO = {key: item for key, item in EVERY.items() if len(item.suits) == 2}
PERSONAS = list(HOMES.personas)


def test_forty_houses_have_the_personas_and_prices_of_the_first_set_six_suit_two_and_six_suit_nobody():
    first, second = (
        Counter((item.persona, item.start, item.true_value) for item in items.values())
        for items in (HOMES.items, FOR_ONE)
    )
    assert (HOMES_LOW_OVERLAP.personas, first) == (HOMES.personas, second)
    assert (len(EVERY), len(FOR_ONE), len(FOR_TWO)) == (52, 40, 6)
    assert {item.name for item in EVERY.values()}.isdisjoint(item.name for item in HOMES.items.values())
    names = [one.name.casefold() for one in HOMES.personas.values()]
    assert not [item for item in EVERY.values() for name in names if name in item.listing.casefold()]


def test_the_order_does_not_tell_the_label_and_labels_are_apart():
    assert sum(one.persona == other.persona for one, other in pairwise(EVERY.values())) < 10
    data = files("harbor.personas._catalog.data")
    listed = tomllib.loads((data / "houses-low-overlap.toml").read_text("utf-8"))["houses"]
    assert not any("persona" in entry for entry in listed)


# ---------------------------------------------------------------- words


def test_shared_words_name_the_persona_of_every_house_of_the_first_set_and_of_few_of_the_second():
    assert named_by_words(HOMES) == (40, 40)
    nearest = nearest_in_words(HOMES_LOW_OVERLAP)
    assert sum(nearest.get(key) in item.suits for key, item in FOR_ONE.items()) <= 0.6 * len(FOR_ONE)
    assert named_by_words(HOMES_LOW_OVERLAP)[1] == 46


def test_a_listing_that_shares_no_word_with_any_persona_is_near_to_nobody():
    items = {"a": EVERY["upper-raven"].model_copy(update={"listing": "Xyzzy plugh."})}
    alone = replace(HOMES, items=items)
    assert nearest_in_words(alone) == {}
    assert named_by_words(alone) == (0, 1)


def test_the_listing_of_houses_says_how_far_words_alone_tell_the_label():
    shown = harbor("houses", "--catalogue", "homes").stdout
    assert shown.splitlines()[-1] == "Shared words alone name the persona of 40 of the 40 that suit somebody."
    rows = {row["id"]: row for row in json.loads(harbor("houses", "--catalogue", "homes-low-overlap", "--json").stdout)}
    assert rows["windmill-croft"]["persona"] == ["rural-home-seekers", "eco-conscious-buyers"]
    assert all(row["nearest_in_words"] in (None, *PERSONAS) for row in rows.values())


# ---------------------------------------------------------------- samples


@given(
    st.integers(0, 2**32),
    st.lists(st.sampled_from(PERSONAS), min_size=1, max_size=4, unique=True),
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
    auction = {
        "items": {"count": 6, "matched": {"@1": 2, "@2": 2}},
        "bidders": [{"name": "Ann", "persona": "@1"}, {"name": "Ben", "persona": "@2"}],
    }
    sets = {"high": "homes@1", "low": "homes-low-overlap@1"}
    told = {"name": "overlap", "title": "Overlap", "question": "How much of it is words?", "source": "nobody"}
    design = Experiment(
        **told,
        repeats=3,
        auction=auction,
        arms=[{"name": "one"}],
        conditions=[{"name": name, "auction": {"catalogue": catalogue}} for name, catalogue in sets.items()],
        metrics=["acquisition_rate"],
    )
    held = {(one.condition, one.repeat): one.config for one in trials(design)}
    for repeat in (1, 2, 3):
        high, low = held["high", repeat], held["low", repeat]
        assert (high.seed, high.bidders) == (low.seed, low.bidders)
        assert {item.name for item in low.items} <= {item.name for item in EVERY.values()}
        for bidder in low.bidders:
            assert sum(not {*bidder.persona}.isdisjoint(item.suits) for item in low.items) == 2
