"""A chat model with costs: it answers as the built-in one, but its tokens vary as those of a real model do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from harbor import ModelSettings, Simulated, SimulatedChat

PRICED = ModelSettings(input_price=1.0, output_price=2.0, repairs=1)
_CALLS = count(1)


class PaidChat(BaseChatModel):
    """Answers equal prompts alike, with different token counts each time. `made` has the prompts of all calls."""

    inner: SimulatedChat = SimulatedChat(settings=Simulated(unreadable_rate=0.1, low_bid_rate=0.2))
    made: list[str] = []  # noqa: RUF012 - pydantic copies it

    @property
    def _llm_type(self) -> str:
        return "paid"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        kwargs.pop("tool_choice", None)
        return self.bind(**self.inner.bind_tools(tools).kwargs, **kwargs)

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **kwargs: Any) -> Any:
        self.made.append("\n".join(str(message.content) for message in messages))
        result = await self.inner._agenerate(messages, tools=kwargs.get("tools"))
        said, written = result.generations[0].message, 100 + next(_CALLS)
        assert isinstance(said, AIMessage)
        said.usage_metadata = {"input_tokens": 100, "output_tokens": written, "total_tokens": 100 + written}
        return result
