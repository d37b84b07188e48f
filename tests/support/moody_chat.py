"""The built-in model with failures."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from langchain_core.messages import BaseMessage

from harbor import SimulatedChat


class MoodyChat(SimulatedChat):
    """Answers as the built-in model, but some tasks fail or take for ever. `made` has the tasks of all calls."""

    made: list[str] = []  # noqa: RUF012 - pydantic copies it
    fails: tuple[str, ...] = ()
    hangs: tuple[str, ...] = ()

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        task = re.search(r'"task":"(\w+)"', str(messages[1].content))[1]
        self.made.append(task)
        if task in self.fails:
            raise RuntimeError(f"no {task} today")
        if task in self.hangs:
            await asyncio.Event().wait()
        return await super()._agenerate(messages, *args, **kwargs)
