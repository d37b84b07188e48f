"""Reads a model's message as a reply of the shape asked for."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from langchain_core.messages import AIMessage
from pydantic import BaseModel, ValidationError

from harbor._core.parsing import scrub
from harbor._models.reply_folder import CachedReply
from harbor._models.usage import usage_of

Reply = TypeVar("Reply", bound=BaseModel)
LONGEST_REPLY = 200_000
"""Characters of a reply that are read and kept; no reply that is asked for comes near."""


def written(message: AIMessage) -> str:
    """Give a model's message as text: the arguments of its tool call as JSON, or its words; `read` takes both.

    What is too long to be read ends in the middle.
    """
    whole = json.dumps(message.tool_calls[0]["args"]) if message.tool_calls else scrub(str(message.text))
    return whole[: LONGEST_REPLY + 1]


def read(message: AIMessage, reply_type: type[Reply]) -> tuple[Reply | None, str]:
    """Read a reply from a tool call or from JSON text, or give None; the complaint is empty if it could be read."""
    if len(written(message)) > LONGEST_REPLY:
        return None, f"it is longer than {LONGEST_REPLY} characters"
    try:
        values = message.tool_calls[0]["args"] if message.tool_calls else _parse(str(message.text))
        return reply_type.model_validate(values), ""
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])
        return None, f"{place}: {problem['msg']}" if place else problem["msg"]
    except (ValueError, RecursionError):
        return None, "it is not a JSON object"


def as_reply(message: AIMessage) -> CachedReply:
    """Give what the cache keeps of a message."""
    told = usage_of(message)
    return CachedReply(
        reply=written(message),
        input_tokens=told.input_tokens,
        output_tokens=told.output_tokens,
        cached_tokens=told.cached_tokens,
        reasoning_tokens=told.reasoning_tokens,
        finish=told.finish,
        answered_by=told.answered_by,
    )


def as_message(kept: CachedReply) -> AIMessage:
    """Give a reply of the cache as a message, marked as LangChain marks what comes from its own."""
    usage: Any = {"input_tokens": kept.input_tokens, "output_tokens": kept.output_tokens, "total_cost": 0}
    usage["total_tokens"] = kept.input_tokens + kept.output_tokens
    usage["input_token_details"] = {"cache_read": kept.cached_tokens}
    usage["output_token_details"] = {"reasoning": kept.reasoning_tokens}
    said = {"finish_reason": kept.finish, "model_name": kept.answered_by}
    return AIMessage(kept.reply, usage_metadata=usage, response_metadata=said)


def _parse(text: str) -> Any:
    """Read the first JSON object in a text, whatever surrounds it; one that is cut short is not repaired."""
    return json.JSONDecoder().raw_decode(text, text.index("{"))[0]
