"""Tables of a run, a series, a score, a memory and model calls in a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from harbor._cli.display.render import Table
from harbor._core.basics.numbers import cost_in_words, dollars, to_cents
from harbor._games.english.measures import ItemResult
from harbor.evaluation._metrics.measurement import PRIVATE, metric_of, metric_or_none
from harbor.evaluation._metrics.results import UNREVEALED, UNTOLD

if TYPE_CHECKING:
    from harbor.evaluation._metrics.calls import Calls, CallTotals
    from harbor.evaluation._metrics.summary import RunScore, SeriesSummary, Summary
    from harbor.memory._store.records import Record

Extent = Literal["short", "usual", "full"]
"""The standings only; also each item ("usual"); or also the calls of each model ("full")."""


def call_tables(calls: Calls) -> Iterator[Table | str]:
    """Yield the table of the calls, if any, with notes; columns with only zeros are left out."""
    from harbor.evaluation._metrics.calls import notes_of

    groups = {"bidder": calls.by_bidder, "purpose": calls.by_purpose, "model": calls.by_model}
    rows = [_call_row(by, name, one) for by, group in groups.items() for name, one in group.items()]
    if rows:
        yield Table("Model calls", [*rows, _call_row("total", "", calls.total)])
        total = calls.total
        yield from notes_of(total.noted, total.probes, total.lost, total.cost_dollars)


def _call_row(by: str, name: str, one: CallTotals) -> dict[str, object]:
    return {
        "by": by,
        "": name,
        "calls": one.count,
        "failed": one.failed or None,
        "refused": one.refused or None,
        "cached": one.cached or None,
        "imported": one.imported or None,
        "retries": one.retries or None,
        "tokens in": f"{one.input_tokens:,}",
        "of them cached": f"{one.cached_tokens:,}" if one.cached_tokens else None,
        "tokens out": f"{one.output_tokens:,}",
        "reasoning": f"{one.reasoning_tokens:,}" if one.reasoning_tokens else None,
        "dollars": cost_in_words(one.cost_dollars) + (f" ({one.unpriced})" if one.unpriced else ""),
    }


HARBOR_LABELS = 3
"""Length of a namespace of Harbor: scope, bidder, kind."""


def summary_tables(summary: Summary, extent: Extent = "usual") -> Iterator[Table | str]:
    """Yield the standings of a run; usually also its items, days or runs, and in full also its model calls."""
    if extent != "short":
        yield Table(summary.parts.capitalize(), [_part(one) for one in summary.items])
    yield Table("Standings", [_row(one) for one in summary.standings])
    if unknown := [row.bidder for row in summary.standings if getattr(row, "profit", 0) is None]:
        yield f"left out: profit of {', '.join(unknown)}: {UNREVEALED if summary.seed is None else UNTOLD}"
    if summary.figures:
        yield ", ".join(f"{_spelled(name)} {value:.3g}" for name, value in summary.figures.items())
    if (calls := summary.calls) is None:
        yield f"a public log: values that need private events are left out{simulated(summary.simulated)}"
        return
    if calls.failed:
        yield f"{calls.failed} model calls failed for good; the bidders played on, which is no choice of a model"
    yield (
        f"{calls.count} model calls, {calls.input_tokens:,} tokens in, {calls.output_tokens:,} out, "
        f"{cost_in_words(calls.total.cost_dollars)}, {summary.seconds:.1f} s{simulated(summary.simulated)}"
    )
    if summary.unheeded:
        yield f"Note: {summary.unheeded}."
    if extent == "full":
        yield from call_tables(calls)


def _part(part: Any) -> dict[str, object]:
    """Return the row for a part of a game: an item of the ascending auction in words, others unchanged."""
    if not isinstance(part, ItemResult):
        return _row(part)
    winner = part.winner or ("not sold" if part.closed else "not reached")
    return {"item": part.name, "winner": winner, "price": part.price, "rounds": part.rounds}


def _spelled(name: str) -> str:
    """Return the description of a figure: that of the metric with this name, if any."""
    metric = metric_or_none(name)
    return metric.description if metric else name.replace("_", " ")


def _row(record: Any) -> dict[str, object]:
    return {field.name.replace("_", " "): getattr(record, field.name) for field in fields(record)}


def simulated(is_simulated: bool, with_people: bool = False) -> str:
    """Return a label for results with the built-in model as a player, perhaps beside people."""
    return f" ({'people and ' if with_people else ''}simulated bidders)" if is_simulated else ""


def series_tables(summary: SeriesSummary, extent: Extent = "usual") -> Iterator[Table | str]:
    """Yield each bidder's rank in each auction, mean rank and total profit; in full also the calls."""
    rows = [
        {
            "bidder": bidder,
            **{str(auction.auction): auction.ranks[bidder] for auction in summary.auctions},
            "mean rank": f"{mean:.2f}",
            "total profit": summary.total_profits[bidder],
        }
        for bidder, mean in summary.mean_ranks.items()
    ]
    yield Table("Ranks by auction", rows)
    yield f"{len(summary.auctions)} of {summary.length} auctions finished{simulated(summary.simulated)}"
    if extent == "full" and summary.calls:
        yield from call_tables(summary.calls)


def score_tables(score: RunScore) -> Iterator[Table | str]:
    """Yield each metric by bidder; then the metrics by item or day, and those that are missing.

    If a metric has several values for a bidder, as for its raises, their mean is shown.
    """
    values: dict[tuple[str, str], dict[str, list[float]]] = {}
    for one in score.measurements:
        if one.at is None and one.value is not None:
            values.setdefault((one.metric, one.about), {}).setdefault(one.bidder, []).append(one.value)
    bidders = list(dict.fromkeys(bidder for of in values.values() for bidder in of))
    rows = [
        {"metric": f"{metric} {about}".rstrip()} | {one or "game": _number(metric, of.get(one)) for one in bidders}
        for (metric, about), of in values.items()
    ]
    yield Table("Score", rows)
    placed = dict.fromkeys(one.metric for one in score.measurements if one.at is not None and one.value is not None)
    if placed:
        yield f"item by item, day by day or run by run, in --json: {', '.join(placed)}"
    missing = _missing(score)
    if private := [metric for metric, why in missing if why == PRIVATE]:
        yield f"missing, as this log has public events alone: {', '.join(private)}"
    for why in dict.fromkeys(why for _, why in missing if why != PRIVATE):
        metrics = (f"{metric}{whose}" for (metric, one), whose in missing.items() if one == why)
        yield f"missing: {', '.join(metrics)}: {why}"
    for line in left_out(score.left_out):
        yield f"left out: {line}"
    seed = "a public log" if score.seed is None else f"seed {score.seed}"
    yield f"{seed}{simulated(score.simulated)}"


def left_out(misfits: Mapping[str, str]) -> Iterator[str]:
    """Yield the metrics that do not fit a game, reason by reason."""
    for why in dict.fromkeys(misfits.values()):
        yield f"{', '.join(name for name, one in misfits.items() if one == why)}: {why}"


def _number(metric: str, values: list[float] | None) -> str:
    """Return a value, or the mean of several, in the unit of its metric; empty without a value."""
    if not values:
        return ""
    value, unit = fmean(values), metric_of(metric).unit
    if unit == "dollars":
        return dollars(to_cents(Decimal(value)))
    return f"{value:,.0f}" if value.is_integer() and unit in ("count", "rank", "tokens") else f"{value:.3f}"


def _missing(score: RunScore) -> dict[tuple[str, str], str]:
    """Return the bidders without a value, by metric and reason, with their number if above one each."""
    missing: dict[tuple[str, str], list[str]] = {}
    for one in score.measurements:
        if one.value is None:
            missing.setdefault((one.metric, one.missing), []).append(one.bidder)
    return {key: _whose(bidders) for key, bidders in missing.items()}


def _whose(bidders: list[str]) -> str:
    names = list(dict.fromkeys(filter(None, bidders)))
    of = f" of {', '.join(names)}" if names else ""
    return of + (f" ({len(bidders)} times)" if len(bidders) > max(1, len(names)) else "")


def memory_tables(found: Sequence[tuple[Record, float | None]]) -> Iterator[str]:
    """Yield memories, each with its score in a search, if any."""
    for record, score in found:
        yield _memory(record, score)


def _memory(record: Record, score: float | None) -> str:
    """Return a memory with its bidder, kind and scope; for one of another app, with its namespace."""
    value = record.content()
    bidder, kind, scope = "/".join(record.namespace), "", ""
    if len(record.namespace) == HARBOR_LABELS and isinstance(value.get("bidder"), str):
        bidder, (scope, _, kind) = value["bidder"], record.namespace
    text = value["text"] if isinstance(value.get("text"), str) else json.dumps(value, ensure_ascii=False)
    written = datetime.fromtimestamp(record.created, UTC).isoformat(" ", "minutes")[:16]
    about = ("" if score is None else f"score {score:.3f}", bidder, kind, scope, written)
    return f"{', '.join(filter(None, about))}\n  {' '.join(text.split())}"
