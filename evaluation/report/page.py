"""The report as one HTML page that needs neither network nor scripts; whatever it is told is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from harbor.evaluation.experiments.catalog import experiment as named_experiment
from harbor.evaluation.experiments.catalog import presets
from harbor.evaluation.experiments.design import Experiment, standing_in
from harbor.evaluation.experiments.records import Results
from harbor.evaluation.report import listings
from harbor.evaluation.report.figures import figures
from harbor.evaluation.report.formatting import legible, write
from harbor.evaluation.report.loading import Loaded
from harbor.evaluation.report.sections import sections
from harbor.evaluation.report.tables import models_of

TEMPLATE = "report.html.j2"


@dataclass(frozen=True, slots=True)
class Tally:
    """How many games an experiment has, and how they ended; in how many the built-in model played."""

    games: int
    finished: int
    failed: int
    unfinished: int
    simulated: int


def tally(results: Results) -> Tally:
    """Count the games of an experiment by how they ended."""
    ended = {status: len(results.of(status)) for status in ("finished", "failed", "unfinished")}
    return Tally(len(results.games), **ended, simulated=sum(game.simulated for game in results.games))


def render(loaded: Loaded) -> str:
    """Write the report of an experiment."""
    results, analysis, experiment = loaded.results, loaded.analysis, loaded.experiment
    failed = [*results.of("failed"), *results.of("unfinished")]
    return _environment().get_template(TEMPLATE).render(
        experiment=experiment,
        tally=tally(results),
        players=models_of(results),
        tokens=sum(game.input_tokens + game.output_tokens for game in results.games),
        cost=write(_cost(results), "dollars"),
        seats=listings.seats(results),
        arms=listings.variations("arm", experiment.arms),
        conditions=listings.variations("condition", experiment.conditions),
        standing_in=standing_in(experiment),
        sections=sections(loaded),
        figures=figures(loaded),
        comparisons=listings.comparisons(analysis.differences, experiment) if analysis.differences else None,
        correlations=listings.correlations(analysis.correlations, experiment) if analysis.correlations else None,
        ratings=listings.ratings(analysis.ratings, experiment) if analysis.ratings else None,
        failures=listings.games(failed, experiment) if failed else None,
        costs=listings.costs(results),
        commands=commands(experiment),
        origin=loaded.origin,
        design=experiment.model_dump_json(indent=2),
        sources=list(dict.fromkeys([experiment.source, *(one.source for one in experiment.published)])),
    )


def commands(experiment: Experiment) -> list[str]:
    """Give the commands that hold an experiment again: from its design, and by its name if that gives the same."""
    own = ["harbor experiment run experiment.json"]
    if experiment.name not in presets():
        return own
    published = named_experiment(experiment.name)
    ...
    return own


def _cost(results: Results) -> float | None:
    known = [game.cost for game in results.games if game.cost is not None]
    return sum(known) if known else None


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("harbor.evaluation.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_legible,
    )
    return environment


def _legible(value: object) -> object:
    """Clean what the page is told; what is markup already is the page's own."""
    return legible(value) if type(value) is str else value
