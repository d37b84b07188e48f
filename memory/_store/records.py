"""The form of a memory (a record, stored as Chroma rows), the filters on it, and the index of its embedded texts.

Harbor evaluates filters exactly, on the values themselves, like LangGraph's own stores. Chroma does not.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from langgraph.store.base import (
    GetOp,
    Item,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
    get_text_at_path,
    validate_op_namespace,
)

from harbor._core.basics.errors import MemoryStoreError, unknown
from harbor.memory._store.embedding import Embedding, Vectors

Namespace = tuple[str, ...]
"""Labels of a namespace, outermost first."""


def _as_numbers(compare: Callable[[float, float], bool]) -> Callable[[Any, Any], bool]:
    def compared(value: Any, wanted: Any) -> bool:
        try:
            return compare(float(value), float(wanted))
        except (TypeError, ValueError):  # a value that is no number is neither more nor less than a number
            return False

    return compared


OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": _as_numbers(operator.gt),
    "$gte": _as_numbers(operator.ge),
    "$lt": _as_numbers(operator.lt),
    "$lte": _as_numbers(operator.le),
}
"""Filter operators by name. Comparisons of order convert both sides to numbers."""


def check_filter(wanted: object) -> None:
    """Refuse an unknown operator anywhere in a filter.

    Raises:
        MemoryStoreError: an operator is unknown.
    """
    if isinstance(wanted, Mapping):
        if any(key.startswith("$") for key in wanted):
            for key in wanted:
                if key not in OPERATORS:
                    raise MemoryStoreError(unknown("filter operator", key, OPERATORS))
            return
        for inner in wanted.values():
            check_filter(inner)
    elif isinstance(wanted, list | tuple):
        for inner in wanted:
            check_filter(inner)


def fits(value: Any, wanted: Any) -> bool:
    """Return whether a value matches a filter: by equality, by operators, or field by field."""
    if isinstance(wanted, Mapping):
        if any(key.startswith("$") for key in wanted):
            return all(OPERATORS[key](value, operand) for key, operand in wanted.items())
        return isinstance(value, Mapping) and all(fits(value.get(key), inner) for key, inner in wanted.items())
    if isinstance(wanted, list | tuple):
        same_length = isinstance(value, list | tuple) and len(value) == len(wanted)
        return same_length and all(fits(one, inner) for one, inner in zip(value, wanted, strict=True))
    return bool(value == wanted)


def has(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Return whether the fields of a memory match a search's filter."""
    return all(fits(value.get(field), one) for field, one in wanted.items())


def named_by(condition: MatchCondition, namespace: Namespace) -> bool:
    """Return whether a namespace has the condition's prefix or suffix. `*` matches any one label."""
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


RECORD, EXPIRES = "record", "expires"
"""Keys of a row's metadata: the record as text, and the second since 1970 at which it expires."""
Metadata = Mapping[str, Any]
"""Metadata of a row in Chroma."""


def expiry(now: float, ttl_minutes: float) -> float:
    """Return the time at which a memory expires that is written or read at `now`, in seconds since 1970.

    Chroma changes the last bit of some numbers with more than 16 digits. Rounding to microseconds avoids such numbers.
    """
    return round(now + 60 * ttl_minutes, 6)


@dataclass(frozen=True, slots=True)
class Record:
    """One memory: its value as JSON text, its times of creation and last update, and its number of vectors.

    All times are seconds since 1970. The memory lives for `ttl_minutes` after its last write or read, until `expires`;
    None means for ever. `paths` are the paths in the value whose texts were embedded.
    """

    namespace: Namespace
    key: str
    value: str
    created: float
    updated: float
    vectors: int = 0
    ttl_minutes: float | None = None
    expires: float | None = None
    paths: tuple[str, ...] = ()

    @classmethod
    def read(cls, namespace: Namespace, key: str, row: Metadata) -> Record:
        """Read a memory from the metadata of its first row."""
        head, _, value = row[RECORD].partition("\n")
        created, updated, vectors, ttl_minutes, paths = json.loads(head)
        return cls(namespace, key, value, created, updated, vectors, ttl_minutes, row.get(EXPIRES), tuple(paths))

    def row(self) -> Metadata:
        """Return the metadata of its first row.

        Chroma merges metadata on upsert, so every row has every key. Each key costs time, so there are only two.
        """
        head = json.dumps([self.created, self.updated, self.vectors, self.ttl_minutes, self.paths])
        return {RECORD: f"{head}\n{self.value}", EXPIRES: self.expires}

    def ids(self) -> list[str]:
        """Return the ids of its rows: one per vector, and at least one."""
        return [row_id(self.key, number) for number in range(max(1, self.vectors))]

    def alive(self, now: float) -> bool:
        """Return whether it has not expired."""
        return self.expires is None or self.expires > now

    def content(self) -> Any:
        """Return the value."""
        return json.loads(self.value)

    def item(self) -> Item:
        """Return the memory as LangGraph's `Item`."""
        created, updated = _moment(self.created), _moment(self.updated)
        return Item(
            value=self.content(), key=self.key, namespace=self.namespace, created_at=created, updated_at=updated
        )

    def put(self) -> PutOp:
        """Return the operation that writes the memory again, without its times."""
        return PutOp(self.namespace, self.key, self.content(), index=list(self.paths) or False, ttl=self.ttl_minutes)

    def found(self, score: float | None) -> SearchItem:
        """Return the memory as a search result."""
        return SearchItem(
            self.namespace, self.key, self.content(), _moment(self.created), _moment(self.updated), score=score
        )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def row_id(key: str, number: int = 0) -> str:
    """Return the id of a row. The number comes first, as a key may contain any character."""
    return f"{number}:{key}"


def row_of(identifier: str) -> tuple[str, int]:
    """Split the id of a row into key and number."""
    number, _, key = identifier.partition(":")
    return key, int(number)


def json_text(op: PutOp) -> str:
    """Return a value as JSON text.

    Raises:
        MemoryStoreError: the value is not JSON, or reading the text would not return the same value.
    """
    try:
        text = json.dumps(op.value, allow_nan=False)
        same = json.loads(text) == op.value
    except (TypeError, ValueError, RecursionError) as error:
        raise MemoryStoreError(f"the value of {op.key!r} in {op.namespace} is not JSON: {error}") from error
    if not same or not isinstance(op.value, dict):
        raise MemoryStoreError(
            f"the value of {op.key!r} in {op.namespace} is not JSON: {op.value!r} would come back changed;"
            " use a dict of strings, numbers, lists and dicts with string keys"
        )
    return text


_NUMBERS = {"limit": int, "offset": int, "max_depth": int | None, "ttl": int | float | None}
"""Types of the numeric fields of operations."""


def check_op(op: Op) -> None:
    """Refuse an operation with an invalid namespace, key, query, number, index or filter.

    Raises:
        MemoryStoreError: the message names the wrong value.
    """
    for name, kind in _NUMBERS.items():
        given = getattr(op, name, None if name in ("max_depth", "ttl") else 0)
        if not isinstance(given, kind) or (name != "ttl" and given is not None and given < 0):
            raise MemoryStoreError(f"{name} is {given!r} in {type(op).__name__}; give a number that is not negative")
    place = op.namespace_prefix if isinstance(op, SearchOp) else getattr(op, "namespace", ())
    if not isinstance(place, tuple):
        raise MemoryStoreError(f"the namespace {place!r} is no tuple; give a tuple of labels")
    validate_op_namespace(op)
    if isinstance(op, GetOp | PutOp):
        check_key(op.namespace, op.key)
    if isinstance(op, PutOp) and not are_paths(op.index or ()):
        raise MemoryStoreError(f"the index {op.index!r} of {op.key!r} names no paths; give a list of texts, or False")
    if isinstance(op, SearchOp):
        if not isinstance(op.query, str | None):
            raise MemoryStoreError(f"the query {op.query!r} is no text; give one")
        for field, wanted in (op.filter or {}).items():
            if field.startswith("$"):
                raise MemoryStoreError(f"the filter {op.filter!r} has {field!r} for a field; name a field")
            check_filter(wanted)


def are_paths(given: object) -> bool:
    """Return whether `given` is a list of paths. A single path is none."""
    return isinstance(given, list | tuple) and all(isinstance(one, str) for one in given)


def check_key(namespace: Namespace, key: object) -> None:
    """Refuse a key that can't be part of a row's id: an empty one, or one without UTF-8."""
    try:
        if isinstance(key, str) and key.encode():
            return
    except UnicodeEncodeError:
        pass
    raise MemoryStoreError(f"the key {key!r} in {namespace} can't be stored; use a text that is not empty")


def readable(text: str) -> str:
    """Replace lone surrogates: JSON allows them, but they can't be encoded."""
    return text.encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class Index:
    """An embedding, and the paths to embed if a put names none. `$` is the whole value."""

    embedding: Embedding
    fields: tuple[str, ...]

    def paths(self, op: PutOp) -> tuple[str, ...]:
        """Return the paths in a value that are embedded."""
        return self.fields if op.index is None else tuple(op.index or ())

    def vectors(self, ops: Sequence[PutOp]) -> list[Vectors]:
        """Embed the texts of all values in one call. Return one array per value, without vectors of length 0."""
        texts = [self._texts(op) for op in ops]
        made = self.embedding.vectors([text for own in texts for text in own])
        ends = list(accumulate(map(len, texts)))
        parts = [made[end - len(own) : end] for own, end in zip(texts, ends, strict=True)]
        return [part[part.any(axis=1)] for part in parts]

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries, one row each."""
        return self.embedding.queries([readable(text) for text in texts])

    def _texts(self, op: PutOp) -> list[str]:
        texts = (readable(text) for path in self.paths(op) for text in get_text_at_path(op.value, path))
        return list(dict.fromkeys(texts))
