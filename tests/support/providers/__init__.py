"""Providers of language models on loopback: real wire formats over real sockets, answered by the built-in model.

`with provider(...) as server:` serves. `harbor` and every LangChain client can use `server.openai_url` and
the like. `limits`, `faults`, `refuses` and outages make it as unreliable as real providers are.
"""

from __future__ import annotations

from support.providers.faults import BROKEN, BUSY, CONTENT, HOLLOW, KINDS, PERMANENT, STUCK, TRANSIENT, Faults
from support.providers.limits import Limits
from support.providers.server import Provider, as_openai, provider
from support.providers.service import Heard
from support.providers.speech import Asked

__all__ = [
    "BROKEN",
    "BUSY",
    "CONTENT",
    "HOLLOW",
    "KINDS",
    "PERMANENT",
    "STUCK",
    "TRANSIENT",
    "Asked",
    "Faults",
    "Heard",
    "Limits",
    "Provider",
    "as_openai",
    "provider",
]
