"""The conformance suites for experiments and for figures: call them in a test of your own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harbor._core.plugins.finding import find
from harbor._games.mechanism import require
from harbor.evaluation._experiments.design import Experiment, measured
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._experiments.trial_runs import offline, run_trial
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._metrics.measurement import Metric, measure
from harbor.evaluation._report.drawing.canvas import Drawing
from harbor.evaluation._report.drawing.figure import Figure
from harbor.evaluation._report.drawing.inline import Chart, chart
from harbor.evaluation._report.paper.figure_files import WIDTHS, pictures
from harbor.evaluation._report.tabular.loading import Loaded
from harbor.testing._extensions import fitting
from harbor.testing._playing import promised, whole


def check_experiment(path: Path | str) -> None:
    """Check that the design of an experiment works.

    The design has to be readable. Each arm is run once under each condition, offline, with the built-in model in place
    of every other model, and has to run to its end. Each metric of the design has to have a value in at least one of
    these runs, and each figure that the design names has to be drawn from them.

    Args:
        path: the path of the design, or the name of a published design.

    Raises:
        AssertionError: one of these checks fails; the message says which one, and shows the evidence.
    """
    what = f"the experiment {str(path)!r}"
    with promised(what):
        design = experiment(str(path))
        results = asyncio.run(_once(design, what))
        valued = {one.metric for record in results.records for one in record.measurements if one.value is not None}
        missing = {
            one.metric: one.missing
            for record in results.records
            for one in record.measurements
            if one.metric not in valued
        }
        require(not missing, f"{what} measures a metric without a value in any arm", missing)
        loaded = Loaded(results)
        for name in design.figures:
            figure = find("figure", name)
            require(figure.drawn(loaded, figure.needs), f"{what} has nothing to draw in the figure {name!r}")


async def _once(design: Experiment, what: str) -> Results:
    records = []
    for trial in trials(design, 1):
        record = await run_trial(replace(trial, config=offline(trial.config)), measured(design))
        where = f"{what}: arm {trial.arm!r} under condition {trial.condition!r}"
        require(record.status == "finished", f"{where} does not run to its end", record.detail)
        records.append(record)
    return Results(design, tuple(records))


def check_figure(figure: Figure, auction: Mapping[str, Any] | None = None) -> None:
    """Check that a figure of experiments works.

    The figure is drawn twice from a small experiment that is run for this check, and both drawings have to be the same.
    Each panel needs a description for readers who can't see it, and may not be taller than a page of paper. The figure
    must not raise an error if only one arm of the experiment has values, or if no arm has any.

    Args:
        figure: the figure.
        auction: the settings of an auction in which the figure's metric has values; by default, an auction of an
            installed game.

    Raises:
        AssertionError: one of these checks fails; the message says which one, and shows the evidence.
    """
    whole(figure, "figure")
    what = f"the figure {figure.name!r}"
    with promised(what):
        metric: Metric = find("metric", figure.needs)
        results = _results(metric, auction)
        drawing = _drawn(figure, results, what)
        require(drawing is not None and drawing.panels, f"{what} draws nothing of an experiment that has its metric")
        charts = _charts(drawing)
        require(charts == _charts(_drawn(figure, results, what)), f"{what} is drawn twice otherwise")
        if drawing is not None:
            pictures(drawing, "svg", WIDTHS["column"])
        for panel in charts:
            words = panel.alt.removeprefix(figure.description).replace(panel.heading, "").strip(" .:;,")
            require(
                words not in ("", "None"),
                f"{what} has no words for those who can't see the panel {panel.heading!r}",
                panel.alt,
            )
        half = [_missing(one) if one.arm != "first" else one for one in results.records]
        for records in (half, [_missing(one) for one in results.records]):
            _charts(_drawn(figure, replace(results, records=tuple(records)), f"{what}, where values are missing,"))


def _drawn(figure: Figure, results: Results, what: str) -> Drawing | None:
    with promised(what):
        return figure.drawn(Loaded(results), figure.needs)


def _charts(drawing: Drawing | None) -> list[Chart]:
    """Lay out each panel as on a page, because a panel is only drawn then."""
    return [chart(panel, str(place)) for place, panel in enumerate(drawing.panels)] if drawing else []


def _missing(record: TrialRecord) -> TrialRecord:
    lost = (replace(one, value=None, missing="left out") for one in record.measurements)
    return replace(record, measurements=tuple(lost))


def _results(metric: Metric, auction: Mapping[str, Any] | None) -> Results:
    """Run a small experiment in which a metric has values."""
    found = (one for one, log in fitting(metric) if any(each.value is not None for each in measure([metric.name], log)))
    settings = auction or next(
        (one.model_dump(mode="json", exclude_unset=True, exclude={"seed"}) for one in found), None
    )
    require(settings is not None, f"the metric {metric.name!r} has no value in an installed game; give an auction")
    design = Experiment(
        name="small",
        title="A small experiment",
        question="What is drawn?",
        source="own",
        repeats=1,
        auction=dict(settings or {}),
        arms=[{"name": "first"}, {"name": "second", "auction": {"rules": {"reasks": 2}}}],
        metrics=[metric.name],
    )
    return asyncio.run(_held(design))


async def _held(design: Experiment) -> Results:
    return Results(design, tuple([await run_trial(trial, design.metrics) for trial in trials(design)]))
