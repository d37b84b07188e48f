"""Facts of prompts in every game: how a call asks for an answer, what was answered, what is known of rivals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harbor._config.thinking import MindSettings
from harbor._core.asks import Ask, Bid, Withdraw
from harbor._core.spaces import Space
from harbor._core.telling import as_json
from harbor._core.thoughts import Decided, DecidedInWords, Strategized
from harbor._games.bidder_view import View

Row = dict[str, Any]


def refusal(reason: str, attempt: int) -> Row:
    """Tell why the last attempt failed, if it did, and number this one, so that no two prompts of a sale are equal."""
    return {"refused": reason, "attempt": attempt} if reason and attempt > 1 else {}


def in_words(ask: Ask, mind: MindSettings) -> Row:
    """Say how to answer in words, if that is asked for."""
    return {"in_words": ask.space.in_words} if mind.reply == "text" else {}


def chosen(strategy: Row | None) -> Row:
    """Give the strategic action that was chosen for a call, if any, as the node notes it."""
    return {"strategy": strategy["action"], "strategy_reasons": strategy["reasons"]} if strategy else {}


def strategy_note(event: Strategized) -> Row:
    """Note a strategic action, and why it was chosen."""
    return {"action": event.action, "reasons": event.reasons}


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


def recalled(view: View) -> Row:
    """Tell the memories that were recalled, if any were."""
    memories = view.notes.get("recall")
    return {"memories": memories} if memories else {}


def forecasts(view: View) -> list[Row]:
    """List what was predicted of each rival for what is for sale now; nothing once that is over."""
    predicted = view.notes.get("predict")
    return predicted["rivals"] if predicted and not view.place(predicted["item"]) else []


def profiles(view: View) -> Row:
    """Tell the types and the profiles of the rivals once there is one, and nothing that others are not told too."""
    return {"catalog": view.catalog, "rivals": profiled(view)} if view.profiles else {}


def profiled(view: View) -> list[Row]:
    """List for each rival its profile, and how it probably profiles oneself."""
    rows, profiles, mirrors = [], view.profiles, view.mirrors
    for rival in view.rivals:
        row: Row = {"rival": rival, "profile": profiles.get(rival, {})}
        if rival in mirrors:
            row["profile_of_you"] = mirrors[rival]
        rows.append(row)
    return rows


def weights_over(catalog: Iterable[str], old: Mapping[str, float]) -> dict[str, float]:
    """Give a weight for each type of the catalog: zero where there is none yet."""
    return {one: old.get(one, 0.0) for one in catalog}
