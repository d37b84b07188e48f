"""A model and agents that leave canaries in games: each of their texts contains one."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult

from harbor import Model, SimulatedChat

WORD = "canary"
"""A part of every planted word. No word of Harbor's contains it."""


class Marked(SimulatedChat):
    """Plays like the built-in model, and leaves a canary in every text of every reply."""

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
        result = super()._answer(messages, tools)
        message = result.generations[0].message
        for call in message.tool_calls:  # type: ignore[attr-defined]
            call["args"].update({key: f"{WORD}-{key}" for key in ("reasons", "plan", "text") if key in call["args"]})
            if "learnings" in call["args"]:
                call["args"]["learnings"] = [f"{WORD}-learning"]
        return result


MARKED = Model(name=f"{WORD}-model", description="leaves canaries", make=lambda _, seed: Marked(seed=seed))


def speak(turn: dict[str, Any]) -> str:
    """Bid the minimum, in words with a canary."""
    return f"I bid ${turn['space'].get('minimum', 1):,}, {WORD}-words."


def break_down(turn: dict[str, Any]) -> str:
    """Speak, and raise an error with a canary at the second item or day."""
    if turn["item"] in ("Lot B", "day 2"):
        raise RuntimeError(f"{WORD}-failure")
    return speak(turn)
