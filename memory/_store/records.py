"""One memory as it is stored, and the Chroma rows that it is written as."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from langgraph.store.base import GetOp, Item, Op, PutOp, SearchItem, SearchOp, validate_op_namespace

from harbor._core.errors import MemoryStoreError
from harbor.memory._store.matching import Namespace, check_filter

RECORD, EXPIRES = "record", "expires"
Metadata = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """One memory: its value as JSON text, when it was created and updated, and how many vectors it has.

    `ttl_minutes` is how long it lives after it was last written or read; `expires` is when, in seconds since 1970.
    `paths` are the paths in the value whose texts were embedded.
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
        """Name its rows: one per vector, and at least one."""
        return [row_id(self.key, number) for number in range(max(1, self.vectors))]

    def alive(self, now: float) -> bool:
        """Say whether it has not expired."""
        return self.expires is None or self.expires > now

    def content(self) -> Any:
        """Return the value."""
        return json.loads(self.value)

    def item(self) -> Item:
        """Return it as LangGraph's item."""
        created, updated = _moment(self.created), _moment(self.updated)
        return Item(
            value=self.content(), key=self.key, namespace=self.namespace, created_at=created, updated_at=updated
        )

    def put(self) -> PutOp:
        """Give the operation that writes it again, without its times."""
        return PutOp(self.namespace, self.key, self.content(), index=list(self.paths) or False, ttl=self.ttl_minutes)

    def found(self, score: float | None) -> SearchItem:
        """Return it as a search result."""
        return SearchItem(
            self.namespace, self.key, self.content(), _moment(self.created), _moment(self.updated), score=score
        )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def row_id(key: str, number: int = 0) -> str:
    """Name a row: its number first, as a key may contain anything."""
    return f"{number}:{key}"


def row_of(identifier: str) -> tuple[str, int]:
    """Split a row's name into the key and the number."""
    number, _, key = identifier.partition(":")
    return key, int(number)


def json_text(op: PutOp) -> str:
    """Write a value as JSON; refuse one that would be read back changed."""
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


def check_op(op: Op) -> None:
    """Refuse an operation that could not be done: an invalid namespace, key, query, number, index or filter."""
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
    """Say whether this is a list of paths, and not one path by itself."""
    return isinstance(given, list | tuple) and all(isinstance(one, str) for one in given)


def check_key(namespace: Namespace, key: object) -> None:
    """Refuse a key that can't be part of a row's name."""
    try:
        if isinstance(key, str) and key.encode():
            return
    except UnicodeEncodeError:
        pass
    raise MemoryStoreError(f"the key {key!r} in {namespace} can't be stored; use a text that is not empty")


def readable(text: str) -> str:
    """Replace lone surrogates, which JSON allows and no encoder takes."""
    return text.encode("utf-8", "replace").decode()
