"""The report: one HTML page without network or scripts, with a section for each metric.

The verdict comes first, then figures, tables, how it was played, and the games. Every text is escaped, so that no
model's words can become markup.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from harbor._core.basics.errors import HarborError
from harbor._core.basics.feedback import steps
from harbor.evaluation._analysis.levels import unreachable
from harbor.evaluation._analysis.ratings import MEANINGS
from harbor.evaluation._analysis.variance import shares_say
from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import Experiment, model_slots, substitutes
from harbor.evaluation._experiments.library import experiment as named_experiment
from harbor.evaluation._experiments.library import presets
from harbor.evaluation._experiments.trial_records import tally
from harbor.evaluation._experiments.variations import aliases
from harbor.evaluation._report.drawing.canvas import TALLEST_PANEL
from harbor.evaluation._report.drawing.inline import CSS, MOST_PANELS, Inlined, inlined
from harbor.evaluation._report.page.verdict import caveats, headline, verdicts
from harbor.evaluation._report.plots.figures import figures, leading_line, means
from harbor.evaluation._report.tabular import listings
from harbor.evaluation._report.tabular.arm_calls import call_notes, calls_table, refusals_table, refusals_told
from harbor.evaluation._report.tabular.formatting import NOTHING, unit_of, write, write_interval
from harbor.evaluation._report.tabular.listings import game_rows
from harbor.evaluation._report.tabular.loading import Loaded
from harbor.evaluation._report.tabular.page_parts import Table, filled
from harbor.evaluation._report.tabular.tables import (
    Finding,
    asked,
    beside_published,
    findings,
    meaning,
    models_of,
    parted,
    published_numbers,
)

MOST_ROWS = 200
"""The greatest number of rows of a table by item, day or rival; the exports have all."""


@dataclass(frozen=True, slots=True)
class Section:
    """A metric in a report: name, meaning, figure, table, table of details, notes on published numbers.

    `main`: the metric has a planned comparison or a published number, and is no rating (ratings have their own figure).
    `constant` is a sentence if all numbers of the metric are equal. `left_out` counts detail rows beyond `MOST_ROWS`.
    """

    name: str
    says: str
    main: bool
    constant: str
    drawing: Inlined | None
    table: Table
    details: Table | None
    left_out: int
    notes: tuple[str, ...]

    @property
    def tall(self) -> bool:
        """Return whether its figure is higher than `TALLEST_PANEL` and leaves little room beside it."""
        return self.drawing is not None and sum(one.height for one in self.drawing.drawing.panels) > TALLEST_PANEL


def sections(loaded: Loaded) -> list[Section]:
    """Return a section for each metric of the design and each other published metric."""
    return [_section(loaded, name) for name in steps(asked(loaded.experiment), "metrics drawn")]


def _section(loaded: Loaded, name: str) -> Section:
    found = findings(name, loaded.analysis)
    printed = published_numbers(name, found, loaded.experiment)
    whole, rest = parted(found, printed)
    main, constant = name in _compared(loaded.experiment), _constant(name, whole, bool(printed))
    drawing = None if constant or name == leading_line(loaded.experiment) else means(loaded, name)
    return Section(
        name,
        meaning(name),
        name not in MEANINGS and (bool(printed) or main),
        constant,
        inlined(f"means of {name}", drawing, MOST_PANELS if printed or main else 1) if drawing else None,
        beside_published(name, whole, printed, loaded.results),
        beside_published(name, rest[:MOST_ROWS], {}, loaded.results) if rest else None,
        max(0, len(rest) - MOST_ROWS),
        tuple(f"{one.source} ({one.produced_by}): {one.note}" for one in printed if one.note),
    )


def _compared(experiment: Experiment) -> set[str]:
    """Return the metrics that the design asks about: those of its comparisons, or else its first."""
    return {metric for one in experiment.comparisons for metric in one.metrics} or {experiment.metrics[0]}


def _constant(metric: str, found: Sequence[Finding], printed: bool) -> str:
    """Return one sentence in place of a table of equal rows. "" if rows differ, or stand beside published numbers."""
    told = {(one.value, one.low, one.high, one.missing) for one in found}
    if printed or len(found) < 2 or len(told) > 1 or found[0].value is None or found[0].missing:
        return ""
    unit = unit_of(metric)
    interval = write_interval(found[0].low, found[0].high, unit)
    return f"In every row alike: {write(found[0].value, unit)} {interval}".rstrip() + f" ({len(found)} rows)."


TEMPLATE = "harbor.evaluation._report/report.html.j2"
MIXED = "Options that replies may hang on, the cache or the lane, changed while the games were run: see Reproduce."
"""Caveat on games of one experiment that were run with different options."""
GAMES_NOTE = "harbor view FOLDER writes this page with a page for each game."
SHOWN = {"most_verdicts": 8, "most_rows": 12, "most_games": 60}
"""Sentences, rows beside a figure, and games that a page shows; the rest is folded."""


def render(loaded: Loaded, games_note: str = GAMES_NOTE) -> str:
    """Return the report of an experiment as HTML. `games_note` tells the reader where to see its games."""
    results, experiment = loaded.results, loaded.experiment
    games, found = tally(results.records), verdicts(results, loaded.analysis)
    return filled(
        TEMPLATE,
        **SHOWN,
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


def commands(experiment: Experiment) -> list[str]:
    """Return the commands that reproduce an experiment: from its design, and by name if it equals a preset."""
    by_name = _by_name(experiment) if experiment.name in presets() else None
    return ["harbor experiment run experiment.json", *([by_name] if by_name else [])]


def _by_name(experiment: Experiment) -> str | None:
    published = named_experiment(experiment.name)
    models = experiment.models[: len(model_slots(experiment))]
    arms = [arm.name for arm in experiment.arms if len(experiment.arms) < len(published.arms)]
    try:
        same = chosen(published, models, arms, experiment.repeats, experiment.seed, experiment.same_seed)
    except HarborError:  # a different design has the name of a published one
        return None
    if same.model_copy(update={"prices": experiment.prices}) != experiment:
        return None
    options = [f"--model {shlex.quote(model)}" for model in models] + [f"--arm {arm}" for arm in arms]
    options += [f"--repeats {experiment.repeats}", f"--seed {experiment.seed}"]
    options += ["--same-seed"] if experiment.same_seed else []
    return " ".join(["harbor experiment run", experiment.name, *options])
