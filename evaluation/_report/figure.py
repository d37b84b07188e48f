"""What a figure is: measured values in, a drawing out; one value, as an extension."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd
from matplotlib.axes import Axes

from harbor._core.errors import ConfigError
from harbor._core.extensions import API, part
from harbor.evaluation._report.canvas import Drawing, Panel, paint
from harbor.evaluation._report.facts import facts
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.panels import PanelData, drawing, parts, values_of

Draw = Callable[[Loaded, str, str, str], Drawing | None]
"""Draws a figure of an experiment; it gets the name of the metric as the design has it, a title and a caption."""
DrawPanel = Callable[[Axes, pd.DataFrame], str]
"""Draws one panel on empty axes, and says in words what the panel shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure, as an extension: its title, its caption, the metric that it needs, and the function that draws it.

    `by_place`: each value of the metric needs a place (`at`), because the figure goes from one place to the next.
    `beside`: the other metrics that it shows or marks. Their means, and those over places, have no figure of their own.
    `question` is what it answers; where there is none, the title stands alone.
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
        """Draw it of a metric, by the name that the design gives the metric; None: there is nothing to draw.

        Raises:
            ConfigError: it goes by place and the metric has values without one, or its function gives no drawing.
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


def figure(
    description: str,
    caption: str,
    needs: str,
    *,
    by_place: bool = False,
    name: str = "",
    api: int = API,
    question: str = "",
) -> Callable[[DrawPanel], Figure]:
    """Make a figure of a function that draws one panel; there is one panel per arm and condition.

    The function gets empty axes of matplotlib and a frame: one row per value, with the columns `arm`, `condition`,
    `repeat`, `bidder`, `about`, `at` and `value`. It returns in words what the panel shows, for those who can't see it.

    Args:
        description: the title.
        caption: what it shows, and its source.
        needs: the name of the metric.
        by_place: whether it goes from one place (item, day, run) to the next, so that each value needs one.
        name: by default that of the function, with hyphens.
        api: the version of Harbor's extensions that it is written for.
        question: what it answers; shown above its caption.
    """

    def made(draw: DrawPanel) -> Figure:
        called = name or draw.__name__.replace("_", "-")
        return Figure(
            name=called,
            description=description,
            caption=caption,
            needs=needs,
            draw=_panel_by_panel(draw),
            by_place=by_place,
            api=api,
            question=question,
        )

    return made


def _panel_by_panel(draw: DrawPanel) -> Draw:
    def drawn(loaded: Loaded, metric: str, title: str, caption: str) -> Drawing | None:
        def panel(data: PanelData) -> Panel:
            return paint(data.heading, f"{title}, {data.heading}: ", lambda axes: draw(axes, data.rows))

        return drawing(title, caption, parts(loaded, values_of(loaded, metric)), panel)

    return drawn
