"""The measurements of an experiment as a tidy pandas table, one row per measurement."""

from __future__ import annotations

import pandas as pd

from harbor.evaluation._experiments.design import EVERYONE
from harbor.evaluation._experiments.draws import draws_of
from harbor.evaluation._experiments.trial_records import Results

CELL = ["arm", "condition"]
QUANTITY = ["metric", "bidder", "about", "at"]
"""Columns that identify an estimate within a cell."""
GAME = ["repeat", "draw"]
"""Columns that identify a game within a cell: its repeat, and its draw, which several games may share."""
COLUMNS = [*CELL, *GAME, "seed", "status", *QUANTITY, "value", "missing", "counted"]
_NUMBERS = {
    "draw": "int64",
    "repeat": "int64",
    "seed": "Int64",
    "at": "Int64",
    "value": "float64",
    "counted": "float64",
}


def frame(results: Results) -> pd.DataFrame:
    """Return all measurements in one table, in the order of the games.

    Returns:
        columns `arm`, `condition`, `repeat`, `draw`, `seed` and `status` of the game, then `metric`, `bidder`, `about`,
        `at` (a nullable integer), `value` (NaN: missing), `missing` (reason) and `counted` (denominator of a share;
        NaN: none). Failed and unfinished games have no rows.
    """
    rows = [(game, one) for game in results.records for one in game.measurements]
    draws = {"draw": draws_of(results.experiment, (game.repeat for game, _ in rows))}
    of_game = {name: [getattr(game, name) for game, _ in rows] for name in (*CELL, "repeat", "seed", "status")}
    of_measurement = {name: [getattr(one, name) for _, one in rows] for name in COLUMNS[6:]}
    return pd.DataFrame(draws | of_game | of_measurement)[COLUMNS].astype(
        {name: _NUMBERS.get(name, "str") for name in COLUMNS}
    )


def measurements(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a `frame` that have a value, and add "everyone": the mean over the bidders of a game.

    Several values of one quantity of a bidder count as their mean. For shares of counts, everyone's share is that of
    all that was counted. Rows are sorted, because the rounding of sums depends on their order.
    """
    found = table.dropna(subset="value")[[*CELL, *QUANTITY, *GAME, "value", "counted"]]
    bidders = game_values(found[found["bidder"] != ""])
    everyone = game_values(bidders.assign(bidder=EVERYONE))
    return pd.concat([found, everyone]).sort_values([*CELL, *QUANTITY, "repeat", "value"], ignore_index=True)


def game_values(table: pd.DataFrame) -> pd.DataFrame:
    """Average several values of one game for the same quantity, weighted by `counted` if known."""
    weights = table["counted"].fillna(1)
    parts = table.assign(total=table["value"] * weights, weight=weights)
    sums = parts.groupby([*CELL, *QUANTITY, *GAME], dropna=False)[["total", "weight", "counted"]].sum(min_count=1)
    return sums.assign(value=sums["total"] / sums["weight"]).drop(columns=["total", "weight"]).reset_index()
