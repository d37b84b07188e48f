"""Which address speaks which wire format."""

from __future__ import annotations

from support.providers import anthropic_messages, azure_chat, google, ollama, openai_chat, openai_responses
from support.providers.speech import Dialect

MODELS: dict[str, Dialect] = {
    "/v1/chat/completions": openai_chat,
    "/v1/responses": openai_responses,
    "/v1/messages": anthropic_messages,
    "/api/chat": ollama,
}
AZURE = "/openai/deployments/"
FAMILIES: dict[str, Dialect] = {
    AZURE: azure_chat,
    "/v1/messages": anthropic_messages,
    "/v1beta/": google,
    "/api/": ollama,
}


def is_model(path: str) -> bool:
    """Say whether a model answers at an address; batches and files are at others."""
    return path in MODELS or path.endswith((":generateContent", "/chat/completions"))


def dialect_of(path: str) -> Dialect:
    """Give the format of an address; errors at an unknown one are OpenAI's."""
    if path in MODELS:
        return MODELS[path]
    return next((dialect for start, dialect in FAMILIES.items() if path.startswith(start)), openai_chat)
