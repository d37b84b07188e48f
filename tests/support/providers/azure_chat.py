"""OpenAI's chat completions in Azure's form: the model is a deployment in the path, and the key has its own header."""

from __future__ import annotations

from collections.abc import Mapping

from support.providers.openai_chat import TOO_LONG, complain, hear, say, streamed

__all__ = ["TOO_LONG", "complain", "hear", "key", "say", "streamed"]


def key(headers: Mapping[str, str]) -> str:
    return headers.get("api-key", "")
