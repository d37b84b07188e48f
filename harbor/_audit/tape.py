"""Tapes of games: each keeps the information of every seat in one game, in order, and its answers; taps fill it.

A tap listens to a seat, a model, a memory or the rules, notes the passing information, and changes one secret.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, NamedTuple

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langgraph.store.base import BaseStore, Item, Op, PutOp, Result

from harbor._core.asking.asks import Action, Ask, Unreadable
from harbor._core.log.acts import Acted, ActedSealed, Tried
from harbor._core.log.events import EVERYONE, BiddersAsked, Event, Paused, SaleClosed, SeatFailed, ThoughtFailed
from harbor._core.log.log_entries import Entry, seats_of
from harbor._games.mechanism import Chance, Mechanism
from harbor._models.simulated.chat_model import SimulatedChat

Channel = Literal["prompt", "message", "ask", "event", "memory", "error", "order", "page", "answer"]
"""The ways over which a seat is told something; "order" means that two things come in another order. A "page" is the
board shown to the seat, and an "answer" is its own answer.
"""
OF_THE_HOUSE = (BiddersAsked, Paused, SaleClosed)
"""The public events that the house writes, and not the rules."""


class Place(NamedTuple):
    """An ask, by which the answers of two games are matched."""

    item: str
    round: int
    attempt: int

    @classmethod
    def of(cls, ask: Ask) -> Place:
        """Return the item, the round and the attempt of an ask."""
        return cls(ask.item, ask.round, ask.attempt)


class Told(NamedTuple):
    """One thing that a seat was told: its channel, its text, and the earlier public events and settlements, counted."""

    channel: Channel
    text: str
    public: int
    settled: int


class Happened(NamedTuple):
    """An event of any audience, and the numbers of public events and settlements before it."""

    event: Event
    public: int
    settled: int


class Settled(NamedTuple):
    """A settlement of the rules: the state, the actions, the state of chance, and the place of each action's ask."""

    state: Any
    actions: Mapping[str, Action]
    chance: tuple[Any, ...]
    places: Mapping[str, Place]

    def again(self, rules: Any, actions: Mapping[str, Action]) -> list[Event]:
        """Settle other actions in the same state, with equal chance."""
        source = Random()
        source.setstate(self.chance)
        events: list[Event] = rules.settle(self.state, actions, Chance(source))
        return events


class Parted(Exception):
    """The public events have gone another way: there is nothing more to compare."""


@dataclass
class Tape:
    """One game as its seats were told it.

    `like` are the public events of the other game of a comparison: the tape stops this game soon after the first
    difference. `said` has the words of each bidder at each ask (None: its seat failed), and `failed` has the asks whose
    answer was refused. An answer of the other game may be illegal in this one: `parted` then counts the public events
    before that answer, and `parted_at` counts the settlements. `differs` is the index of the first public event that
    differs from the other game. These three are None if that did not happen.
    """

    like: Sequence[Event] | None = None
    public: list[Event] = field(default_factory=list)
    log: list[Happened] = field(default_factory=list)
    told: dict[str, list[Told]] = field(default_factory=lambda: defaultdict(list))
    said: dict[str, dict[Place, str | None]] = field(default_factory=lambda: defaultdict(dict))
    asks: dict[str, dict[Place, Ask]] = field(default_factory=lambda: defaultdict(dict))
    failed: dict[str, set[Place]] = field(default_factory=lambda: defaultdict(set))
    settled: list[Settled] = field(default_factory=list)
    parted: int | None = None
    parted_at: int | None = None
    differs: int | None = None
    is_asking: bool = False

    def tell(self, bidder: str, channel: Channel, text: str, settled: int | None = None) -> None:
        """Note information for a seat, after all settlements so far or after `settled`."""
        after = len(self.settled) if settled is None else settled
        self.told[bidder].append(Told(channel, text, len(self.public), after))

    def hear(self, entry: Entry) -> None:
        """Note an event of the log.

        Raises:
            Parted: the public events differ from the other game, and the events of the rules up to here are noted.
        """
        event = entry.event
        self.is_asking = self.is_asking or isinstance(event, BiddersAsked)
        settled = len(self.settled) + (self.is_asking and isinstance(event, Acted | ActedSealed))
        self.log.append(Happened(event, len(self.public), settled))
        if isinstance(event, Tried):
            self.failed[event.bidder].add(Place(event.item, event.round, event.attempt))
        if isinstance(event, SeatFailed | ThoughtFailed):
            self.tell(event.bidder, "error", event.detail)
        elif event.audience == EVERYONE:
            self._publish(event)
        for seat in seats_of(event):
            # `repr` and not equality: a seat also sees the order of the entries of a table.
            self.tell(seat, "event", repr(event), settled)

    def settled_at(self, public: int) -> int:
        """Return the number of settlements before the public event of this number."""
        return next(one.settled for one in self.log if one.public == public and one.event.audience == EVERYONE)

    def settle(self, state: Any, actions: Mapping[str, Action], chance: Chance) -> None:
        """Note a settlement before it is made."""
        self.is_asking = False
        places = {name: list(self.said[name])[-1] for name in actions if self.said[name]}
        self.settled.append(Settled(state, dict(actions), chance.getstate(), places))

    def _publish(self, event: Event) -> None:
        place = len(self.public)
        self.public.append(event)
        if self.like is None:
            return
        if self.differs is None and (place >= len(self.like) or repr(self.like[place]) != repr(event)):
            self.differs = place
        if self.differs is not None and isinstance(event, OF_THE_HOUSE):
            raise Parted


NOTHING = "?"
"""Words that no action space reads as an answer."""
OF_THE_CLOCK = ("auction", "time")
"""Keys of a memory that differ between two runs of one seed."""
Script = Mapping[Place, str | None]


class TappedSeat:
    """A tap at a seat: notes its messages and answers; with a `script` the agent says the words of the script.

    Words that failed in the script's game fail again, so that the public acts stay the same.
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
        """Note an answer, and return it, or that of the script."""
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
    """The built-in model of one bidder, which notes each prompt to the letter; `change` changes its replies."""

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
    """The store of one bidder's memories, which notes its results; `change` changes the texts put into it."""

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
    """Return a memory without the values that depend on the clock and on the name of the run."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if key not in OF_THE_CLOCK}
    return value


class TappedRules(Mechanism[Any]):
    """The rules of a game, which note each settlement; `change` changes their events."""

    def __init__(self, rules: Mechanism[Any], tape: Tape, change: Callable[[Event], Event] | None) -> None:
        self.rules, self._tape, self._change = rules, tape, change

    def start(self) -> Any:
        """Return the state before the opening."""
        return self.rules.start()

    def asks(self, state: Any) -> Sequence[Ask]:
        """Return the asks of a state."""
        return self.rules.asks(state)

    def settle(self, state: Any, actions: Mapping[str, Action], chance: Chance) -> list[Event]:
        """Note a settlement, and settle."""
        self._tape.settle(state, actions, chance)
        events = self.rules.settle(state, actions, chance)
        return events if self._change is None else [self._change(event) for event in events]

    def apply(self, state: Any, event: Event) -> Any:
        """Return the state after an event."""
        return self.rules.apply(state, event)
