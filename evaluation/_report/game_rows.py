"""The games of an experiment as a table: how each ended, its key number, what it cost, and where its page is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harbor._core.layout import GAMES
from harbor.evaluation._analysis.comparisons import by_repeat
from harbor.evaluation._experiments.design import EVERYONE, Experiment, Side
from harbor.evaluation._experiments.trial_records import TrialRecord
from harbor.evaluation._report.formatting import NOTHING, unit_of, write
from harbor.evaluation._report.loading import Loaded, nowhere
from harbor.evaluation._report.tables import Cell, Column, Table, label_of

RANK = "rank"
FIRST = 1


class Key(NamedTuple):
    """What a game is summed up by: a metric, and whose value."""

    metric: str
    bidder: str


Game = tuple[str, str, int]
"""Arm, condition and repeat."""


def key_of(experiment: Experiment) -> Key:
    """Give the metric that the first planned comparison is of, or else the first metric of the design."""
    if experiment.comparisons:
        first = experiment.comparisons[0]
        return Key(first.metrics[0], first.of.bidder)
    return Key(experiment.metrics[0], EVERYONE)


def game_rows(loaded: Loaded, games: Sequence[TrialRecord]) -> Table:
    """List games of an experiment, each with a link to its page; if only some have one, the folders of the others.

    Of a failed game it says why.
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
    """Give the folder of a game within that of its experiment."""
    return f"{GAMES}/{game.arm}/{game.condition}/{game.repeat:04}"


def _values(loaded: Loaded) -> Mapping[Game, float]:
    """Give the key number of each game that has one."""
    key, values = key_of(loaded.experiment), loaded.analysis.values
    found: dict[Game, float] = {}
    for arm, condition in loaded.experiment.cells:
        side = Side(arm=arm.name, condition=condition.name, bidder=key.bidder)
        for repeat, value in by_repeat(values, key.metric, side).dropna().items():
            found[arm.name, condition.name, int(str(repeat))] = float(value)
    return found


def _first(game: TrialRecord) -> str:
    """Name who is first by rank."""
    first = [one.bidder for one in game.measurements if one.metric == RANK and one.value == FIRST]
    return ", ".join(first) or NOTHING


def _without_constants(table: Table, experiment: Experiment) -> Table:
    """Leave out arm or condition where there is but one."""
    alone = {place for place, cells in enumerate((experiment.arms, experiment.conditions)) if len(cells) == 1}
    kept = [place for place in range(len(table.columns)) if place not in alone]
    return Table(
        tuple(table.columns[place] for place in kept), tuple(tuple(row[place] for place in kept) for row in table.rows)
    )
