"""OpenAI's responses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from support.providers.mind import schema_text
from support.providers.openai_errors import TOO_LONG, complain, forms
from support.providers.speech import Asked, Said, bearer, forced, set_in, text_of, turn, unstreamed

__all__ = ["TOO_LONG", "complain", "hear", "key", "say"]
key = bearer


def hear(path: str, body: Mapping[str, Any]) -> Asked:
    unstreamed(body)
    tools = [_tool(tool) for tool in body.get("tools") or ()]
    turns = [one for one in body["input"] if "role" in one]
    form = ((body.get("text") or {}).get("format") or {}).get("type")
    return Asked(
        model=body["model"],
        messages=[turn(said["role"], said["content"]) for said in turns],
        tools=tools,
        parameters=set_in(body) | forms(body.get("tool_choice"), None if form == "text" else form),
        parts=[(schema_text(tools), False), *((text_of(said["content"]), False) for said in turns)],
        most=body.get("max_output_tokens"),
        forced=forced(body.get("tool_choice")),
    )


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {name: value for name, value in tool.items() if name != "type"}}


def say(asked: Asked, said: Said, number: int) -> dict[str, Any]:
    cut = said.end == "length"
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_760_000_000,
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "instructions": None,
        "metadata": {},
        "model": said.model,
        "output": [_output(said, number)],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": _usage(said),
    }


def _output(said: Said, number: int) -> dict[str, Any]:
    status = "incomplete" if said.end == "length" else "completed"
    if said.tool:
        arguments = said.text if said.end == "length" else json.dumps(said.arguments)
        call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": said.tool}
        return call | {"arguments": arguments, "status": status}
    words = {"type": "output_text", "text": said.text, "annotations": []}
    if said.end == "refusal":
        words = {"type": "refusal", "refusal": said.text}
    return {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": status, "content": [words]}


def _usage(said: Said) -> dict[str, Any]:
    return {
        "input_tokens": said.read,
        "input_tokens_details": {"cached_tokens": said.cached},
        "output_tokens": said.written,
        "output_tokens_details": {"reasoning_tokens": said.thought},
        "total_tokens": said.read + said.written,
    }
