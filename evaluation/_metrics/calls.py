"""Reads from a log who played each bidder, which model calls were made at what cost, and which answers were refused."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import fsum
from typing import Any, Literal, get_args

from harbor._core.basics.numbers import cost_in_words, counted
from harbor._core.log.acts import Tried
from harbor._core.log.events import (
    NO_REQUESTS,
    Answered,
    BidderLabelled,
    BiddersAsked,
    LogOpened,
    ModelCalled,
    Paused,
    SeriesOpened,
    Spent,
)
from harbor._core.log.log import is_public, of_type
from harbor._core.log.log_entries import Entry
from harbor._games.game import Game
from harbor.evaluation._metrics.measurement import Measurement, metric


def players(entries: Sequence[Entry]) -> dict[str, str]:
    """Map each bidder to its player: a model, a rule, an agent or a person.

    The map is empty if the log ends before it names the players.
    """
    for series in of_type(entries, SeriesOpened):
        return dict(series.players)
    return {label.bidder: label.player for label in of_type(entries, BidderLabelled)}


def is_simulated(entries: Sequence[Entry]) -> bool:
    """Return whether the built-in model plays a bidder.

    A public log names no players. For it, the result is whether its list of extensions contains a model.
    """
    parts = (part for opened in of_type(entries, LogOpened) for part in opened.parts if is_public(entries))
    return any_simulated(players(entries).values()) or any(part.kind == "model" for part in parts)


def unheeded(entries: Sequence[Entry], game: Game) -> str:
    """Return a warning that names the bidders whose personas the built-in model ignores; empty if there are none."""
    labels = of_type(entries, BidderLabelled)
    return game.unheeded({one.bidder: one.personas for one in labels if any_simulated([one.player])})


def is_agent(player: str) -> bool:
    """Return whether a player is an agent, be it passed in Python or named in the settings."""
    return player == "agent" or player.startswith("agent (")


def any_simulated(played_by: Iterable[str]) -> bool:
    """Return whether the built-in model is among these players."""
    return any(player.startswith("simulated") for player in played_by)


Kind = Literal["mark", "not taken", "key", "fallback"]
MARKS = {
    "drafts": "had drafts before the answer",
    "contradicted": "had a text that contradicts the call of the tool, which was taken",
    "mended": "had slips of form, which were mended",
    "words": "answered in words",
}
"""The words for each mark that a call can have; they complete the sentence "3 replies ..."."""


@dataclass(frozen=True, slots=True)
class Noted:
    """The number of calls that have one note in common.

    `kind` says what `name` is: a "mark" of the reply, a setting that the server did "not take", the variable with the
    "key" that was used, or the "fallback" model that answered.
    """

    kind: Kind
    name: str
    calls: int


def noted(made: Iterable[ModelCalled]) -> tuple[Noted, ...]:
    """Count the notes of calls, the most frequent first within each kind."""
    counts: dict[Kind, Counter[str]] = {kind: Counter() for kind in get_args(Kind)}
    for call in made:
        counts["mark"].update(set(call.marks))
        counts["not taken"].update(set(call.not_taken))
        counts["key"].update(filter(None, [call.key_env]))
        counts["fallback"].update(filter(None, [call.fallback]))
    return tuple(Noted(kind, name, count) for kind, names in counts.items() for name, count in names.most_common())


def summed(groups: Iterable[Sequence[Noted]]) -> tuple[Noted, ...]:
    """Add up the notes of several groups of calls."""
    total = Counter[tuple[Kind, str]]()
    for group in groups:
        total.update({(one.kind, one.name): one.calls for one in group})
    return tuple(Noted(kind, name, count) for (kind, name), count in total.items())


def dollars_in_all(dollars: Iterable[float | None]) -> float | None:
    """Return the sum of the amounts in dollars; None if any amount is unknown."""
    told = list(dollars)
    return None if None in told else fsum(one for one in told if one is not None)


def notes_of(found: Sequence[Noted], probes: Spent, lost: Spent, cost: float | None) -> Iterator[str]:
    """Yield sentences on the requests beside the calls, their cost, and the notes of the calls.

    `probes` are requests that found out how a model takes questions, and `lost` are requests without an answer; each
    has a sentence only if there are any. `cost` is the cost of the calls themselves, in dollars (None: unknown).
    """
    if probes.requests:
        yield f"{counted(probes.requests, 'request')} found out how a model takes questions: {_spent(probes)}"
    if lost.requests:
        yield f"{counted(lost.requests, 'request')} lost, without an answer: at most {_spent(lost)}"
    if probes.requests or lost.requests:
        most = dollars_in_all((cost, probes.cost_dollars, lost.cost_dollars))
        yield f"to pay for calls and for these requests, at most: {cost_in_words(most)}"
    for one in found:
        yield _told(one)


def _spent(spent: Spent) -> str:
    tokens = f"{spent.input_tokens:,} tokens in, {spent.output_tokens:,} out"
    return f"{tokens}, {cost_in_words(spent.cost_dollars)}"


def _told(one: Noted) -> str:
    match one.kind:
        case "mark":
            what = MARKS.get(one.name, f"had the mark {one.name!r}")
            return f"{one.calls:,} {'reply' if one.calls == 1 else 'replies'} {what}"
        case "not taken":
            return f"{counted(one.calls, 'call')} went without {one.name!r}, which the server does not take"
        case "key":
            return f"{counted(one.calls, 'call')} used the key in {one.name}"
        case "fallback":
            return f"{counted(one.calls, 'call')} went to {one.name!r} in place of the bidder's model"


@dataclass(frozen=True, slots=True)
class CallTotals:
    """Totals over calls: their number, the failed and the cached ones, repeated requests, tokens and cost.

    `cached_tokens` are part of the input tokens, and `reasoning_tokens` part of the output tokens. `cost_dollars` is
    None if the cost of any call is unknown, and `unpriced` is the number of calls with an unknown cost. A failed call
    whose cost is unknown counts in neither, because most failed calls cost nothing. `failed` calls had no answer, or
    were cut off when the bidder's time ran out. In `refused` replies the model refuses the task. `imported` replies
    come from a file that somebody may have sent. `probes` and `lost` are further requests, which `ModelCalled`
    describes. `noted` has the number of calls with each note.
    """

    count: int = 0
    failed: int = 0
    cached: int = 0
    retries: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_dollars: float | None = 0.0
    unpriced: int = 0
    imported: int = 0
    refused: int = 0
    probes: Spent = NO_REQUESTS
    lost: Spent = NO_REQUESTS
    noted: tuple[Noted, ...] = ()

    @property
    def most_dollars(self) -> float | None:
        """The largest possible cost in dollars, with probes and lost requests; None if any of it is unknown."""
        return dollars_in_all((self.cost_dollars, self.probes.cost_dollars, self.lost.cost_dollars))


def totals(made: Sequence[ModelCalled]) -> CallTotals:
    """Add up these calls."""
    told = [call.cost_dollars for call in made if call.outcome != "failed" or call.cost_dollars is not None]
    unpriced = told.count(None)
    return CallTotals(
        count=len(made),
        failed=sum(call.outcome == "failed" for call in made),
        cached=sum(call.cached for call in made),
        retries=sum(call.retries for call in made),
        input_tokens=sum(call.input_tokens for call in made),
        cached_tokens=sum(call.cached_tokens for call in made),
        output_tokens=sum(call.output_tokens for call in made),
        reasoning_tokens=sum(call.reasoning_tokens for call in made),
        cost_dollars=dollars_in_all(told),
        unpriced=unpriced,
        imported=sum(call.imported for call in made),
        refused=sum(call.outcome == "refused" for call in made),
        probes=sum((call.probes for call in made), NO_REQUESTS),
        lost=sum((call.lost for call in made), NO_REQUESTS),
        noted=noted(made),
    )


@dataclass(frozen=True, slots=True)
class Calls:
    """Model calls of an auction, or of a series: in total, and by bidder, by purpose and by model.

    `chain` is the number of calls that had to be made one after another. The time of the game can't be shorter than the
    time of these calls.
    """

    total: CallTotals = CallTotals()
    by_bidder: Mapping[str, CallTotals] = field(default_factory=dict)
    by_purpose: Mapping[str, CallTotals] = field(default_factory=dict)
    by_model: Mapping[str, CallTotals] = field(default_factory=dict)
    chain: int = 0

    @property
    def count(self) -> int:
        """Number of calls, repairs and failed ones included."""
        return self.total.count

    @property
    def failed(self) -> int:
        """Number of calls that had no answer, or were cut off when the bidder's time ran out."""
        return self.total.failed

    @property
    def input_tokens(self) -> int:
        """Tokens that the models read."""
        return self.total.input_tokens

    @property
    def output_tokens(self) -> int:
        """Tokens that the models wrote."""
        return self.total.output_tokens

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints under `calls`.

        Its keys are `total`, `by_bidder`, `by_purpose` and `by_model`. `total` is an object with the fields of
        `CallTotals` and with `most_dollars`. The other keys hold one such object for each bidder, purpose or model.
        Dollars are rounded to a millionth of a cent.
        """
        groups = {name: getattr(self, name) for name in ("by_bidder", "by_purpose", "by_model")}
        return {"total": _plain(self.total)} | {
            name: {key: _plain(one) for key, one in group.items()} for name, group in groups.items()
        }


def _plain(one: CallTotals) -> dict[str, Any]:
    told: dict[str, Any] = asdict(one) | {"most_dollars": one.most_dollars}
    for beside in (told, told["probes"], told["lost"]):
        beside |= {name: round(value, 8) for name, value in beside.items() if isinstance(value, float)}
    return told


def calls(*logs: Sequence[Entry]) -> Calls:
    """Add up the model calls in these logs; for a series, pass the logs of all its auctions."""
    made = [call for log in logs for call in of_type(log, ModelCalled)]
    return Calls(
        total=totals(made),
        by_bidder=_grouped(made, lambda call: call.bidder),
        by_purpose=_grouped(made, lambda call: call.purpose),
        by_model=_grouped(made, lambda call: call.model),
        chain=sum(length for log in logs for length in _turn_chains(log)),
    )


def _grouped(made: Iterable[ModelCalled], key: Callable[[ModelCalled], str]) -> dict[str, CallTotals]:
    groups: dict[str, list[ModelCalled]] = {}
    for call in made:
        groups.setdefault(key(call), []).append(call)
    return {name: totals(group) for name, group in groups.items()}


def _turn_chains(entries: Sequence[Entry]) -> list[int]:
    """Return, for each turn, the longest chain of consecutive calls that any one bidder made.

    The bidders of a turn think at the same time, so the longest chain decides how long the turn takes.
    """
    turns: list[dict[str, list[ModelCalled]]] = [defaultdict(list)]
    for entry in entries:
        match entry.event:
            case BiddersAsked() | Paused():
                turns.append(defaultdict(list))
            case ModelCalled() as call:
                turns[-1][call.bidder].append(call)
    return [max(map(_chain, turn.values()), default=0) for turn in turns]


def _chain(made: list[ModelCalled]) -> int:
    """Count the consecutive calls of one bidder: each of them begins after the one before has ended."""
    length, free = 0, float("-inf")
    for call in sorted(made, key=lambda call: call.began + call.seconds):
        if call.began >= free:
            length, free = length + 1, call.began + call.seconds
    return length


@metric("model calls", "count", of=BidderLabelled, name="calls")
def call_count(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Count the model calls of a game, including failed calls and calls that ask a model to repair a reply."""
    return [Measurement(name, float(calls(entries).count))]


@metric("tokens that models read", "tokens", of=BidderLabelled)
def input_tokens(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Count the tokens that the models of a game read."""
    return [Measurement(name, float(calls(entries).input_tokens))]


@metric("tokens that models wrote", "tokens", of=BidderLabelled)
def output_tokens(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Count the tokens that the models of a game wrote."""
    return [Measurement(name, float(calls(entries).output_tokens))]


@metric("model calls that waited for each other", "count", of=BidderLabelled)
def chain(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Count the model calls that had to be made one after another: the sum over turns of the longest chain.

    The chain of a bidder in a turn is the calls of which each began after the one before had ended. Calls that take no
    time, such as those of the built-in model, never overlap, so all calls of one bidder in a turn are in its chain.
    """
    return [Measurement(name, float(calls(entries).chain))]


SHOWN = 60
"""Longest quoted answer, in characters."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """The answers of a bidder that the house refused: their number, the number of asks, and the reason of the first.

    The reason quotes the answer if the log has the answer. `by_model` is the number of replies in which the bidder's
    model refused the task itself; if there are any, `first` is the reason of the first of them. `agent` says whether an
    agent plays the bidder: refused answers of an agent are faults of a program, while those of a model may also be bad
    choices, which an experiment measures.
    """

    bidder: str
    refused: int
    asked: int
    first: str
    agent: bool
    by_model: int = 0

    @property
    def entire(self) -> bool:
        """Return whether no answer of the bidder was ever accepted."""
        return self.refused == self.asked

    @property
    def alarming(self) -> bool:
        """Return whether to warn of these refusals.

        That is so if an agent plays the bidder, if its model refused the task, or if no answer was ever accepted.
        """
        return self.agent or self.entire or self.by_model > 0


def refusals(*logs: Sequence[Entry]) -> list[Refusals]:
    """List the refused answers of each bidder that has any, over all these logs together."""
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
