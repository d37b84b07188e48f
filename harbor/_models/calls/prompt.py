"""A filled prompt, as the model client takes it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from pydantic import BaseModel

from harbor._core.prompts.prompts import TEXTS_KEPT


@dataclass(frozen=True)
class Prompt:
    """A filled prompt. Its constant part comes first, so that providers' prefix caches hit.

    `name` and `version`, the hash of the unfilled text, identify the prompt in the log. `earlier` holds the dialogue's
    earlier turns as (question, answer). `offered` holds the shapes of all replies that the bidder may be asked for, if
    its calls begin alike.
    """

    name: str
    system: str
    human: str
    version: str
    earlier: tuple[tuple[str, str], ...] = ()
    offered: tuple[type[BaseModel], ...] = ()


@lru_cache(TEXTS_KEPT)
def version_of(text: str) -> str:
    """Hash the unfilled text of a prompt to 12 hex digits."""
    return sha256(text.encode()).hexdigest()[:12]
