"""The built-in chat model reads a prompt as a language model would, and answers offline from the facts in it.

A Harbor prompt carries its facts between <facts> and </facts>, as JSON or in prose. This model reads those facts from
the text of the messages, and has nothing else: no state, no memory, no access to the rules or to another bidder. Equal
prompts get equal answers. It rates a transcript by counting, and judges nothing: each score is a share of decisions (or
of parts of the game) on the scale from 1 to 5.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from random import Random
from statistics import fmean
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
from harbor._config.protocol_replies import OwnReply
from harbor._config.thinking import BUNDLES
from harbor._core.asking.decisions import (
    BidReply,
    BundleReply,
    ChoiceReply,
    Decision,
    PriceReply,
    UnitsReply,
    WordsReply,
)
from harbor._core.basics.numbers import as_number, stream, to_cents
from harbor._core.plugins.extensions import NAME
from harbor._core.plugins.finding import find
from harbor._core.prompts.prompts import facts_in
from harbor._games.game import Facts, Game, Values
from harbor._games.types_of_play import expected_bids

_THOUGHT = re.compile(r' {4}Player A (?P<what>[a-z]+)(?P<how>[^"]*)(?:"(?P<words>.*)")?')
_WORD = re.compile(r"[a-z]{4,}")  # words long enough to compare reasons with an identity


@dataclass(frozen=True)
class Play:
    """The player's part of a transcript: each decision with its reasons, the plans, refusals and wins."""

    decisions: list[tuple[str, str]]
    plans: set[str]
    refusals: int
    parts: int
    wins: int
    identity: str

    @classmethod
    def of(cls, lines: list[str]) -> Play:
        """Read a transcript."""
        thoughts = [found for line in lines if (found := _THOUGHT.fullmatch(line))]
        said = [(found["what"], found["how"], found["words"] or "") for found in thoughts]
        public = [line for line in lines if not line.startswith(" ")]
        return cls(
            decisions=[(how.strip(" :"), words) for what, how, words in said if what in ("bids", "withdraws", "says")],
            plans={words for what, _, words in said if what == "plans"},
            refusals=sum(what == "is" and "refused" in how for what, how, _ in said),
            parts=sum(line.startswith("== ") for line in public),
            wins=sum(
                bool(re.search(r"Player A bids .*: served|sold to Player A|Player A.* (?:wins|won)\b", line))
                for line in public
            ),
            identity=" ".join(words for _, how, words in said if "told" in how and "act as" in words),
        )

    def share(self, condition: Callable[[str, str], bool]) -> float:
        """Return the share (0 to 1) of decisions that meet a condition."""
        return sum(condition(*decision) for decision in self.decisions) / max(1, len(self.decisions))


def rate(facts: Facts, settings: Simulated, chance: Random) -> Values:  # noqa: ARG001
    """Rate a transcript by counting."""
    play = Play.of(facts["transcript"])
    parts = max(1, play.parts)
    identity = set(_WORD.findall(play.identity.lower()))
    verdict = {
        "information_utilisation": _score(
            play.share(lambda _, words: any(map(str.isdigit, words))), "decisions whose reasons name a figure"
        ),
        "logical_reasoning": _score(
            play.share(lambda _, words: bool(words)) - play.refusals / max(1, len(play.decisions)),
            "decisions with reasons, less the refused ones",
        ),
        "strategic_effectiveness": _score(play.wins / parts, "parts of the game won"),
        "adaptability": _score(len({how for how, _ in play.decisions}) / parts, "different bids to a part of the game"),
        "long_term_planning": _score(len(play.plans) / parts, "different plans to a part of the game"),
        "identity_alignment": None,
    }
    if facts["persona"]:
        verdict["identity_alignment"] = _score(
            play.share(lambda _, words: bool(identity & set(_WORD.findall(words.lower())))),
            "decisions whose reasons share a word with its identity",
        )
    return verdict


def _score(share: float, of: str) -> Values:
    """Map a share from 0 to 1 to a score from 1 to 5."""
    bounded = min(1.0, max(0.0, share))
    return {"reasons": f"The share of {of} is {bounded:.2f}.", "score": 1 + round(4 * bounded)}


def worked_out(facts: Facts) -> Facts:
    """Return the facts with the bounds of a bid, if they follow from other facts."""
    if "your_wins" in facts and "budget" not in facts:
        paid = sum(float(win["price"]) for win in facts["your_wins"])
        facts = {**facts, "budget": _dollars(float(facts["initial_budget"]) - paid)}
    if "minimum" in facts:
        return facts
    if "increment" in facts:
        highest = facts["highest_bid"]
        least = facts["starting_price"] if highest is None else _dollars(float(highest) + float(facts["increment"]))
        return {**facts, "minimum": least}
    if "residents" in facts:
        me = next((one for one in facts["residents"] if one["name"] == facts["you"]), None)
        most = float(me["balance_before_salary"]) + float(me["salary"]) if me else 0.0
        return {**facts, "minimum": 0, "maximum": most}
    most = facts.get("bound", facts.get("assets"))
    return facts if most is None else {**facts, "minimum": 0, "maximum": most}


def _dollars(amount: float) -> int | float:
    """Return dollars, rounded to cents, as a JSON number."""
    return as_number(to_cents(Decimal(amount)))


def spoken(values: Values, how: str) -> str:
    """Return a reply in words: the reasons, then the sentence that answers."""
    answer = _kind(values).model_validate({"reasons": "", **values}).taken().words
    if "I choose" in how:
        answer = answer.replace("I bid $", "I choose ")
    return "\n".join(filter(None, (str(values.get("reasons", "")), answer)))


def in_own_form(decided: Values, facts: Facts, game: Game, settings: Simulated) -> Values:
    """Return a decision with the keys that the facts list; without a key for reasons, `reasons` comes first.

    Raises:
        ValueError: no protocol has such a form.
    """
    form = _form_of(tuple(facts["answer_keys"]), game)
    filled = form.filled(decided, facts, partial(_expected, facts, game, settings))
    return filled if "reason" in filled else {"reasons": decided["reasons"], **filled}


def _form_of(keys: tuple[str, ...], game: Game) -> type[OwnReply]:
    of_game = (bundle.replies[game.name] for bundle in BUNDLES.values() if game.name in bundle.replies)
    found = next((form for forms in of_game for form in forms.all if form.all_keys() == keys), None)
    if found is None:
        raise ValueError(f"the simulated model knows no form of answer in {game.name!r} with the keys {keys}")
    return found


def _expected(facts: Facts, game: Game, settings: Simulated) -> float | None:
    """Return the mean bid expected from rivals, by earlier forecasts or else by the game's; None without a forecast."""
    forecast, bids = game.played.forecast, [*expected_bids(facts).values()]
    if forecast and not bids:
        bids = [forecast(rival, facts, settings) for rival in facts["players"] if rival != facts["you"]]
    return round(fmean(bids), 4) if bids else None


def _kind(values: Values) -> type[Decision]:
    kinds: dict[str, type[Decision]] = {
        "items": BundleReply,
        "option": ChoiceReply,
        "units": UnitsReply,
        "words": WordsReply,
    }
    found = next((kind for name, kind in kinds.items() if name in values), None)
    return found or (PriceReply if values["action"] in ("accept", "wait") else BidReply)


CHARACTERS_PER_TOKEN = 4  # to estimate the usage that a message reports
JUDGE = "judge"
"""The task of a model that rates transcripts; no bidder has it."""
PLANNED = '{"plan":'
"""The start of an earlier answer that is a plan."""
NAMELESS = "english"
"""The game whose prompts name no game."""
OF_PLANS = {"contest-plan": "plan", "contest-replan": "replan"}
"""Tasks whose node has another name than the task, and the name of that node."""
Answer = Callable[[Facts, Simulated, Random], Values]


class SimulatedChat(BaseChatModel):
    """The built-in model, a LangChain chat model that answers offline: it computes a bidder's answers by arithmetic.

    `settings` say how it plays, and `seed` determines its random choices. It answers with a tool call if a tool is
    bound to it, otherwise with JSON as text. In the usage that it reports, a token is four characters.

    >>> SimulatedChat(seed=3).seed
    3
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
        """Return this model bound to tools, whose parameters are the possible forms of a reply."""
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
    """Put the tool named `wanted` first, if there is one."""
    return sorted(tools, key=lambda tool: tool["function"]["name"] != wanted)


def _speak(values: Values, tools: list[Any], facts: Facts) -> AIMessage:
    thoughts = values.pop("reasons", "") if "answer_keys" in facts else ""  # no key takes them
    if not tools:
        said = spoken(values, facts["in_words"]) if "in_words" in facts else json.dumps(values)
        return AIMessage("\n".join(filter(None, (thoughts, said))))
    arguments = {key.replace(" ", "_"): value for key, value in values.items()}
    return AIMessage("", tool_calls=[tool_call(name=tools[0]["function"]["name"], args=arguments, id="reply")])


def _usage(read: int, written: int) -> UsageMetadata:
    inward, outward = -(-read // CHARACTERS_PER_TOKEN), -(-written // CHARACTERS_PER_TOKEN)
    return UsageMetadata(input_tokens=inward, output_tokens=outward, total_tokens=inward + outward)


def read_facts(text: str) -> Facts:
    """Collect the facts of a prompt; in a dialogue, each turn adds its new facts.

    Raises:
        ValueError: the prompt carries no facts.
    """
    facts = facts_in(text)
    if "task" not in facts:
        raise ValueError("the simulated model answers Harbor's prompts only: this one has no <facts> with a task")
    return facts


def _rated(facts: Facts, answers: Sequence[str]) -> Facts:
    """Return the facts of a bid with the plan's priorities, if a plan was the first answer of the dialogue."""
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
    """Find the function that answers a task, from a game or a node; text in a prompt never loads code.

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
    """Find the game of a prompt: the ascending auction if the prompt names none.

    Raises:
        ValueError: the prompt names code.
    """
    name = facts.get("game", NAMELESS)
    if ":" in name:
        raise ValueError(f"the prompt names the game {name!r}; a prompt names no code")
    game: Game = find("game", name)
    return game
