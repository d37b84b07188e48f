"""How profiles of the built-in model compare with those of a regression and of an inverse planner: `make studies`.

All results are simulated. The unit is the sale: both its rivals are averaged first.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import pytest

from harbor import Auction
from harbor._config.auction import Bidder, Item
from harbor._core.finding import find, names
from harbor._core.log_lines import Entry
from harbor._core.seeding import stream
from harbor.evaluation._analysis.calibration import best_temperature, calibration_error
from harbor.evaluation._analysis.inverse_metrics import inferred
from harbor.evaluation._analysis.means import Mean, mean_of
from harbor.evaluation._analysis.profiler import Profiler, train
from harbor.evaluation._analysis.statistics import paired
from harbor.evaluation._metrics.profiling import Judged, brier, divergence, hit, judged, last, overconfidence, truths
from harbor.personas._catalog import traits
from harbor.personas._catalog.catalogue import Catalogue

TRAINED = range(3000, 3030)
JUDGED = range(3100, 3160)
SCORES = {
    "KL, nats": (divergence, "skewed", (0, float("inf"))),
    "top-1": (hit, "mean", (0, 1)),
    "Brier": (brier, "skewed", (0, 2)),
    "overconfidence": (overconfidence, "mean", (-1, 1)),
}
"""Each score with the kind of its interval and its bounds."""


def held_sale(catalogue: Catalogue, pool: tuple[str, ...], seed: int) -> tuple[Entry, ...]:
    """Ten houses that suit personas of the pool and of no other, sold to two of these, before a bidder that profiles.

    The profiling bidder has no persona itself, and knows all personas of the catalogue.
    """
    others = {item.name for persona in set(catalogue.personas) - set(pool) for item in catalogue.suiting(persona)}
    suited = {item.name: item for persona in pool for item in catalogue.suiting(persona) if item.name not in others}
    items = stream(seed, "study").sample([Item.model_validate(house) for house in suited.values()], 10)
    rivals = [Bidder(f"Rival {step}", persona=pool[(seed + step) % len(pool)]) for step in (0, 2)]
    bidders = [Bidder("Master", theory_of_mind="inferred"), *rivals]
    return Auction(seed=seed, catalogue=catalogue.name, items=items, bidders=bidders).run().log


def regressed(profiler: Profiler, log: tuple[Entry, ...], texts: dict[str, str]) -> list[Judged]:
    """What the regression makes of each rival, beside the truth."""
    return [
        Judged("Master", rival, "", truth, traits.profile(profiler.profile(log, rival, texts)))
        for rival, truth in truths(log).items()
    ]


def by_sale(score: str, sales: Sequence[Sequence[Judged]]) -> list[float]:
    """The mean score of the profiles of each sale."""
    scored = SCORES[score][0]
    return [fmean(scored(one.truth, one.profile) for one in sale) for sale in sales]


def shown(found: Mean) -> str:
    if found.low is None:
        return f"{found.mean:.3f} ({found.note})"
    return f"{found.mean:.3f} ({found.low:.3f} to {found.high:.3f}; n = {found.n}, {found.method})"


@pytest.mark.parametrize("name", names("catalogue"))
def test_profilers_beside_each_other(benchmark, figure, name):
    """On the same sales of five personas and their houses; the regression is trained on the other five and theirs."""
    catalogue: Catalogue = find("catalogue", name)
    ids = tuple(catalogue.personas)
    known, held_out = ids[: len(ids) // 2], ids[len(ids) // 2 :]
    texts = {persona: one.text for persona, one in catalogue.personas.items()}
    trained = train(
        [held_sale(catalogue, known, seed) for seed in TRAINED], {persona: texts[persona] for persona in known}
    )
    logs = benchmark.pedantic(lambda: [held_sale(catalogue, held_out, seed) for seed in JUDGED], rounds=1)
    profilers = {
        "built-in model": [last(judged(log)) for log in logs],
        "regression": [regressed(trained, log, texts) for log in logs],
        "inverse planner": [last(inferred(log)) for log in logs],
    }
    for profiler, sales in profilers.items():
        for score, (_, kind, bounds) in SCORES.items():
            values = by_sale(score, sales)
            figure(f"{name}, {profiler}: {score}", "", shown(mean_of(values, kind, bounds)))
            against = by_sale(score, profilers["built-in model"])
            less = [mine - other for mine, other in zip(values, against, strict=True)]
            if profiler != "built-in model":
                figure(f"{name}, {profiler} less built-in model: {score}", "", shown(paired(less, kind).difference))
        every = [one for sale in sales for one in sale]
        best = best_temperature(every)
        figure(f"{name}, {profiler}: expected calibration error", "", f"{calibration_error(every):.3f}")
        figure(
            f"{name}, {profiler}: KL at the best temperature", "", f"{best.divergence:.3f} at {best.temperature:.2f}"
        )
