"""Figures as extensions: each draws measured values, with a panel per arm and condition, and states its facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import pandas as pd
from matplotlib.axes import Axes

from harbor._core.basics.errors import ConfigError
from harbor._core.plugins.extensions import API, part
from harbor.evaluation._analysis.means import METHODS
from harbor.evaluation._experiments.design import Experiment, Variation
from harbor.evaluation._metrics.measurement import Interval, metric_or_none
from harbor.evaluation._report.drawing.canvas import Drawing, LegendEntry, Panel, link, paint
from harbor.evaluation._report.tabular.formatting import in_draws, unit_of
from harbor.evaluation._report.tabular.loading import Loaded
from harbor.evaluation._report.tabular.tables import label_of

CONTINUED = ", continued"
"""Ends the heading of a panel that continues with other bidders of the same games."""
MOST = 24
"""The greatest number of panels in a figure; the figure says how many are left out."""
GAME = ["arm", "condition", "repeat"]
"""Columns that identify a game."""
_DrawOnAxes = Callable[[Axes], None]


@dataclass(frozen=True, slots=True)
class PanelData:
    """The data of one panel: its heading and its measurements."""

    heading: str
    rows: pd.DataFrame

    @property
    def games(self) -> int:
        """The number of games whose values are in the panel."""
        return len(self.rows[GAME].drop_duplicates())


def few_bidders(split: Sequence[PanelData], most: int) -> list[PanelData]:
    """Split panels so that each has at most `most` bidders."""
    found = []
    for one in split:
        names = names_in(one.rows, "bidder")
        for first in range(0, len(names), most):
            rows = one.rows[one.rows["bidder"].isin(names[first : first + most])]
            found.append(PanelData(one.heading + CONTINUED * bool(first), rows))
    return found


def values_of(loaded: Loaded, metric: str) -> pd.DataFrame:
    """Return the measurements of a metric that have a value."""
    table = loaded.measurements
    return table[(table["metric"] == metric) & table["value"].notna()]


def parts(loaded: Loaded, table: pd.DataFrame, by: Sequence[str] = ("arm", "condition")) -> list[PanelData]:
    """Split the measurements of a metric into panels: one for each combination of values in the columns `by`."""
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
    """Return the heading of a panel: the names that distinguish it. A single arm or condition is left out."""
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
    """Return a drawing with a panel for each of the first `MOST` parts of the data; None if there are no parts."""
    if not split:
        return None
    return Drawing(title, caption, tuple(map(paint_part, split[:MOST])), keys, max(0, len(split) - MOST), facts=facts)


def links(loaded: Loaded, games: pd.DataFrame) -> list[str]:
    """Return the `set_urls` argument for each row's game, "" for games without a page."""
    return [link_to(loaded, str(arm), str(condition), int(repeat)) for arm, condition, repeat in games[GAME].to_numpy()]


def link_to(loaded: Loaded, arm: str, condition: str, repeat: int) -> str:
    """Return the `set_urls` argument for a game, "" for a game without a page."""
    address = loaded.link_of(arm, condition, repeat)
    where = heading(loaded.experiment, {"arm": arm, "condition": condition, "repeat": str(repeat)})
    return link(address, where) if address else ""


def names_in(rows: pd.DataFrame, column: str) -> list[str]:
    """List the values of a column: numbers by size, names by alphabet, so that colours do not depend on the seats."""
    names = sorted(str(name) for name in rows[column].drop_duplicates())
    return sorted(names, key=int) if all(name.isdecimal() for name in names) else names


def series_in(loaded: Loaded, rows: pd.DataFrame, column: str) -> dict[str, str]:
    """Map the series of a figure to their labels. Arms and conditions are in the order of the design."""
    if column not in ("arm", "condition"):
        return {name: name for name in names_in(rows, column)}
    present = set(rows[column])
    designed = loaded.experiment.arms if column == "arm" else loaded.experiment.conditions
    return {one.name: one.label or one.name for one in designed if one.name in present}


Facts = tuple[tuple[str, str], ...]
"""Name and text of each fact."""


def facts(loaded: Loaded, metric: str, interval: str = "", first: int = 0) -> Facts:
    """Return the facts on a figure's numbers: n, unit and interval.

    Args:
        loaded: the experiment.
        metric: the metric that is drawn.
        interval: the interval that is drawn; "" for none.
        first: the greatest number of games that are shown one by one (0: all together).
    """
    games = games_of(loaded, metric)
    told = (
        ("n", f"{games}, of which the first {first} are shown" if first else games),
        ("unit", "" if unit_of(metric) == "number" else unit_of(metric)),
        ("interval", interval),
    )
    return tuple((name, said) for name, said in told if said)


def games_of(loaded: Loaded, metric: str) -> str:
    """Say how many games a metric has per arm and condition; for a rating, how many were rated."""
    rows = values_of(loaded, metric)
    cells = rows[[*GAME, "draw"]].drop_duplicates().groupby(GAME[:2])
    counts, draws = sorted({int(n) for n in cells.size()}), max(map(int, cells["draw"].nunique()), default=0)
    counts = counts or sorted({one.games for one in loaded.analysis.ratings})
    if not counts:
        return ""
    span = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    one_cell = len(loaded.experiment.cells) == 1
    shared = in_draws(counts[-1], draws)
    return f"{span} {'game' if counts == [1] else 'games'}{shared}{'' if one_cell else ' per arm and condition'}"


def over_games(metric: str) -> str:
    """Name the interval of a mean over games, as in curves."""
    found = metric_or_none(metric)
    kind: Interval = "skewed" if found is not None and found.interval == "skewed" else "mean"
    return f"95 % over games, by {METHODS[kind]}"


Draw = Callable[[Loaded, str, str, str], Drawing | None]
"""Draws a figure of an experiment from the name of the metric in the design, a title and a caption."""
DrawPanel = Callable[[Axes, pd.DataFrame], str]
"""Draws one panel on empty axes, and returns a description of the panel in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of a report, as an extension: its title, its caption, its metric, and the function that draws it.

    `description` is the title, and `needs` the name of the metric that the figure shows. `by_place` is true if the
    figure shows values in the order of their positions, so that each value needs a position (`at`). `beside` names
    other metrics that the figure shows too; the report then draws no separate figure of their means. `question` is the
    question that the figure answers, which stands with the title ("": none).

    >>> figure("Profits", "Profit per bidder.", "profit", name="profit-dots")(lambda axes, rows: "dots").needs
    'profit'
    """

    name: str = part("its name, in lower case")
    description: str = part("its title")
    caption: str = part("what it shows, and its source")
    needs: str = part("the name of the metric that it shows")
    draw: Draw = part("the function that draws it")
    by_place: bool = False
    api: int = API
    question: str = ""
    beside: tuple[str, ...] = ()

    def drawn(self, loaded: Loaded, metric: str) -> Drawing | None:
        """Draw the figure from the results of an experiment; return None if there is nothing to draw.

        `metric` is the name that the design of the experiment has for the figure's metric.

        Raises:
            ConfigError: the figure is `by_place` and a value of the metric has no position, or the function returns no
                drawing.
        """
        values = values_of(loaded, metric)
        if values.empty:
            return None
        if self.by_place and values["at"].isna().any():
            raise ConfigError(f"it is drawn by place, and values of {metric!r} have none; choose a metric with places")
        found = self.draw(loaded, metric, self.description, self.caption)
        if not isinstance(found, Drawing | None):
            raise ConfigError(f"its function gives {found!r}, and no drawing; mend it")
        if found is None:
            return None
        return replace(found, question=found.question or self.question, facts=found.facts or facts(loaded, metric))


class FurtherFields(TypedDict, total=False):
    """The fields of a `Figure` that have a default, except `beside`."""

    by_place: bool
    api: int
    question: str


def figure(
    description: str, caption: str, needs: str, *, name: str = "", **fields: Unpack[FurtherFields]
) -> Callable[[DrawPanel], Figure]:
    """Return a decorator that makes a figure from a function, which draws one panel.

    The figure has a panel for each arm under each condition. The function gets empty matplotlib axes and a pandas frame
    with one row per value and the columns `arm`, `condition`, `repeat`, `bidder`, `about`, `at` and `value`. It returns
    a description of the panel, for readers who can't see it. The other arguments are fields of `Figure`. If `name` is
    empty, the figure has the name of the function, with hyphens for underscores.

    >>> @figure("Profits", "Profit per bidder.", "profit")
    ... def profit_dots(axes, rows):
    ...     axes.plot(rows["value"], "o")
    ...     return f"{len(rows)} profits as dots"
    >>> profit_dots.name
    'profit-dots'
    """

    def made(draw: DrawPanel) -> Figure:
        called = name or draw.__name__.replace("_", "-")
        drawn = _panel_by_panel(draw)
        return Figure(name=called, description=description, caption=caption, needs=needs, draw=drawn, **fields)

    return made


def _panel_by_panel(draw: DrawPanel) -> Draw:
    def drawn(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
        def panel(data: PanelData) -> Panel:
            return paint(data.heading, f"{title}, {data.heading}: ", lambda axes: draw(axes, data.rows))

        return drawing(title, caption, parts(loaded, values_of(loaded, metric)), panel)

    return drawn
