"""Who played: what plays each bidder of a run or of a series, and whether that is the built-in model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harbor._core.events import BidderLabelled, LogOpened, SeriesOpened
from harbor._core.log import is_public, of_type
from harbor._core.log_lines import Entry
from harbor._games.game import Game


def players(entries: Sequence[Entry]) -> dict[str, str]:
    """Tell what plays each bidder: a model, a rule, an agent or a person; empty if the log broke off before that."""
    for series in of_type(entries, SeriesOpened):
        return dict(series.players)
    return {label.bidder: label.player for label in of_type(entries, BidderLabelled)}


def is_simulated(entries: Sequence[Entry]) -> bool:
    """Tell whether the built-in model plays a bidder; a public log says it with the parts that it is made of."""
    parts = (part for opened in of_type(entries, LogOpened) for part in opened.parts if is_public(entries))
    return any_simulated(players(entries).values()) or any(part.kind == "model" for part in parts)


def unheeded(entries: Sequence[Entry], game: Game) -> str:
    """Say whose personas the built-in model did not read in a game; empty if nobody's."""
    labels = of_type(entries, BidderLabelled)
    return game.unheeded({one.bidder: one.personas for one in labels if any_simulated([one.player])})


def is_agent(player: str) -> bool:
    """Tell whether a player is an agent, be it given in Python or named in the settings."""
    return player == "agent" or player.startswith("agent (")


def any_simulated(played_by: Iterable[str]) -> bool:
    """Tell whether the built-in model is among these players."""
    return any(player.startswith("simulated") for player in played_by)
