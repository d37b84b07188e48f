"""What can be rated: the games of bidders that give reasons, found in the folders of runs and experiments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harbor._core.errors import RatingError
from harbor._core.events import Answered, BidderLabelled
from harbor._core.layout import EVENTS, GAMES, logs_in
from harbor._core.log import of_type, read_log
from harbor._core.log_lines import Entry
from harbor._core.thoughts import Decided, DecidedInWords, LimitSet
from harbor.evaluation._metrics.series import is_series
from harbor.evaluation._rating.transcript import Transcript, transcript


@dataclass(frozen=True, slots=True)
class Rateable:
    """One bidder's game: the folder of its log, its trial if it is from an experiment, and what played the bidder.

    `arm` and `condition` are empty outside an experiment, and `game` is then the folder of the run.
    """

    run: Path
    bidder: str
    player: str
    arm: str
    condition: str
    game: str

    def transcript(self) -> Transcript:
        """Write its transcript."""
        return transcript(read_log(self.run / EVENTS).entries, self.bidder)


def rateables(folders: Iterable[Path]) -> list[Rateable]:
    """Find all that can be rated: bidders that gave a reason or words of their own, in finished games.

    Each auction of a series counts by itself.

    Raises:
        RatingError: there is nothing to rate.
        RunFolderError: a folder contains no run.
        LogError: a log can't be read.
    """
    wanted = list(folders)
    logs = {log.resolve(): (folder, log) for folder in wanted for log in logs_in(folder)}  # a run may be given twice
    found = [one for place in logs.values() for one in _bidders(*place)]
    if not found:
        raise RatingError(
            f"nothing to rate in {', '.join(map(repr, map(str, wanted)))}; give finished runs with models"
        )
    return found


def _bidders(folder: Path, log: Path) -> Iterator[Rateable]:
    reading = read_log(log)
    if is_series(reading.entries) or not reading.complete:
        return
    players = {label.bidder: label.player for label in of_type(reading.entries, BidderLabelled)}
    arm, condition, game = _place(folder, log.parent)
    for bidder in _speaking(reading.entries):
        yield Rateable(log.parent, bidder, players[bidder], arm, condition, game)


def _place(folder: Path, run: Path) -> tuple[str, str, str]:
    match run.relative_to(folder).parts:
        case (first, arm, condition, repeat, *_) if first == GAMES:
            return arm, condition, f"{arm}/{condition}/{repeat}"
    return "", "", run.as_posix()


def _speaking(entries: Sequence[Entry]) -> list[str]:
    """Name the bidders that said anything about why they bid as they did."""
    speaking = Decided | DecidedInWords | LimitSet | Answered
    said = (entry.event for entry in entries if isinstance(entry.event, speaking))
    return list(dict.fromkeys(event.bidder for event in said))
