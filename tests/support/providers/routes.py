"""Which address speaks which wire format."""

from __future__ import annotations

from support.providers import openai_chat
from support.providers.speech import Dialect

MODELS: dict[str, Dialect] = {
    "/v1/chat/completions": openai_chat,
}


def is_model(path: str) -> bool:
    """Say whether a model answers at an address; batches and files are at others."""
    return path in MODELS


def dialect_of(path: str) -> Dialect:
    """Give the format of an address; errors at an unknown one are OpenAI's."""
    return MODELS.get(path, openai_chat)
