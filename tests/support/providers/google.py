"""Google's generateContent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from support.providers.mind import schema_text
from support.providers.speech import Asked, Said, Trouble, set_in, text_of, turn

STATUSES = {
    "rate": "RESOURCE_EXHAUSTED",
    "quota": "RESOURCE_EXHAUSTED",
    "server": "INTERNAL",
    "overloaded": "UNAVAILABLE",
    "unavailable": "UNAVAILABLE",
    "key": "INVALID_ARGUMENT",
    "access": "PERMISSION_DENIED",
    "model": "NOT_FOUND",
    "parameter": "INVALID_ARGUMENT",
    "path": "NOT_FOUND",
    "long": "INVALID_ARGUMENT",
}
TOO_LONG = "The input token count ({read}) exceeds the maximum number of tokens allowed ({most})."
ENDS = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
WRONG_KEY = "API key not valid. Please pass a valid API key."


def key(headers: Mapping[str, str]) -> str:
    return headers.get("x-goog-api-key", "")


def hear(path: str, body: Mapping[str, Any]) -> Asked:
    how, turns = body.get("generationConfig") or {}, body["contents"]
    declared = [one for tool in body.get("tools") or () for one in tool.get("functionDeclarations", ())]
    tools = [{"type": "function", "function": declaration} for declaration in declared]
    how_called = (body.get("toolConfig") or {}).get("functionCallingConfig") or {}
    forms = {"tool_choice.required"} if how_called.get("mode") == "ANY" else set()
    if how.get("responseMimeType") == "application/json":
        has_schema = "responseJsonSchema" in how or "responseSchema" in how
        forms.add("response_format.json_schema" if has_schema else "response_format.json_object")
    heard = [("system", body["systemInstruction"])] if body.get("systemInstruction") else []
    heard += [(said.get("role", "user"), said) for said in turns]
    return Asked(
        model=path.rpartition("/")[2].partition(":")[0],
        messages=[turn(role, said["parts"]) for role, said in heard],
        tools=tools,
        parameters=set_in(body) | set_in(how) | forms,
        parts=[(schema_text(tools), False), *((text_of(said["parts"]), False) for _, said in heard)],
        most=how.get("maxOutputTokens"),
        forced=next(iter(how_called.get("allowedFunctionNames") or ()), None),
    )


def say(asked: Asked, said: Said, number: int) -> dict[str, Any]:
    content = {"role": "model", "parts": _parts(said)}
    if said.end == "refusal":
        content = {}
    return {
        "candidates": [{"content": content, "finishReason": ENDS[said.end], "index": 0}],
        "usageMetadata": _usage(said),
        "modelVersion": said.model,
        "responseId": f"reply-{number}",
    }


def _parts(said: Said) -> list[dict[str, Any]]:
    if said.tool:
        return [] if said.end == "length" else [{"functionCall": {"name": said.tool, "args": said.arguments}}]
    return [{"text": said.text}] if said.text else []


def _usage(said: Said) -> dict[str, Any]:
    used = {"promptTokenCount": said.read, "totalTokenCount": said.read + said.written}
    used["candidatesTokenCount"] = said.written - said.thought
    if said.cached:
        used["cachedContentTokenCount"] = said.cached
    return used | ({"thoughtsTokenCount": said.thought} if said.thought else {})


def complain(trouble: Trouble) -> tuple[int, dict[str, Any]]:
    status, message = trouble.status, trouble.message
    details: list[dict[str, Any]] = []
    if trouble.kind == "key":  # Google's form of a 401
        status, message = 400, message if "..." in message else WRONG_KEY
        details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    wait = (trouble.headers or {}).get("retry-after", "")
    if wait.replace(".", "").isdigit():
        details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{wait}s"}]
    error = {"code": status, "message": message, "status": STATUSES[trouble.kind]}
    return status, {"error": error | ({"details": details} if details else {})}
