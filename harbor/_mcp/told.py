"""What a tool says: one object of JSON, as text on one line and as data, or a refusal in one line."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import getdoc
from typing import Any, ParamSpec

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent

from harbor._core.errors import HarborError
from harbor._core.redaction import redact

P = ParamSpec("P")
Tool = Callable[P, Coroutine[Any, Any, dict[str, Any]]]


def as_tool(work: Tool[P]) -> Callable[P, Coroutine[Any, Any, CallToolResult]]:
    """Make a tool of a function that gives plain values; what Harbor refuses is said to the client, without keys."""

    @wraps(work)
    async def tool(*args: P.args, **named: P.kwargs) -> CallToolResult:
        try:
            values = await work(*args, **named)
        except HarborError as error:
            raise ToolError(redact(str(error))) from None
        text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=values)

    tool.__annotations__["return"] = CallToolResult
    tool.__doc__ = getdoc(work)  # as one reads it: a client is shown every space
    return tool
