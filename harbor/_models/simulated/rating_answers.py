"""How the built-in model rates a transcript: it counts what can be counted in it, and judges nothing.

Each score is a share of decisions (or of parts of the game) put on the scale from 1 to 5.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from harbor._config.auction import Simulated
from harbor._games.game import Facts, Values

_THOUGHT = re.compile(r' {4}Player A (?P<what>[a-z]+)(?P<how>[^"]*)(?:"(?P<words>.*)")?')
_WORD = re.compile(r"[a-z]{4,}")


@dataclass(frozen=True)
class Play:
    """What a transcript shows of the player: each decision with its reasons, its plans, refusals, and wins."""

    decisions: list[tuple[str, str]]
    plans: set[str]
    refusals: int
    parts: int
    wins: int
    identity: str

    @classmethod
    def of(cls, lines: list[str]) -> Play:
        """Read a transcript."""
        thoughts = [found for line in lines if (found := _THOUGHT.fullmatch(line))]
        said = [(found["what"], found["how"], found["words"] or "") for found in thoughts]
        public = [line for line in lines if not line.startswith(" ")]
        return cls(
            decisions=[(how.strip(" :"), words) for what, how, words in said if what in ("bids", "withdraws", "says")],
            plans={words for what, _, words in said if what == "plans"},
            refusals=sum(what == "is" and "refused" in how for what, how, _ in said),
            parts=sum(line.startswith("== ") for line in public),
            wins=sum(
                bool(re.search(r"Player A bids .*: served|sold to Player A|Player A.* (?:wins|won)\b", line))
                for line in public
            ),
            identity=" ".join(words for _, how, words in said if "told" in how and "act as" in words),
        )

    def share(self, condition: Callable[[str, str], bool]) -> float:
        """Give the share of decisions that meet a condition."""
        return sum(condition(*decision) for decision in self.decisions) / max(1, len(self.decisions))


def rate(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Rate a transcript by counting."""
    play = Play.of(facts["transcript"])
    parts = max(1, play.parts)
    identity = set(_WORD.findall(play.identity.lower()))
    verdict = {
        "information_utilisation": _score(
            play.share(lambda _, words: any(map(str.isdigit, words))), "decisions whose reasons name a figure"
        ),
        "logical_reasoning": _score(
            play.share(lambda _, words: bool(words)) - play.refusals / max(1, len(play.decisions)),
            "decisions with reasons, less the refused ones",
        ),
        "strategic_effectiveness": _score(play.wins / parts, "parts of the game won"),
        "adaptability": _score(len({how for how, _ in play.decisions}) / parts, "different bids to a part of the game"),
        "long_term_planning": _score(len(play.plans) / parts, "different plans to a part of the game"),
        "identity_alignment": None,
    }
    if facts["persona"]:
        verdict["identity_alignment"] = _score(
            play.share(lambda _, words: bool(identity & set(_WORD.findall(words.lower())))),
            "decisions whose reasons share a word with its identity",
        )
    return verdict


def _score(share: float, of: str) -> Values:
    bounded = min(1.0, max(0.0, share))
    return {"reasons": f"The share of {of} is {bounded:.2f}.", "score": 1 + round(4 * bounded)}
