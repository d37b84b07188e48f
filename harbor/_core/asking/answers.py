"""Finds the answer in a text: outside of thoughts, as a JSON object, or as the last sentence that answers.

Thoughts stand between tags, and never answer. Of several JSON objects, the last one of the requested shape
answers. Broken JSON is never guessed at. An object inside another one is a part of it, even if the outer one is
broken. If a speaker thinks aloud, the last line or sentence that answers is the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from harbor._core.basics.actions import Answer, Unreadable

MARKUP = " \t*_`\"'>#"
"""Characters that models put around a sentence."""
_BULLET = re.compile(r"-+(?=[^-\d$.]|$)")
"""A dash before a line that is no minus."""
MOST_LINES = 400
"""Lines of a text that are read, from its end."""
_FINAL = re.compile(
    r"^\W*(?:(?:so|therefore|thus|hence|ok|okay)\W+)?(?:(?:my|the|our)\s+)?"
    r"(?:final\s+(?:answer|decision|action|choice|bid|offer|response)|answer|decision|action|choice)"
    r"[*_]*\s*(?:[:=]|is\b:?)[*_\s]*(?:to\s+)?(?P<answer>.+)$",
    re.IGNORECASE | re.DOTALL,
)
"""A line that names its answer as such: "Final answer: ..."."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[*_]*(?:I|We|My|Our|Let me|Final|Decision|Action|Answer)\b)")
"""The gap before a sentence that may answer."""
_TWO_LINES = re.compile(
    r"^[ \t*_-]*action[ \t*_]*:[ \t*_]*(?P<verb>bid|accept|wait|withdraw)[ \t*_.]*\n"
    r"[ \t*_-]*(?:amount|bid|price)[ \t*_]*:[ \t*_]*(?P<amount>\S[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
"""A bid on two lines, as models list it, with the amount below."""

Read = Callable[[str], Answer]


class _Piece(NamedTuple):
    """A line or sentence: the number of its line, its words, its answer, and whether the words call it final."""

    line: int
    words: str
    answer: Answer
    is_final: bool


class Heard(NamedTuple):
    """An answer, and the words that contain it."""

    answer: Answer
    words: str = ""


def heard_in(text: str, read: Read) -> Heard:
    """Read the whole of a text as an answer, or else its last line or sentence that answers.

    Of different answers the one called final counts. If none is called final, the last one counts if it ends the text.
    Otherwise the text is unreadable.

    Args:
        text: the words.
        read: reads words that say an answer and nothing else, and returns `Unreadable` for others.
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
    """Read a line or sentence, also without a lead such as "Final answer:"; say whether it has such a lead."""
    answer, called = read(piece), _FINAL.match(piece)
    if called is None:
        return answer, False
    inner = read(_bare(called["answer"]))
    return (answer if isinstance(inner, Unreadable) else inner), True


def _ends(last: _Piece, others: Sequence[_Piece], said: Sequence[_Piece]) -> bool:
    """Say whether a text ends in a line that answers in a sentence, and in no other way."""
    is_sentence = any(letter.isalpha() for letter in last.words)
    return is_sentence and last is said[-1] and all(other.line != last.line for other in others)


T = TypeVar("T")
Mark = Literal["drafts", "mended", "words", "contradicted"]
"""An oddity of a reply that was read.

Others stood before it, its JSON was mended, it was in words where a shape was asked for, or a text beside it says
something else.
"""
MOST_READ = 2_000_000
"""Characters read of one text, counting repeats: ten times the longest reply, which takes 0.1 s."""
MOST_MENDS, DEEPEST = 8, 4
"""The greatest number of commas left out of one object, and of wrappings around an object."""
_START = re.compile(r"\{(?=\s*[\"}])")
"""The beginning of a JSON object."""
_COMMA = re.compile(r",\s*$")
"""A comma before a closing bracket, which JSON does not allow."""
_QUOTED = re.compile(r'\s*"\s*\{')
"""The beginning of an object that is written as a string of JSON."""
_ARGUMENTS = ("arguments", "parameters", "args", "input", "function")
"""Keys of the arguments in a tool call that is written as text."""
_ANSWERS = ("answer", "final_answer", "decision", "final_decision", "reply", "response", "output", "result", "final")
"""Keys under which models wrap an answer."""


class Unfit(ValueError):
    """An object is not the answer; the message says why."""


@dataclass(frozen=True, slots=True)
class Found:
    """An object in a text, its end there, and whether it was mended; `broken` says why it can't be read."""

    values: dict[str, Any]
    end: int
    mended: bool = False
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Chosen(Generic[T]):
    """The meaning of an object, or None with the reason in `complaint`; `end` is the end of the object in its text."""

    meant: T | None
    complaint: str = ""
    marks: tuple[Mark, ...] = ()
    end: int = 0


@dataclass
class _Reading:
    text: str
    left: int = field(default=MOST_READ)

    def objects(self) -> list[Found]:
        found: list[Found] = []
        place = 0
        while (start := _START.search(self.text, place)) is not None:
            one = self._object(start.start())
            found.append(one)
            place = one.end
        return found

    def _object(self, start: int) -> Found:
        """Read the object that begins here, if need be without commas before its brackets."""
        mended, strict = False, True
        text = self.text
        for _ in range(MOST_MENDS + 2):
            if self.left <= 0:
                return Found({}, len(text), broken="its JSON is too long or too deep")
            try:
                values, end = _DECODERS[strict].raw_decode(text, start)
            except json.JSONDecodeError as error:
                self.left -= error.pos - start + 1
                if error.msg.startswith("Invalid control character"):
                    strict, mended = False, True
                elif (comma := _comma(text, error.pos)) is not None:
                    self.left -= len(text) // 8  # of the copy, which is made faster than it is read
                    text, mended = f"{text[:comma]} {text[comma + 1 :]}", True
                else:
                    return self._broken(start, f"its JSON is broken ({error.msg[0].lower()}{error.msg[1:]})")
            except RecursionError:
                return Found({}, len(text), broken="its JSON is nested too deeply")
            except ValueError as error:
                return self._broken(start, f"its JSON can't be read ({str(error)[:80]})")
            else:
                self.left -= end - start
                return Found(values, end, mended)
        return self._broken(start, "its JSON is broken (too many commas)")

    def _broken(self, start: int, why: str) -> Found:
        """Pass over a broken object up to its closing brace, or to the end; objects inside are parts of it."""
        depth = 0
        for brace in re.compile(r"[{}]").finditer(self.text, start):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                self.left -= brace.end() - start
                return Found({}, brace.end(), broken=why)
        return Found({}, len(self.text), broken=why)


def _comma(text: str, place: int) -> int | None:
    """Return the place of a comma before a closing bracket, at the place where the JSON parser failed; else None."""
    if text[place : place + 1] == ",":
        return place if text[place + 1 :].lstrip()[:1] in ("}", "]") else None
    if text[place : place + 1] in ("}", "]") and (before := _COMMA.search(text, max(0, place - 200), place)):
        return before.start()
    return None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(told := dict(pairs)) < len(pairs):
        raise ValueError("a name is there twice")
    return told


_DECODERS = {strict: json.JSONDecoder(strict=strict, object_pairs_hook=_each_once) for strict in (True, False)}


def objects_in(text: str) -> list[Found]:
    """Return the objects in a text, in order; those inside others are left out.

    Raw line breaks in strings and commas before closing brackets are mended; so is text that is JSON written as a
    string of JSON. Braces that begin no object, as in "{estimate}", are passed over.
    """
    if _QUOTED.match(text):
        try:
            inner, _ = _DECODERS[False].raw_decode(text.strip())
        except (ValueError, RecursionError):
            inner = text
        if isinstance(inner, str) and inner != text:
            return [Found(one.values, len(text), True, one.broken) for one in _Reading(inner).objects()]
    return _Reading(text).objects()


def unwrapped(values: Mapping[str, Any], names: frozenset[str], tool: str = "") -> Mapping[str, Any]:
    """Take an object out of the wrappings of models: arguments, the name of the tool, "answer", a string of JSON.

    Args:
        values: the object.
        names: the fields of the shape; an object with one of them is not wrapped.
        tool: the name of the tool.
    """
    for _ in range(DEEPEST):
        if not names.isdisjoint(values):
            return values
        keys = [key for key in _ARGUMENTS if key in values]
        if not keys and len(values) == 1:
            keys = [key for key in values if key == tool or key.lower() in _ANSWERS]
        inner = values[keys[0]] if keys else None
        if isinstance(inner, str):
            found = objects_in(inner) if inner.lstrip()[:1] in ("{", '"') else []
            inner = found[0].values if len(found) == 1 else None
        if not isinstance(inner, Mapping):
            return values
        values = inner
    return values


def last_fitting(found: list[Found], take: Callable[[Mapping[str, Any]], T], names: frozenset[str]) -> Chosen[T]:
    """Choose the last object that can be taken.

    Choose none if a later object is broken, or if a later object that can't be taken sets a field of the shape to
    another value: then the answer was a different one.

    Args:
        found: the objects, in order.
        take: returns the meaning of an object; raises Unfit if it has none.
        names: the fields that decide.
    """
    complaint, others, said = "there is no JSON object in it", list[Mapping[str, Any]](), set[str]()
    for place in reversed(range(len(found))):
        one = found[place]
        if one.broken:
            return Chosen(None, one.broken)
        try:
            meant = take(one.values)
        except Unfit as unfit:
            if not others or not names.isdisjoint(one.values):
                complaint = str(unfit) if names.isdisjoint(said) else complaint
            others.append(one.values)
            said.update(one.values)
            continue
        if any(_differs(other, one.values, names) for other in others):
            return Chosen(None, complaint)
        marks: list[Mark] = ["mended"] * one.mended
        if any(_means_otherwise(earlier, take, meant) for earlier in found[:place]):
            marks.insert(0, "drafts")
        return Chosen(meant, "", tuple(marks), one.end)
    return Chosen(None, complaint)


def _differs(later: Mapping[str, Any], chosen: Mapping[str, Any], names: frozenset[str]) -> bool:
    return any(later[name] != chosen.get(name) for name in names if name in later)


def _means_otherwise(one: Found, take: Callable[[Mapping[str, Any]], T], meant: T) -> bool:
    try:
        return not one.broken and take(one.values) != meant
    except Unfit:
        return False


_TAG = re.compile(r"<(?P<end>/?) ?(?:think(?:ing)?|thoughts?|reasoning) ?>", re.IGNORECASE)
"""A tag that opens or closes a thought."""


class Spoken(NamedTuple):
    """A text in two parts: the words said, and the thoughts."""

    said: str
    thought: str


def without_thinking(text: str) -> Spoken:
    """Split a text at its tags of thinking.

    Everything before a closing tag without an opening one is thought; so is everything after an opening tag without a
    closing one. An opening tag inside a thought is a part of it.

    >>> without_thinking("<think>I bid $5?</think>I withdraw.")
    Spoken(said='I withdraw.', thought='I bid $5?')
    """
    if "<" not in text:
        return Spoken(text, "")
    said, thought = list[str](), list[str]()
    place, is_open = 0, False
    for tag in _TAG.finditer(text):
        if tag["end"]:
            thought += said if not is_open else ()
            said = said if is_open else []
            thought.append(text[place : tag.start()])
        elif is_open:
            continue
        else:
            said.append(text[place : tag.start()])
        place, is_open = tag.end(), not tag["end"]
    (thought if is_open else said).append(text[place:])
    return Spoken("".join(said), "\n".join(filter(None, (part.strip() for part in thought))))
