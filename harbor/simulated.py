"""The built-in chat model: reads a prompt as a language model would, and answers offline from the facts in it.

A Harbor prompt carries its facts as JSON between <facts> and </facts>. This model reads those facts out of the text of
the messages, and has nothing else: no state, no memory, no way to the rules or to another bidder. Equal prompts get
equal answers.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool

from harbor import judgement
from harbor.config import Simulated
from harbor.judgement import Option
from harbor.seeding import stream

Facts = dict[str, Any]
Values = dict[str, Any]

CHARACTERS_PER_TOKEN = 4
_FACTS = re.compile(r"<facts>\n(.*?)\n</facts>", re.DOTALL)


class SimulatedChat(BaseChatModel):
    """A LangChain chat model that plays a bidder by arithmetic.

    It answers with a tool call where a tool is bound, as JSON text otherwise. Its usage counts four characters a token.
    """

    settings: Simulated = Simulated()
    seed: int = 0

    @property
    def _llm_type(self) -> str:
        return "harbor-simulated"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"settings": self.settings.model_dump_json(), "seed": self.seed}

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind the shapes of the reply."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        due = time.monotonic() + self.settings.latency_seconds
        answer = self._answer(messages, kwargs.get("tools") or [])
        threading.Event().wait(max(0.0, due - time.monotonic()))
        return answer

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        due = time.monotonic() + self.settings.latency_seconds
        answer = self._answer(messages, kwargs.get("tools") or [])
        if self.settings.latency_seconds:
            await asyncio.sleep(due - time.monotonic())
        return answer

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
        text = "\n".join(str(message.text) for message in messages)
        chance = stream(self.seed, text)
        if chance.random() < self.settings.unreadable_rate:
            said = AIMessage("Let me think about this a little longer.")
        else:
            said = _speak(reply_to(read_facts(text), self.settings, chance), tools)
        written = len(str(said.text)) + sum(len(json.dumps(call["args"])) for call in said.tool_calls)
        read = len(text) + sum(len(json.dumps(tool)) for tool in tools)
        said.usage_metadata = _usage(read, written)
        said.response_metadata = {"model_name": self._llm_type}
        return ChatResult(generations=[ChatGeneration(message=said)])


def _speak(values: Values, tools: list[Any]) -> AIMessage:
    if not tools:
        return AIMessage(json.dumps(values))
    return AIMessage("", tool_calls=[tool_call(name=tools[0]["function"]["name"], args=values, id="reply")])


def _usage(read: int, written: int) -> UsageMetadata:
    inward, outward = -(-read // CHARACTERS_PER_TOKEN), -(-written // CHARACTERS_PER_TOKEN)
    return UsageMetadata(input_tokens=inward, output_tokens=outward, total_tokens=inward + outward)


def read_facts(text: str) -> Facts:
    """Collect the facts of a prompt; later ones win.

    Raises:
        ValueError: the prompt carries no facts.
    """
    facts: Facts = {}
    for found in _FACTS.finditer(text):
        facts |= json.loads(found[1])
    if "task" not in facts:
        raise ValueError("the simulated model answers Harbor's prompts only: this one has no <facts> with a task")
    return facts


def reply_to(facts: Facts, settings: Simulated, chance: Random) -> Values:
    """Answer the task that the facts name."""
    return TASKS[facts["task"]](facts, settings, chance)


# ---------------------------------------------------------------- plan, replan


def _plan(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    options = [_option(facts, item) for item in facts["items"]]
    budget = float(facts["budget"])
    priorities = judgement.rank(options, budget)
    if wanted := _wanted(facts):
        priorities |= {name: 3 if name == wanted else min(priority, 2) for name, priority in priorities.items()}
    shadow = judgement.shadow_price(options, budget)
    tops = [name for name, priority in priorities.items() if priority == 3]
    cost = sum(option.cost for option in options)
    return {
        "reasons": f"I have ${budget:,.0f} and all costs about ${cost:,.0f}: a dollar kept buys ${shadow:.2f} later.",
        "plan": f"Go first for {', '.join(tops) or 'nothing in particular'}; elsewhere only while it stays cheap.",
        "priorities": [{"item": name, "priority": priority} for name, priority in priorities.items()],
    }


def _option(facts: Facts, item: Values) -> Option:
    return judgement.weigh(item["item"], float(item["start"]), _worth(facts, item))


def _worth(facts: Facts, item: Values) -> float:
    estimate = float(item["estimate"])
    if facts["objective"] == "items":  # every item counts the same, so the cheap ones are the best buys
        return min(estimate, float(facts.get("mean_estimate", estimate)))
    return judgement.worth(estimate, judgement.fit(_tastes(facts), item.get("listing", "")))


def _tastes(facts: Facts) -> list[str]:
    own_words = [] if facts["objective"] in ("profit", "items") else [facts["objective"]]
    return [*facts["personas"], *own_words]


def _wanted(facts: Facts) -> str:
    """Find the item that the objective names as a whole word, if it names one that is still to come."""
    if facts["objective"] in ("profit", "items"):
        return ""
    names = [item["item"] for item in facts["items"]]
    spoken = [
        name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", facts["objective"], re.IGNORECASE)
    ]
    return max(spoken, key=len, default="")


# ---------------------------------------------------------------- bid


def _bid(facts: Facts, settings: Simulated, chance: Random) -> Values:
    least, budget = float(facts["least"]), float(facts["budget"])
    up_to, why = _up_to(facts, settings)
    bidding = least <= up_to
    amount = facts["least"] if bidding else None
    if bidding and chance.random() < settings.low_bid_rate:
        amount = int(least * 90) / 100
    if bidding and chance.random() < settings.over_budget_rate:
        amount = round(budget + least, 2)
    verdict = "so I raise by the minimum" if bidding else "so I withdraw"
    return {
        "reasons": f"{why}; the least bid is ${least:,.0f}, {verdict}.",
        "action": "bid" if bidding else "withdraw",
        "amount": amount,
    }


def _up_to(facts: Facts, settings: Simulated) -> tuple[float, str]:
    """Say up to how many dollars to bid, and why."""
    item, budget = facts["items"][0], float(facts["budget"])
    if settings.policy == "minimum":
        share = float(settings.limit_share)
        return share * float(item["estimate"]), f"I raise while under {share:g} of my estimate"
    wanted = _wanted(facts)
    if wanted == item["item"]:
        return budget, "this is the item I want"
    if wanted:
        budget -= next(float(other["estimate"]) for other in facts["items"] if other["item"] == wanted)
    options = [_option(facts, other) for other in facts["items"]]
    shadow = judgement.shadow_price(options, budget)
    value = _worth(facts, item)
    up_to = judgement.limit(value, item.get("priority", 2), shadow, budget)
    return up_to, f"It is worth ${value:,.0f} to me and a dollar kept is worth ${shadow:.2f}: up to ${up_to:,.0f}"


# ---------------------------------------------------------------- believe


def _believe(facts: Facts, settings: Simulated, chance: Random) -> Values:
    held = facts["held"]
    budget = held["budget"]
    profits = dict(held["profits"])
    wins = [{"bidder": bidder, "item": item, "price": price} for bidder, item, price in held["wins"]]
    for closed in facts["closed"]:
        winner, price = closed["winner"], closed["price"]
        if winner is None:
            continue
        wins.append({"bidder": winner, "item": closed["item"], "price": price})
        if winner == facts["you"]:
            budget = _sum(budget, -price)
        if closed["true_value"] is not None:
            profits[winner] = _sum(profits[winner], closed["true_value"], -price)
    if chance.random() < settings.wrong_sum_rate:
        budget = _sum(budget, 100)
    listed = [{"bidder": bidder, "profit": profit} for bidder, profit in profits.items()]
    return {"budget": budget, "profits": listed, "wins": wins}


def _sum(*amounts: float) -> float:
    return round(sum(amounts), 2)


TASKS: dict[str, Callable[[Facts, Simulated, Random], Values]] = {
    "plan": _plan,
    "replan": _plan,
    "bid": _bid,
    "believe": _believe,
}
