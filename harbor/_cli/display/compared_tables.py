"""Experiments, or two runs, side by side in a terminal: the verdict first, and a screen in all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from harbor._cli.display.finding_tables import rows_of
from harbor._cli.display.render import Table
from harbor._core.counting import counted
from harbor.evaluation._report.compared_words import (
    apart_table,
    differences_table,
    facts_of,
    how,
    ranked,
    sides_table,
    verdict,
)

if TYPE_CHECKING:
    from harbor.evaluation._report.compared_runs import ComparedRuns
    from harbor.evaluation._report.side_by_side import Compared, ComparedSide
    from harbor.evaluation._running.designs_apart import SettingApart

MOST_DIFFERENCES = 8
MOST_SETTINGS = 5
MOST_VALUE = 16
"""The longest value of a setting that is told beside its name."""


def short_comparison(compared: Compared) -> Iterator[Table | str]:
    """Give the verdict, the clearest differences, and in a line each what was compared and what differs in it."""
    yield _said(compared)
    unlike = [one for one in ranked(compared.contrasts) if not one.is_equal]
    title = f"Differences from {next(iter(compared.experiments))}, the clearest first"
    yield Table(title, list(rows_of(differences_table(compared, unlike[:MOST_DIFFERENCES], brief=True))))
    sides = (f"{one.experiment}: {_side(one)}" for one in compared.sides_compared)
    apart = (
        _apart(compared, what, found)
        for what, found in (("Settings", compared.apart), ("Versions", compared.origins_apart))
    )
    yield "\n".join(["", *sides, *chain.from_iterable(apart)])
    more = len(unlike) - MOST_DIFFERENCES
    yield f"{counted(more, 'more difference')}, all means and settings: --full" if more > 0 else "All of it: --full"


def compared_tables(compared: Compared) -> Iterator[Table | str]:
    """Give the verdict, all differences with both means, and all that differs in design and versions."""
    yield _said(compared)
    yield Table(
        "Differences, the clearest first", list(rows_of(differences_table(compared, ranked(compared.contrasts))))
    )
    yield Table("Experiments", list(rows_of(sides_table(compared))))
    yield Table("Settings that differ", list(rows_of(apart_table(compared, compared.apart))))
    yield Table("Versions that differ", list(rows_of(apart_table(compared, compared.origins_apart, "version"))))


def _said(compared: Compared) -> str:
    simulated = [one.experiment for one in compared.sides_compared if one.simulated]
    label = f"Simulated bidders in {' and '.join(simulated)}." if simulated else ""
    return " ".join(filter(None, (verdict(compared), how(compared), label)))


def _side(one: ComparedSide) -> str:
    """Say in a line what an experiment was: its games, players, version, day and cost."""
    known = facts_of(one)
    games = f"{one.finished} of {counted(one.games, 'game')} finished"
    said = (games, f"played by {known['played by']}", f"harbor {known['harbor']}", known["began"])
    return ", ".join(filter(None, (*said, known["cost"])))


def _apart(compared: Compared, what: str, apart: Sequence[SettingApart]) -> Iterator[str]:
    """Name in a line per experiment what differs from the first, with its values where they are short."""
    first, *others = compared.experiments
    for name in others:
        own = [one for one in apart if one.experiment == name]
        named = [_named(one) for one in own[:MOST_SETTINGS]]
        more = [f"{len(own) - MOST_SETTINGS} more"] if len(own) > MOST_SETTINGS else []
        if own:
            yield f"{what} that differ ({first} / {name}): {'; '.join([*named, *more])}"


def _named(one: SettingApart) -> str:
    is_short = max(len(one.against), len(one.value)) <= MOST_VALUE
    return f"{one.setting} {one.against} / {one.value}" if is_short else one.setting


def run_tables(compared: ComparedRuns, full: bool = False) -> Iterator[Table | str]:
    """Give the verdict, the first event that differs, both standings, and the settings that differ."""
    first, second = compared.sides
    simulated = any(side.simulated for side in compared.sides)
    yield f"{compared.verdict}{' Simulated bidders.' if simulated else ''}"
    for side in compared.sides:
        if not side.complete:
            yield f"{side.run} is not over: its log ends after {side.events} events"
    if (event := compared.event) is not None:
        yield Table(
            "The first event that differs",
            [{"run": first.run, "has": event.first}, {"run": second.run, "has": event.second}],
        )
    yield Table("Standings", list(_standings(compared)))
    rows = [{"setting": one.setting, first.run: one.against, second.run: one.value} for one in compared.settings]
    shown = rows if full else rows[: 2 * MOST_SETTINGS]
    yield Table("Settings that differ", shown)
    yield from [f"{len(rows) - len(shown)} more settings that differ: --full"] if len(rows) > len(shown) else []
    yield from filter(None, [compared.untold])


def _standings(compared: ComparedRuns) -> Iterator[dict[str, object]]:
    first, second = compared.sides
    for bidder in dict.fromkeys([*first.standings, *second.standings]):
        both = first.standings.get(bidder, {}), second.standings.get(bidder, {})
        for name in dict.fromkeys([*both[0], *both[1]]):
            one, other = (_plain(side.get(name)) for side in both)
            if one != other or name in ("profit", "total profit", "mean rank"):
                yield {"bidder": bidder, "what": name.replace("_", " "), first.run: one, second.run: other}


def _plain(value: object) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else "" if value is None else str(value)
