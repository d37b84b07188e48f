"""Exports and imports memories: one line of JSON per memory, from which an equal memory can be made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langgraph.store.base import InvalidNamespaceError
from pydantic import AwareDatetime, Field

from harbor._core.errors import HarborError, MemoryStoreError
from harbor._core.settings import Settings, check
from harbor.memory._store.chroma import ChromaStore
from harbor.memory._store.place import DATABASE, NoMemoryError, inside, is_url
from harbor.memory._store.records import Record, check_op


class Line(Settings):
    """One memory: times in UTC, `indexed` the embedded paths in its value, `ttl` in minutes."""

    namespace: tuple[str, ...] = Field(min_length=1)
    key: str = Field(min_length=1)
    value: dict[str, Any]
    created_at: AwareDatetime
    updated_at: AwareDatetime
    indexed: tuple[str, ...] = ()
    ttl: float | None = Field(None, gt=0, allow_inf_nan=False)
    expires_at: AwareDatetime | None = None


def exists(where: str, trusted: str | None) -> bool:
    """Say whether there is a memory in a folder, in the folder of a run, or on a server."""
    if not is_url(where):
        return Path(inside(where), DATABASE).is_file()
    try:
        ChromaStore(where, embedding=None, trusted=trusted).close()
    except NoMemoryError:
        return False
    return True


def open_existing(where: str, trusted: str | None = None, trust: bool = False) -> ChromaStore:
    """Open an existing memory with its own embedding: a folder, the folder of a run that remembers, or a server.

    Raises:
        MemoryStoreError: there is none, its folder is not the user's own and there is no `trust`, or its embedding is
            a model and not the `trusted` one.
    """
    return ChromaStore(inside(where), embedding=None, trusted=trusted, trust=trust)


def to_line(record: Record) -> str:
    """Write a memory as a line of JSON."""
    return json.dumps(
        {
            "namespace": record.namespace,
            "key": record.key,
            "value": record.content(),
            "created_at": _written(record.created),
            "updated_at": _written(record.updated),
            "indexed": record.paths,
            "ttl": None if record.ttl_minutes is None else float(record.ttl_minutes),
            "expires_at": None if record.expires is None else _written(record.expires),
        }
    )


def read_lines(lines: Iterable[str], source: str) -> Iterator[Record]:
    """Read memories from lines of JSON.

    Raises:
        MemoryStoreError: a line is not a memory; the message says which line.
    """
    for number, text in enumerate(lines, start=1):
        place = f"{source} line {number}"
        try:
            line = check(Line, json.loads(text), place)
            yield _record(line)
        except HarborError as error:
            raise MemoryStoreError(str(error)) from error
        except InvalidNamespaceError as error:
            raise MemoryStoreError(f"{place}: {error}") from error
        except (ValueError, RecursionError) as error:
            raise MemoryStoreError(
                f"{place} is not a memory ({error}); give what `harbor memory export` wrote"
            ) from error


def _record(line: Line) -> Record:
    record = Record(
        line.namespace,
        line.key,
        json.dumps(line.value, allow_nan=False),
        line.created_at.timestamp(),
        line.updated_at.timestamp(),
        ttl_minutes=line.ttl,
        expires=None if line.expires_at is None else line.expires_at.timestamp(),
        paths=line.indexed,
    )
    check_op(record.put())
    return record


def _written(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
