"""What is loaded because a file names it: never a model, which may run code of whoever sent the file."""

from __future__ import annotations

import shlex

from harbor._core.errors import MemoryStoreError

SENTENCE_TRANSFORMERS = "sentence-transformers"


def check_trusted(name: str, trusted: str | None) -> None:
    """Refuse a model that a file names and the user does not: a model that somebody sent may run code.

    Raises:
        MemoryStoreError: the user named no model, or another one.
    """
    if trusted not in (None, name):
        raise MemoryStoreError(f"it has the embedding {name!r}, not {trusted!r}; drop --embedding, or name that")
    if trusted is None and name.startswith(SENTENCE_TRANSFORMERS):
        raise MemoryStoreError(
            f"it has the embedding {name!r}, a model that only a file names; if you trust the model, name it yourself:"
            f" --embedding {shlex.quote(name)}, embedding=... in Python, or [memory] embedding in a TOML file of yours"
        )
