"""Taps: what listens to seats, models, memories and rules, notes what passes, and changes one secret."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langgraph.store.base import BaseStore, Item, Op, PutOp, Result

from harbor._audit.tape import Place, Tape
from harbor._core.asks import Action, Ask, Unreadable
from harbor._core.events import Event
from harbor._games.chance import Chance
from harbor._games.mechanism import Mechanism
from harbor._models.simulated.chat_model import SimulatedChat

NOTHING = "?"
"""What no action space reads as an answer."""
OF_THE_CLOCK = ("auction", "time")
"""What a memory has that differs between two runs of one seed."""
Script = Mapping[Place, str | None]


class TappedSeat:
    """The ear at a seat: it notes what is heard; with a `script` the agent says what the script says.

    Where the script's words failed, they fail again, so that the public acts stay as they were.
    """

    def __init__(self, bidder: str, tape: Tape, script: Script | None, failed: set[Place]) -> None:
        self._bidder, self._tape, self._script, self._failed = bidder, tape, script, failed

    def hear(self, message: str, is_ask: bool) -> None:
        """Note a message."""
        self._tape.tell(self._bidder, "ask" if is_ask else "message", message)

    def asked(self, ask: Ask) -> None:
        """Note an ask."""
        self._tape.asks[self._bidder][Place.of(ask)] = ask
        self._tape.said[self._bidder][Place.of(ask)] = None

    def answer(self, ask: Ask, words: str | None) -> str | None:
        """Note an answer, and give it, or that of the script."""
        place = Place.of(ask)
        self._tape.tell(self._bidder, "answer", words or "")
        if self._script is not None and place in self._script:
            words = self._scripted(self._script[place], ask, place)
        self._tape.said[self._bidder][place] = words
        return words

    def _scripted(self, words: str | None, ask: Ask, place: Place) -> str | None:
        if words is None:
            return None
        heard = ask.space.read(words, ask.item)
        legal = not isinstance(heard, Unreadable) and not ask.space.refusal(heard)
        if legal and place in self._failed:
            return NOTHING
        if not legal and place not in self._failed and self._tape.parted is None:
            self._tape.parted, self._tape.parted_at = len(self._tape.public), len(self._tape.settled)
        return words


class TappedChat(SimulatedChat):
    """The built-in model of one bidder, which notes each prompt to the letter; `change` changes what it replies."""

    bidder: str
    tape: Any
    change: Any = None

    def _answer(self, messages: list[BaseMessage], tools: list[Any]) -> ChatResult:
        prompt = "\n".join(f"{message.type}: {message.text}" for message in messages)
        self.tape.tell(self.bidder, "prompt", prompt + (f"\ntools: {json.dumps(tools)}" if tools else ""))
        result = super()._answer(messages, tools)
        if self.change is not None:
            self.change(result.generations[0].message, prompt)
        return result


class TappedStore(BaseStore):
    """The store of one bidder's memories, which notes what it gives back; `change` changes the texts that it takes."""

    def __init__(self, store: BaseStore, bidder: str, tape: Tape, change: Callable[[str], str] | None) -> None:
        self._store, self._bidder, self._tape, self._change = store, bidder, tape, change

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do all of these."""
        return self._given(self._store.batch([self._taken(op) for op in ops]))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do all of these."""
        return self._given(await self._store.abatch([self._taken(op) for op in ops]))

    def _taken(self, op: Op) -> Op:
        if self._change is None or not isinstance(op, PutOp) or "text" not in (op.value or {}):
            return op
        value = op.value or {}
        return op._replace(value={**value, "text": self._change(str(value["text"]))})

    def _given(self, results: list[Result]) -> list[Result]:
        for result in results:
            items = result if isinstance(result, list) else [result]
            if found := [_plain(item.value) for item in items if isinstance(item, Item)]:
                self._tape.tell(self._bidder, "memory", json.dumps(found, default=str))
        return results


def _plain(value: Any) -> Any:
    """Give a memory without what hangs on the clock and on the name of the run."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if key not in OF_THE_CLOCK}
    return value


class TappedRules(Mechanism[Any]):
    """The rules of a game, which note each settlement; `change` changes what they tell."""

    def __init__(self, rules: Mechanism[Any], tape: Tape, change: Callable[[Event], Event] | None) -> None:
        self.rules, self._tape, self._change = rules, tape, change

    def start(self) -> Any:
        """Give the state before the opening."""
        return self.rules.start()

    def asks(self, state: Any) -> Sequence[Ask]:
        """Say who must act now."""
        return self.rules.asks(state)

    def settle(self, state: Any, actions: Mapping[str, Action], chance: Chance) -> list[Event]:
        """Settle, and note what."""
        self._tape.settle(state, actions, chance)
        events = self.rules.settle(state, actions, chance)
        return events if self._change is None else [self._change(event) for event in events]

    def apply(self, state: Any, event: Event) -> Any:
        """Give the state after an event."""
        return self.rules.apply(state, event)
