"""Anthropic's messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from support.providers.speech import Asked, Said, Trouble, bearer, forced, set_in, text_of, turn, unstreamed

TYPES = {
    "rate": "rate_limit_error",
    "quota": "invalid_request_error",
    "server": "api_error",
    "overloaded": "overloaded_error",
    "unavailable": "api_error",
    "key": "authentication_error",
    "access": "permission_error",
    "model": "not_found_error",
    "parameter": "invalid_request_error",
    "path": "not_found_error",
    "long": "invalid_request_error",
}
TOO_LONG = "prompt is too long: {read} tokens > {most} maximum"
ENDS = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}
NO_CREDIT = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."


def key(headers: Mapping[str, str]) -> str:
    return headers.get("x-api-key") or bearer(headers)


def hear(path: str, body: Mapping[str, Any]) -> Asked:
    unstreamed(body)
    turns = body["messages"]
    wanted = {"tool_choice.required"} if (body.get("tool_choice") or {}).get("type") in ("any", "tool") else set()
    form = ((body.get("output_config") or {}).get("format") or {}).get("type")
    return Asked(
        model=body["model"],
        messages=[
            *([turn("system", body["system"])] if body.get("system") else ()),
            *(turn(said["role"], said["content"]) for said in turns),
        ],
        tools=[_tool(tool) for tool in body.get("tools") or ()],
        parameters=set_in(body) | wanted | ({f"response_format.{form}"} if form else set()),
        parts=list(_parts(body)),
        caches="marked",
        most=body["max_tokens"],
        forced=forced(body.get("tool_choice")),
    )


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": tool["name"], "description": tool.get("description", ""), "parameters": tool["input_schema"]}
    return {"type": "function", "function": function}


def _parts(body: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield the parts of the prompt in the order of caching: tools, then the system prompt, then the messages."""
    for tool in body.get("tools") or ():
        yield json.dumps(_tool(tool)), "cache_control" in tool
    for content in (body.get("system") or (), *(said["content"] for said in body["messages"])):
        for block in [{"text": content}] if isinstance(content, str) else content:
            yield text_of([block]), "cache_control" in block


def say(asked: Asked, said: Said, number: int) -> dict[str, Any]:
    called = said.tool and said.end == "stop"
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": _content(said, number),
        "stop_reason": "tool_use" if called else ENDS[said.end],
        "stop_sequence": None,
        "usage": _usage(said),
    }


def _content(said: Said, number: int) -> list[dict[str, Any]]:
    if said.tool:
        given = {} if said.end == "length" else said.arguments
        return [{"type": "tool_use", "id": f"toolu_{number}", "name": said.tool, "input": given}]
    return [] if said.end == "refusal" or not said.text else [{"type": "text", "text": said.text}]


def _usage(said: Said) -> dict[str, Any]:
    return {
        "input_tokens": said.read - said.cached - said.stored,
        "cache_creation_input_tokens": said.stored,
        "cache_read_input_tokens": said.cached,
        "cache_creation": {"ephemeral_5m_input_tokens": said.stored, "ephemeral_1h_input_tokens": 0},
        "output_tokens": said.written,
        "service_tier": "standard",
    }


def complain(trouble: Trouble) -> tuple[int, dict[str, Any]]:
    status, message = (400, NO_CREDIT) if trouble.kind == "quota" else (trouble.status, trouble.message)
    if trouble.kind == "key" and "..." not in message:
        message = "invalid x-api-key"
    error = {"type": TYPES[trouble.kind], "message": message}
    return status, {"type": "error", "error": error, "request_id": "req_harbor"}
