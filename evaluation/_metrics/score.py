"""The score of a run: the metrics of its game, measured on its log, as `harbor score` shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from harbor._core.events import LogOpened
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor.evaluation._metrics.lineup import is_simulated
from harbor.evaluation._metrics.measurement import Measurement
from harbor.evaluation._metrics.registry import fits, kinds_in, measure


@dataclass(frozen=True)
class RunScore:
    """The measurements of a run or a series; `simulated` says whether the built-in model played any bidder.

    `left_out` are the installed metrics that were not measured because they are of other games, each with the reason.
    """

    run: str
    seed: int | None
    simulated: bool
    measurements: tuple[Measurement, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Give the object that `--json` prints."""
        return asdict(self)


def score(entries: Sequence[Entry], names: Iterable[str] = ()) -> RunScore:
    """Measure a log by the metrics of these names; by default, all of its game."""
    opened, asked = of_type(entries, LogOpened)[0], list(names)
    misfits = {} if asked else fits(kinds_in(entries))
    wanted = asked or [name for name, why in misfits.items() if not why]
    return RunScore(
        opened.run,
        opened.seed,
        is_simulated(entries),
        tuple(measure(wanted, entries)),
        {name: why for name, why in misfits.items() if why},
    )
