"""What else calls tell, in words: odd replies, keys, models that stood in, and requests that brought no reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal, get_args

from harbor._core.counting import counted
from harbor._core.events import ModelCalled, Spent
from harbor._core.money import cost_in_words

Kind = Literal["mark", "not taken", "key", "fallback"]
MARKS = {
    "drafts": "had drafts before the answer",
    "contradicted": "had a text that contradicts the call of the tool, which was taken",
    "mended": "had slips of form, which were mended",
    "words": "answered in words",
}


@dataclass(frozen=True, slots=True)
class Noted:
    """How many calls have a mark, a setting that was not taken, a variable of a key, or a model that stood in."""

    kind: Kind
    name: str
    calls: int


def noted(made: Iterable[ModelCalled]) -> tuple[Noted, ...]:
    """Count what calls note, the most frequent first within each kind."""
    counts: dict[Kind, Counter[str]] = {kind: Counter() for kind in get_args(Kind)}
    for call in made:
        counts["mark"].update(set(call.marks))
        counts["not taken"].update(set(call.not_taken))
        counts["key"].update(filter(None, [call.key_env]))
        counts["fallback"].update(filter(None, [call.fallback]))
    return tuple(Noted(kind, name, count) for kind, names in counts.items() for name, count in names.most_common())


def summed(groups: Iterable[Sequence[Noted]]) -> tuple[Noted, ...]:
    """Add up what was noted of several groups of calls."""
    total = Counter[tuple[Kind, str]]()
    for group in groups:
        total.update({(one.kind, one.name): one.calls for one in group})
    return tuple(Noted(kind, name, count) for (kind, name), count in total.items())


def dollars_in_all(dollars: Iterable[float | None]) -> float | None:
    """Add up dollars; None if any are unknown."""
    told = list(dollars)
    return None if None in told else fsum(one for one in told if one is not None)


def notes_of(found: Sequence[Noted], probes: Spent, lost: Spent, cost: float | None) -> Iterator[str]:
    """Say in words what calls note and what requests beside them cost; nothing of what there is not.

    `cost` is that of the calls themselves, in dollars (None: unknown).
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
