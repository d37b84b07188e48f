"""Asks as JSON."""

from __future__ import annotations

from pydantic import TypeAdapter

from harbor._core.asks import Ask, Pause

ASK: TypeAdapter[Ask | Pause] = TypeAdapter(Ask | Pause)
"""Writes and reads asks; it stands apart from them, as it takes a while to make."""
