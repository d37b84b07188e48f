"""The built-in chat model: reads a prompt as a language model would, and answers offline from the facts in it.

A Harbor prompt carries its facts between <facts> and </facts>, as JSON or in prose. This model reads those facts out of
the text of the messages, and has nothing else: no state, no memory, no way to the rules or to another bidder. Equal
prompts get equal answers.
"""

from __future__ import annotations

import asyncio
import json
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

from harbor._config.auction import Simulated
from harbor._core.extensions import NAME
from harbor._core.finding import find
from harbor._core.seeding import stream
from harbor._core.telling import facts_in
from harbor._games.game import Facts, Game, Values
from harbor._models.simulated.rating_answers import rate
from harbor._models.simulated.speaking import in_own_form, spoken, worked_out

CHARACTERS_PER_TOKEN = 4
JUDGE = "judge"
"""The task of a model that rates transcripts, which no bidder has."""
PLANNED = '{"plan":'
"""How the answer of an earlier turn begins if it is a plan."""
NAMELESS = "english"
"""The game whose prompts name none."""
OF_PLANS = {"contest-plan": "plan", "contest-replan": "replan"}
"""The nodes whose prompts are not named after them."""
Answer = Callable[[Facts, Simulated, Random], Values]


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
        offered = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=offered, tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        due = time.monotonic() + self.settings.latency_seconds
        answer = self._answer(messages, _wanted_first(kwargs.get("tools") or [], kwargs.get("tool_choice")))
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
        answer = self._answer(messages, _wanted_first(kwargs.get("tools") or [], kwargs.get("tool_choice")))
        if self.settings.latency_seconds:
            await asyncio.sleep(due - time.monotonic())
        return answer

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
        text = "\n".join(str(message.text) for message in messages)
        asked = "\n".join(str(message.text) for message in messages if message.type != "ai")
        chance = stream(self.seed, text)
        if chance.random() < self.settings.unreadable_rate:
            said = AIMessage("Let me think about this a little longer.")
        else:
            answers = [str(message.text) for message in messages if message.type == "ai"]
            facts = _rated(read_facts(asked), answers)
            said = _speak(reply_to(facts, self.settings, chance), tools, facts)
        written = len(str(said.text)) + sum(len(json.dumps(call["args"])) for call in said.tool_calls)
        read = len(text) + sum(len(json.dumps(tool)) for tool in tools)
        said.usage_metadata = _usage(read, written)
        said.response_metadata = {"model_name": self._llm_type}
        return ChatResult(generations=[ChatGeneration(message=said)])


def _wanted_first(tools: list[Any], wanted: str | None) -> list[Any]:
    """Put the tool first that is to be called, if it is told by its name."""
    return sorted(tools, key=lambda tool: tool["function"]["name"] != wanted)


def _speak(values: Values, tools: list[Any], facts: Facts) -> AIMessage:
    thoughts = values.pop("reasons", "") if "answer_keys" in facts else ""  # before an answer that has no key for them
    if not tools:
        said = spoken(values, facts["in_words"]) if "in_words" in facts else json.dumps(values)
        return AIMessage("\n".join(filter(None, (thoughts, said))))
    arguments = {key.replace(" ", "_"): value for key, value in values.items()}
    return AIMessage("", tool_calls=[tool_call(name=tools[0]["function"]["name"], args=arguments, id="reply")])


def _usage(read: int, written: int) -> UsageMetadata:
    inward, outward = -(-read // CHARACTERS_PER_TOKEN), -(-written // CHARACTERS_PER_TOKEN)
    return UsageMetadata(input_tokens=inward, output_tokens=outward, total_tokens=inward + outward)


def read_facts(text: str) -> Facts:
    """Collect the facts of a prompt; in a dialogue, each turn adds what is new.

    Raises:
        ValueError: the prompt carries no facts.
    """
    facts = facts_in(text)
    if "task" not in facts:
        raise ValueError("the simulated model answers Harbor's prompts only: this one has no <facts> with a task")
    return facts


def _rated(facts: Facts, answers: Sequence[str]) -> Facts:
    """Give the facts of a bid with the priorities of a plan that was the first answer of its dialogue."""
    if "leader" not in facts or not answers or not answers[0].startswith(PLANNED):
        return facts
    planned = json.loads(answers[0])["priorities"]
    if "all_items" in facts:
        return {"priorities": {one["item"]: one["priority"] for one in planned}, **facts}
    ranks = {one["item"]: {"priority": one["priority"]} for one in planned}
    return {**facts, "items": [{**ranks.get(row["item"], {}), **row} for row in facts["items"]]}


def reply_to(facts: Facts, settings: Simulated, chance: Random) -> Values:
    """Answer the task that the facts name."""
    values = answer_of(facts)(worked_out(facts), settings, chance)
    if "answer_keys" in facts:
        return in_own_form(values, facts, game_of(facts), settings)
    brief = "reasons" in values and not facts.get("give_reasons", True)
    return {**values, "reasons": ""} if brief else values


def answer_of(facts: Facts) -> Answer:
    """Find who answers a task: the game whose name it has, or a node; text in a prompt never makes it follow code.

    Raises:
        ValueError: the task is no name.
    """
    task = str(facts["task"])
    if task == JUDGE:
        return rate
    game = game_of(facts)
    if task == game.name.replace("-", "_"):
        return game.played.policy
    if own := game.played.thoughts.get(task.replace("_", "-")):
        return own.answer
    name = task.replace("_", "-")
    if not NAME.fullmatch(name):
        raise ValueError(f"the simulated model knows no task {task!r}")
    answer: Answer = find("node", OF_PLANS.get(name, name)).answer
    return answer


def game_of(facts: Facts) -> Game:
    """Find the game that a prompt is of, the ascending auction if it names none; a prompt names no code."""
    name = facts.get("game", NAMELESS)
    if ":" in name:
        raise ValueError(f"the prompt names the game {name!r}; a prompt names no code")
    game: Game = find("game", name)
    return game
