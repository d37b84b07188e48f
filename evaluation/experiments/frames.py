"""The measurements of an experiment as a tidy table: a row a measurement, ready for pandas."""

from __future__ import annotations

import pandas as pd

from harbor.evaluation.experiments.design import EVERYONE
from harbor.evaluation.experiments.records import Results

GAME = ("arm", "condition", "repeat", "seed", "status")
MEASUREMENT = ("metric", "bidder", "about", "at", "value", "missing")
TYPES = {name: "str" for name in ("arm", "condition", "status", "metric", "bidder", "about", "missing")} | {
    "repeat": "int64",
    "seed": "int64",
    "at": "Int64",
    "value": "float64",
}
QUESTION = ("metric", "bidder", "about", "at")
CELL = ("arm", "condition")


def frame(results: Results) -> pd.DataFrame:
    """Put all measurements in one table, in the order of the games.

    Returns:
        columns `arm`, `condition`, `repeat`, `seed` and `status` of the game, then `metric`, `bidder`, `about`, `at`
        (a nullable integer), `value` (NaN: missing) and `missing` (why). Failed and unfinished games have no rows.
    """
    rows = [(game, one) for game in results.games for one in game.measurements]
    columns = {name: [getattr(game, name) for game, _ in rows] for name in GAME}
    columns |= {name: [getattr(one, name) for _, one in rows] for name in MEASUREMENT}
    return pd.DataFrame(columns).astype(TYPES)


def game_values(table: pd.DataFrame) -> pd.DataFrame:
    """Reduce measurements to one value a game and question; several of one game are averaged.

    "everyone" is the mean over those bidders of a game that have a value.

    Args:
        table: a `frame`.

    Returns:
        columns `arm`, `condition`, `metric`, `bidder`, `about`, `at`, `repeat`, `value`, in that order; no value is missing.
    """
    own = _averaged(table.dropna(subset="value"), [*CELL, *QUESTION, "repeat"])
    bidders = own[own["bidder"] != ""].assign(bidder=EVERYONE)
    return pd.concat([own, _averaged(bidders, [*CELL, *QUESTION, "repeat"])], ignore_index=True)


def _averaged(table: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    return table.groupby(names, dropna=False)["value"].mean().reset_index()
