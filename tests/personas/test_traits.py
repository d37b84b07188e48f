"""Profile vectors: shares of personas written as weights from -1 to 1, and read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor.personas._catalog.catalogue import personas
from harbor.personas._catalog.traits import profile, shares, truth

CATALOG = [*personas()]
weights = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=12).filter(lambda found: sum(found) > 1e-3)
distributions = weights.map(
    lambda found: {f"persona-{number}": weight / sum(found) for number, weight in enumerate(found)}
)
profiles = st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=12).map(
    lambda found: {f"persona-{number}": weight for number, weight in enumerate(found)}
)


# ---------------------------------------------------------------- laws


@given(distributions)
def test_shares_written_as_a_profile_are_read_back(distribution):
    assert shares(profile(distribution), distribution) == pytest.approx(distribution, abs=1e-9)


@given(distributions)
def test_a_profile_written_from_shares_lies_between_minus_one_and_one(distribution):
    assert all(-1 <= weight <= 1 for weight in profile(distribution).values())


@given(profiles)
def test_a_profile_is_read_as_shares_that_add_up_to_one(weights):
    found = shares(weights, weights)
    assert sum(found.values()) == pytest.approx(1)
    assert all(0 <= share <= 1 for share in found.values())


@given(distributions)
def test_the_order_of_shares_is_the_order_of_weights(distribution):
    written = profile(distribution)
    for one in distribution:
        for other in distribution:
            assert distribution[one] >= distribution[other] or written[one] <= written[other]


# ---------------------------------------------------------------- worked numbers


@pytest.mark.parametrize("nothing", [{}, dict.fromkeys(CATALOG, 0.0), dict.fromkeys(CATALOG, 0.7)], ids=str)
def test_a_profile_that_prefers_nothing_is_uniform(nothing):
    assert shares(nothing, CATALOG) == pytest.approx(dict.fromkeys(CATALOG, 0.1))


def test_a_profile_that_rules_everything_out_is_uniform():
    assert shares(dict.fromkeys(CATALOG, -1.0), CATALOG) == dict.fromkeys(CATALOG, 0.1)


def test_a_uniform_distribution_is_written_as_nothing():
    assert profile(dict.fromkeys(CATALOG, 0.1)) == pytest.approx(dict.fromkeys(CATALOG, 0.0))


def test_a_certain_persona_is_written_as_one_and_all_others_as_minus_one():
    assert profile({"a": 1.0, "b": 0.0, "c": 0.0}) == {"a": 1.0, "b": -1.0, "c": -1.0}


def test_two_certain_personas_are_written_as_one_each():
    assert profile({"a": 0.5, "b": 0.5, "c": 0.0, "d": 0.0, "e": 0.0}) == {"a": 1, "b": 1, "c": -1, "d": -1, "e": -1}


def test_weights_are_shifted_by_one_and_normalised():
    assert shares({"a": 0.5, "b": -0.5, "c": 0.0}, ["a", "b", "c"]) == pytest.approx(
        {"a": 1 / 2, "b": 1 / 6, "c": 1 / 3}
    )


def test_a_weight_for_no_persona_of_the_catalog_does_not_count():
    assert shares({"a": 1.0, "stranger": 1.0}, ["a", "b"]) == pytest.approx({"a": 2 / 3, "b": 1 / 3})


def test_the_truth_of_one_persona_is_one_hot():
    assert truth({"b": 1.0}, ["a", "b", "c"]) == {"a": 0.0, "b": 1.0, "c": 0.0}


def test_the_truth_of_two_personas_is_a_half_each():
    assert truth({"a": 0.5, "c": 0.5}, ["a", "b", "c"]) == {"a": 0.5, "b": 0.0, "c": 0.5}


def test_the_truth_of_a_bidder_without_a_persona_is_all_zeros():
    assert truth({}, ["a", "b"]) == {"a": 0.0, "b": 0.0}
