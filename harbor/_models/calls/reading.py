"""Reads a model's message as a reply of the shape asked for, and keeps it word for word."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, TypeVar

from langchain_core.messages import AIMessage
from pydantic import BaseModel, ValidationError

from harbor._core.decisions import InWords
from harbor._core.parsing import scrub
from harbor._models.calls.usage import usage_of
from harbor._models.replies.messages import MESSAGE, Message
from harbor._models.replies.reply_folder import CachedReply

Reply = TypeVar("Reply", bound=BaseModel)
LONGEST_REPLY = 200_000
"""Characters of a reply that are read and kept; no reply that is asked for comes near."""
_SAID_BY_ITS_CALL = frozenset({"tool_use", "tool_call", "function_call"})
"""Blocks of content in which some providers repeat a tool call."""


def written(message: AIMessage) -> str:
    """Give a model's message as text: the arguments of its tool call as JSON, or its words; `read` takes both.

    What is too long to be read ends in the middle.
    """
    whole = json.dumps(message.tool_calls[0]["args"]) if message.tool_calls else scrub(str(message.text))
    return whole[: LONGEST_REPLY + 1]


def beyond(message: AIMessage) -> Message | None:
    """Give a message whole where `written` does not say it all; None where it does, or it is too long to be kept."""
    calls, broken, content = message.tool_calls, message.invalid_tool_calls, message.content
    blocks = [block for block in ([content] if isinstance(content, str) else content) if block]
    beside = [block for block in blocks if _type_of(block) not in _SAID_BY_ITS_CALL]
    only_text = all(isinstance(block, str) or _type_of(block) == "text" for block in blocks)
    if not broken and ((len(calls) == 1 and not beside) or (not calls and only_text)):
        return None
    whole = {"content": content, "tool_calls": calls, "invalid_tool_calls": broken}
    try:
        text = scrub(json.dumps(whole, ensure_ascii=False, default=str))
        return MESSAGE.validate_json(text) if len(text) <= LONGEST_REPLY else None
    except (ValueError, RecursionError):  # nested deeper than any reply that is asked for
        return None


def _type_of(block: object) -> str:
    return str(block.get("type")) if isinstance(block, dict) else ""


def message_of(reply: str, whole: Message | None) -> AIMessage:
    """Give a message again, from what `written` and `beyond` gave of it."""
    return AIMessage(reply) if whole is None else AIMessage(**asdict(whole))


def as_kept(message: AIMessage) -> AIMessage:
    """Give a message as it will be when it is replayed, so that a run goes on alike with either."""
    told = {"usage_metadata": message.usage_metadata, "response_metadata": message.response_metadata}
    return message_of(written(message), beyond(message)).model_copy(update=told)


def in_words(message: AIMessage) -> str:
    """Put everything that a message says in words, for a model to see what it has said: malformed calls as they are."""
    calls = [json.dumps(call["args"]) for call in message.tool_calls]
    broken = [scrub(call.get("args") or "") for call in message.invalid_tool_calls]
    return "\n".join(filter(None, [scrub(str(message.text)), *calls, *broken]))[: LONGEST_REPLY + 1]


def read(message: AIMessage, reply_type: type[Reply]) -> tuple[Reply | None, str]:
    """Read a reply from a tool call or from JSON text, or give None; the complaint is empty if it could be read."""
    if len(written(message)) > LONGEST_REPLY:
        return None, f"it is longer than {LONGEST_REPLY} characters"
    if issubclass(reply_type, InWords):
        words = scrub(str(message.text)).strip()
        return (reply_type(words=words), "") if words else (None, "it is empty")
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
        message=beyond(message),
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
    whole = message_of(kept.reply, kept.message)
    return whole.model_copy(update={"usage_metadata": usage, "response_metadata": said})


def _parse(text: str) -> Any:
    """Read the first JSON object in a text, whatever surrounds it; one that is cut short is not repaired."""
    return json.JSONDecoder().raw_decode(text, text.index("{"))[0]
