"""The games of a repeat in different arms of an experiment, with the first public event that differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from harbor._core.basics.errors import HarborError
from harbor._core.basics.feedback import steps
from harbor._core.files.layout import EVENTS
from harbor._core.files.marks import read_as_data
from harbor._core.log.events import PublicEvent
from harbor._core.log.evidence import read_evidence
from harbor._core.log.log_entries import Entry
from harbor._games.game import Game, game_of
from harbor._view.entries import words_of
from harbor._view.shapes import Moment, OtherRow
from harbor.evaluation._report.comparing.compared_runs import first_pair
from harbor.evaluation._report.tabular.listings import Game as Place

Public = tuple[Game, Sequence[Entry]]
"""A game, and the public events of its log."""


def others_of(
    sources: Mapping[Place, Path], addresses: Mapping[Place, str], label: Callable[[str], str]
) -> Mapping[Place, list[OtherRow]]:
    """Return for each game the others with its condition and repeat, each with the first event that differs.

    Only public events are compared, because bidders of different arms think differently from the beginning.

    Args:
        sources: the folders of the games. A series or a game with an unreadable log is skipped.
        addresses: the address of each game's page from the page of any other.
        label: returns the label of an arm by its name.
    """
    draws = defaultdict[tuple[str, int], list[Place]](list)
    for place in sources:
        draws[place[1:]].append(place)
    others = defaultdict[Place, list[OtherRow]](list)
    for places in steps(list(draws.values()), "draws compared"):
        logs = {place: log for place in places if (log := _public(sources[place]))}
        for one, other in combinations(logs, 2):
            pair = first_pair(logs[one][1], logs[other][1])
            here, there = (_moment(logs[one][0], entry) for entry in pair) if pair else (None, None)
            others[one].append((label(other[0]), addresses[other], here, there))
            others[other].append((label(one[0]), addresses[one], there, here))
    return others


def _public(source: Path) -> Public | None:
    """Read the public events of a game. Return None if the log can't be read; the game's page says why."""
    log = source / EVENTS
    try:
        entries = read_evidence(log).entries
        with read_as_data(log):
            game = game_of(entries)
    except (HarborError, OSError):
        return None
    return game, [entry for entry in entries if isinstance(entry.event, PublicEvent)]


def _moment(game: Game, entry: Entry | None) -> Moment:
    """Return the number and the words of an event, or the end of a log that ended before the other."""
    return (entry.seq, words_of(entry.event, game)) if entry else (-1, "the log ends")
