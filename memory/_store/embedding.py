"""Embeddings, by name or from your object or function, never by download. A store records the name of its embedding."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from harbor._core.basics.errors import MemoryStoreError, unknown
from harbor.memory._store.place import SENTENCE_TRANSFORMERS, check_trusted

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

Vectors = NDArray[np.float32]
"""One vector per row."""
Embed = Callable[[Sequence[str]], Sequence[Sequence[float]] | NDArray[Any]]
"""Returns one row of numbers per text."""

HASHING_DIMENSION = 384
"""Length of the vectors of `hashing`."""
TEXTS_AT_ONCE = 1_000
"""Texts per call of an embedding."""
WORD = re.compile(r"\w+")
"""A word of a text."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """Turns texts into vectors. A store keeps the name and the dimension.

    `embed` takes texts to remember. `embed_queries`, if given, takes queries: some models treat them differently.
    """

    name: str
    dimension: int
    embed: Embed
    embed_queries: Embed | None = None

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text, of length 1, or of length 0 if the embedding finds nothing in the text."""
        return self._unit(self.embed, texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row per query, as `vectors` does."""
        return self._unit(self.embed_queries or self.embed, texts)

    def _unit(self, embed: Embed, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        try:
            pieces = (texts[start : start + TEXTS_AT_ONCE] for start in range(0, len(texts), TEXTS_AT_ONCE))
            made = np.concatenate([np.asarray(embed(piece), dtype=np.float32) for piece in pieces])
        except Exception as error:
            raise MemoryStoreError(f"the embedding {self.name!r} failed: {error}") from error
        wrong = "numbers that are not finite" if made.shape == (len(texts), self.dimension) else f"shape {made.shape}"
        if "shape" in wrong or not np.isfinite(made).all():
            raise MemoryStoreError(
                f"the embedding {self.name!r} made an array of {wrong} from {len(texts)} texts;"
                f" it has to make one row of {self.dimension} finite numbers per text"
            )
        lengths = np.linalg.norm(made, axis=1, keepdims=True)
        unit: Vectors = made / np.maximum(lengths, np.finfo(np.float32).tiny)
        return unit


def as_embedding(what: Embedding | Embeddings | Embed | str) -> Embedding:
    """Return an `Embedding` from a name, a LangChain `Embeddings` object or a function of texts.

    Names are `hashing` and `sentence-transformers:<folder or model on disk>`. An object or a function is named after
    its module and type or name. Pass an `Embedding` to choose the name.

    >>> as_embedding("hashing").dimension
    384
    """
    if isinstance(what, Embedding):
        return what
    if isinstance(what, str):
        return _named(what)
    kind = what if hasattr(what, "__qualname__") else type(what)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if hasattr(what, "embed_documents"):
        return _measured(name, lambda texts: what.embed_documents(list(texts)), _one_by_one(what))
    if callable(what):
        return _measured(name, what)
    raise MemoryStoreError(f"{what!r} is not an embedding; give a name, a LangChain Embeddings object or a function")


def _one_by_one(embeddings: Any) -> Embed:
    return lambda texts: [embeddings.embed_query(text) for text in texts]


def _measured(name: str, embed: Embed, embed_queries: Embed | None = None) -> Embedding:
    try:
        dimension = len(embed(["What is the dimension?"])[0])
    except Exception as error:
        raise MemoryStoreError(f"the embedding {name!r} failed on its first text: {error}") from error
    return Embedding(name, dimension, embed, embed_queries)


@lru_cache(maxsize=4)
def _named(name: str) -> Embedding:
    kind, _, model = name.partition(":")
    if name == "hashing":
        return Embedding(name, HASHING_DIMENSION, lambda texts: load_hashing()(texts))
    if kind == SENTENCE_TRANSFORMERS and model:
        return _sentence_transformers(name, model)
    raise MemoryStoreError(unknown("embedding", name, ["hashing", f"{SENTENCE_TRANSFORMERS}:<model or folder>"]))


@cache
def load_hashing() -> Embed:
    """Return a function that hashes letter n-grams of all words except stop words. Inflected words get similar vectors.

    It needs no model and no state. Its library takes a second to load, so it is loaded for the first text.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, HashingVectorizer

    def without_stop_words(text: str) -> str:
        return " ".join(word for word in WORD.findall(text.lower()) if word not in ENGLISH_STOP_WORDS) or text

    vectorizer = HashingVectorizer(
        n_features=HASHING_DIMENSION, analyzer="char_wb", ngram_range=(3, 4), preprocessor=without_stop_words
    )

    def embed(texts: Sequence[str]) -> Any:
        return vectorizer.transform(texts).toarray()

    return embed


def _sentence_transformers(name: str, model: str) -> Embedding:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MemoryStoreError(
            f"the embedding {name!r} needs sentence-transformers; pip install 'harbor-auctions[embeddings]'"
        ) from error
    try:
        loaded = SentenceTransformer(model, local_files_only=True)
    except Exception as error:
        raise MemoryStoreError(
            f"the embedding model {model!r} is not on this disk, and Harbor downloads nothing by itself;"
            f" fetch it with `hf download sentence-transformers/{model.rpartition('/')[2]}` or name its folder"
        ) from error
    return _measured(name, lambda texts: loaded.encode(list(texts), show_progress_bar=False))


SCHEMA = 1
"""Version of the metadata of a store."""
StoreMetadata = Mapping[str, Any]


def metadata_of(embedding: Embedding) -> StoreMetadata:
    """Return the metadata of a memory with this embedding."""
    return {"schema": SCHEMA, "embedding": embedding.name, "dimension": embedding.dimension}


def embedding_of(found: StoreMetadata, trusted: str | None) -> Embedding:
    """Load the embedding of an existing memory. Load a model only if it is the trusted one."""
    check_trusted(str(found["embedding"]), trusted)
    try:
        return as_embedding(found["embedding"])
    except MemoryStoreError as error:
        raise MemoryStoreError(
            f"it was made with embedding {found['embedding']!r}, which can't be loaded: {error}"
        ) from error


def check_complete(found: StoreMetadata) -> None:
    """Refuse a description without all its fields, as in a damaged or forged memory."""
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
