"""The tables of RESULTS.md, from the analysis of each study. Intervals and p-values treat draws as the unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import profilers

from harbor._core.basics.numbers import counted
from harbor._core.plugins.finding import find, names
from harbor.evaluation._analysis.comparisons import Difference
from harbor.evaluation._analysis.findings import Estimate
from harbor.evaluation._analysis.levels import is_found
from harbor.evaluation._analysis.means import Mean
from harbor.evaluation._analysis.variance import VarianceShare
from harbor.evaluation._metrics.measurement import Unit
from harbor.evaluation._report.tabular.formatting import in_draws, unit_of, write, write_interval, write_p
from harbor.evaluation._report.tabular.loading import Loaded

Number = Difference | Estimate | Mean
Key = tuple[str, str]
"""The arms of a comparison."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def written(found: Number, unit: Unit) -> str:
    """Return a mean with its interval, or with the reason for a missing interval."""
    interval = write_interval(found.low, found.high, unit) or f"({found.note})"
    return f"{write(found.mean, unit)} {interval}"


def theory_of_mind(by_seed: Mapping[int, Loaded]) -> str:
    """Return Master's levels and differences at each seed, the evidence at each seed, and the others' changes."""
    levels = [
        [
            label,
            *(
                _estimated(one, arm, *what)
                for one in by_seed.values()
                for what in (("profit_ratio", "Master"), ("revenue", ""))
            ),
        ]
        for arm, label in _labels(by_seed).items()
    ]
    head = [f"{what}, seed {seed}" for seed in by_seed for what in ("Master's profit ratio", "revenue")]
    return "\n\n".join(
        [_counted(by_seed), table(["arm", *head], levels), planned(by_seed), shown(by_seed), beside(by_seed)]
    )


def memory(by_seed: Mapping[int, Loaded]) -> str:
    """Return the learner's profits by arm and auction, differences, and the rivals' gains and losses."""
    (results,) = by_seed.values()
    head = ["memory of the learner", "profit", *(f"auction {at}" for at in range(1, 6))]
    rows = [
        [
            label,
            _estimated(results, arm, "total_profit", "Learner"),
            *(_estimated(results, arm, "series_profit", "Learner", at, alone=True) for at in range(1, 6)),
        ]
        for arm, label in _labels(by_seed).items()
    ]
    return "\n\n".join([_counted(by_seed), table(head, rows), planned(by_seed), shown(by_seed), beside(by_seed)])


def planned(by_seed: Mapping[int, Loaded]) -> str:
    """Return the planned comparisons at each seed, with Holm's p-values."""
    found = {seed: _compared(results.analysis.differences) for seed, results in by_seed.items()}
    rows = [[_named(key), *(cell for one in found.values() for cell in _tested(one[key]))] for key in _keys(found)]
    head = [cell for seed in found for cell in (f"difference, seed {seed}", "p by Holm")]
    return table(["planned comparison", *head], rows)


def shown(by_seed: Mapping[int, Loaded]) -> str:
    """Say which differences are significant at all seeds, at some and at none."""
    found = [_compared(results.analysis.differences) for results in by_seed.values()]
    times = {key: sum(is_found(one[key].p_holm) for one in found) for key in found[0]}
    groups = {
        "at each seed": [key for key, count in times.items() if count == len(found)],
        "at one seed only": [key for key, count in times.items() if 0 < count < len(found)],
        "nowhere": [key for key, count in times.items() if not count],
    }
    return "\n".join(
        f"- Shown {where} at the 5 % level: {'; '.join(_named(key) for key in keys)}."
        for where, keys in groups.items()
        if keys
    )


def beside(by_seed: Mapping[int, Loaded]) -> str:
    """Return the others' gains and losses beside the planned comparisons, without p-values."""
    found = {
        (seed, bidder): _compared(one for one in results.analysis.companions if one.of.bidder == bidder)
        for seed, results in by_seed.items()
        for bidder in dict.fromkeys(str(one.of.bidder) for one in results.analysis.companions)
    }
    rows = [
        [_named(key), *(written(one[key], unit_of(one[key].metric)) for one in found.values())] for key in _keys(found)
    ]
    head = [f"{'mean of ' * ('rivals' in bidder)}{bidder}, seed {seed}" for seed, bidder in found]
    return table(["the others in the same comparisons", *head], rows)


def multiverse(by_seed: Mapping[int, Loaded]) -> str:
    """Return the shares of variance of each metric, and the means of the factor that explains most."""
    (results,) = by_seed.values()
    of_metric: dict[str, list[VarianceShare]] = {}
    for one in results.analysis.variance:
        if one.bidder in ("", "everyone"):
            of_metric.setdefault(one.metric, []).append(one)
    split = {metric: shares for metric, shares in of_metric.items() if shares[0].source}
    unsplit = [
        f"- No shares of {metric}: {shares[0].note}." for metric, shares in of_metric.items() if metric not in split
    ]
    sources = [one.source for one in next(iter(split.values()))]
    rows = [[source, *(_share(shares[place]) for shares in split.values())] for place, source in enumerate(sources)]
    sums = ["in all", *(write(sum(one.share or 0 for one in shares), "share") for shares in split.values())]
    said = [_factor(metric, shares) for metric, shares in split.items()]
    return "\n\n".join([_counted(by_seed), table(["source", *split], [*rows, sums]), "\n".join([*said, *unsplit])])


def profiles(trained: Sequence[int], judged: Sequence[int]) -> str:
    """Return the scores of the profilers and their differences, by catalogue."""
    found = [_scored(name, profilers.profiled(find("catalogue", name), trained, judged)) for name in names("catalogue")]
    told = f"Trained on {len(trained)} sales (seeds {trained[0]} to {trained[-1]}), judged on {len(judged)} others"
    return "\n\n".join([f"{told} (seeds {judged[0]} to {judged[-1]}).", *found])


def _scored(name: str, profiles: Mapping[str, list[list[profilers.Judged]]]) -> str:
    rows = [
        [score, *(written(profilers.score_of(score, sales), "nats") for sales in profiles.values())]
        for score in profilers.SCORES
    ]
    best = [profilers.at_best_temperature(sales) for sales in profiles.values()]
    rows.append([profilers.BEST, *(f"{kl:.3f} at {temperature:.2f}" for kl, temperature in best)])
    apart = [
        [
            score,
            *(
                written(profilers.score_apart(score, profiles[one], profiles[other]), "nats")
                for one, other in profilers.AGAINST
            ),
        ]
        for score in profilers.SCORES
    ]
    against = [f"{one} less {other}" for one, other in profilers.AGAINST]
    return "\n\n".join([table([f"`{name}`", *profiles], rows), table([f"`{name}`", *against], apart)])


def _labels(by_seed: Mapping[int, Loaded]) -> dict[str, str]:
    arms = next(iter(by_seed.values())).experiment.arms
    return {arm.name: f"`{arm.name}`: {arm.label}" for arm in arms}


def _named(key: Key) -> str:
    of, against = key
    return f"`{of}` less `{against}`"


def _counted(by_seed: Mapping[int, Loaded]) -> str:
    """Return the numbers of games and draws in words."""
    results = next(iter(by_seed.values()))
    most = max(results.analysis.estimates, key=lambda one: one.games)
    games = f"{counted(most.games, 'game')}{in_draws(most.games, most.draws)}"
    seeds = " and again from ".join(map(str, by_seed))
    return f"{len(results.experiment.arms)} arms, each of {games}, from seed {seeds}. Simulated."


def _keys(found: Mapping[object, Mapping[Key, Difference]]) -> Iterable[Key]:
    return next(iter(found.values()))


def _compared(found: Iterable[Difference]) -> dict[Key, Difference]:
    return {(str(one.of.arm), str(one.against.arm)): one for one in found}


def _tested(found: Difference) -> tuple[str, str]:
    return written(found, unit_of(found.metric)), write_p(found.p_holm)


def _estimated(results: Loaded, arm: str, metric: str, bidder: str, at: int | None = None, alone: bool = False) -> str:
    (found,) = (
        one
        for one in results.analysis.estimates
        if (one.arm, one.metric, one.bidder, one.at, one.about) == (arm, metric, bidder, at, "")
    )
    return write(found.mean, unit_of(metric)) if alone else written(found, unit_of(metric))


def _share(found: VarianceShare) -> str:
    return f"{write(found.share, 'share')} {write_interval(found.low, found.high, 'share')}".strip()


def _factor(metric: str, shares: Sequence[VarianceShare]) -> str:
    """Return the mean at each level of the factor that explains most."""
    most = max((one for one in shares if one.means), key=lambda one: one.share or 0)
    means = ", ".join(f"{level} {write(mean, unit_of(metric))}" for level, mean in most.means)
    return f"- Mean {metric} by {most.source}: {means}."
