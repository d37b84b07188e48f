"""A chat model with replies of the test's own, and a small question for it."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel

from harbor._models.calls.prompt import Prompt

PROMPT = Prompt("guess", "You guess.", "Guess a number.", "0123456789ab")


class Guess(BaseModel):
    number: int


class Scripted(BaseChatModel):
    """Gives these replies, or raises these errors, one after the other. `heard` has the messages of all calls."""

    replies: list[Any]
    heard: list[list[BaseMessage]] = []  # noqa: RUF012 - pydantic copies it

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.heard.append(messages)
        reply = self.replies[len(self.heard) - 1]
        if isinstance(reply, BaseException):
            raise reply
        message = reply if isinstance(reply, AIMessage) else AIMessage(reply)
        return ChatResult(generations=[ChatGeneration(message=message)])
