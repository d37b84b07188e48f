"""Which texts of a memory are embedded, and can so be found by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from langgraph.store.base import PutOp, get_text_at_path

from harbor.memory._store.embedding import Embedding, Vectors
from harbor.memory._store.records import readable


@dataclass(frozen=True, slots=True)
class Index:
    """An embedding, and the paths whose texts it gets if a put names none; `$` is the whole value."""

    embedding: Embedding
    fields: tuple[str, ...]

    def paths(self, op: PutOp) -> tuple[str, ...]:
        """Say which paths of a value are embedded."""
        return self.fields if op.index is None else tuple(op.index or ())

    def vectors(self, ops: Sequence[PutOp]) -> list[Vectors]:
        """Embed the texts of all values in one call; give each value its vectors, without those of length 0."""
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
