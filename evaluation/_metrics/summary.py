"""The summary of a run, from its log alone: what `harbor auction` and `harbor replay` show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from decimal import Decimal
from typing import Any

from harbor._core.errors import ConfigError, of_strangers
from harbor._core.events import LogOpened, SeatFailed, ThoughtFailed
from harbor._core.log import is_public, of_type
from harbor._core.log_lines import Entry
from harbor._core.money import as_number
from harbor._games.game import Game, game_of
from harbor.evaluation._metrics.calls import Calls, calls
from harbor.evaluation._metrics.lineup import is_simulated, unheeded
from harbor.evaluation._metrics.refusals import Refusals, refusals


@dataclass(frozen=True, slots=True)
class Failure:
    """A bidder whose seat or thoughts failed: how often, and the first error."""

    bidder: str
    times: int
    first: str


@dataclass(frozen=True)
class Summary:
    """The summary of a run; `simulated` says whether the built-in model played any bidder.

    `items` are the parts of the game, which `parts` names: items, days or runs. `figures` are those of the whole game.
    Of a public log (`seed` is None) calls are unknown, and so is all else that needs private events. `unheeded` says
    whose personas the built-in model does not read in this game.
    """

    run: str
    seed: int | None
    standings: Sequence[Any]
    items: Sequence[Any]
    calls: Calls | None
    failures: list[Failure]
    refusals: list[Refusals]
    seconds: float
    simulated: bool
    parts: str = "items"
    figures: dict[str, float] = field(default_factory=dict)
    unheeded: str = ""

    def as_json(self) -> dict[str, Any]:
        """Give the object that `--json` prints; amounts are dollars."""
        return {
            "run": self.run,
            "seed": self.seed,
            "standings": [_plain(row) for row in self.standings],
            self.parts: [_plain(row) for row in self.items],
            **self.figures,
            "calls": self.calls.as_json() if self.calls else None,
            "seconds": round(self.seconds, 3),
            "simulated": self.simulated,
            "unheeded": self.unheeded,
        }


def failures(*logs: Sequence[Entry]) -> list[Failure]:
    """List the bidders whose seats or thoughts failed, in the order in which they first did; of a series, in all."""
    details: dict[str, list[str]] = {}
    for entry in (entry for log in logs for entry in log):
        if isinstance(entry.event, SeatFailed | ThoughtFailed):
            details.setdefault(entry.event.bidder, []).append(entry.event.detail)
    return [Failure(bidder, len(said), said[0]) for bidder, said in details.items()]


def summarise(entries: Sequence[Entry]) -> Summary:
    """Summarise a log."""
    opened = of_type(entries, LogOpened)[0]
    played = game_of(entries)
    public = is_public(entries)
    told = entries if played.measures.public or not public else ()
    game = played.measures
    return Summary(
        run=opened.run,
        seed=opened.seed,
        standings=_rows(f"the standings of the game {played.name!r}", game.standings, told),
        items=_rows(f"the results of the game {played.name!r}", game.items, told),
        calls=None if public else calls(entries),
        failures=failures(entries),
        refusals=refusals(entries),
        seconds=round(entries[-1].at, 6),
        simulated=is_simulated(entries),
        parts=game.parts,
        figures=_figures(played, told),
        unheeded=unheeded(entries, played),
    )


def _figures(game: Game, entries: Sequence[Entry]) -> dict[str, float]:
    if not entries:
        return {}
    return of_strangers(f"the figures of the game {game.name!r}", lambda: game.measures.figures(entries))


def _rows(what: str, measure: Callable[[Sequence[Entry]], Sequence[Any]], entries: Sequence[Entry]) -> Sequence[Any]:
    """Take the rows of a game, which may be a stranger's; none where there is nothing to measure them from."""
    if not entries:
        return []
    rows = of_strangers(what, lambda: list(measure(entries)))
    if not all(is_dataclass(row) and not isinstance(row, type) for row in rows):
        raise ConfigError(f"{what} are no rows; give dataclasses, whose fields are the columns")
    return rows


def _plain(row: Any) -> dict[str, Any]:
    """Give a row as plain JSON; whether an item was reached shows in its winner, its price and its rounds."""
    values = {name: as_number(value) if isinstance(value, Decimal) else value for name, value in asdict(row).items()}
    values.pop("closed", None)
    return values
