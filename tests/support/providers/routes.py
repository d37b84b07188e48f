"""The wire format of each address."""

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
    """Return whether a model answers at an address. Batches and files have other addresses."""
    return path in MODELS or path.endswith((":generateContent", "/chat/completions"))


def dialect_of(path: str) -> Dialect:
    """Return the format of an address. An unknown address returns errors in OpenAI's format."""
    if path in MODELS:
        return MODELS[path]
    return next((dialect for start, dialect in FAMILIES.items() if path.startswith(start)), openai_chat)
