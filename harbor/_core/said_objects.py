"""Finds the JSON objects in a text as models write them, and the one that answers: the last of the shape asked for.

What is broken is never guessed at. An object inside another one is a part of it, also where the outer one is broken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")
Mark = Literal["drafts", "mended", "words", "contradicted"]
"""What is odd about a reply that was read.

Others stood before it, its JSON was mended, it was in words where a shape was asked for, or a text beside it says
something else.
"""
MOST_READ = 2_000_000
"""How many characters are read of one text, some of them again: ten times the longest reply, and 0.1 s."""
MOST_MENDS, DEEPEST = 8, 4
"""How many commas are left out of one object, and of how many wrappings an object is taken out."""
_START = re.compile(r"\{(?=\s*[\"}])")
_COMMA = re.compile(r",\s*$")
_QUOTED = re.compile(r'\s*"\s*\{')
_ARGUMENTS = ("arguments", "parameters", "args", "input", "function")
"""Where a call of a tool that is written as text has what it is called with."""
_ANSWERS = ("answer", "final_answer", "decision", "final_decision", "reply", "response", "output", "result", "final")


class Unfit(ValueError):
    """An object is not the answer; the message says why."""


@dataclass(frozen=True, slots=True)
class Found:
    """An object in a text, where it ends there, and whether it was mended; `broken` says why it can't be read."""

    values: dict[str, Any]
    end: int
    mended: bool = False
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Chosen(Generic[T]):
    """What an object means, or None; then `complaint` says why. `end` is where the object ends in its text."""

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
        """Pass over a broken object up to the brace that closes it, or to the end: what is inside is a part of it."""
        depth = 0
        for brace in re.compile(r"[{}]").finditer(self.text, start):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                self.left -= brace.end() - start
                return Found({}, brace.end(), broken=why)
        return Found({}, len(self.text), broken=why)


def _comma(text: str, place: int) -> int | None:
    """Give the place of a comma that stands before a closing bracket, where reading has ended."""
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
    """List the objects in a text, in order; those inside others are left out.

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
    """Take an object out of what models wrap it in: arguments, the name of the tool, "answer", a string of JSON.

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

    A broken object after it, or one that sets a field of the shape to something else and can't be taken, means that the
    answer was another one: then there is none.

    Args:
        found: the objects, in order.
        take: gives what an object means; raises Unfit where it means nothing.
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
