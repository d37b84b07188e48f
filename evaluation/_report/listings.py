"""The tables of a report without published numbers: design, comparisons, ratings, failures, cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harbor.evaluation._analysis.findings import Analysis, Correlation, Difference, SkillRating, Spread
from harbor.evaluation._experiments.design import Experiment, Side, Variation
from harbor.evaluation._experiments.slots import SLOT
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._report.formatting import MINUS, NOTHING, unit_of, write, write_interval, write_p
from harbor.evaluation._report.tables import Cell, Column, Table, label_of, write_spread

PARTS = ("arm", "condition", "bidder")


def _columns(text: Sequence[str], numbers: Sequence[str] = ()) -> tuple[Column, ...]:
    return tuple(Column(Cell(head), numeric=False) for head in text) + tuple(Column(Cell(head)) for head in numbers)


def _row(*cells: str | Cell) -> tuple[Cell, ...]:
    return tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells)


def _cell_of(one: Correlation | SkillRating | Spread | TrialRecord, experiment: Experiment) -> tuple[str, str]:
    return label_of(experiment, "arm", one.arm), label_of(experiment, "condition", one.condition)


def variations(kind: str, varied: Iterable[Variation]) -> Table:
    """List arms or conditions with what they change."""
    rows = [_row(Cell(one.label or one.name, one.name if one.label else ""), _changes(one)) for one in varied]
    return Table(_columns([kind, "changes"]), tuple(rows))


def seats(results: Results) -> Table:
    """List the bidders with persona and model, as designed, and what played them."""
    played: dict[str, dict[str, None]] = {}
    for game in results.records:
        for bidder, player in game.players:
            played.setdefault(bidder, {})[player] = None
    designed = {bidder["name"]: bidder for bidder in results.experiment.auction.get("bidders", [])}
    rows = []
    for name in dict.fromkeys([*designed, *played]):
        bidder = designed.get(name, {})
        persona = bidder.get("persona", [])
        cells = [name, persona if isinstance(persona, str) else " + ".join(persona)]
        cells += [bidder.get("rule") or bidder.get("model", ""), ", ".join(played.get(name, {}))]
        rows.append(_row(*(text or NOTHING for text in cells)))
    return Table(_columns(["bidder", "persona", "rule or model", "played by"]), tuple(rows))


def personas_rotate(experiment: Experiment) -> bool:
    """Tell whether any bidder's persona is a slot, in any arm."""
    varied = (one.auction for one in (*experiment.arms, *experiment.conditions))
    settings = [*experiment.auction.get("bidders", []), *varied]
    return any(name.endswith("persona") and SLOT.search(str(value)) for one in settings for name, value in _flat(one))


def _changes(one: Variation) -> str:
    changes = [f"{name} = {value}" for name, value in _flat(one.auction)]
    changes += [f"{name} = {value}" for name in ("repeats", "order") if (value := getattr(one, name)) is not None]
    return "; ".join(changes) or "nothing"


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, object]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", f"{len(value)} listed" if name in ("items", "bidders") else value


def of_analysis(analysis: Analysis, experiment: Experiment) -> dict[str, Table]:
    """Give the tables of the analysis by name; those that have no rows are left out."""
    found = {
        "comparisons": comparisons(analysis.differences, experiment),
        "correlations": correlations(analysis.correlations, experiment),
        "ratings": ratings(analysis.ratings, experiment),
        "spreads": spreads(analysis.spreads, experiment),
    }
    return {name: table for name, table in found.items() if table.rows}


def comparisons(differences: Sequence[Difference], experiment: Experiment) -> Table:
    """List the planned comparisons with interval, effect size, p and p by Holm."""
    heads = _columns(["metric", "difference"], ["mean", "n", "effect", "p", "p (Holm)"])
    rows = []
    for one in differences:
        unit = unit_of(one.metric)
        mean = Cell(write(one.mean, unit), write_interval(one.low, one.high, unit) or one.note)
        pairs = Cell(str(one.pairs), f"{one.missing} missing" if one.missing else "")
        tests = (write(one.effect, "number"), write_p(one.p), write_p(one.p_holm))
        rows.append(_row(one.metric, _sides(one.of, one.against, experiment), mean, pairs, *tests))
    return Table(heads, tuple(rows))


def _sides(of: Side, against: Side, experiment: Experiment) -> Cell:
    """Name what differs between the sides; below it, what they share."""
    named = [{part: _part(side, part, experiment) for part in ("metric", *PARTS)} for side in (of, against)]
    metrics = () if of.metric == against.metric else ("metric",)
    differing = [*metrics, *(part for part in PARTS if named[0][part] != named[1][part])]
    one, other = (", ".join(side[part] for part in differing) for side in named)
    alone = {"arm": len(experiment.arms) == 1, "condition": len(experiment.conditions) == 1}
    shared = [named[0][part] for part in PARTS if part not in differing and named[0][part] and not alone.get(part)]
    return Cell(f"{one} {MINUS} {other}", ", ".join(shared))


def _part(side: Side, part: str, experiment: Experiment) -> str:
    name = getattr(side, part) or ""
    return name if part in ("metric", "bidder") else label_of(experiment, part, name)


def correlations(found: Sequence[Correlation], experiment: Experiment) -> Table:
    """List Spearman's correlations."""
    heads = list(_columns(["metrics", "arm", "condition", "bidder"], ["rho", "p", "pairs", "games"]))
    heads[5] = Column(Cell("p", "as if pairs were independent"))
    rows = []
    for one in found:
        rho = Cell(write(one.rho, "correlation"), write_interval(one.low, one.high, "correlation") or one.note)
        where = (*_cell_of(one, experiment), one.bidder or NOTHING)
        rows.append(_row(one.name, *where, rho, write_p(one.p), str(one.pairs), str(one.games)))
    return Table(tuple(heads), tuple(rows))


def ratings(found: Sequence[SkillRating], experiment: Experiment) -> Table:
    """List TrueSkill ratings: mu with its spread over orders of the games, and sigma."""
    heads = _columns(["arm", "condition", "bidder"], ["mu", "sigma", "games", "orders"])
    rows = []
    for one in found:
        mu = Cell(write(one.mu, "number"), write_spread(one))
        numbers = (write(one.sigma, "number"), str(one.games), str(one.orders))
        rows.append(_row(*_cell_of(one, experiment), one.bidder, mu, *numbers))
    return Table(heads, tuple(rows))


def spreads(found: Sequence[Spread], experiment: Experiment) -> Table:
    """List how much games of one draw differ: the standard deviation of each metric, beside its mean."""
    heads = _columns(["metric", "arm", "condition", "bidder"], ["standard deviation", "mean", "games"])
    rows = []
    for one in found:
        unit = unit_of(one.metric)
        sd = Cell(write(one.sd, unit), write_interval(one.low, one.high, unit) or one.note)
        where = (*_cell_of(one, experiment), one.bidder)
        rows.append(_row(one.metric, *where, sd, write(one.mean, unit), str(one.games)))
    return Table(heads, tuple(rows))


def games(found: Sequence[TrialRecord], experiment: Experiment) -> Table:
    """List games that failed or are not finished, each with its reason."""
    heads = (*_columns(["arm", "condition"]), Column(Cell("repeat")), Column(Cell("seed")), *_columns(["how it ended"]))
    rows = [_row(*_cell_of(one, experiment), str(one.repeat), str(one.seed), one.detail or one.status) for one in found]
    return Table(heads, tuple(rows))


def costs(results: Results) -> Table:
    """Count games, calls, tokens and dollars by arm, and in all."""
    heads = _columns(["arm"], ["games", "calls", "input tokens", "output tokens", "dollars"])
    arms = [[one for one in results.records if one.arm == arm.name] for arm in results.experiment.arms]
    labels = [label_of(results.experiment, "arm", arm.name) for arm in results.experiment.arms]
    rows = [_cost(label, games) for label, games in zip(labels, arms, strict=True)]
    return Table(heads, (*rows, _cost("in all", results.records)))


def _cost(label: str, found: Sequence[TrialRecord]) -> tuple[Cell, ...]:
    begun = [one for one in found if one.status != "unfinished"]
    unknown = sum(one.cost is None for one in begun)
    known = sum(one.cost for one in begun if one.cost is not None)
    counts = (f"{sum(getattr(one, name) for one in begun):,}" for name in ("calls", "input_tokens", "output_tokens"))
    dollars = NOTHING if unknown == len(begun) else write(known, "dollars")
    some = f"{unknown} games unknown" if 0 < unknown < len(begun) else ""
    return _row(label, str(len(begun)), *counts, Cell(dollars, some))
