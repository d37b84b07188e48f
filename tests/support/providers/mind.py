"""The model behind the providers: it answers like the built-in model, and counts tokens as hosted models do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import blake2b

from langchain_core.messages import AIMessage

from harbor import SimulatedChat
from harbor._core.basics.numbers import derive
from support.providers.speech import CHARACTERS_PER_TOKEN, Asked, Said, Trouble

Answer = Callable[[Asked], AIMessage]
LEAST_CACHED, STEP = 1_024, 128
"""Tokens of the shortest cached prefix, and the step in which a prefix grows if no client marks its end."""


class Mind:
    """A model for every name. `minds` maps a model ID to the seed of a game and the model's name in the game."""

    def __init__(
        self,
        default: tuple[int, str],
        minds: Mapping[str, tuple[int, str]],
        answer: Answer | None,
        thought: int,
    ) -> None:
        self.keeps_prompts = True
        self.default, self.minds, self.thought, self._own_answer = default, minds, thought, answer
        self._chats: dict[tuple[int, str], SimulatedChat] = {}
        self._prefixes: set[bytes] = set()

    def reply(self, asked: Asked) -> Said:
        """Answer a request.

        Raises:
            Trouble: the built-in model has no answer to the request.
        """
        try:
            message = (self._own_answer or self._answer)(asked)
        except ValueError as error:
            raise Trouble(400, "parameter", str(error), "messages") from error
        used = message.usage_metadata or {"input_tokens": 1, "output_tokens": 1}
        cached, stored = self._cached(asked)
        tool, arguments = next(((call["name"], call["args"]) for call in message.tool_calls), ("", {}))
        read, written = used["input_tokens"], used["output_tokens"]
        cached = min(cached, read)
        text, written = str(message.text), written + self.thought
        return Said(asked.model, text, tool, arguments, read, written, cached, min(stored, read - cached), self.thought)

    def _answer(self, asked: Asked) -> AIMessage:
        seed, name = who = self.minds.get(asked.model, self.default)
        if who not in self._chats:
            self._chats[who] = SimulatedChat(seed=derive(seed, "model", name))
        chat, messages, tools = self._chats[who], list(asked.messages), list(asked.tools)
        [said] = chat._generate(messages, tools=tools, tool_choice=asked.forced).generations
        assert isinstance(said.message, AIMessage)
        return said.message

    def _cached(self, asked: Asked) -> tuple[int, int]:
        """Return the tokens that are read from the provider's cache, and the tokens that are written to it."""
        if not self.keeps_prompts or asked.caches == "nothing":
            return 0, 0
        return self._marked(asked) if asked.caches == "marked" else (self._seen(asked), 0)

    def _seen(self, asked: Asked) -> int:
        """Return the tokens of the longest prefix that was seen before, as OpenAI and Google do."""
        text, seen, whole = "".join(part for part, _ in asked.parts).encode(), 0, True
        digest, size = blake2b(asked.model.encode(), digest_size=16), STEP * CHARACTERS_PER_TOKEN
        for start in range(0, len(text) - size + 1, size):
            digest.update(text[start : start + size])
            whole = whole and digest.digest() in self._prefixes
            seen += STEP * whole
            self._prefixes.add(digest.digest())
        return seen if seen >= LEAST_CACHED else 0

    def _marked(self, asked: Asked) -> tuple[int, int]:
        """Count cached tokens only in prefixes that end with a mark, as Anthropic does."""
        digest, length, cached, last = blake2b(asked.model.encode(), digest_size=16), 0, 0, 0
        for text, mark in asked.parts:
            digest.update(text.encode())
            length += len(text)
            tokens = length // CHARACTERS_PER_TOKEN
            if mark and tokens >= LEAST_CACHED:
                last = tokens
                cached = tokens if digest.digest() in self._prefixes else cached
                self._prefixes.add(digest.digest())
        return cached, last - cached


def schema_text(tools: list[dict]) -> str:
    """Return the tools as text at the start of a prompt, where providers put them."""
    return json.dumps(tools) if tools else ""
