"""Experiments with results in all their cells, of which few or no games were held."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import cache
from random import Random

from harbor.evaluation._experiments.design import Experiment, Variation, measured
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._experiments.trial_runs import offline, run_trial
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._metrics.measurement import Measurement
from support.small import brief

REPEATS = 3
FIXED = "rank", "series_rank", "mean_rank", "priority", "engagement", "persona_match", "uniform_profiling_error"
"""Metrics that the design fixes, or whose values are integers or bounded by the number of bidders."""


@cache
def full(name: str) -> Results:
    """Return a preset with games in all cells: one short game was held, and the others copy it with noise."""
    design = experiment(name).model_copy(update={"repeats": REPEATS})
    first = trials(design, repeats=1)[0]
    held = asyncio.run(run_trial(replace(first, config=brief(offline(first.config))), measured(design)))
    rng = Random(name)
    return Results(design, tuple(_like(held, game, rng) for game in trials(design) if game.repeat <= REPEATS))


def _like(held: TrialRecord, game, rng: Random) -> TrialRecord:
    found = [
        one if one.value is None or one.metric in FIXED else replace(one, value=one.value * rng.random())
        for one in held.measurements
    ]
    return replace(held, arm=game.arm, condition=game.condition, repeat=game.repeat, measurements=tuple(found))


def crowd(metric: str, arms: int, conditions: int, bidders: int, items: int = 3, abouts=("",), **design) -> Results:
    """Return an experiment of this size, with long names of bidders and with one metric's values by item."""
    names = [f"Benedict van der Meer the {seat}." for seat in range(1, bidders + 1)]
    places = range(1, items + 1) if items else (None,)
    made = Experiment(
        name="crowd", title="T", question="Who?", source="S", repeats=2, metrics=(metric,),
        auction={"bidders": [{"name": name, "model": "@1"} for name in names]},
        arms=tuple(Variation(name=f"arm-{at}", label=f"Arm {at} in which all have a persona") for at in range(arms)),
        conditions=tuple(Variation(name=f"c-{at}", label=f"{at} items that match") for at in range(conditions)),
        **design,
    )  # fmt: skip
    rng = Random(metric)
    records = [
        TrialRecord(
            arm.name,
            condition.name,
            repeat,
            repeat,
            "finished",
            measurements=tuple(
                Measurement(metric, rng.choice((1.0, 2.0, 3.0)) / (len(abouts)), name, about, at)
                for name in names
                for about in abouts
                for at in places
            ),
        )
        for arm, condition in made.cells
        for repeat in (1, 2)
    ]
    return Results(made, tuple(records))
