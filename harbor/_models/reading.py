"""Reads a model's message as a reply of the shape asked for."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from langchain_core.messages import AIMessage
from pydantic import BaseModel, ValidationError

from harbor._core.parsing import scrub

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


def _parse(text: str) -> Any:
    """Read the first JSON object in a text, whatever surrounds it; one that is cut short is not repaired."""
    return json.JSONDecoder().raw_decode(text, text.index("{"))[0]
