"""Facts as prose, and prose as facts: one sentence a line, from the sentences in `sentences.toml`.

Texts and numbers stand in the sentences as JSON writes them, so that they stay exact and no text can end its sentence.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

_LEFT_OUT = re.compile(r"<([^<>]*)>")
"""A part of a sentence that may be left out."""
_SLOT = re.compile(r"\{([a-z_]*)(?:=([^{}]*|\{\}))?\}")
"""A slot of a sentence: `{field}`, or `{field=constant}`."""
_DECODE = json.JSONDecoder().raw_decode
Found = tuple[Any, int]
"""A value that was read, and the place where the text goes on."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence about the fact or field `path`: texts with a slot after each, and the `end`.

    `of` is "[]" for a sentence about each element, "{}" for one about each entry. A slot with a constant, as JSON,
    takes no room.
    """

    path: str
    of: str
    slots: tuple[tuple[str, str, str | None], ...]
    end: str

    @classmethod
    def all_of(cls, key: str, text: str) -> Iterator[_Sentence]:
        """Yield the sentences that a line of the file stands for, the one with all optional parts first."""
        path, of = (key[:-2], key[-2:]) if key.endswith(("[]", "{}")) else (key, "")
        pieces = _LEFT_OUT.split(text)
        for kept in product((True, False), repeat=len(pieces) // 2):
            said = "".join(piece for number, piece in enumerate(pieces) if number % 2 == 0 or kept[number // 2])
            *cut, end = _SLOT.split(said)
            yield cls(path, of, tuple(zip(cut[::3], cut[1::3], cut[2::3], strict=True)), end)

    @property
    def start(self) -> str:
        """The text before its first slot."""
        return self.slots[0][0] if self.slots else self.end

    def say(self, value: Any) -> str | None:
        """Write the sentence for a value; return None if it does not fit."""
        told = value if self._of_fields else {"": value}
        if not isinstance(told, dict) or list(told) != [slot for _, slot, _ in self.slots]:
            return None
        said = ""
        for text, slot, constant in self.slots:
            if constant is None:
                said += text + self._say_field(slot, told[slot])
            elif _json(told[slot]) == constant:
                said += text
            else:
                return None
        return None if self._is_open and not said.endswith(".") else said + self.end

    def read(self, text: str, at: int) -> Found | None:
        """Read the value that a text tells from `at` on; return None if the text is no such sentence."""
        told = {}
        for before, slot, constant in self.slots:
            if not text.startswith(before, at):
                return None
            at += len(before)
            if constant is not None:
                told[slot] = json.loads(constant)
            elif found := self._read_field(slot, text, at):
                told[slot], at = found
            else:
                return None
        if not text.startswith(self.end, at):
            return None
        return told if self._of_fields else told[""], at + len(self.end)

    @property
    def _of_fields(self) -> bool:
        return all(slot for _, slot, _ in self.slots)

    @property
    def _is_open(self) -> bool:
        """True if the sentence ends with a field, and so with sentences about it: JSON has no full stop."""
        return not self.end and bool(self.slots) and self.slots[-1][2] is None

    def _say_field(self, slot: str, value: Any) -> str:
        said = _say(f"{self.path}.{slot}", value, " ") if slot else None
        return _json(value) if said is None else said

    def _read_field(self, slot: str, text: str, at: int) -> Found | None:
        return (_read(f"{self.path}.{slot}", text, at) if slot else None) or _decoded(text, at)


@cache
def _sentences() -> dict[str, list[_Sentence]]:
    """Read the file at its first use: the sentences of each fact and field."""
    found: dict[str, list[_Sentence]] = {}
    lines = tomllib.loads(files("harbor._core").joinpath("sentences.toml").read_text(encoding="utf-8"))
    for key, said in lines.items():
        for text in [said] if isinstance(said, str) else said:
            for sentence in _Sentence.all_of(key, text):
                found.setdefault(sentence.path, []).append(sentence)
    return found


@cache
def _lines() -> list[tuple[str, _Sentence]]:
    """Return the sentences about whole facts, each of which makes a line, with their start."""
    return [(sentence.start, sentence) for path, said in _sentences().items() if "." not in path for sentence in said]


def told() -> frozenset[str]:
    """Name the facts that have sentences."""
    return frozenset(sentence.path for _, sentence in _lines())


def in_prose(facts: Mapping[str, Any]) -> str:
    """Write facts, as JSON has them, in sentences: one a line, in the order of the facts.

    A fact without a fitting sentence is written with its name and its JSON.
    """
    return "\n".join(_told(name, value) for name, value in facts.items())


def from_prose(text: str) -> dict[str, Any]:
    """Read the facts that `in_prose` told.

    Raises:
        ValueError: a line is none of its sentences.
    """
    facts: dict[str, Any] = {}
    for line in text.split("\n") if text else ():
        name, of, value = _read_line(line)
        _add(facts, name, of, value)
    return facts


def _told(name: str, value: Any) -> str:
    said = _say(name, value, "\n")
    if said is not None and _json(_reading(said)) == _json({name: value}):
        return said
    return _named(name, value)


def _named(name: str, value: Any) -> str:
    return f"The fact {_json(name)} is {_json(value)}."


def _reading(said: str) -> dict[str, Any] | None:
    try:
        return from_prose(said)
    except ValueError:
        return None


def _say(path: str, value: Any, between: str) -> str | None:
    """Write a fact or field in sentences that are all of one kind; return None if none fits."""
    for of in ("", "[]", "{}"):
        sentences = [sentence for sentence in _sentences().get(path, ()) if sentence.of == of]
        said = [_first(sentences, one) for one in _singly(of, value)]
        if said and None not in said:
            return between.join(filter(None, said))
    return None


def _first(sentences: list[_Sentence], value: Any) -> str | None:
    return next((said for sentence in sentences if (said := sentence.say(value)) is not None), None)


def _singly(of: str, value: Any) -> list[Any]:
    """Return the values that sentences of a kind are about, one per sentence."""
    if of == "[]":
        return value if isinstance(value, list) else []
    if of == "{}":
        return [{"name": name, "value": one} for name, one in value.items()] if isinstance(value, dict) else []
    return [value]


def _read(path: str, text: str, at: int) -> Found | None:
    """Read a field from its sentences: a whole value, or elements as long as there are more."""
    told: dict[str, Any] = {}
    while found := next(_readings(path, text, at + bool(told)), None):
        if told and not text.startswith(" ", at):
            break
        of, value, at = found
        _add(told, path, of, value)
        if not of:
            break
    return (told[path], at) if told else None


def _readings(path: str, text: str, at: int) -> Iterator[tuple[str, Any, int]]:
    for sentence in _sentences().get(path, ()):
        if found := sentence.read(text, at):
            yield sentence.of, *found


def _read_line(line: str) -> tuple[str, str, Any]:
    """Return the fact of a line, its kind ("" whole, "[]" element, "{}" entry), and the value."""
    for start, sentence in _lines() if line.endswith(".") else ():
        if line.startswith(start) and (found := sentence.read(line, 0)) and found[1] == len(line):
            return sentence.path, sentence.of, found[0]
    name = _decoded(line, len("The fact "))
    value = name and _decoded(line, name[1] + len(" is "))
    if name and value and _named(name[0], value[0]) == line:
        return name[0], "", value[0]
    raise ValueError(f"no fact is told by {line!r}; write it with in_prose")


def _add(facts: dict[str, Any], name: str, of: str, value: Any) -> None:
    if of == "[]":
        facts.setdefault(name, []).append(value)
    elif of == "{}":
        facts.setdefault(name, {})[value["name"]] = value["value"]
    else:
        facts[name] = value


def _decoded(text: str, at: int) -> Found | None:
    try:
        return _DECODE(text, at)
    except ValueError:
        return None


def _json(value: Any) -> str:
    """Write a value as JSON that cannot close the block in which it stands."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")
