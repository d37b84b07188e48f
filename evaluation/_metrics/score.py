"""The score of a run: the metrics of its game, measured on its log, as `harbor score` shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harbor._core.events import LogOpened
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor.evaluation._metrics.lineup import is_simulated
from harbor.evaluation._metrics.measurement import Measurement
from harbor.evaluation._metrics.registry import fitting, measure


@dataclass(frozen=True)
class RunScore:
    """The measurements of a run or a series; `simulated` says whether the built-in model played any bidder."""

    run: str
    seed: int | None
    simulated: bool
    measurements: tuple[Measurement, ...]

    def as_json(self) -> dict[str, Any]:
        """Give the object that `--json` prints."""
        return asdict(self)


def score(entries: Sequence[Entry], names: Iterable[str] = ()) -> RunScore:
    """Measure a log by the metrics of these names; by default, all of its game."""
    opened = of_type(entries, LogOpened)[0]
    return RunScore(
        opened.run,
        opened.seed,
        is_simulated(entries),
        tuple(measure(list(names) or fitting(entries), entries)),
    )
