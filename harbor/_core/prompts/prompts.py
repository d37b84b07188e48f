"""Prompt files: each has one blank for its facts, written as JSON, in prose, or as turns of a dialogue.

A line `[if NAME]` begins a part that explains a fact, or a key of the answer: the part is sent only with that fact. A
line `[hint]` or `[hint if NAME]` begins a part that advises: it is left out where hints are off. A part ends at the
next line of this kind or at an empty one, and it names its fact: in backticks or quotes, or in words. A first line
`[facts NAME, NAME]` lists the facts that the prompt tells, in order; without it the prompt tells all.

In a dialogue the earlier calls on an item or in a game are turns, each of which tells only new facts. They are made
from the events that the bidder has seen, so a resumed run has the same turns. Nothing in facts can close their marks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from importlib.resources.abc import Traversable
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import Any, Literal, NamedTuple

from harbor._core.basics.numbers import as_number
from harbor._core.prompts.prose import from_prose, in_prose

BLANK = "<facts>\n${facts}\n</facts>"
"""The block of a prompt that its facts fill; the built-in model reads them there."""
_NAME = "[a-z][a-z0-9_]*"
_MARK = re.compile(rf"\[(?:(hint)|(hint )?if ({_NAME}))\]\n?")
"""A mark of a part: `[if NAME]`, `[hint]` or `[hint if NAME]`."""
_CHOICE = re.compile(rf"\A\[facts ({_NAME}(?:, {_NAME})*)\]\n")
"""The first line that chooses facts."""
_MEANT = re.compile(r"\s*\[\s*(?:if|hint|facts)\b", re.IGNORECASE)
"""A line that looks like a mark."""
_EMPTY_LINES = re.compile(r"\n{3,}")
_NAMED = re.compile(f"`({_NAME})`")
TEXTS_KEPT = 256
"""The greatest number of texts kept in a cache, more than the prompts of all nodes and games: each is cut once."""
SHORTEST = 4
"""Letters of the shortest word of a fact's name that counts as speaking of the fact."""
PLAIN = frozenset(
    "amount bid bidder day game item listing name profit rival round start supply task text".split()  # noqa: SIM905
)
"""Names of facts that are plain English words, so that no text has to explain them."""


def sent(text: str, facts: str, hints: bool = True) -> str:
    """Leave out the parts of a text that explain an absent fact, or that advise while hints are off.

    Args:
        text: of a prompt's file, with its marks.
        facts: of the call, as JSON without spaces. A fact counts at any depth.
        hints: whether to advise.
    """
    known = frozenset(part.fact for part in _parts(text) if f'"{part.fact}":' in facts)
    return _sent(text, known, hints)


@lru_cache(maxsize=TEXTS_KEPT)
def _sent(text: str, known: frozenset[str], hints: bool) -> str:
    kept = [part.text for part in _parts(text) if (hints or not part.hint) and (not part.fact or part.fact in known)]
    return _EMPTY_LINES.sub("\n\n", "".join(kept))


def chosen(text: str) -> tuple[str, ...] | None:
    """Return the facts that a text chooses, in its order; None if it chooses all."""
    found = _CHOICE.match(text)
    return tuple(found[1].split(", ")) if found else None


def spoken_of(text: str) -> Iterator[str]:
    """Yield the facts that a text speaks of: those that it chooses, has parts for, or names in backticks."""
    yield from chosen(text) or ()
    yield from (part.fact for part in _parts(text) if part.fact)
    yield from _NAMED.findall(text)


def unfillable(prompt: Traversable) -> str:
    """Say why a prompt can't be filled; return "" if it can."""
    try:
        text = prompt.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, AttributeError) as error:
        return f"has a prompt that can't be read ({error}); give it the file of a text"
    return unfillable_text(text, str(prompt))


def unfillable_text(text: str, file: str) -> str:
    """Say why the text of a prompt can't be filled; return "" if it can."""
    template = Template(text)
    if not template.is_valid() or template.get_identifiers() != ["facts"] or text.count(BLANK) != 1:
        return f"has a prompt that can't be filled: {file!r} must have {BLANK!r} once and no other blank"
    return _mismarked(text, file)


def texts_in(folder: str) -> dict[str, str]:
    """Read the prompts of a folder: the texts of its files NAME.md, by name.

    Raises:
        ValueError: it is no folder, or a file of it can't be read.
    """
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise ValueError(f"{folder!r} is no folder; name one with a file for each prompt")
    try:
        return {file.stem: file.read_text(encoding="utf-8") for file in sorted(path.glob("*.md"))}
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{folder!r} has a prompt that can't be read ({error}); mend it") from error


def _mismarked(text: str, file: str) -> str:
    """Name a mark that is unknown, or whose part speaks of another fact; return "" if there is none."""
    for line in _CHOICE.sub("", text).splitlines():
        if _MEANT.match(line) and not _MARK.fullmatch(line):
            known = "[if NAME] or [hint] alone on a line, or [facts NAME, NAME] on the first"
            return f"has a prompt with the unknown mark {line!r} in {file!r}; write {known}"
    for part in _parts(text):
        told = f"has a prompt with the mark '[{part.mark}]' in {file!r}"
        if part.mark and ("${facts}" in part.text or not part.text.strip()):
            return f"{told} before no text of its own; write one, and an empty line after it"
        if part.mark and not part.hint and not _speaks_of(part.fact, part.text):
            return f"{told} before no text about `{part.fact}`; write it there"
    return ""


def _speaks_of(fact: str, text: str) -> bool:
    """Say whether a text names a fact or a key, or has one of the longer words of its name."""
    words = [word for word in fact.split("_") if len(word) >= SHORTEST]
    return explains(text, fact) or any(re.search(rf"\b{word}\b", text, re.IGNORECASE) for word in words)


def explains(text: str, name: str) -> bool:
    """Say whether a text names a fact or a key of the answer, in backticks or in quotes.

    >>> explains('- "popular answer": a number', "popular answer")
    True
    """
    return f"`{name}`" in text or f'"{name}"' in text


class _Part(NamedTuple):
    """A part of a text without its mark: `hint` if it advises, and the `fact` that it depends on, if any."""

    text: str = ""
    hint: bool = False
    fact: str = ""

    @property
    def mark(self) -> str:
        return " ".join(filter(None, ("hint" if self.hint else "", f"if {self.fact}" if self.fact else "")))


@lru_cache(maxsize=TEXTS_KEPT)
def _parts(text: str) -> tuple[_Part, ...]:
    """Cut a text into its parts, without the line that chooses facts."""
    return tuple(_cut(_CHOICE.sub("", text)))


def _cut(text: str) -> Iterator[_Part]:
    part = _Part()
    for line in text.splitlines(keepends=True):
        mark = _MARK.fullmatch(line)
        if mark:
            yield part
            part = _Part("", bool(mark[1] or mark[2]), mark[3] or "")
        elif not line.strip():
            yield part
            part = _Part(line)
        else:
            part = part._replace(text=part.text + line)
    yield part


Facts = Mapping[str, Any]
OF_THE_CALL = ("in_words", "answer_keys", "strategy", "strategy_reasons", "refused", "attempt")
"""Facts of one call, which each turn repeats, even if they are unchanged."""

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
"""The explanation of a dialogue, for each form of facts."""


class Turn(NamedTuple):
    """An earlier call: all its facts, the answer, and its task if that differs from the present one."""

    facts: Facts
    answer: str
    task: str = ""


def news(turns: Sequence[Facts]) -> list[dict[str, Any]]:
    """Return the facts that each turn tells: all of the first turn, then those that changed or belong to one call."""
    return [dict(turns[0]), *(_since(before, now) for before, now in pairwise(turns))]


def _since(before: Facts, now: Facts) -> dict[str, Any]:
    same = {name for name, value in now.items() if name in before and before[name] == value} - {*OF_THE_CALL}
    changed = {name: value for name, value in now.items() if name not in same}
    added = {name: tail for name, value in changed.items() if (tail := _continued(before.get(name), value))}
    told = {name: value for name, value in changed.items() if name not in added}
    gone = [name for name in before if name not in now]
    return {**told, **({"added": added} if added else {}), **({"gone": gone} if gone else {})}


def _continued(before: Any, now: Any) -> list[Any]:
    """Return the new end of a list that continues an earlier one, or [] if it does not.

    The list may have dropped first entries of the earlier one.
    """
    if not isinstance(before, list) or not isinstance(now, list):
        return []
    for first in range(len(before)):
        kept = before[first:]
        if now[: len(kept)] == kept:
            return now[len(kept) :]
    return []


def merged(turns: Iterable[Facts]) -> dict[str, Any]:
    """Return the facts that hold at the end of a dialogue, in which later turns tell changes alone."""
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


Form = Literal["json", "prose"]
SINCE = "\nSince your last answer:\n"
"""The line of prose before additions to earlier lists."""
_BLOCK = re.compile(r"<facts>\n(.*?)\n</facts>", re.DOTALL)


def block(written: str, form: Form = "json") -> str:
    """Put facts, which `as_json` wrote, between their marks."""
    return f"<facts>\n{written if form == 'json' else _as_prose(written)}\n</facts>"


def facts_in(text: str) -> dict[str, Any]:
    """Read the facts of a text, in either form; in a dialogue, each turn adds the new ones."""
    return merged(_facts_of(found[1]) for found in _BLOCK.finditer(text))


def as_json(facts: Mapping[str, Any]) -> str:
    """Write facts as one line of JSON that cannot close the block it stands in.

    Angle brackets and control characters inside texts are escaped.
    """
    text = _ENCODER.encode(facts)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _as_prose(written: str) -> str:
    told = json.loads(written)  # as the reader of JSON would have them
    added = told.pop("added", None)
    return in_prose(told) + (f"{SINCE}{in_prose(added)}" if added else "")


def _facts_of(written: str) -> dict[str, Any]:
    if written.endswith("}"):  # a sentence ends with a stop
        read: dict[str, Any] = json.loads(written)
        return read
    told, _, added = f"\n{written}".partition(SINCE)
    return {**from_prose(told[1:]), **({"added": from_prose(added)} if added else {})}


def _number(value: object) -> int | float:
    if isinstance(value, Decimal):
        return as_number(value)
    raise TypeError(f"{value!r} is no fact: facts are texts, numbers, lists and tables")


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_number)
