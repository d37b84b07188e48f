"""A person approves what a bidder is about to answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.types import Overwrite, interrupt

from harbor._core.asking.asks import Ask
from harbor._core.asking.decisions import as_reply
from harbor._core.basics.actions import Action, Answer, Unreadable, Wait, Withdraw
from harbor._doors.door import answer_in, answer_schema
from harbor._house.auctioneer import answer_to, judged
from harbor.graphs._apps.app_bidder import asked
from harbor.graphs._apps.asked_in_json import Json, as_json
from harbor.graphs._context.deciding import decided

HOW = "Resume with true to place it, with false to decline, or with another answer: words, or an object of `schema`."


async def approve(state: Any) -> Json:
    """Stop until a person approves what was proposed, declines, or gives another legal answer."""
    ask, proposed = asked(state), state.get("proposed")
    if not isinstance(ask, Ask) or not proposed:
        return {}
    refusal = ""
    while True:
        said = interrupt(_question(ask, proposed, refusal))
        if said is True:
            return {"answer": proposed}
        found = judged(ask, _answer(ask, said))
        if not isinstance(found, str):
            return {"answer": as_reply(found), "conclusions": Overwrite(_instead(state, ask, found))}
        refusal = found


def action_of(ask: Ask, answer: Mapping[str, Any]) -> Action:
    """Read an answer that was given."""
    read = answer_in(answer, ask).answer
    return Withdraw() if isinstance(read, str | Unreadable) else read


def _instead(state: Mapping[str, Any], ask: Ask, answer: Action) -> list[Json]:
    """Conclude that a person decided, instead of what the bidder had decided."""
    noted = as_json(decided(ask, answer, "A person decided so.", None))
    return [*(one for one in state["conclusions"] if one["type"] != noted["type"]), noted]


def _question(ask: Ask, answer: Json, refusal: str) -> Json:
    return {
        "bidder": ask.bidder,
        "item": ask.item,
        "round": ask.round,
        "answer": answer,
        "words": ask.space.say(action_of(ask, answer)),
        "refusal": refusal,
        "how": HOW,
        "schema": answer_schema(ask.space.reply),
    }


def _answer(ask: Ask, said: object) -> Answer:
    """Read what the person resumed with; to decline is to withdraw, or to wait where nobody can withdraw."""
    if said is False:
        declining = (Withdraw(), Wait())
        legal = [action for action in declining if not ask.space.refusal(action)]
        return legal[0] if legal else Unreadable("this call can't be declined; give another answer")
    given = answer_in(said, ask).answer
    return answer_to(ask, given) if isinstance(given, str) else given
