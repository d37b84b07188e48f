"""The conformance suites for metrics and catalogues: call them in a test of one that you write."""

from __future__ import annotations

from collections.abc import Sequence

from harbor._core.finding import everything
from harbor._core.log_lines import Entry
from harbor._games.game import Game
from harbor.evaluation._metrics.measurement import BOUNDS, Measurement, Metric
from harbor.evaluation._metrics.registry import measure
from harbor.testing._playing import BIDDERS, played, require, table, whole

CUTS = 20


def check_metric(metric: Metric, log: Sequence[Entry] = ()) -> None:
    """Check that a metric keeps its promises.

    It measures a log, and any part of it, without an error and twice alike; its values are within the bounds of its
    unit; where it has no value it says why; of a game that it does not measure it says so; its docstring says what it
    computes.

    Args:
        metric: the metric.
        log: of a game that it measures; by default one of each installed game that opens with what it is of.

    Raises:
        AssertionError: it names the broken promise and the evidence.
    """
    whole(metric)
    require((metric.measure.__doc__ or "").strip(), f"metric {metric.name!r} has no docstring with its formula")
    logs = [log] if log else [_log_of(one.value) for one in everything("game")]
    fitting = [one for one in logs if any(isinstance(entry.event, metric.of) for entry in one)]
    require(fitting, f"no installed game opens with {metric.of.__name__!r}; give check_metric a log")
    for one in fitting:
        for cut in (*range(1, len(one), max(1, len(one) // CUTS)), len(one)):
            found = measure([metric.name], one[:cut])
            require(found == measure([metric.name], one[:cut]), "measuring twice gives two results", found)
            for measurement in found:
                _sound(metric, measurement)
        require(any(m.value is not None for m in measure([metric.name], one)), "it has no value in a whole game")
    other = measure([metric.name], fitting[0][:1])
    require(all(one.value is None and one.missing for one in other), "of another game it does not say so", other)


def _log_of(game: Game) -> Sequence[Entry]:
    who = tuple(getattr(game.settings(), "residents", BIDDERS))
    return played(table(game, who, {}, {"model": "simulated"}))


def _sound(metric: Metric, one: Measurement) -> None:
    require(one.metric == metric.name, "a measurement has the name of another metric", one)
    if one.value is None:
        require(one.missing, "a missing value does not say why", one)
    else:
        least, most = BOUNDS.get(metric.unit, (float("-inf"), float("inf")))
        require(least <= one.value <= most, f"a value is no {metric.unit}", one)
