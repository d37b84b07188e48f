"""Tables without published numbers: the design, comparisons, ratings, failures, cost, and the games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from harbor._core.files.layout import GAMES
from harbor._core.settings import as_toml, toml_key
from harbor.evaluation._analysis.comparisons import by_repeat
from harbor.evaluation._analysis.findings import Analysis, Correlation, Difference, SkillRating, Spread, VarianceShare
from harbor.evaluation._experiments.design import EVERYONE, Experiment, Side, Variation
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._experiments.variations import SLOT
from harbor.evaluation._report.tabular.formatting import (
    MINUS,
    NOTHING,
    in_draws,
    unit_of,
    write,
    write_interval,
    write_p,
)
from harbor.evaluation._report.tabular.loading import Loaded, nowhere
from harbor.evaluation._report.tabular.page_parts import Cell, Column, Table, columns_of, row_of
from harbor.evaluation._report.tabular.tables import label_of, sides_of


def _cell_of(one: Correlation | SkillRating | Spread | TrialRecord, experiment: Experiment) -> tuple[str, str]:
    return label_of(experiment, "arm", one.arm), label_of(experiment, "condition", one.condition)


def variations(kind: str, varied: Sequence[Variation], public: bool = False) -> Table:
    """List arms or conditions with their changes. A `public` copy leaves the changes out."""
    changes = [NOTHING if public else _changes(one) for one in varied]
    names = [Cell(one.label or one.name, one.name if one.label else "") for one in varied]
    rows = [row_of(*cells) for cells in zip(names, changes, strict=True)]
    return Table(columns_of([kind, "changes"]), tuple(rows))


def seats(results: Results) -> Table:
    """List the bidders with persona and model, as designed, and their players."""
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
        rows.append(row_of(*(text or NOTHING for text in cells)))
    return Table(columns_of(["bidder", "persona", "rule or model", "played by"]), tuple(rows))


def personas_rotate(experiment: Experiment) -> bool:
    """Return whether any bidder's persona is a slot, in any arm."""
    varied = (one.auction for one in (*experiment.arms, *experiment.conditions))
    settings = [*experiment.auction.get("bidders", []), *varied]
    return any(name.endswith("persona") and SLOT.search(value) for one in settings for name, value in _flat(one))


def _changes(one: Variation) -> str:
    changes = [f"{name} = {value}" for name, value in _flat(one.auction)]
    changes += [f"{name} = {value}" for name in ("repeats", "order") if (value := getattr(one, name)) is not None]
    return "; ".join(changes) or "nothing"


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{toml_key(name)}.")
        else:
            yield f"{prefix}{name}", f"{len(value)} listed" if name in ("items", "bidders") else as_toml(value)


def of_analysis(analysis: Analysis, experiment: Experiment) -> dict[str, Table]:
    """Return the tables of the analysis by name, without empty ones."""
    found = {
        "comparisons": comparisons(analysis.differences, experiment),
        "companions": companions(analysis.companions, experiment),
        "correlations": correlations(analysis.correlations, experiment),
        "ratings": ratings(analysis.ratings, experiment),
        "spreads": spreads(analysis.spreads, experiment),
        "variance": variance(analysis.variance),
    }
    return {name: table for name, table in found.items() if table.rows}


def comparisons(differences: Sequence[Difference], experiment: Experiment) -> Table:
    """List the planned comparisons with interval, Hedges' g, p with its method, and p by Holm."""
    family = Column(Cell("p (Holm)", f"{len(differences)} {'test' if len(differences) == 1 else 'tests'}"))
    heads = (*columns_of(["metric", "difference"], ["mean", "n", "effect", "p"]), family)
    rows = []
    for one in differences:
        unit = unit_of(one.metric)
        mean = Cell(write(one.mean, unit), write_interval(one.low, one.high, unit) or one.note)
        effect = Cell(write(one.effect, "number"), write_interval(one.effect_low, one.effect_high, "number"))
        tests = (effect, _tested(one), write_p(one.p_holm))
        rows.append(row_of(one.metric, sides(one.of, one.against, experiment), mean, _pairs(one, experiment), *tests))
    return Table(heads, tuple(rows))


def companions(found: Sequence[Difference], experiment: Experiment) -> Table:
    """List the gains and losses of rivals and the seller in planned comparisons of a bidder, without tests."""
    heads = columns_of(["of", "metric", "difference"], ["mean", "n"])
    rows = []
    for one in found:
        unit = unit_of(one.metric)
        mean = Cell(write(one.mean, unit), write_interval(one.low, one.high, unit) or one.note)
        of, against = (side.model_copy(update={"bidder": ""}) for side in (one.of, one.against))
        rows.append(row_of(one.of.bidder, one.metric, sides(of, against, experiment), mean, _pairs(one, experiment)))
    return Table(heads, tuple(rows))


def _pairs(one: Difference, experiment: Experiment) -> Cell:
    """Count pairs. The line below says how many are missing, or that an arm was not run."""
    if {arm.name for arm in experiment.arms_left_out} & {one.of.arm, one.against.arm}:
        return Cell(str(one.pairs), "not run")
    said = in_draws(one.pairs, one.draws).strip(), f"{one.missing} missing" if one.missing else ""
    return Cell(str(one.pairs), "; ".join(filter(None, said)))


def _games(one: Correlation | SkillRating) -> Cell:
    """Count games. The line below says how many draws they share."""
    return Cell(str(one.games), in_draws(one.games, one.draws).strip())


def _tested(one: Difference | Correlation) -> Cell:
    """Write p. The line below names the method."""
    return Cell(write_p(one.p), "" if one.p is None else "; ".join(filter(None, (one.method, one.note))))


def sides(of: Side, against: Side, experiment: Experiment) -> Cell:
    """Name the differing parts of the sides. The line below has the shared parts."""
    found = sides_of(of, against, experiment)
    return Cell(f"{found.of} {MINUS} {found.against}", found.shared)


def correlations(found: Sequence[Correlation], experiment: Experiment) -> Table:
    """List Spearman's correlations."""
    heads = columns_of(["metrics", "arm", "condition", "bidder"], ["rho", "p", "pairs", "games"])
    rows = []
    for one in found:
        rho = Cell(write(one.rho, "correlation"), write_interval(one.low, one.high, "correlation") or one.note)
        where = (*_cell_of(one, experiment), one.bidder or NOTHING)
        rows.append(row_of(one.name, *where, rho, _tested(one), str(one.pairs), _games(one)))
    return Table(heads, tuple(rows))


def ratings(found: Sequence[SkillRating], experiment: Experiment) -> Table:
    """List TrueSkill ratings: mu after all games and sigma, and the mean of mu after single games, with intervals."""
    heads = columns_of(["arm", "condition", "bidder"], ["mu", "sigma", "per game", "games", "orders"])
    rows = []
    for one in found:
        mu = Cell(write(one.mu, "number"), write_interval(one.mu_low, one.mu_high, "number") or one.mu_note)
        interval = write_interval(one.per_game_low, one.per_game_high, "number") or one.per_game_note
        alone = Cell(write(one.per_game, "number"), interval)
        rest = (write(one.sigma, "number"), alone, _games(one), str(one.orders))
        rows.append(row_of(*_cell_of(one, experiment), one.bidder, mu, *rest))
    return Table(heads, tuple(rows))


def spreads(found: Sequence[Spread], experiment: Experiment) -> Table:
    """List the spread of games of one draw: the standard deviation of each metric, beside its mean."""
    heads = columns_of(["metric", "arm", "condition", "bidder"], ["standard deviation", "mean", "games"])
    rows = []
    for one in found:
        unit = unit_of(one.metric)
        sd = Cell(write(one.sd, unit), write_interval(one.low, one.high, unit) or one.note)
        where = (*_cell_of(one, experiment), one.bidder)
        rows.append(row_of(one.metric, *where, sd, write(one.mean, unit), str(one.games)))
    return Table(heads, tuple(rows))


def variance(found: Sequence[VarianceShare]) -> Table:
    """List the share of variance that each source explains, and the means of the levels of a factor."""
    heads = (*columns_of(["metric", "bidder", "source"], ["share", "games"]), *columns_of(["means"]))
    rows = []
    for one in found:
        share = Cell(write(one.share, "share"), write_interval(one.low, one.high, "share") or one.note)
        means = ", ".join(f"{level} {write(mean, unit_of(one.metric))}" for level, mean in one.means)
        rows.append(row_of(one.metric, one.bidder or NOTHING, one.source or NOTHING, share, str(one.games), means))
    return Table(heads, tuple(rows))


def costs(results: Results) -> Table:
    """Count games, calls, tokens and dollars by arm, and in total."""
    heads = columns_of(["arm"], ["games", "calls", "input tokens", "output tokens", "dollars"])
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
    return row_of(label, str(len(begun)), *counts, Cell(dollars, some))


RANK = "rank"
"""Metric of ranks."""
FIRST = 1
"""The best rank."""


class Key(NamedTuple):
    """The number that sums up a game: a metric and its bidder."""

    metric: str
    bidder: str


Game = tuple[str, str, int]
"""Arm, condition and repeat."""


def key_of(experiment: Experiment) -> Key:
    """Return the metric and bidder of the first planned comparison, or else the first metric of the design."""
    if experiment.comparisons:
        first = experiment.comparisons[0]
        return Key(first.metrics[0], first.of.bidder)
    return Key(experiment.metrics[0], EVERYONE)


def game_rows(loaded: Loaded, games: Sequence[TrialRecord]) -> Table:
    """List games of an experiment with links to their pages, and why a game failed.

    If only some games have a page, the others get their folders.
    """
    experiment, public = loaded.experiment, loaded.results.public
    key, values = key_of(experiment), _values(loaded)
    ranked = any(one.metric == RANK for game in loaded.results.records for one in game.measurements)
    whose = "" if key.bidder == EVERYONE else key.bidder
    heads = [Column(Cell("arm"), numeric=False), Column(Cell("condition"), numeric=False)]
    heads += [Column(Cell("game"), numeric=False), Column(Cell("how it ended"), numeric=False)]
    heads += [Column(Cell("first"), numeric=False)] if ranked else []
    heads += [Column(Cell(key.metric.replace("_", " "), whose))]
    heads += [] if public else [Column(Cell("cost"))]
    cells = [(arm.name, condition.name) for arm, condition in experiment.cells]
    linked = loaded.link_of is not nowhere
    rows = []
    for game in sorted(games, key=lambda game: cells.index((game.arm, game.condition))):
        address = loaded.link_of(game.arm, game.condition, game.repeat)
        row = [Cell(label_of(experiment, "arm", game.arm)), Cell(label_of(experiment, "condition", game.condition))]
        folder = place_of(game) if linked and not address and game.status != "unfinished" else ""
        row += [Cell(f"repeat {game.repeat}", folder, address), Cell(game.status, game.detail)]
        row += [Cell(_first(game))] if ranked else []
        row += [Cell(write(values.get((game.arm, game.condition, game.repeat)), unit_of(key.metric)))]
        row += [] if public else [Cell(write(game.cost, "dollars"))]
        rows.append(tuple(row))
    return _without_constants(Table(tuple(heads), tuple(rows)), experiment)


def place_of(game: TrialRecord) -> str:
    """Return the folder of a game within that of its experiment."""
    return f"{GAMES}/{game.arm}/{game.condition}/{game.repeat:04}"


def _values(loaded: Loaded) -> Mapping[Game, float]:
    """Return the key number of each game that has one."""
    key, values = key_of(loaded.experiment), loaded.analysis.values
    found: dict[Game, float] = {}
    for arm, condition in loaded.experiment.cells:
        side = Side(arm=arm.name, condition=condition.name, bidder=key.bidder)
        for repeat, value in by_repeat(values, key.metric, side).dropna().items():
            found[arm.name, condition.name, int(str(repeat))] = float(value)
    return found


def _first(game: TrialRecord) -> str:
    """Return the bidders with the first rank."""
    first = [one.bidder for one in game.measurements if one.metric == RANK and one.value == FIRST]
    return ", ".join(first) or NOTHING


def _without_constants(table: Table, experiment: Experiment) -> Table:
    """Drop the column of arms or conditions if there is only one."""
    alone = {place for place, cells in enumerate((experiment.arms, experiment.conditions)) if len(cells) == 1}
    kept = [place for place in range(len(table.columns)) if place not in alone]
    return Table(
        tuple(table.columns[place] for place in kept), tuple(tuple(row[place] for place in kept) for row in table.rows)
    )
