"""What a store records about itself, so that it is opened again only with the embedding it was made with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harbor._core.errors import MemoryStoreError
from harbor.memory._store.embedding import Embedding, as_embedding
from harbor.memory._store.trust import check_trusted

SCHEMA = 1
StoreMetadata = Mapping[str, Any]


def metadata_of(embedding: Embedding) -> StoreMetadata:
    """Give the metadata of a memory with this embedding."""
    return {"schema": SCHEMA, "embedding": embedding.name, "dimension": embedding.dimension}


def embedding_of(found: StoreMetadata, trusted: str | None) -> Embedding:
    """Load the embedding that a memory was made with; load a model only if it is the trusted one."""
    check_trusted(str(found["embedding"]), trusted)
    try:
        return as_embedding(found["embedding"])
    except MemoryStoreError as error:
        raise MemoryStoreError(
            f"it was made with embedding {found['embedding']!r}, which can't be loaded: {error}"
        ) from error


def check_complete(found: StoreMetadata) -> None:
    """Refuse a description that lacks something, as a damaged or a forged one may."""
    if missing := {"schema", "embedding", "dimension"} - found.keys():
        raise MemoryStoreError(f"its description lacks {', '.join(sorted(missing))}; restore it from a copy")


def check_metadata(found: StoreMetadata, wanted: StoreMetadata) -> None:
    """Refuse a memory with another schema or embedding."""
    if found["schema"] != wanted["schema"]:
        raise MemoryStoreError(f"it has schema {found['schema']}; this Harbor reads {wanted['schema']}: update Harbor")
    for what in ("embedding", "dimension"):
        if found[what] != wanted[what]:
            raise MemoryStoreError(
                f"it was made with {what} {found[what]!r}, not {wanted[what]!r}; open it with that,"
                " or export it and import it into a new one"
            )
