"""Named random streams, all derived from one seed."""

from __future__ import annotations

from hashlib import sha256
from random import Random


def derive(seed: int, *names: str) -> int:
    """Derive a 64-bit seed for a named purpose.

    Equal arguments give equal seeds on every machine; different names give independent ones.
    """
    text = "\x1f".join((str(seed), *names))
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")


def stream(seed: int, *names: str) -> Random:
    """Open the random stream of a named purpose, such as ``stream(7, "ties")``."""
    return Random(derive(seed, *names))
