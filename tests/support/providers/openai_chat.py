"""OpenAI's chat completions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from support.providers.mind import schema_text
from support.providers.openai_errors import TOO_LONG, complain, forms
from support.providers.speech import Asked, Said, bearer, forced, set_in, text_of, turn, unstreamed

__all__ = ["TOO_LONG", "complain", "hear", "key", "say", "streamed"]
key = bearer
PIECE = 40
"""Characters in a chunk of a stream."""
ENDS = {"stop": "stop", "length": "length", "refusal": "stop"}


def hear(path: str, body: Mapping[str, Any]) -> Asked:
    unstreamed(body)
    tools, messages = body.get("tools") or [], body["messages"]
    parts = [(schema_text(tools), False), *((text_of(said.get("content")), False) for said in messages)]
    return Asked(
        model=body["model"],
        messages=[turn(said["role"], said.get("content")) for said in messages],
        tools=tools,
        parameters=set_in(body) | forms(body.get("tool_choice"), (body.get("response_format") or {}).get("type")),
        parts=parts,
        forced=forced(body.get("tool_choice")),
        most=body.get("max_completion_tokens") or body.get("max_tokens"),
    )


def say(asked: Asked, said: Said, number: int) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": ENDS[said.end], "logprobs": None, "message": _message(said, number)}
    if said.tool and said.end == "stop":
        choice["finish_reason"] = "tool_calls"
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": said.model,
        "choices": [choice],
        "usage": _usage(said),
        "service_tier": "default",
        "system_fingerprint": "fp_harbor",
    }


def streamed(whole: Mapping[str, Any], with_usage: bool) -> list[dict[str, Any]]:
    """Return a completion as the chunks of a stream. The last chunk has the usage, if the client asked for it."""
    [choice] = whole["choices"]
    head = {**whole, "object": "chat.completion.chunk", "usage": None}
    message = dict(choice["message"])
    text = message.pop("content") or ""
    calls = [{**call, "index": number} for number, call in enumerate(message.pop("tool_calls", []))]
    deltas = [message, *({"content": text[at : at + PIECE]} for at in range(0, len(text), PIECE))]
    deltas += [{"tool_calls": [call]} for call in calls]
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    return [*chunks, {**head, "choices": [], "usage": whole["usage"]}] if with_usage else chunks


def _message(said: Said, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text, "refusal": None, "annotations": []}
    if said.end == "refusal":
        return message | {"content": None, "refusal": said.text}
    if not said.tool:
        return message
    arguments = said.text if said.end == "length" else json.dumps(said.arguments)
    function = {"name": said.tool, "arguments": arguments}
    return message | {
        "content": None,
        "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
    }


def _usage(said: Said) -> dict[str, Any]:
    return {
        "prompt_tokens": said.read,
        "completion_tokens": said.written,
        "total_tokens": said.read + said.written,
        "prompt_tokens_details": {"cached_tokens": said.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": said.thought, "audio_tokens": 0},
    }
