"""What the models were asked: calls, tokens, and the longest chain of calls that waited for each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from harbor._core.events import BidderLabelled, BiddersAsked, ModelCalled, Paused
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor.evaluation._metrics.measurement import Measurement, metric


@dataclass(frozen=True, slots=True)
class Calls:
    """Model calls of an auction.

    `chain` is the critical path: the number of calls that had to be made one after another. It bounds the wall clock.
    `failed` calls were never answered, or cut off as the bidder's time ran out.
    """

    count: int
    input_tokens: int
    output_tokens: int
    chain: int
    failed: int = 0


def calls(entries: Sequence[Entry]) -> Calls:
    """Count the calls of a log."""
    made = of_type(entries, ModelCalled)
    return Calls(
        count=len(made),
        input_tokens=sum(call.input_tokens for call in made),
        output_tokens=sum(call.output_tokens for call in made),
        chain=sum(_turn_chains(entries)),
        failed=sum(call.outcome == "failed" for call in made),
    )


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
