"""Who played: what plays each bidder of a run or of a series, and whether that is the built-in model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harbor._core.events import BidderLabelled, SeriesOpened
from harbor._core.log import of_type
from harbor._core.log_lines import Entry


def players(entries: Sequence[Entry]) -> dict[str, str]:
    """Tell what plays each bidder: a model, a rule, an agent or a person; empty if the log broke off before that."""
    for series in of_type(entries, SeriesOpened):
        return dict(series.players)
    return {label.bidder: label.player for label in of_type(entries, BidderLabelled)}


def any_simulated(played_by: Iterable[str]) -> bool:
    """Tell whether the built-in model is among these players."""
    return any(player.startswith("simulated") for player in played_by)
