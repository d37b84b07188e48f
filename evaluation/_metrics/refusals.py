"""Who answered what was refused: a bidder that can't be understood takes part, and yet chooses nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harbor._core.acts import Tried
from harbor._core.events import Answered, BiddersAsked, ModelCalled
from harbor._core.log_lines import Entry
from harbor.evaluation._metrics.lineup import is_agent, players

SHOWN = 60
"""How many characters are shown of what was said."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """The refused answers of a bidder in a game: how many, of how many times that it was asked, and the first reason.

    With the reason stands what was said, where the log has it and the reason does not. `by_model` is how often its
    model refused to answer at all; then `first` is the reason of the first such time.

    `agent` says whether an agent plays the bidder: its answers are refused for a fault of a program. Those of a model
    may be refused for a bad choice too, which is a measurement.
    """

    bidder: str
    refused: int
    asked: int
    first: str
    agent: bool
    by_model: int = 0

    @property
    def entire(self) -> bool:
        """Whether no answer of the bidder was ever taken."""
        return self.refused == self.asked

    @property
    def alarming(self) -> bool:
        """Whether to warn of it: of an agent or a model that refuses always, of others if no answer was taken."""
        return self.agent or self.entire or self.by_model > 0


def refusals(*logs: Sequence[Entry]) -> list[Refusals]:
    """List the bidders with refused answers in a log; of a series, over the logs of all its auctions."""
    asked, said, reasons = Counter[str](), dict[str, str](), dict[str, list[str]]()
    by_model, outcomes, own = Counter[str](), dict[str, str](), dict[str, str]()
    for entry in (entry for log in logs for entry in log):
        match entry.event:
            case BiddersAsked(bidders=bidders):
                asked.update(bidders)
            case Answered(bidder=bidder, words=words):
                said[bidder] = words
            case ModelCalled(bidder=bidder, outcome=outcome):
                by_model[bidder] += outcome == "refused"
                outcomes[bidder] = outcome
            case Tried(bidder=bidder, reason=reason):
                reasons.setdefault(bidder, []).append(_with(said.pop(bidder, ""), reason))
                if outcomes.get(bidder) == "refused":
                    own.setdefault(bidder, reason)
    agents = {bidder for log in logs for bidder, player in players(log).items() if is_agent(player)}
    return [
        Refusals(name, len(why), asked[name], own.get(name, why[0]), name in agents, by_model[name])
        for name, why in reasons.items()
    ]


def _with(words: str, reason: str) -> str:
    return reason if not words or reason in words else f"{words[:SHOWN]!r}: {reason}"
