"""The calls of models that an agent tells of with its answer: how many tokens each read and wrote, and of which model.

AutoGen's `RequestUsage` does not name a model. A message may name it in its metadata, under `model`; otherwise it is
that of the agent's only model client, if it has one and the message is the agent's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice

from autogen_agentchat.base import ChatAgent, Response
from autogen_core.models import ChatCompletionClient, RequestUsage

from harbor._core.events import ModelCalled
from harbor._core.parsing import scrub
from harbor._core.players import AGENT
from harbor._core.redaction import redact
from harbor._doors.given import LONGEST_MODEL, MOST_TOKENS, Usage, bounded

MODEL = "model"
"""Under which name a message has its model in the metadata."""
MOST_MESSAGES = 10_000
"""How many inner messages an answer may have, with calls or without."""
_PROVIDERS = {
    "AnthropicChatCompletionClient": "anthropic",
    "AzureOpenAIChatCompletionClient": "azure_openai",
    "OllamaChatCompletionClient": "ollama",
    "OpenAIChatCompletionClient": "openai",
}
"""Harbor's names of the providers that AutoGen's own clients call."""


def told_calls(agent: ChatAgent, response: Response) -> tuple[Usage, ...]:
    """Give the calls, one for each message with usage; what lists the messages may be endless.

    Raises:
        ValueError: there are too many, they have too many tokens, or one has no number of tokens.
    """
    messages = [*islice(response.inner_messages or (), MOST_MESSAGES + 1), response.chat_message]
    if len(messages) > MOST_MESSAGES + 1:
        raise ValueError(f"it has more than {MOST_MESSAGES:,} inner messages in one answer")
    used = [(message, usage) for message in messages if (usage := message.models_usage) is not None]
    own = _model_of(agent) if used else AGENT
    return bounded([_call(message, usage, agent.name, own) for message, usage in used])


def called(
    bidder: str, calls: Sequence[Usage], began: float, seconds: float, price: Callable[[str, int, int], float | None]
) -> list[ModelCalled]:
    """Give the calls as events.

    An agent does not tell when each began, so all begin with the turn and the last one has its length: they count as
    made one after another. A key in the name of a model is hidden.

    Args:
        bidder: whose they are.
        calls: what was told.
        began: when the turn began.
        seconds: how long it took.
        price: gives the dollars of a call by its model and the tokens read and written.
    """
    lengths = [0.0] * (len(calls) - 1) + [seconds]
    names = {model: redact(model) or AGENT for model in {call.model for call in calls}}
    return [
        ModelCalled(
            bidder=bidder,
            purpose=AGENT,
            model=names[call.model],
            prompt="",
            attempt=1,
            outcome="ok",
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            cost_dollars=price(names[call.model], call.input_tokens, call.output_tokens),
            cached=False,
            began=round(began, 6),
            seconds=round(length, 6),
            form="text",
        )
        for call, length in zip(calls, lengths, strict=False)
    ]


def _call(message: object, usage: RequestUsage, agent: str, own: str) -> Usage:
    metadata = getattr(message, "metadata", None)
    named = metadata.get(MODEL) if isinstance(metadata, Mapping) else None
    model = _name(named) or (own if getattr(message, "source", None) == agent else AGENT)
    return Usage(model=model, input_tokens=_tokens(usage.prompt_tokens), output_tokens=_tokens(usage.completion_tokens))


def _model_of(agent: ChatAgent) -> str:
    """Name the model of the only client that an agent has."""
    with suppress(Exception):  # its code may not tell, and need not
        clients = {id(one): one for one in vars(agent).values() if isinstance(one, ChatCompletionClient)}
        [client] = clients.values()
        return _name_told_by(client) or AGENT
    return AGENT


def _name_told_by(client: ChatCompletionClient) -> str:
    """Name the model of a client as Harbor does; of a server of its own, by its plain name."""
    told = client.dump_component()
    model = _name(told.config.get("model"))
    provider = _PROVIDERS.get(told.provider.rpartition(".")[2], "")
    elsewhere = told.config.get("base_url") or told.config.get("host")
    return f"{provider}:{model}" if model and provider and not elsewhere else model


def _name(told: object) -> str:
    """Take a name as plain text; str.__getitem__, as told[:] is code of the agent's if it has a class."""
    return scrub(str.__getitem__(told, slice(LONGEST_MODEL))) if isinstance(told, str) else ""


def _tokens(number: object) -> int:
    if type(number) is not int or not 0 <= number <= MOST_TOKENS:
        raise ValueError(f"the models_usage of its answer has {str(number)[:30]!r}; give 0 to {MOST_TOKENS:,}")
    return number
