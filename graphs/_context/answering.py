"""How a call asks for an answer, and how an answer that was given is told again, in every game."""

from __future__ import annotations

from typing import Any

from harbor._config.auction import MindSettings
from harbor._core.asks import Ask, Bid, Withdraw
from harbor._core.spaces import Space
from harbor._core.telling import as_json
from harbor._core.thoughts import Decided, DecidedInWords, Strategized

Row = dict[str, Any]


def refusal(reason: str, attempt: int) -> Row:
    """Tell why the last attempt failed, if it did, and number this one, so that no two prompts of a sale are equal."""
    return {"refused": reason, "attempt": attempt} if reason and attempt > 1 else {}


def in_words(ask: Ask, mind: MindSettings) -> Row:
    """Say how to answer in words, if that is asked for."""
    return {"in_words": ask.space.in_words} if mind.reply == "text" else {}


def chosen(strategy: Strategized | None) -> Row:
    """Give the strategic action that was chosen for a call, if any."""
    return {"strategy": strategy.action, "strategy_reasons": strategy.reasons} if strategy else {}


def answered(
    space: Space, decided: Decided | DecidedInWords, mind: MindSettings, strategy: Strategized | None = None
) -> str:
    """Write a decision as the bidder gave it: in words, or as JSON."""
    if isinstance(decided, DecidedInWords):
        return "\n".join(filter(None, (decided.reasons, decided.answer)))
    answer = Withdraw() if decided.amount is None else Bid(decided.amount)
    if mind.reply == "text":
        return "\n".join(filter(None, (decided.reasons, space.say(answer))))
    action: Row = {"action": "withdraw" if decided.amount is None else "bid", "amount": decided.amount}
    own = {"strategy": strategy.action} if strategy and mind.strategy == "fused" else {}
    return as_json({"reasons": decided.reasons, **own, **action})
