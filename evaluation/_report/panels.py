"""The panels of a figure: one for each arm under each condition, in the order of the design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes

from harbor.evaluation._experiments.design import Experiment, Variation
from harbor.evaluation._report.canvas import Drawing, LegendEntry, Panel, link
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.tables import label_of

CONTINUED = ", continued"
"""Ends the heading of a panel that goes on with other bidders of the same games."""
MOST = 24
"""The most panels in a figure; the figure says how many are left out."""
GAME = ["arm", "condition", "repeat"]
"""The columns that name a game."""
Draw = Callable[[Axes], None]


@dataclass(frozen=True, slots=True)
class PanelData:
    """What one panel shows: its heading, and the measurements in it."""

    heading: str
    rows: pd.DataFrame

    @property
    def games(self) -> int:
        """The number of games that it shows."""
        return len(self.rows[GAME].drop_duplicates())


def few_bidders(split: Sequence[PanelData], most: int) -> list[PanelData]:
    """Split panels of more bidders than have room in one."""
    found = []
    for one in split:
        names = names_in(one.rows, "bidder")
        for first in range(0, len(names), most):
            rows = one.rows[one.rows["bidder"].isin(names[first : first + most])]
            found.append(PanelData(one.heading + CONTINUED * bool(first), rows))
    return found


def values_of(loaded: Loaded, metric: str) -> pd.DataFrame:
    """Give the measurements of a metric that have a value."""
    table = loaded.measurements
    return table[(table["metric"] == metric) & table["value"].notna()]


def parts(loaded: Loaded, table: pd.DataFrame, by: Sequence[str] = ("arm", "condition")) -> list[PanelData]:
    """Split the measurements of a metric by these columns."""
    experiment = loaded.experiment
    order = {"arm": _order(experiment.arms), "condition": _order(experiment.conditions)}
    order |= {own: {name: at for at, name in enumerate(names_in(table, own))} for own in ("repeat", "bidder")}
    groups = [
        ({column: str(name) for column, name in zip(by, names, strict=True)}, rows)
        for names, rows in table.groupby(list(by), sort=False)
    ]
    groups.sort(key=lambda group: [order[name][value] for name, value in group[0].items() if name in order])
    return [PanelData(heading(experiment, named), rows) for named, rows in groups]


def _order(variations: Sequence[Variation]) -> dict[str, int]:
    return {one.name: place for place, one in enumerate(variations)}


def heading(experiment: Experiment, named: dict[str, str]) -> str:
    """Name a panel by what tells it apart, so not by an arm or a condition if there is only one."""
    only = {"arm": len(experiment.arms) == 1, "condition": len(experiment.conditions) == 1}
    told = [
        label_of(experiment, name, value) if name in only else f"game {value}" if name == "repeat" else value
        for name, value in named.items()
        if not only.get(name)
    ]
    return " · ".join(one for one in told if one)


def drawing(
    title: str,
    caption: str,
    split: Sequence[PanelData],
    paint_part: Callable[[PanelData], Panel],
    keys: tuple[LegendEntry, ...] = (),
    facts: tuple[tuple[str, str], ...] = (),
) -> Drawing | None:
    """Paint one panel per part; None if there are no parts."""
    if not split:
        return None
    return Drawing(title, caption, tuple(map(paint_part, split[:MOST])), keys, max(0, len(split) - MOST), facts=facts)


def links(loaded: Loaded, games: pd.DataFrame) -> list[str]:
    """Give what `set_urls` takes for each row's game, empty where it has no page."""
    return [link_to(loaded, str(arm), str(condition), int(repeat)) for arm, condition, repeat in games[GAME].to_numpy()]


def link_to(loaded: Loaded, arm: str, condition: str, repeat: int) -> str:
    """Give what `set_urls` takes for a game, empty where it has no page."""
    address = loaded.link_of(arm, condition, repeat)
    where = heading(loaded.experiment, {"arm": arm, "condition": condition, "repeat": str(repeat)})
    return link(address, where) if address else ""


def names_in(rows: pd.DataFrame, column: str) -> list[str]:
    """List the values of a column: numbers by size, names by alphabet, so that colours do not depend on the seats."""
    names = sorted(str(name) for name in rows[column].drop_duplicates())
    return sorted(names, key=int) if all(name.isdecimal() for name in names) else names


def series_in(loaded: Loaded, rows: pd.DataFrame, column: str) -> dict[str, str]:
    """Map the series of a figure to their labels; arms and conditions are in the order of the design."""
    if column not in ("arm", "condition"):
        return {name: name for name in names_in(rows, column)}
    present = set(rows[column])
    designed = loaded.experiment.arms if column == "arm" else loaded.experiment.conditions
    return {one.name: one.label or one.name for one in designed if one.name in present}
