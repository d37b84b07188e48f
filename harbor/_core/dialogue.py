"""A dialogue: the earlier calls on an item or in a game as turns, each of which tells only what is new.

The turns are made from what the bidder has seen, so a run that is resumed has the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

Facts = Mapping[str, Any]
OF_THE_CALL = ("in_words", "answer_keys", "strategy", "strategy_reasons", "refused", "attempt")
"""Facts of one call, which each turn tells anew, even if they are as at the last call."""

EXPLAINED = {
    "json": (
        "This is a dialogue. Each turn tells only what is new: a fact replaces an earlier one of the same name, the"
        " lists in `added` continue earlier ones, and the facts named in `gone` no longer hold."
        ' A turn whose `task` is "plan" asked for your plan.'
    ),
    "prose": (
        "This is a dialogue. Each turn tells only what is new or has changed: a sentence replaces the earlier one about"
        " the same, and those below the words 'Since your last answer' come on top of what you have heard before."
    ),
}
"""What a dialogue is, for the reader of each form of facts."""


class Turn(NamedTuple):
    """An earlier call: all the facts that held then, what was answered, and the task if it was another than now."""

    facts: Facts
    answer: str
    task: str = ""


def news(turns: Sequence[Facts]) -> list[dict[str, Any]]:
    """Give the facts of each turn: those of the first, and then what has changed or is of the call alone."""
    return [dict(turns[0]), *(_since(before, now) for before, now in pairwise(turns))]


def _since(before: Facts, now: Facts) -> dict[str, Any]:
    same = {name for name, value in now.items() if name in before and before[name] == value} - {*OF_THE_CALL}
    changed = {name: value for name, value in now.items() if name not in same}
    added = {name: tail for name, value in changed.items() if (tail := _continued(before.get(name), value))}
    told = {name: value for name, value in changed.items() if name not in added}
    gone = [name for name in before if name not in now]
    return {**told, **({"added": added} if added else {}), **({"gone": gone} if gone else {})}


def _continued(before: Any, now: Any) -> list[Any]:
    """Give what a list adds to an earlier one, whose first entries it may have dropped; nothing if it is another."""
    if not isinstance(before, list) or not isinstance(now, list):
        return []
    for first in range(len(before)):
        kept = before[first:]
        if now[: len(kept)] == kept:
            return now[len(kept) :]
    return []


def merged(turns: Iterable[Facts]) -> dict[str, Any]:
    """Put the facts of a dialogue together again, as they hold at its end."""
    known: dict[str, Any] = {}
    for turn in turns:
        told = dict(turn)
        added, gone = told.pop("added", {}), told.pop("gone", ())
        known |= told
        for name, tail in added.items():
            known[name] = [*known[name], *tail]
        for name in gone:
            known.pop(name, None)
    return known
