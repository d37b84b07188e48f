"""What a store writes down about itself, so that it is opened again with what it was made with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harbor._core.errors import MemoryStoreError
from harbor.memory._store.embedding import Embedding, as_embedding, check_trusted

SCHEMA = 1
Mark = Mapping[str, Any]


def mark_of(embedding: Embedding) -> Mark:
    """Write down what a memory is made with."""
    return {"schema": SCHEMA, "embedding": embedding.name, "dimension": embedding.dimension}


def embedding_of(found: Mark, trusted: str | None) -> Embedding:
    """Load the embedding that a memory was made with; a model only if it is the trusted one."""
    check_trusted(str(found["embedding"]), trusted)
    try:
        return as_embedding(found["embedding"])
    except MemoryStoreError as error:
        raise MemoryStoreError(
            f"it was made with embedding {found['embedding']!r}, which can't be had: {error}"
        ) from error


def check_mark(found: Mark, mark: Mark) -> None:
    """Refuse a memory that was made with something else."""
    if found["schema"] != mark["schema"]:
        raise MemoryStoreError(f"it has schema {found['schema']}; this Harbor reads {mark['schema']}: update Harbor")
    for what in ("embedding", "dimension"):
        if found[what] != mark[what]:
            raise MemoryStoreError(
                f"it was made with {what} {found[what]!r}, not {mark[what]!r}; open it with that,"
                " or export it and import it into a new one"
            )
