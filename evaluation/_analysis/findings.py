"""The analysis of an experiment: estimates with intervals, planned comparisons, correlations and ratings.

The unit of analysis is the independent random draw: the values of one game (of bidders, items, days) are averaged, and
games that share a draw are one cluster.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import pandas as pd

from harbor.evaluation._analysis.comparisons import ONE_DRAW_ONLY, Difference, bounds_in, companions, differences
from harbor.evaluation._analysis.correlations import Correlation, correlations
from harbor.evaluation._analysis.frames import CELL, QUANTITY, frame, game_values, measurements
from harbor.evaluation._analysis.means import Mean, Method, clustered_mean, counted_share, mean_of, share_of
from harbor.evaluation._analysis.ratings import SkillRating, ratings
from harbor.evaluation._analysis.variance import Spread, VarianceShare, spreads, variance_shares
from harbor.evaluation._experiments.design import EVERYONE, measured
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._metrics.measurement import Bounds, metric_of

Cell = tuple[str, str]
"""An arm under a condition."""
Quantity = tuple[str, str, str, int | None]
"""A quantity in a cell: metric, bidder, about, at."""
Over = Literal["games", "values"]
GAMES: Over = "games"
UNMEASURED = "not measured in this game"


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of a metric over the games of an arm under a condition, with a 95 % interval.

    `bidder` is a name, "everyone" (the mean over the bidders of each game), or "" for a value of the game. `about` and
    `at` are as in a measurement. A metric that has values only at positions also has an estimate over all positions
    (`at` is None), and a metric that is only about rivals also has the mean over rivals (`about` is empty).

    `over` names the unit that counts once in the mean: "games", each with its own mean, or "values", so that games with
    many bids, answers or positions count more. `draws` is the number of independent random draws of the games, which
    are the unit of the interval. If there is no interval, `low` and `high` are None and `note` says why. `missing` is
    the number of games without a value, including failed games, and `why` lists each reason with its number.
    """

    metric: str
    arm: str
    condition: str
    bidder: str
    about: str
    at: int | None
    over: Over
    games: int
    missing: int
    why: tuple[str, ...]
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    method: Method
    note: str = ""
    draws: int = 0


def estimates(results: Results, table: pd.DataFrame, values: pd.DataFrame) -> Iterator[Estimate]:
    """Estimate every quantity of every cell; a metric without any value is listed without a number.

    With one value per draw, the metric sets the interval: t, t and Hall's t for skewed values, or Wilson. With several
    values per draw (games that share it, bids, or all places together), each counts once and the interval is
    cluster-robust. Shares of counts are shares of all that was counted in all games. No interval leaves the bounds of
    the metric's unit: a share ends at 0 and 1, a rank at 1 and the number of bidders.

    Args:
        results: the records.
        table: their `frame`.
        values: its `measurements`.
    """
    bidders = {bidder for game in results.records for bidder, _ in game.players}
    answers, reasons = _answers(values, bidders), _reasons(table)
    metrics = measured(results.experiment)
    for arm, condition in results.experiment.cells:
        cell = (arm.name, condition.name)
        games = [game for game in results.records if (game.arm, game.condition) == cell]
        found, why = answers.get(cell, {}), {game.repeat: reasons.get((*cell, game.repeat), {}) for game in games}
        unanswered = {quantity for told in why.values() for quantity in told if quantity[1]}
        for quantity in _sorted({*found, *unanswered}, metrics):
            bounds = bounds_in(results, quantity[0], *cell)
            yield _estimate(cell, quantity, bounds, found.get(quantity), _missing(quantity, games, found, why))


def _answers(values: pd.DataFrame, bidders: set[str]) -> dict[Cell, dict[Quantity, pd.DataFrame]]:
    """Group values by cell and quantity; add the quantities over all places and over rivals."""
    answers: dict[Cell, dict[Quantity, pd.DataFrame]] = {}
    pooled = pd.concat([values, _over_places(values), _over_rivals(values, bidders)])
    for (arm, condition, *quantity), rows in pooled.groupby([*CELL, *QUANTITY], dropna=False, sort=False):
        answers.setdefault((str(arm), str(condition)), {})[_quantity(*quantity)] = rows
    return answers


def _over_places(values: pd.DataFrame) -> pd.DataFrame:
    """Pool the places of a metric that is measured at several places and never for the whole game."""
    whole = [*CELL, "metric", "bidder", "about"]
    places = values.groupby(whole)["at"].agg(["count", "size", "nunique"]).reset_index()
    only = places[(places["count"] == places["size"]) & (places["nunique"] > 1)]
    return values.merge(only[whole], on=whole).assign(at=None).astype({"at": "Int64"})


def _over_rivals(values: pd.DataFrame, bidders: set[str]) -> pd.DataFrame:
    """Average the values that are only about single rivals over rivals, one value per game."""
    whole, unplaced = [*CELL, "metric", "bidder"], values[values["at"].isna()]
    of_rival = unplaced["about"].isin(bidders)
    only = of_rival.groupby([unplaced[name] for name in whole]).all().reset_index()
    return game_values(unplaced.merge(only[only["about"]][whole], on=whole).assign(about=""))


def _reasons(table: pd.DataFrame) -> dict[tuple[str, str, int], dict[Quantity, str]]:
    """Return the reason for each missing value, by game."""
    reasons: dict[tuple[str, str, int], dict[Quantity, str]] = {}
    unknown = table[table["value"].isna()]
    for arm, condition, repeat, *quantity, why in unknown[[*CELL, "repeat", *QUANTITY, "missing"]].itertuples(False):
        reasons.setdefault((arm, condition, repeat), {})[_quantity(*quantity)] = why
    return reasons


def _quantity(metric: object, bidder: object, about: object, at: Any) -> Quantity:
    return str(metric), str(bidder), str(about), None if pd.isna(at) else int(at)


def _sorted(asked: set[Quantity], metrics: Sequence[str]) -> list[Quantity]:
    """Sort quantities in the order of the metrics; each metric has at least one quantity of the game or of everyone."""
    of_all = {metric for metric, bidder, _, _ in asked if bidder in (EVERYONE, "")}
    asked |= {(metric, EVERYONE, "", None) for metric in metrics if metric not in of_all}
    return sorted(
        asked, key=lambda one: (metrics.index(one[0]), one[1] != EVERYONE, one[1], _natural(one[2]), one[3] or 0)
    )


def _natural(text: str) -> list[tuple[float, str]]:
    """Return a key that sorts the numbers in texts by value."""
    return [(float(part) if part.isdecimal() else 0.0, part) for part in re.split(r"(\d+)", text)]


def _missing(
    quantity: Quantity,
    games: Iterable[TrialRecord],
    found: Mapping[Quantity, pd.DataFrame],
    why: Mapping[int, Mapping[Quantity, str]],
) -> Counter[str]:
    """Count the games without a value, by reason."""
    measured_in = set(found[quantity]["repeat"]) if quantity in found else set()
    return Counter(_reason(game, quantity, why[game.repeat]) for game in games if game.repeat not in measured_in)


def _reason(game: TrialRecord, quantity: Quantity, told: Mapping[Quantity, str]) -> str:
    """Return the reason for a missing value: an unfinished game, or the reason of the quantity, bidder or metric."""
    if game.status != "finished":
        return ": ".join(filter(None, (game.status, game.detail)))
    metric, bidder, _, _ = quantity
    of_metric = [why for (name, *_), why in told.items() if name == metric]
    said = [told.get(quantity), told.get((metric, bidder, "", None)), told.get((metric, "", "", None))]
    return next(filter(None, [*said, *(of_metric if bidder == EVERYONE else [])]), UNMEASURED)


def _estimate(
    cell: Cell, quantity: Quantity, bounds: Bounds, rows: pd.DataFrame | None, missing: Counter[str]
) -> Estimate:
    metric, bidder, about, at = quantity
    mean, over = _mean(quantity, bounds, rows) if rows is not None else (mean_of([]), GAMES)
    return Estimate(
        metric,
        *cell,
        bidder,
        about,
        at,
        over=over,
        games=0 if rows is None else rows["repeat"].nunique(),
        missing=missing.total(),
        why=tuple(f"{reason} ({count})" for reason, count in sorted(missing.items())),
        mean=mean.mean,
        sd=mean.sd,
        low=mean.low,
        high=mean.high,
        method=mean.method,
        note=mean.note,
        draws=0 if rows is None else rows["draw"].nunique(),
    )


def _mean(quantity: Quantity, bounds: Bounds, rows: pd.DataFrame) -> tuple[Mean, Over]:
    """Return the mean of a quantity, and the unit that counts once in it."""
    kind, values, draws = metric_of(quantity[0]).interval, rows["value"].to_numpy(), rows["draw"].to_numpy()
    over: Over = "games" if rows["repeat"].is_unique else "values"
    if rows["counted"].notna().all():
        return _counted(rows), "values" if (rows.groupby("repeat")["counted"].sum() > 1).any() else "games"
    if kind == "binary" and over == "games" and quantity[1] != EVERYONE and set(values) <= {0, 1}:
        return _yes_or_no(rows), over  # a mean over rivals is not binary
    if kind == "binary":
        kind = "mean"
    if rows["draw"].is_unique:
        return mean_of(values, kind, bounds), over
    return _of_one_draw(clustered_mean(values, draws, kind, bounds), rows), over


def _counted(rows: pd.DataFrame) -> Mean:
    """Return the share of all that was counted, with draws as the unit."""
    whole = rows.assign(total=rows["value"] * rows["counted"]).groupby("draw")[["total", "counted"]].sum().to_numpy()
    return _of_one_draw(counted_share(whole[:, 0] / whole[:, 1], whole[:, 1]), rows)


def _yes_or_no(rows: pd.DataFrame) -> Mean:
    """Return the share of games with a yes; games that share a draw are one cluster."""
    return share_of(rows["value"].to_numpy()) if rows["draw"].is_unique else _counted(rows.assign(counted=1.0))


def _of_one_draw(found: Mean, rows: pd.DataFrame) -> Mean:
    """Replace the note if several games are all of one draw."""
    alone = rows["draw"].nunique() == 1 < rows["repeat"].nunique()
    return replace(found, note=ONE_DRAW_ONLY) if alone else found


__all__ = ["Analysis", "Correlation", "Difference", "Estimate", "SkillRating", "Spread", "VarianceShare", "analyse"]


class Analysis:
    """All statistics of an experiment; each is computed at its first use."""

    def __init__(self, results: Results) -> None:
        self._results = results

    @cached_property
    def table(self) -> pd.DataFrame:
        """All measurements, one row each."""
        return frame(self._results)

    @cached_property
    def values(self) -> pd.DataFrame:
        """The measurements that have a value, and the means over the bidders of each game ("everyone")."""
        return measurements(self.table)

    @cached_property
    def estimates(self) -> tuple[Estimate, ...]:
        """The estimates in each arm under each condition."""
        return tuple(estimates(self._results, self.table, self.values))

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The planned comparisons."""
        return differences(self._results, self.values)

    @cached_property
    def correlations(self) -> tuple[Correlation, ...]:
        """The planned correlations."""
        return tuple(correlations(self._results, self.values))

    @cached_property
    def ratings(self) -> tuple[SkillRating, ...]:
        """The TrueSkill ratings of the bidders in each arm under each condition."""
        return tuple(ratings(self._results, self.values))

    @cached_property
    def spreads(self) -> tuple[Spread, ...]:
        """The spread of each metric, if all repeats share their random draws."""
        return tuple(spreads(self._results, self.values))

    @cached_property
    def companions(self) -> tuple[Difference, ...]:
        """The gains or losses of rivals and the seller where a planned comparison is of a bidder with itself."""
        return companions(self._results, self.values)

    @cached_property
    def variance(self) -> tuple[VarianceShare, ...]:
        """The shares of variance that factors explain."""
        return tuple(variance_shares(self._results, self.values))


def analyse(results: Results) -> Analysis:
    """Analyse the finished games of an experiment; failed and unfinished ones count as missing.

    The analysis does not depend on the order of the records.
    """
    return Analysis(results)
