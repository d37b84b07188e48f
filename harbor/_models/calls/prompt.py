"""A filled prompt, as the model client takes it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from harbor._core.prompts import TEXTS_KEPT


@dataclass(frozen=True)
class Prompt:
    """A filled prompt: what never changes comes first, so that providers' prefix caches hit.

    `name` and `version`, the hash of the unfilled text, identify it in the log. The first `stable` characters of
    `system` are the same for all seats and games of a design, as long as the same kinds of facts are sent; all of it is
    the same for one seat. `earlier` are the turns of a dialogue before this one: what was asked, and what was answered.
    """

    name: str
    system: str
    human: str
    version: str
    stable: int = 0
    earlier: tuple[tuple[str, str], ...] = ()


@lru_cache(TEXTS_KEPT)
def version_of(text: str) -> str:
    """Hash the unfilled text of a prompt to 12 hex digits."""
    return sha256(text.encode()).hexdigest()[:12]
