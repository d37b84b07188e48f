"""The file of a prompt: a text with one blank for its facts, and parts that are not always sent.

A line `[if NAME]` begins a part that explains a fact, or a key of the answer: it is sent only with that. A line
`[hint]` or `[hint if NAME]` begins a part that advises: it is left out where hints are off. A part ends at the next
line of this kind or at an empty one, and it speaks of its fact: by its name in backticks or quotes, or in words. A
first line `[facts NAME, NAME]` says which facts the prompt tells, and in which order; without it all that there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import NamedTuple

BLANK = "<facts>\n${facts}\n</facts>"
"""Where a prompt takes its facts; the built-in model reads them there."""
_NAME = "[a-z][a-z0-9_]*"
_MARK = re.compile(rf"\[(?:(hint)|(hint )?if ({_NAME}))\]\n?")
_CHOICE = re.compile(rf"\A\[facts ({_NAME}(?:, {_NAME})*)\]\n")
_MEANT = re.compile(r"\s*\[\s*(?:if|hint|facts)\b", re.IGNORECASE)
_EMPTY_LINES = re.compile(r"\n{3,}")
_NAMED = re.compile(f"`({_NAME})`")
TEXTS_KEPT = 256
"""More than the prompts of all nodes and games together: each is cut once."""
SHORTEST = 4
"""Letters of the shortest word that says by itself which fact is meant."""
PLAIN = frozenset(
    "amount bid bidder day game item listing name profit rival round start supply task text".split()  # noqa: SIM905
)
"""Names of facts that are plain English words for what they are, so that no text has to explain them."""


def sent(text: str, facts: str, hints: bool = True) -> str:
    """Leave out the parts of a text that explain a fact which is not among these, or advise where nothing shall.

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
    """Name the facts that a text tells, in its order; None: all that there are."""
    found = _CHOICE.match(text)
    return tuple(found[1].split(", ")) if found else None


def spoken_of(text: str) -> Iterator[str]:
    """Name the facts that a text speaks of: those that it chooses, has parts for, or names in backticks."""
    yield from chosen(text) or ()
    yield from (part.fact for part in _parts(text) if part.fact)
    yield from _NAMED.findall(text)


def unfillable(prompt: Traversable) -> str:
    """Say why a prompt can't be filled; empty if it can."""
    try:
        text = prompt.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, AttributeError) as error:
        return f"has a prompt that can't be read ({error}); give it the file of a text"
    return unfillable_text(text, str(prompt))


def unfillable_text(text: str, file: str) -> str:
    """Say why the text of a prompt can't be filled; empty if it can."""
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
    """Say which mark of a text is no mark, or is about another fact than its part."""
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
    """A part of a text without its mark: whether it advises, and the fact that it hangs on, if any."""

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
