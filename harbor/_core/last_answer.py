"""Finds the answer in what somebody says who thinks aloud: the last line or sentence of it that answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from harbor._core.actions import Answer, Unreadable

MARKUP = " \t*_`\"'>#"
"""What models put around a sentence."""
_BULLET = re.compile(r"-+(?=[^-\d$.]|$)")
"""A dash before a line that is no minus."""
MOST_LINES = 400
"""How many lines of a text are read, from its end."""
_FINAL = re.compile(
    r"^\W*(?:(?:so|therefore|thus|hence|ok|okay)\W+)?(?:(?:my|the|our)\s+)?"
    r"(?:final\s+(?:answer|decision|action|choice|bid|offer|response)|answer|decision|action|choice)"
    r"[*_]*\s*(?:[:=]|is\b:?)[*_\s]*(?:to\s+)?(?P<answer>.+)$",
    re.IGNORECASE | re.DOTALL,
)
"""What says of an answer that it is one."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[*_]*(?:I|We|My|Our|Let me|Final|Decision|Action|Answer)\b)")
_TWO_LINES = re.compile(
    r"^[ \t*_-]*action[ \t*_]*:[ \t*_]*(?P<verb>bid|accept|wait|withdraw)[ \t*_.]*\n"
    r"[ \t*_-]*(?:amount|bid|price)[ \t*_]*:[ \t*_]*(?P<amount>\S[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
"""A bid as models list it, its amount below."""

Read = Callable[[str], Answer]


class _Piece(NamedTuple):
    """A line or sentence: the number of its line, its words, what they say, and whether they call it final."""

    line: int
    words: str
    answer: Answer
    is_final: bool


class Heard(NamedTuple):
    """What was heard: the answer, and the words that say it."""

    answer: Answer
    words: str = ""


def heard_in(text: str, read: Read) -> Heard:
    """Read the whole of a text as an answer, or else the last line or sentence of it that answers.

    Of different answers the last one counts if nothing but it is called final and if it is the end of the text; else
    nobody can know which one is meant.

    Args:
        text: what was said.
        read: reads words that say an answer and nothing else, and gives `Unreadable` for others.
    """
    whole = read(text)
    if not isinstance(whole, Unreadable):
        return Heard(whole, text)
    said = [
        _Piece(number, piece, *_read_piece(piece, read))
        for number, line in enumerate(_lines(text))
        for piece in _SENTENCE.split(line)
    ]
    answers = [piece for piece in said if not isinstance(piece.answer, Unreadable)]
    if not answers:
        return Heard(whole if len(said) < 2 else said[-1].answer, text)
    finals = [piece for piece in answers if piece.is_final]
    if any(final.answer != finals[-1].answer for final in finals):
        return Heard(Unreadable("two different answers are both called final"), text)
    last = (finals or answers)[-1]
    others = [
        piece for piece in answers if piece is not last and (piece.answer != last.answer or piece.line == last.line)
    ]
    if others and not finals and not _ends(last, others, said):
        return Heard(Unreadable("more than one answer, and none is called final"), text)
    if any(piece.is_final for piece in said[said.index(last) + 1 :] if piece.answer != last.answer):
        return Heard(Unreadable("what is called final can't be read"), text)
    return Heard(last.answer, last.words)


def _lines(text: str) -> Sequence[str]:
    last = "\n".join(text.splitlines()[-2 * MOST_LINES :])
    joined = _TWO_LINES.sub(lambda found: f"\n{_joined(found)}\n", last)
    lines = [told for line in joined.splitlines() if (told := _bare(line))]
    return lines[-MOST_LINES:]


def _bare(line: str) -> str:
    line = line.strip(MARKUP)
    return _BULLET.sub("", line, count=1).strip(MARKUP) if line.startswith("-") else line


def _joined(found: re.Match[str]) -> str:
    verb = found["verb"].lower()
    return f"Decision: I bid {found['amount'].strip(MARKUP)}" if verb == "bid" else f"Decision: {verb}"


def _read_piece(piece: str, read: Read) -> tuple[Answer, bool]:
    """Read a line or sentence, also without what calls it final; say whether it is called so."""
    answer, called = read(piece), _FINAL.match(piece)
    if called is None:
        return answer, False
    inner = read(_bare(called["answer"]))
    return (answer if isinstance(inner, Unreadable) else inner), True


def _ends(last: _Piece, others: Sequence[_Piece], said: Sequence[_Piece]) -> bool:
    """Say whether a text ends in a line that answers in a sentence, and in no other way."""
    is_sentence = any(letter.isalpha() for letter in last.words)
    return is_sentence and last is said[-1] and all(other.line != last.line for other in others)
