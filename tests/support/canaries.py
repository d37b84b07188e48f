"""What leaves canaries in games: a model and agents whose every text has one."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult

from harbor import Model, SimulatedChat

WORD = "canary"
"""Part of every planted word; no word of Harbor's has it."""


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
    """Bid the least, in words that have a canary."""
    return f"I bid ${turn['space'].get('minimum', 1):,}, {WORD}-words."


def break_down(turn: dict[str, Any]) -> str:
    """Speak, and break down with a canary at the second item or day."""
    if turn["item"] in ("Lot B", "day 2"):
        raise RuntimeError(f"{WORD}-failure")
    return speak(turn)
