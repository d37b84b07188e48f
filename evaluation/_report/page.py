"""The report as one HTML page without network or scripts.

Figures are images, and every text is escaped, so that nothing that a model wrote can become markup.
"""

from __future__ import annotations

import shlex
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from harbor._core.errors import HarborError
from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import Experiment, model_slots, substitutes
from harbor.evaluation._experiments.library import experiment as named_experiment
from harbor.evaluation._experiments.library import presets
from harbor.evaluation._report import listings
from harbor.evaluation._report.arm_calls import calls_table
from harbor.evaluation._report.figures import figures
from harbor.evaluation._report.formatting import legible, write
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.sections import sections
from harbor.evaluation._report.tables import few_games, models_of, own_noise, played_on
from harbor.evaluation._running.tally import tally

TEMPLATE = "report.html.j2"


def render(loaded: Loaded) -> str:
    """Write the report of an experiment."""
    results, experiment = loaded.results, loaded.experiment
    counted, failed = tally(results.records), [*results.of("failed"), *results.of("unfinished")]
    return (
        _environment()
        .get_template(TEMPLATE)
        .render(
            experiment=experiment,
            tally=counted,
            simulated=sum(game.simulated for game in results.records),
            players=models_of(results),
            tokens=write(counted.input_tokens + counted.output_tokens, "tokens"),
            cost=write(counted.cost_dollars, "dollars"),
            seats=listings.seats(results),
            rotating=listings.personas_rotate(experiment),
            arms=listings.variations("arm", experiment.arms),
            conditions=listings.variations("condition", experiment.conditions),
            standing_in=substitutes(experiment),
            few=few_games(results),
            own_noise=own_noise(results),
            sections=sections(loaded),
            figures=figures(loaded),
            **{"comparisons": None, "correlations": None, "ratings": None, "spreads": None}
            | listings.of_analysis(loaded.analysis, experiment),
            failures=listings.games(failed, experiment) if failed else None,
            costs=listings.costs(results),
            calls=calls_table(results, loaded.days),
            played_on=played_on(results),
            commands=commands(experiment),
            origin=loaded.origin,
            design=experiment.model_dump_json(indent=2),
            sources=list(dict.fromkeys([experiment.source, *(one.source for one in experiment.published)])),
        )
    )


def commands(experiment: Experiment) -> list[str]:
    """Give the commands that reproduce an experiment: from its design, and by its name if it gives the same."""
    by_name = _by_name(experiment) if experiment.name in presets() else None
    return ["harbor experiment run experiment.json", *([by_name] if by_name else [])]


def _by_name(experiment: Experiment) -> str | None:
    published = named_experiment(experiment.name)
    models = experiment.models[: len(model_slots(experiment))]
    arms = [arm.name for arm in experiment.arms if len(experiment.arms) < len(published.arms)]
    try:
        same = chosen(published, models, arms, experiment.repeats, experiment.seed, experiment.same_seed)
    except HarborError:  # another design under the name of a published one
        return None
    if same.model_copy(update={"prices": experiment.prices}) != experiment:
        return None
    options = [f"--model {shlex.quote(model)}" for model in models] + [f"--arm {arm}" for arm in arms]
    options += [f"--repeats {experiment.repeats}", f"--seed {experiment.seed}"]
    options += ["--same-seed"] if experiment.same_seed else []
    return " ".join(["harbor experiment run", experiment.name, *options])


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("harbor.evaluation._report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_legible,
    )


def _legible(value: object) -> object:
    """Clean a value for the page; a `Markup` is the page's own and stays."""
    return legible(value) if type(value) is str else value
