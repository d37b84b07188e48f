"""An experiment in a notebook: its verdict, the chart of its comparisons, and its first numbers."""

from __future__ import annotations

from pathlib import Path

from harbor._core.basics.feedback import SIMULATED, block, seen_with, table
from harbor.evaluation._report.page.verdict import caveats, headline, verdicts
from harbor.evaluation._report.tabular.formatting import in_draws, unit_of, write, write_interval
from harbor.evaluation._report.tabular.loading import Loaded, read_experiment
from harbor.evaluation._report.tabular.tables import label_of

MOST_SENTENCES = 5
"""The greatest number of sentences of the verdict in a notebook."""
WHITE = '<div style="background:#fff;color:#2b3038;padding:.5em;max-width:700px">'
"""Background of a chart: the notebook may be dark, and a chart can't find out."""


def load(path: str | Path) -> Loaded:
    """Read the folder of an experiment, which need not be finished; a notebook shows the result as a short report.

    Raises:
        RunFolderError: the folder is not that of an experiment, or the design in it was changed.
        LogError: the log of a game was edited.
    """
    loaded = read_experiment(Path(path))
    loaded.view = shown
    return loaded


def shown(loaded: Loaded) -> str:
    """Return an experiment as a small piece of HTML, with one figure: the first panel of planned comparisons."""
    said = verdicts(loaded.results, loaded.analysis)
    more = f"and {len(said) - MOST_SENTENCES} more comparisons" if len(said) > MOST_SENTENCES else ""
    notes = [
        SIMULATED if loaded.results.simulated else "",
        loaded.experiment.question,
        headline(said, loaded.analysis),
        *(one.finding for one in said[:MOST_SENTENCES]),
        more,
        *(one for one in caveats(loaded.results) if "built-in" not in one),
    ]
    return block(loaded.experiment.title, notes, _chart(loaded), _numbers(loaded), seen_with(loaded.folder))


def _chart(loaded: Loaded) -> str:
    from harbor.evaluation._report.drawing.inline import inlined  # loads matplotlib; reading needs none
    from harbor.evaluation._report.plots.forest import forest

    if (drawing := forest(loaded)) is None:
        return ""
    charts = inlined(f"notebook {loaded.origin.digest}", drawing).charts
    return f"{WHITE}{charts[0].svg}</div>" if charts else ""


def _numbers(loaded: Loaded) -> str:
    rows = [
        (
            one.metric.replace("_", " "),
            label_of(loaded.experiment, "arm", one.arm),
            label_of(loaded.experiment, "condition", one.condition),
            one.bidder,
            f"{write(one.mean, unit_of(one.metric))} {write_interval(one.low, one.high, unit_of(one.metric))}".strip(),
            f"{one.games}{in_draws(one.games, one.draws)}",
        )
        for one in loaded.analysis.estimates
        if one.at is None and not one.about
    ]
    return table(("metric", "arm", "condition", "bidder", "mean and 95 % interval", "games"), rows)
