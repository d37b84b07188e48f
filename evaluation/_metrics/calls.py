"""What the models were asked: calls, tokens, dollars, and the longest chain of calls that waited for each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from harbor._core.events import NO_REQUESTS, BidderLabelled, BiddersAsked, ModelCalled, Paused, Spent
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor.evaluation._metrics.call_notes import Noted, dollars_in_all, noted
from harbor.evaluation._metrics.measurement import Measurement, metric


@dataclass(frozen=True, slots=True)
class CallTotals:
    """Calls added up: how many, how many of them failed, or came from a cache; requests that were tried again; tokens.

    Cached tokens are among the input tokens, reasoning tokens among the output tokens. `cost_dollars` is None if the
    cost of any of `unpriced` calls is unknown. A failed call that tells no tokens is left out of both: most cost
    nothing, and the log does not say what the others did. Failed are those that were never answered, or cut off as
    the bidder's time ran out. In `refused` replies the model does not speak to what it was asked; `imported` ones came
    from a file that somebody may have sent. `probes` and `lost` are requests beside these, as in `ModelCalled`, and
    `noted` counts what else calls tell.
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
        """The most that is to be paid, lost requests included; None if that is unknown."""
        return dollars_in_all((self.cost_dollars, self.probes.cost_dollars, self.lost.cost_dollars))


def totals(made: Sequence[ModelCalled]) -> CallTotals:
    """Add up calls."""
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
    """Model calls of an auction, or of a series of them: in total, and by bidder, by purpose and by model.

    `chain` is the critical path: the number of calls that had to be made one after another. It bounds the wall clock.
    """

    total: CallTotals = CallTotals()
    by_bidder: Mapping[str, CallTotals] = field(default_factory=dict)
    by_purpose: Mapping[str, CallTotals] = field(default_factory=dict)
    by_model: Mapping[str, CallTotals] = field(default_factory=dict)
    chain: int = 0

    @property
    def count(self) -> int:
        """Calls, repairs and failed ones included."""
        return self.total.count

    @property
    def failed(self) -> int:
        """Calls that were never answered, or cut off as the bidder's time ran out."""
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
        """Give the object that `--json` prints under `calls`.

        Its keys are `total`, `by_bidder`, `by_purpose` and `by_model`. `total` has the fields of `CallTotals` and
        its `most_dollars`; each of the others has such an object by name. Dollars are rounded to a millionth of a cent.
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
    """Count the calls of a log; of a series, those of the logs of all its auctions."""
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
    """Give the longest chain of each turn: bidders think concurrently, and a turn ends with the slowest."""
    turns: list[dict[str, list[ModelCalled]]] = [defaultdict(list)]
    for entry in entries:
        match entry.event:
            case BiddersAsked() | Paused():
                turns.append(defaultdict(list))
            case ModelCalled() as call:
                turns[-1][call.bidder].append(call)
    return [max(map(_chain, turn.values()), default=0) for turn in turns]


def _chain(made: list[ModelCalled]) -> int:
    """Count the calls of one bidder that followed one another: each begins after the one before has ended."""
    length, free = 0, float("-inf")
    for call in sorted(made, key=lambda call: call.began + call.seconds):
        if call.began >= free:
            length, free = length + 1, call.began + call.seconds
    return length


@metric("model calls", "count", of=BidderLabelled, name="calls")
def call_count(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Number of model calls of a game, repairs and failed ones included."""
    return [Measurement(name, float(calls(entries).count))]


@metric("tokens that models read", "tokens", of=BidderLabelled)
def input_tokens(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Tokens that the models of a game read."""
    return [Measurement(name, float(calls(entries).input_tokens))]


@metric("tokens that models wrote", "tokens", of=BidderLabelled)
def output_tokens(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Tokens that the models of a game wrote."""
    return [Measurement(name, float(calls(entries).output_tokens))]


@metric("model calls that waited for each other", "count", of=BidderLabelled)
def chain(name: str, entries: Sequence[Entry]) -> list[Measurement]:
    """Number of model calls in the longest chain of a game, each of which had to wait for the one before.

    It is derived from the times at which calls began and ended. Calls without latency, as those of the built-in
    model, never overlap, so all calls of one bidder in a turn count as consecutive.
    """
    return [Measurement(name, float(calls(entries).chain))]
