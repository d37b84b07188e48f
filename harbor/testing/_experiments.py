"""The conformance suite for experiments: call it in a test of a design that you write."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from harbor._core.finding import find
from harbor._games.purity import require
from harbor.evaluation._experiments.design import Experiment, measured
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.run_trial import offline, run_trial
from harbor.evaluation._experiments.trial_records import Results
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._report.loading import Loaded
from harbor.testing._playing import promised


def check_experiment(path: Path | str) -> None:
    """Check that an experiment keeps its promises.

    Its design is read. Each arm runs once under each condition, offline, with the built-in model in place of any other.
    Each metric has a value in one of these trials, and each figure that the design names is drawn.

    Args:
        path: of the design; or the name of a published one.

    Raises:
        AssertionError: it names the broken promise and the evidence.
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
        require(not missing, f"{what} measures what has no value in any arm", missing)
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
