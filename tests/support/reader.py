"""A language model that understands an auctioneer as a bidder needs: a table gives the meaning of each sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool

from harbor import SimulatedChat
from harbor._core.prompts.prompts import facts_in


class Reader(BaseChatModel):
    """Reads the sentences in `readings`, ignores all others, and plays like the built-in model."""

    readings: Mapping[str, Mapping[str, Any]]
    player: SimulatedChat = SimulatedChat()
    asked: list[str] = []  # noqa: RUF012 - pydantic copies it

    @property
    def _llm_type(self) -> str:
        return "reader"

    @property
    def read(self) -> list[str]:
        """The words of its prompts, one by one."""
        facts = [facts_in(text) for text in self.asked]
        return [one["words"] for one in facts if one["task"] == "listen"]

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(self, messages: list[BaseMessage], *args: Any, **named: Any) -> ChatResult:
        self.asked.append("\n".join(str(message.text) for message in messages))
        facts = facts_in(self.asked[-1])
        if facts["task"] != "listen":
            return self.player._generate(messages, *args, **named)
        reading = {"asked": False, **self.readings.get(facts["words"], {})}
        call = {"name": named["tools"][0]["function"]["name"], "args": reading, "id": "reply"}
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])
