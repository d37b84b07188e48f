"""How sure profiles are and how often they are right: per game by metrics, over all games by calibration."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor.evaluation._analysis.profiler import best_temperature, calibration_error, tempered
from harbor.evaluation._metrics.profiling import Judged, brier, divergence, hit, overconfidence
from harbor.personas._catalog import traits

ABC = ("a", "b", "c")


def truth(persona: str) -> dict[str, float]:
    return traits.truth({persona: 1.0}, ABC)


def judgement(persona: str, *shares: float) -> Judged:
    return Judged("Ann", "Ben", "Loft", truth(persona), traits.profile(dict(zip(ABC, shares, strict=True))))


def mixed(profile: dict[str, float]) -> Judged:
    """Return a judgement of a rival that is half of one persona and half of another."""
    return Judged("Ann", "Ben", "Loft", {"a": 0.5, "b": 0.5, "c": 0.0}, profile)


# ---------------------------------------------------------------- scores of one profile


@pytest.mark.parametrize(("score", "judged", "worked"), [
    (hit, judgement("a", 0.4, 0.3, 0.3), 1), (hit, judgement("b", 0.4, 0.3, 0.3), 0),
    (hit, judgement("a", 0.4, 0.4, 0.2), 0),  # a tie is no answer
    (hit, mixed({"a": 0.2, "b": 0.9, "c": -1.0}), 1),  # of a mix either persona is a hit
    (brier, judgement("a", 0.5, 0.3, 0.2), 0.25 + 0.09 + 0.04),  # the sum of squared differences
    (brier, judgement("a", 1.0, 0.0, 0.0), 0), (brier, judgement("b", 1.0, 0.0, 0.0), 2),
    (overconfidence, judgement("a", 0.7, 0.2, 0.1), -0.3),  # the largest share less what is true of it
    (overconfidence, judgement("b", 0.7, 0.2, 0.1), 0.7), (overconfidence, judgement("a", 1 / 3, 1 / 3, 1 / 3), 0),
    (overconfidence, mixed(traits.profile({"a": 0.6, "b": 0.4, "c": 0.0})), 0.1),
])  # fmt: skip
def test_a_profile_has_the_score_worked_by_hand(score, judged, worked):
    assert score(judged.truth, judged.profile) == pytest.approx(worked)


# ---------------------------------------------------------------- calibration over all games

SEVEN_OF_TEN = [judgement("a" if number < 7 else "b", 0.7, 0.2, 0.1) for number in range(10)]


def test_the_calibration_error_is_the_mean_over_bins_of_the_gap_in_each():
    assert calibration_error(SEVEN_OF_TEN) == pytest.approx(0)
    # In the bin of 0.7: 10 profiles, right; in that of 0.9: 2 of which 1 is right, so 0.4 too sure.
    sure = [judgement("a", 0.9, 0.05, 0.05), judgement("b", 0.9, 0.05, 0.05)]
    assert calibration_error([*SEVEN_OF_TEN, *sure]) == pytest.approx(2 / 12 * 0.4)
    short, long = judgement("a", 0.62, 0.3, 0.08), judgement("b", 0.62, 0.3, 0.08)
    assert calibration_error([short, long]) == pytest.approx(0.12)  # gaps of one bin cancel, those of two do not
    assert calibration_error([short, judgement("b", 0.82, 0.1, 0.08)]) == pytest.approx((0.38 + 0.82) / 2)
    with pytest.raises(ValueError, match="there is no profile to calibrate"):
        calibration_error([])


def test_the_best_temperature_of_too_timid_profiles_undoes_their_timidity_and_is_no_farther_from_the_truth():
    best = best_temperature(SEVEN_OF_TEN)
    found = best_temperature([one._replace(profile=tempered(one, 3.0)) for one in SEVEN_OF_TEN])
    assert found.temperature == pytest.approx(best.temperature / 3, rel=0.02)
    assert found.divergence == pytest.approx(best.divergence, rel=1e-3)
    plain = sum(divergence(one.truth, one.profile) for one in SEVEN_OF_TEN) / len(SEVEN_OF_TEN)
    assert best.divergence <= plain + 1e-6


@given(st.floats(0.05, 20), st.lists(st.floats(0.01, 1), min_size=3, max_size=3))
def test_a_temperature_keeps_the_order_of_personas(temperature, weights):
    one = judgement("a", *(weight / math.fsum(weights) for weight in weights))
    before, after = (traits.shares(profile, ABC) for profile in (one.profile, tempered(one, temperature)))
    assert all(after[x] >= after[y] - 1e-9 for x in ABC for y in ABC if before[x] >= before[y])
