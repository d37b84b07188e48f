"""Ollama's chat: a stream of JSON lines, or one reply if the client asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from support.providers.mind import schema_text
from support.providers.speech import Asked, Said, Trouble, bearer, set_in, text_of, turn

key = bearer
ENDS = {"stop": "stop", "length": "length", "refusal": "stop"}
TOO_LONG = "the request exceeds the available context size ({most} tokens), try increasing it"
PIECE = 400
"""Characters in a line."""


def hear(path: str, body: Mapping[str, Any]) -> Asked:
    tools, turns, how = body.get("tools") or [], body["messages"], body.get("options") or {}
    kind = "json_object" if body.get("format") == "json" else "json_schema"
    form = {f"response_format.{kind}"} if body.get("format") else set()
    return Asked(
        model=body["model"],
        messages=[turn(said["role"], said.get("content")) for said in turns],
        tools=tools,
        parameters=set_in(dict(body) | {"stream": body.get("stream", True)}) | set_in(how) | form,
        parts=[(schema_text(tools), False), *((text_of(said.get("content")), False) for said in turns)],
        caches="nothing",
        most=how.get("num_predict"),
    )


def say(asked: Asked, said: Said, number: int) -> dict[str, Any] | list[dict[str, Any]]:
    end = {"done": True, "done_reason": ENDS[said.end], **_usage(said)}
    calls = [{"function": {"name": said.tool, "arguments": said.arguments}}] if said.tool and said.end == "stop" else []
    text = "" if said.tool else said.text
    if "stream" not in asked.parameters:
        return _line(said, text, calls) | end
    pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)] or [""]
    lines = [_line(said, piece, []) for piece in pieces[:-1]] + [_line(said, pieces[-1], calls)]
    return [*(line | {"done": False} for line in lines), _line(said, "", []) | end]


def _line(said: Said, text: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    message = {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})
    return {"model": said.model, "created_at": "2026-01-01T00:00:00.000000Z", "message": message}


def _usage(said: Said) -> dict[str, Any]:
    durations = dict.fromkeys(("total_duration", "load_duration", "prompt_eval_duration", "eval_duration"), 1_000_000)
    return {**durations, "prompt_eval_count": said.read, "eval_count": said.written}


def complain(trouble: Trouble) -> tuple[int, dict[str, Any]]:
    return trouble.status, {"error": trouble.message}
