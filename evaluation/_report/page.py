"""The report as one HTML page without network or scripts.

The verdict comes first, then figures, tables, how it was played, and the games. Every text is escaped, so that nothing
that a model wrote can become markup.
"""

from __future__ import annotations

import shlex
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from harbor._core.counting import counted
from harbor._core.errors import HarborError
from harbor._core.how_far import steps
from harbor.evaluation._analysis.reach import unreachable
from harbor.evaluation._analysis.variance import shares_say
from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import Experiment, model_slots, substitutes
from harbor.evaluation._experiments.library import experiment as named_experiment
from harbor.evaluation._experiments.library import presets
from harbor.evaluation._experiments.variations import aliases
from harbor.evaluation._report import listings
from harbor.evaluation._report.arm_calls import call_notes, calls_table
from harbor.evaluation._report.figures import figures
from harbor.evaluation._report.formatting import NOTHING, legible, write
from harbor.evaluation._report.game_rows import game_rows
from harbor.evaluation._report.inline import CSS, inlined
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.refused import refusals_table, refusals_told
from harbor.evaluation._report.sections import sections
from harbor.evaluation._report.tables import models_of
from harbor.evaluation._report.verdict import caveats, headline, verdicts
from harbor.evaluation._running.tally import tally

TEMPLATE = "report.html.j2"
MIXED = "Options that replies may hang on, the cache or the lane, changed while the games were run: see Reproduce."
GAMES_NOTE = "harbor view FOLDER writes this page with a page for each game."
SHOWN = {"most_verdicts": 8, "most_rows": 12, "most_games": 60}
"""How many sentences, rows beside a figure, and games a page shows; what is more is folded."""


def render(loaded: Loaded, games_note: str = GAMES_NOTE) -> str:
    """Write the report of an experiment; `games_note` says where its games are seen."""
    results, experiment = loaded.results, loaded.experiment
    games, found = tally(results.records), verdicts(results, loaded.analysis)
    return (
        environment()
        .get_template(TEMPLATE)
        .render(
            experiment=experiment,
            tally=games,
            simulated=sum(game.simulated for game in results.records),
            players=models_of(results),
            tokens=NOTHING if results.public else write(games.input_tokens + games.output_tokens, "tokens"),
            cost=write(games.cost_dollars, "dollars"),
            seats=listings.seats(results),
            rotating=listings.personas_rotate(experiment),
            arms=listings.variations("arm", experiment.arms, results.public),
            conditions=listings.variations("condition", experiment.conditions, results.public),
            standing_in=substitutes(experiment),
            headline=headline(found, loaded.analysis),
            verdicts=sorted(found, key=lambda one: not one.shown),
            caveats=[*caveats(results), *([MIXED] if loaded.origin.mixed else [])],
            sections=sections(loaded),
            figures=[inlined(name, one) for name, one in steps(figures(loaded).items(), "figures drawn")],
            charts=Markup(CSS),  # noqa: S704 - our own
            **dict.fromkeys(("comparisons", "companions", "correlations", "ratings", "spreads", "variance"))
            | listings.of_analysis(loaded.analysis, experiment),
            failures=game_rows(loaded, results.of("failed")),
            refusals=None if results.public else refusals_table(results),
            refused=[] if results.public else list(refusals_told(results)),
            costs=None if results.public else listings.costs(results),
            aliases="" if experiment.arms_left_out else aliases(experiment.factors, experiment.crossing),
            variance_says=shares_say(loaded.analysis.variance),
            unreachable=unreachable(experiment),
            calls=None if results.public else calls_table(results, loaded.days),
            call_notes=[] if results.public else call_notes(results),
            games=game_rows(loaded, [one for one in results.records if one.status != "failed"]),
            games_note=games_note,
            commands=[] if results.public else commands(experiment),
            public=results.public,
            origin=loaded.origin,
            design=escape(experiment.model_dump_json(indent=2, exclude_unset=results.public)),  # with its line ends
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
def environment() -> Environment:
    """Give what fills the templates of pages: every text is escaped."""
    found = Environment(
        loader=PackageLoader("harbor.evaluation._report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_legible,
    )
    found.globals.update(SHOWN, counted=counted)
    return found


def _legible(value: object) -> object:
    """Clean a value for the page; a `Markup` is the page's own and stays."""
    return legible(value) if type(value) is str else value
