"""Compares profiles by the built-in model with those by a regression and an inverse planner: `make results`.

All results are simulated. The unit is the sale, so the scores of its two rivals are averaged first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from harbor import Auction
from harbor._config.auction import Bidder, Item
from harbor._core.basics.numbers import stream
from harbor._core.log.log_entries import Entry
from harbor.evaluation._analysis.inverse_planner import inferred
from harbor.evaluation._analysis.means import Mean, mean_of
from harbor.evaluation._analysis.profiler import Profiler, best_temperature, train
from harbor.evaluation._analysis.statistics import paired
from harbor.evaluation._metrics.profiling import Judged, brier, divergence, hit, judged, last, overconfidence, truths
from harbor.personas._catalog import traits
from harbor.personas._catalog.catalogue import Catalogue

TRAINED = range(3000, 3030)
JUDGED = range(3100, 3160)
BUILT_IN, REGRESSION, PLANNER = "built-in model", "regression", "inverse planner"
BEST = "KL at the best temperature"
AGAINST = ((PLANNER, BUILT_IN), (REGRESSION, BUILT_IN))
SCORES = {
    "KL, nats": (divergence, "skewed", (0, float("inf"))),
    "top-1": (hit, "mean", (0, 1)),
    "Brier": (brier, "skewed", (0, 2)),
    "overconfidence": (overconfidence, "mean", (-1, 1)),
}
"""Each score with the kind of its interval and its bounds."""


def held_sale(catalogue: Catalogue, pool: tuple[str, ...], seed: int) -> tuple[Entry, ...]:
    """Sell ten houses that suit only personas of the pool, to two of these personas and a bidder that profiles them.

    The profiling bidder has no persona itself, and knows all personas of the catalogue.
    """
    others = {item.name for persona in set(catalogue.personas) - set(pool) for item in catalogue.suiting(persona)}
    suited = {item.name: item for persona in pool for item in catalogue.suiting(persona) if item.name not in others}
    items = stream(seed, "study").sample([Item.model_validate(house) for house in suited.values()], 10)
    rivals = [Bidder(f"Rival {step}", persona=pool[(seed + step) % len(pool)]) for step in (0, 2)]
    bidders = [Bidder("Master", theory_of_mind="inferred"), *rivals]
    return Auction(seed=seed, catalogue=catalogue.name, items=items, bidders=bidders).run().log


def regressed(profiler: Profiler, log: tuple[Entry, ...], texts: dict[str, str]) -> list[Judged]:
    """Return the regression's profile of each rival, beside the truth."""
    return [
        Judged("Master", rival, "", truth, traits.profile(profiler.profile(log, rival, texts)))
        for rival, truth in truths(log).items()
    ]


def by_sale(score: str, sales: Sequence[Sequence[Judged]]) -> list[float]:
    """Return the mean score of the profiles of each sale."""
    scored = SCORES[score][0]
    return [fmean(scored(one.truth, one.profile) for one in sale) for sale in sales]


def profiled(catalogue: Catalogue, trained: Iterable[int], seeds: Iterable[int]) -> dict[str, list[list[Judged]]]:
    """Return the profiles by sale for each profiler, all from the same sales of five personas and their houses.

    The regression is trained on the other five personas and their houses.
    """
    ids = tuple(catalogue.personas)
    known, held_out = ids[: len(ids) // 2], ids[len(ids) // 2 :]
    texts = {persona: one.text for persona, one in catalogue.personas.items()}
    profiler = train(
        [held_sale(catalogue, known, seed) for seed in trained], {persona: texts[persona] for persona in known}
    )
    logs = [held_sale(catalogue, held_out, seed) for seed in seeds]
    return {
        BUILT_IN: [last(judged(log)) for log in logs],
        REGRESSION: [regressed(profiler, log, texts) for log in logs],
        PLANNER: [last(inferred(log)) for log in logs],
    }


def score_of(score: str, sales: Sequence[Sequence[Judged]]) -> Mean:
    """Return the mean score of a profiler over sales."""
    _, kind, bounds = SCORES[score]
    return mean_of(by_sale(score, sales), kind, bounds)


def score_apart(score: str, sales: Sequence[Sequence[Judged]], others: Sequence[Sequence[Judged]]) -> Mean:
    """Return the mean difference in score between two profilers, paired by sale."""
    pairs = zip(by_sale(score, sales), by_sale(score, others), strict=True)
    return paired([mine - other for mine, other in pairs], SCORES[score][1]).difference


def at_best_temperature(sales: Sequence[Sequence[Judged]]) -> tuple[float, float]:
    """Return the least KL of profiles over all temperatures, and its temperature."""
    best = best_temperature([one for sale in sales for one in sale])
    return best.divergence, best.temperature
