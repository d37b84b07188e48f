"""A model's message holds words, thoughts, a refusal and tool calls, and the number of tokens that the call used.

LangChain's packages count tokens alike. Input tokens include cached tokens (Anthropic's own count leaves them out, and
its package corrects that). Output tokens include reasoning tokens. Each package names the reason why a model stopped
as its provider does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import invalid_tool_call
from pydantic import ValidationError

from harbor._config.models import ModelSettings
from harbor._core.asking.answers import without_thinking
from harbor._core.basics.actions import scrub
from harbor._models.calls.faults import chain_of
from harbor._models.passports.passport import Answer
from harbor._models.replies.reply_folder import MESSAGE, CachedReply, Message

_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
"""Keys of the stop reason: OpenAI chat and Google, Anthropic, Bedrock, Ollama, OpenAI responses ("completed" or
"incomplete")."""
_NAMES = ("model_name", "model")  # keys of the answering model's name
_TAG = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)  # tags of thoughts in a text
_THOUGHT_BLOCKS = frozenset({"thinking", "reasoning", "redacted_thinking", "reasoning_content"})
_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")  # fields of thoughts beside a message
_MILLION = 1_000_000  # prices are dollars per million tokens
WRITING = 1.25
"""Anthropic's price of input that it writes to its cache for five minutes, as a multiple of the input price."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of one call, from its message.

    `told` says whether the message reports tokens. `cached_tokens` of the input came from the provider's cache, and
    `written_tokens` were written to it. `from_cache` says whether LangChain's own cache gave the message. `finish` is
    the provider's stop reason. `finish` and `answered_by` are empty if the message lacks them.
    """

    told: bool = False
    from_cache: bool = False
    input_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    finish: str = ""
    answered_by: str = ""

    def cost(self, settings: ModelSettings) -> float | None:
        """Return the cost of the call in dollars; None if prices or tokens are unknown.

        Cached input without its own price costs the input price. A message from LangChain's cache is free.
        """
        if self.from_cache:
            return 0.0
        if not self.told or settings.input_price is None or settings.output_price is None:
            return None
        cached_price = settings.input_price if settings.cached_price is None else settings.cached_price
        cached = min(self.cached_tokens, self.input_tokens)
        written = min(self.written_tokens, self.input_tokens - cached)
        plain = self.input_tokens - cached + (WRITING - 1) * written  # written tokens are input at `WRITING` times
        inward = plain * settings.input_price + cached * cached_price
        return (inward + self.output_tokens * settings.output_price) / _MILLION


def usage_of(message: AIMessage) -> Usage:
    """Read the usage from a message."""
    said, told = message.response_metadata, message.usage_metadata
    ending = said.get("incomplete_details") or {}
    finish = (isinstance(ending, Mapping) and ending.get("reason")) or _first(said, _REASONS)
    if told is None:
        return Usage(finish=str(finish), answered_by=_first(said, _NAMES))
    return Usage(
        told=True,
        from_cache=dict(told).get("total_cost") == 0,  # LangChain's mark of a cache hit
        input_tokens=told["input_tokens"],
        cached_tokens=_detail(told.get("input_token_details"), "cache_read"),
        written_tokens=_detail(told.get("input_token_details"), "cache_creation"),
        output_tokens=told["output_tokens"],
        reasoning_tokens=_detail(told.get("output_token_details"), "reasoning"),
        finish=str(finish),
        answered_by=_first(said, _NAMES),
    )


def _first(said: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((str(said[name]) for name in names if said.get(name)), "")


def _detail(details: Any, name: str) -> int:
    """Sum the tokens of one kind. OpenAI's service tiers prefix the kind, as in "flex_cache_read"."""
    return sum(tokens or 0 for kind, tokens in dict(details or {}).items() if kind.endswith(name))


def answer_of(message: AIMessage, seconds: float | None) -> Answer:
    """Return the facts about a model that an answer shows; `seconds` is its duration, None if unknown."""
    usage = usage_of(message)
    return Answer(seconds, usage.output_tokens, usage.reasoning_tokens, _thinks(message, usage), usage.answered_by)


def _thinks(message: AIMessage, usage: Usage) -> tuple[str, ...]:
    """Name the places of thoughts: tags in the text, blocks of the content, a field, or token counts alone."""
    blocks = message.content if isinstance(message.content, list) else []
    places = (
        ("tags", bool(_TAG.search(str(message.text)))),
        ("blocks", any(isinstance(block, dict) and block.get("type") in _THOUGHT_BLOCKS for block in blocks)),
        ("field", any(message.additional_kwargs.get(name) for name in _FIELDS)),
    )
    return tuple(name for name, seen in places if seen) or (("tokens",) if usage.reasoning_tokens else ())


LONGEST_REPLY = 200_000
"""Limit of characters that are read and kept from a reply; every expected reply is far shorter."""
LONGEST_REASONING = 50_000
"""Limit of characters that are kept from a model's thoughts."""
REFUSAL = "refusal"  # OpenAI's type of block and key for a refusal
ANOTHER = "another tool is asked for"
"""The error of a call to a tool that is offered, but not wanted now."""
_SAID_BY_ITS_CALL = frozenset({"tool_use", "tool_call", "function_call"})
"""Blocks of content in which some providers repeat a tool call."""
_THOUGHTS = ("thinking", "reasoning", "reasoning_content", "summary", "text", "content")
"""Keys of the text in blocks of thoughts and in fields beside a message."""
_THINKING = frozenset({"thinking", "reasoning", "reasoning_content", "thought"})
_ARGUMENTS = frozenset({"args", "arguments"})  # fields of a tool call in a validation error


def written(message: AIMessage) -> str:
    """Return a model's message as text: the arguments of its first tool call as JSON, or its words.

    `read` takes both. A message over `LONGEST_REPLY` is cut one character above the limit.
    """
    whole = json.dumps(message.tool_calls[0]["args"]) if message.tool_calls else text_of(message)
    return whole[: LONGEST_REPLY + 1]


def text_of(message: AIMessage) -> str:
    """Return the words of a message, including the text in thinking tags."""
    return scrub(str(message.text))


def blocks_of(message: AIMessage, *kinds: str) -> Iterator[Mapping[str, Any]]:
    """Return the blocks of a message that have one of these kinds."""
    blocks = message.content if isinstance(message.content, list) else []
    return (block for block in blocks if isinstance(block, dict) and block.get("type") in kinds)


def beyond(message: AIMessage) -> Message | None:
    """Return the whole message if `written` loses some of it; None if it loses nothing or the message is too long."""
    calls, broken, content = message.tool_calls, message.invalid_tool_calls, message.content
    blocks = [block for block in ([content] if isinstance(content, str) else content) if block]
    beside = [block for block in blocks if _type_of(block) not in _SAID_BY_ITS_CALL]
    only_text = all(isinstance(block, str) or _type_of(block) == "text" for block in blocks)
    if not broken and ((len(calls) == 1 and not beside) or (not calls and only_text)):
        return None
    whole = {"content": content, "tool_calls": calls, "invalid_tool_calls": broken}
    try:
        text = scrub(json.dumps(whole, ensure_ascii=False, default=str))
        return MESSAGE.validate_json(text) if len(text) <= LONGEST_REPLY else None
    except (ValueError, RecursionError):  # nested deeper than any expected reply
        return None


def _type_of(block: object) -> str:
    return str(block.get("type")) if isinstance(block, dict) else ""


def message_of(reply: str, whole: Message | None) -> AIMessage:
    """Rebuild a message from the results of `written` and `beyond`."""
    return AIMessage(reply) if whole is None else AIMessage(**asdict(whole))


def as_kept(message: AIMessage, others: frozenset[str] = frozenset()) -> AIMessage:
    """Return a message as a replay rebuilds it, so that a run and its replay continue alike.

    A refusal in `additional_kwargs` becomes a block of the content. Thoughts stay there, because nothing reads them.
    Calls to the tools `others`, which are offered but not wanted now, become invalid calls, because the record of a
    valid call lacks the tool's name.
    """
    if any(call["name"] in others for call in (*message.tool_calls, *message.invalid_tool_calls)):
        message = _without_calls_of(others, message)
    refusal = message.additional_kwargs.get(REFUSAL)
    if refusal and isinstance(refusal, str) and not any(blocks_of(message, REFUSAL)):
        blocks = message.content if isinstance(message.content, list) else [message.content] if message.content else []
        message = message.model_copy(update={"content": [*blocks, {"type": REFUSAL, REFUSAL: refusal}]})
    told = {"usage_metadata": message.usage_metadata, "response_metadata": message.response_metadata}
    thoughts = {"additional_kwargs": {"reasoning": reasoning_of(message)}}
    return message_of(written(message), beyond(message)).model_copy(update=told | thoughts)


def _without_calls_of(others: frozenset[str], message: AIMessage) -> AIMessage:
    """Return a message whose calls to these tools are invalid."""
    calls = [call for call in message.tool_calls if call["name"] not in others]
    stray = [
        invalid_tool_call(name=call["name"], args=json.dumps(call["args"]), id=call["id"], error=ANOTHER)
        for call in message.tool_calls
        if call["name"] in others
    ]
    broken: Any = [
        {**call, "error": ANOTHER} if call["name"] in others else call for call in message.invalid_tool_calls
    ]
    return message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": [*broken, *stray]})


def reasoning_of(message: AIMessage) -> str:
    """Return a model's thoughts from blocks, from fields beside the message, or from tags."""
    beside = [message.additional_kwargs.get(name) for name in ("reasoning", "reasoning_content", "thinking")]
    told = [_words_of(thought) for thought in (*beside, *blocks_of(message, *_THINKING))]
    parts = dict.fromkeys(part for part in (*told, without_thinking(text_of(message)).thought) if part)
    return scrub("\n".join(parts))[:LONGEST_REASONING]


def _words_of(thought: Any, depth: int = 0) -> str:
    if isinstance(thought, str):
        return thought
    if isinstance(thought, list) and depth < 4:
        return "\n".join(filter(None, (_words_of(part, depth + 1) for part in thought)))
    if isinstance(thought, Mapping) and depth < 4:
        return next(filter(None, (_words_of(thought.get(name), depth + 1) for name in _THOUGHTS)), "")
    return ""


def in_words(message: AIMessage) -> str:
    """Return a message as text that its model can read again, with malformed calls as they are and without thoughts."""
    calls = [json.dumps(call["args"]) for call in message.tool_calls]
    broken = [scrub(call.get("args") or "") for call in message.invalid_tool_calls]
    said = without_thinking(text_of(message)).said
    return "\n".join(filter(None, [said, *calls, *broken]))[: LONGEST_REPLY + 1]


def malformed(error: BaseException) -> AIMessage | None:
    """Return the answer whose tool call has arguments that a provider's package can't read; None for other errors.

    Its token counts are lost, except for an OpenAI answer that was cut off. Arguments that are no object are malformed.
    """
    for one in chain_of(error):
        if type(one).__name__ == "LengthFinishReasonError":  # of OpenAI's package, which may not be installed
            return _cut_off(vars(one)["completion"])
        if isinstance(one, ValidationError):
            problems = one.errors(include_url=False, include_context=False)
            calls = [
                invalid_tool_call(name="", args=_as_text(problem["input"]), id=str(number), error="no object")
                for number, problem in enumerate(problems)
                if problem["loc"] and problem["loc"][-1] in _ARGUMENTS
            ]
            if calls:
                return AIMessage("", invalid_tool_calls=calls)
    return None


def _cut_off(completion: Any) -> AIMessage:
    """Return an answer that OpenAI's package withholds because it reached the token limit."""
    used, said = completion.usage, completion.choices[0].message.content or ""
    told = {"finish_reason": "length", "model_name": str(completion.model), "id": str(completion.id)}
    tokens = {"input_tokens": used.prompt_tokens, "output_tokens": used.completion_tokens} if used else None
    usage: Any = tokens and {**tokens, "total_tokens": sum(tokens.values())}
    return AIMessage(said, response_metadata=told, usage_metadata=usage)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def as_reply(message: AIMessage) -> CachedReply:
    """Return the cache entry of a message."""
    told = usage_of(message)
    return CachedReply(
        reply=written(message),
        message=beyond(message),
        input_tokens=told.input_tokens,
        output_tokens=told.output_tokens,
        cached_tokens=told.cached_tokens,
        reasoning_tokens=told.reasoning_tokens,
        reasoning=reasoning_of(message),
        finish=told.finish,
        answered_by=told.answered_by,
    )


def as_message(kept: CachedReply) -> AIMessage:
    """Return a cached reply as a message, with LangChain's mark of a cache hit."""
    usage: Any = {"input_tokens": kept.input_tokens, "output_tokens": kept.output_tokens, "total_cost": 0}
    usage["total_tokens"] = kept.input_tokens + kept.output_tokens
    usage["input_token_details"] = {"cache_read": kept.cached_tokens}
    usage["output_token_details"] = {"reasoning": kept.reasoning_tokens}
    said = {"finish_reason": kept.finish, "model_name": kept.answered_by}
    whole = message_of(kept.reply, kept.message)
    beside = {"reasoning": kept.reasoning}
    return whole.model_copy(update={"usage_metadata": usage, "response_metadata": said, "additional_kwargs": beside})
