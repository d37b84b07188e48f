"""Profile vectors: shares of personas written as weights from -1 to 1, and read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from harbor.personas import houses, personas
from harbor.personas._catalog.traits import FULL_FIT, fit, foremost, profile, shares, truth

weights = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=12).filter(lambda found: sum(found) > 1e-3)
distributions = weights.map(lambda found: {f"persona-{n}": weight / sum(found) for n, weight in enumerate(found)})
profiles = st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=12).map(
    lambda found: {f"persona-{number}": weight for number, weight in enumerate(found)}
)
told = [*(one.text for one in personas().values()), *(house.listing for house in houses())]
texts = st.one_of(
    st.sampled_from(told),
    st.lists(st.sampled_from([*sorted(ENGLISH_STOP_WORDS), "Sea", "sea-view", "2", "é", "attic"])).map(" ".join),
)
TEN = "abcdefghij"
UNIFORM = dict.fromkeys(TEN, 0.1)


@given(distributions)
def test_shares_written_as_a_profile_between_minus_one_and_one_in_their_order_are_read_back(distribution):
    written = profile(distribution)
    assert shares(written, distribution) == pytest.approx(distribution, abs=1e-9)
    assert all(-1 <= weight <= 1 for weight in written.values())
    for one in distribution:
        for other in distribution:
            assert distribution[one] >= distribution[other] or written[one] <= written[other]


@given(profiles)
def test_a_profile_is_read_as_shares_that_add_up_to_one(weights):
    found = shares(weights, weights)
    assert sum(found.values()) == pytest.approx(1)
    assert all(0 <= share <= 1 for share in found.values())


def test_the_shares_of_a_profile_are_those_worked_by_hand():
    for weights, among, found in (
        *((nothing, TEN, UNIFORM) for nothing in ({}, dict.fromkeys(TEN, 0.7), dict.fromkeys(TEN, -1.0))),
        ({"a": 0.5, "b": -0.5, "c": 0.0}, "abc", {"a": 1 / 2, "b": 1 / 6, "c": 1 / 3}),
        ({"a": 1.0, "stranger": 1.0}, "ab", {"a": 2 / 3, "b": 1 / 3}),
    ):
        assert shares(weights, among) == pytest.approx(found)


@pytest.mark.parametrize(("distribution", "written"), [
    (UNIFORM, dict.fromkeys(TEN, 0.0)),
    ({"a": 1.0, "b": 0.0, "c": 0.0}, {"a": 1.0, "b": -1.0, "c": -1.0}),
    ({"a": 0.5, "b": 0.5, "c": 0.0, "d": 0.0, "e": 0.0}, {"a": 1, "b": 1, "c": -1, "d": -1, "e": -1}),
], ids=["uniform", "one", "two"])  # fmt: skip
def test_the_profile_of_shares_is_that_worked_by_hand(distribution, written):
    assert profile(distribution) == pytest.approx(written)


@pytest.mark.parametrize("persona", [{}, {"b": 1.0}, {"a": 0.5, "c": 0.5}], ids=str)
def test_the_truth_is_the_mix_of_a_bidder_and_zero_for_all_other_personas(persona):
    assert truth(persona, ["a", "b", "c"]) == {"a": 0.0, "b": 0.0, "c": 0.0} | persona


@given(texts, texts)
def test_a_listing_suits_tastes_as_far_as_the_word_counts_of_scikit_learn_are_alike(tastes, listing):
    words = CountVectorizer(stop_words="english", token_pattern="[a-z]{3,}")
    counts = words.fit([tastes, listing, "attic"]).transform([tastes, listing]).sqrt()
    likeness = cosine_similarity(counts)[0, 1] if listing else FULL_FIT / 2
    assert fit({tastes: 1.0}, listing) == pytest.approx(min(1, likeness / FULL_FIT))


def test_tastes_count_by_their_shares_and_nobody_knows_what_suits_without_tastes_or_listing():
    assert fit({"attic": 9.0, "sea": 1.0}, "By the sea") == pytest.approx(1 / 10 / FULL_FIT)
    assert fit({}, "By the sea") == fit({"attic": 1.0}, "") == 1 / 2


def test_the_foremost_persona_has_the_largest_weight_and_one_above_zero():
    assert foremost({"a": 0.1, "b": 0.3, "c": -1.0}) == "b"
    assert [foremost(weights) for weights in ({}, {"a": 0.0}, {"a": -0.5})] == [""] * 3
