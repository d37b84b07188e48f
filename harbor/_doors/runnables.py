"""The door to a LangChain Runnable, such as a compiled LangGraph graph, a chain or a chat model.

A graph with `messages` and a chat model get the auctioneer's words. The graph's message also carries the ask and the
events, as JSON in its `additional_kwargs`. A `bidder_graph` gets its ask and the seen events. Any other Runnable gets
the turn as a dict, so that the fields of a turn can be the variables of a prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import BaseMessage, HumanMessage
from pydantic import ValidationError

from harbor._core.asking.asks import Unreadable
from harbor._core.log.message_metadata import carried
from harbor._doors.door import Door, DoorFailed, Given, Turn, Usage, answer_in, bounded

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable

    from harbor._core.asking.asks import Ask

REPLIES = ("structured_response", "answer")
"""Keys of an answer in the output: LangChain's for structured output, and that of a `bidder_graph`."""
INTERRUPT = "__interrupt__"
"""Key under which LangGraph reports an interrupt."""


class RunnableDoor(Door):
    """Asks a Runnable. Each seat has its own thread, with the seat's ID as `thread_id`.

    A Runnable with a checkpointer gets only the new words, as it keeps the rest. Any other gets the whole conversation.
    """

    def __init__(self, runnable: Runnable[Any, Any]) -> None:
        self._runnable = runnable
        self._keeps = bool(getattr(runnable, "checkpointer", None))
        self._speaks = isinstance(_first(runnable), BaseLanguageModel)
        fields = set() if self._speaks else _fields(runnable)
        self._has_messages = "messages" in fields
        self._has_ask = {"ask", "seen"} <= fields

    async def ask(self, turn: Turn) -> Given:
        """Invoke the Runnable.

        Raises:
            DoorFailed: the graph stops at an interrupt, and nobody can resume it.
        """
        told = turn.as_json()
        config: Any = {"configurable": {"thread_id": told["seat"]}}
        output = await self._runnable.ainvoke(self._input(turn), config)
        if isinstance(output, Mapping) and INTERRUPT in output:
            raise DoorFailed("the graph stops at an interrupt, and nobody resumes it here; give one that goes on")
        return _read(_without(output, told), turn.ask, has_ask=self._has_ask)

    def _input(self, turn: Turn) -> Any:
        told = turn.as_json()
        if self._has_ask:
            return {"ask": told, "seen": told["seen"]}
        if not (self._speaks or self._has_messages):
            return told
        words = told["words"] if self._keeps else f"{told['so_far']} {told['words']}".strip()
        if self._speaks:
            return [HumanMessage(words)]
        news = turn.seen[len(turn.seen) - told["new"] :] if self._keeps else turn.seen
        data = carried([event.line for event in news], turn.ask)
        return {"messages": [HumanMessage(words, additional_kwargs=data)]}

    async def close(self) -> None:
        """Do nothing, as the door opened nothing."""


def _first(runnable: Any) -> Any:
    """Return the first runnable of a chain, without its bindings."""
    while (inner := getattr(runnable, "first", None) or getattr(runnable, "bound", None)) is not None:
        runnable = inner
    return runnable


def _fields(runnable: Runnable[Any, Any]) -> set[str]:
    try:
        return set(runnable.get_input_jsonschema().get("properties", {}))
    except Exception:  # not every input has a schema
        return set()


def _without(output: Any, told: Mapping[str, Any]) -> Any:
    """Drop the keys that the graph returned unchanged: they are input, not an answer."""
    if not isinstance(output, Mapping):
        return output
    return {key: value for key, value in output.items() if key not in told or told[key] != value}


def _read(output: Any, ask: Ask, *, has_ask: bool) -> Given:
    """Read the output: messages, a structured reply, words, or a JSON object.

    A graph with messages may keep an "answer" from an earlier turn, so only its new messages count.
    """
    messages = _new(output)
    calls = tuple(_usage(messages))
    keys = REPLIES if has_ask or not messages else REPLIES[:1]
    replies = [output.get(key) for key in keys] if isinstance(output, Mapping) else []
    reply = next((one for one in replies if one is not None), None)
    said = messages[-1].text if messages else output
    given = answer_in(said if reply is None else reply, ask)
    try:
        return given._replace(usage=bounded((*calls, *given.usage)))
    except ValueError as error:
        return Given(Unreadable(str(error)))


def _new(output: Any) -> list[BaseMessage]:
    """Return the messages after the auctioneer's message."""
    if isinstance(output, BaseMessage):
        return [output]
    messages = output.get("messages") if isinstance(output, Mapping) else None
    if not isinstance(messages, Sequence) or not all(isinstance(one, BaseMessage) for one in messages):
        return []
    return list(takewhile(lambda one: not isinstance(one, HumanMessage), reversed(messages)))[::-1]


def _usage(messages: Sequence[BaseMessage]) -> Iterator[Usage]:
    """Yield the calls that messages report. Skip an unreadable report, as a package wrote it."""
    for one in messages:
        used, told = getattr(one, "usage_metadata", None), one.response_metadata
        with suppress(KeyError, ValidationError):
            if used:
                named = filter(None, [told.get("model_provider"), told.get("model_name")])
                tokens = {key: used[key] for key in ("input_tokens", "output_tokens")}
                yield Usage(model=":".join(map(str, named)), **tokens)
