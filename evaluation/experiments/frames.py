"""The measurements of an experiment as a tidy table: a row a measurement, ready for pandas."""

from __future__ import annotations

import pandas as pd

from harbor.evaluation.experiments.records import Results

GAME = ("arm", "condition", "repeat", "seed", "status")
MEASUREMENT = ("metric", "bidder", "about", "at", "value", "missing")
TYPES = {name: "str" for name in ("arm", "condition", "status", "metric", "bidder", "about", "missing")} | {
    "repeat": "int64",
    "seed": "int64",
    "at": "Int64",
    "value": "float64",
}


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
