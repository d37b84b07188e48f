"""The wire format of each address."""

from __future__ import annotations

from support.providers import anthropic_messages, azure_chat, google, ollama, openai_chat, openai_responses
from support.providers.speech import Dialect

AZURE = "/openai/deployments/"
DIALECTS: dict[str, Dialect] = {
    AZURE: azure_chat,
    "/v1/responses": openai_responses,
    "/v1/messages": anthropic_messages,
    "/v1beta/": google,
    "/api/": ollama,
}
MODELS = ("/chat/completions", "/v1/responses", "/v1/messages", "/api/chat", ":generateContent")


def is_model(path: str) -> bool:
    """Return whether a model answers at an address. Batches and files have other addresses."""
    return path.endswith(MODELS)


def dialect_of(path: str) -> Dialect:
    """Return the format of an address. Any other address has OpenAI's chat completions and errors."""
    return next((dialect for start, dialect in DIALECTS.items() if path.startswith(start)), openai_chat)
