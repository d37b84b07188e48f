"""OpenAI's chat completions as Azure has them: the model is a deployment in the path, the key a header of its own."""

from __future__ import annotations

from collections.abc import Mapping

from support.providers.openai_chat import TOO_LONG, complain, hear, say, streamed

__all__ = ["TOO_LONG", "complain", "hear", "key", "say", "streamed"]


def key(headers: Mapping[str, str]) -> str:
    return headers.get("api-key", "")
