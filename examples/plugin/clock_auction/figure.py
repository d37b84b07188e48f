"""A figure: the fall of prices before each bidder buys."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from harbor.evaluation import figure


@figure("How far prices fall", "Price paid over the first price called; one dot per game.", needs="patience", api=1)
def falling_prices(axes: Axes, values: pd.DataFrame) -> str:
    """Draw a row of dots per bidder, and return the means in words."""
    axes.plot(values["value"], values["bidder"], "o", alpha=0.5)
    axes.set_xlabel("price paid / first price")
    means = values.groupby("bidder")["value"].mean()
    return ", ".join(f"{bidder} pays {mean:.2f} of the first price" for bidder, mean in means.items())
