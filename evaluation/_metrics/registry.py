"""Measuring a log by metrics, which anybody's package can bring; one that fails costs no other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from math import isfinite

from harbor._core.errors import ConfigError, HarborError, told
from harbor._core.events import BidderLabelled, BiddersAsked, BidderSeated, Event, LogOpened, SaleClosed, SharedEvent
from harbor._core.finding import everything, find
from harbor._core.log import is_public
from harbor._core.log_lines import Entry
from harbor._games.game import Game, game_of
from harbor.evaluation._metrics.measurement import Measurement, Metric

ALWAYS = (LogOpened, BidderLabelled, BidderSeated, BiddersAsked, SaleClosed)
"""What the house writes in each log."""
PRIVATE = "it needs private events, and this log has public ones alone"
"""Why a metric is missing of a public log."""
ROUNDING = 1e-9
"""How far a value may lie outside the bounds of its unit, as sums of shares do."""


def metric_of(name: str) -> Metric:
    """Give the metric of a name, or of a reference that was followed before.

    Raises:
        ConfigError: there is none; the message names the nearest.
    """
    found: Metric = find("metric", name)
    return found


def metric_or_none(name: str) -> Metric | None:
    """Give a metric, or None for a name of something else: a correlation ("a ~ b"), or trueskill."""
    try:
        return None if "~" in name else metric_of(name)
    except ConfigError:
        return None


def measure(names: Iterable[str], entries: Sequence[Entry]) -> list[Measurement]:
    """Measure a log, by the metrics of these names.

    A metric that fails, one of another game, or one with nothing to measure, gives one missing measurement with the
    reason.

    Raises:
        ConfigError: a metric is unknown.
    """
    kinds = kinds_in(entries)
    return [found for name in names for found in _measured(name, metric_of(name), entries, kinds)]


def fitting(entries: Sequence[Entry]) -> list[str]:
    """Name the installed metrics that fit the game of a log; one that can't be loaded is warned of and left out."""
    return [name for name, why in fits(kinds_in(entries)).items() if not why]


def fits(kinds: Collection[type[Event]]) -> dict[str, str]:
    """Say, of each installed metric, why it does not fit a game with these events; empty where it does."""
    return {one.name: _misfit(one.value, kinds) for one in everything("metric")}


def kinds_of(game: Game) -> set[type[Event]]:
    """Give the events that a log of a game has."""
    return {*ALWAYS, *game.events}


def kinds_in(entries: Sequence[Entry]) -> set[type[Event]]:
    """Give the kinds of events in a log, and those that its game may yet write: who never sells has no revenue."""
    found = {type(entry.event) for entry in entries}
    with suppress(HarborError):  # it names no game, or one whose package is missing
        game = game_of(entries[:1])
        found |= set(game.events) if game.opening in found else set()
    return found


def _measured(name: str, metric: Metric, entries: Sequence[Entry], kinds: Collection[type[Event]]) -> list[Measurement]:
    if is_public(entries) and (not metric.public or _is_shared(metric, kinds)):
        return [Measurement(name, None, missing=PRIVATE)]
    if why := _misfit(metric, kinds):
        return [Measurement(name, None, missing=f"the log is of another game: {why}")]
    try:
        found = list(metric.measure(name, entries))
        wrong = next(filter(None, (_fault(name, metric, one) for one in found)), "")
    except (Exception, SystemExit) as error:  # a stranger's function may raise anything; it costs no other metric
        wrong = told(error)
    if wrong:
        return [Measurement(name, None, missing=f"the metric failed ({wrong})")]
    return found or [Measurement(name, None, missing=metric.no_data)]


def _fault(name: str, metric: Metric, one: object) -> str:
    """Say what is wrong with what a metric gave; empty if nothing is. Tables and intervals rely on it."""
    if not isinstance(one, Measurement):
        return f"it gave {one!r}, and no Measurement"
    if one.metric != name:
        return f"it measured {one.metric!r} under the name {name!r}"
    labels: tuple[object, ...] = (one.bidder, one.about)
    place: object = one.at
    if not (all(isinstance(label, str) for label in labels) and isinstance(place, int | None)):
        return f"it measured of {one.bidder!r} about {one.about!r} at {one.at!r}, where texts and a whole number belong"
    if one.value is None:
        return "" if one.missing else "it gave a missing value without a reason"
    if not isinstance(one.value, int | float) or not isfinite(one.value):
        return f"it gave {one.value!r}, and no number"
    least, most = metric.bounds
    if not least - ROUNDING <= one.value <= most + ROUNDING:
        return f"it gave {one.value!r}, and no {metric.unit}"
    return f"it gave {one.value!r}, neither 0 nor 1" if metric.interval == "binary" and one.value not in (0, 1) else ""


def _misfit(metric: Metric, kinds: Collection[type[Event]]) -> str:
    """Say what a game with these events lacks; empty if nothing."""
    if any(issubclass(kind, metric.kinds) for kind in kinds):
        return ""
    return f"it has no {metric.wanted}"


def _is_shared(metric: Metric, kinds: Collection[type[Event]]) -> bool:
    """Say whether what a metric is measured of may be told to some seats alone in a game with these events."""
    return any(issubclass(kind, SharedEvent) and issubclass(kind, metric.kinds) for kind in kinds)
