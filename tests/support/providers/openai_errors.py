"""The shared parts of OpenAI's two formats: errors, and the names of requested forms."""

from __future__ import annotations

from typing import Any

from support.providers.speech import Trouble

TYPES = {
    "rate": ("requests", "rate_limit_exceeded"),
    "quota": ("insufficient_quota", "insufficient_quota"),
    "server": ("server_error", None),
    "overloaded": ("server_error", "overloaded"),
    "unavailable": ("server_error", "service_unavailable"),
    "key": ("invalid_request_error", "invalid_api_key"),
    "access": ("invalid_request_error", "model_access_denied"),
    "model": ("invalid_request_error", "model_not_found"),
    "parameter": ("invalid_request_error", "unsupported_parameter"),
    "path": ("invalid_request_error", "unknown_url"),
    "long": ("invalid_request_error", "context_length_exceeded"),
}
TOO_LONG = (
    "This model's maximum context length is {most} tokens. However, your messages resulted in {read} tokens. Please"
    " reduce the length of the messages."
)


def complain(trouble: Trouble) -> tuple[int, dict[str, Any]]:
    kind, code = TYPES[trouble.kind]
    return trouble.status, {
        "error": {"message": trouble.message, "type": kind, "param": trouble.subject or None, "code": code}
    }


def forms(tool_choice: Any, response_format: str | None) -> frozenset[str]:
    """Return the names of the reply forms that a request asks for."""
    forced = {"tool_choice.required"} if tool_choice and tool_choice not in ("auto", "none") else set()
    return frozenset(forced | ({f"response_format.{response_format}"} if response_format else set()))
