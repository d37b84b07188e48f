"""A bidder's graph takes an ask and events as JSON, and returns an answer as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError
from typing_extensions import TypedDict  # that of Python 3.11 has no JSON schema

from harbor._core.asking.asks import Ask, Pause, Space
from harbor._core.basics.errors import ConfigError
from harbor._core.log.events import Event, PrivateEvent, PublicEvent
from harbor._core.log.log_entries import event_json, event_of
from harbor._core.plugins.finding import find
from harbor._core.settings import TAG
from harbor._doors.door import first_fault

Json = dict[str, Any]
REMEDY = 'give {"ask": turn, "seen": turn["seen"]}, as get_input_jsonschema() describes'
SHOWN = 200
"""Longest error text in a message, in characters."""


class Call(BaseModel):
    """A request for the bidder's answer; a turn of Harbor's bidder protocol can be passed, with further fields."""

    bidder: str
    item: str
    round: int = 1
    space: Space
    attempt: int = 1
    refusal: str = ""
    note: str = ""


class Thinking(BaseModel):
    """Time to think: before the first item, after the items that `closed` names, or when the sale is `over`."""

    model_config = ConfigDict(extra="forbid")

    bidder: str
    closed: list[str] = []
    over: bool = False


def _kind(told: Any) -> str:
    return f"{TAG}call" if isinstance(told, Mapping) and {"space", "item"} & set(told) else f"{TAG}pause"


class BidderInput(BaseModel):
    """The input of a bidder's graph: a question to the bidder, and the events that it has seen."""

    ask: Annotated[Annotated[Call, Tag(f"{TAG}call")] | Annotated[Thinking, Tag(f"{TAG}pause")], Discriminator(_kind)]
    seen: list[Json] = Field(
        [],
        description="The events that the bidder has seen, as in `seen` of a turn: all of them, in order, its own"
        " conclusions included. A thread of a checkpointer keeps them, so that what is new will do.",
    )


class BidderOutput(BaseModel):
    """The output of a bidder's graph: the bidder's answer, and its conclusions."""

    answer: Json | None = Field(
        description='A legal answer of the shape that the ask wants, such as {"action": "bid", "amount": 1200}; null if'
        ' there was time to think. After three answers that are not legal it is {"action": "withdraw"}.'
    )
    conclusions: list[Json] = Field(description="Events that the bidder alone has seen: its plan, beliefs, decision.")


class BidderState(TypedDict, total=False):
    """The part of an app's state that the graph of a bidder reads and writes; all values are JSON.

    The graph reads `ask`, the question to the bidder, and `seen`, the events that the bidder has seen. It writes
    `answer` and `conclusions`, the private events of the bidder's thoughts.

    >>> BidderState(ask={"bidder": "Ann", "closed": []}, seen=[])
    {'ask': {'bidder': 'Ann', 'closed': []}, 'seen': []}
    """

    ask: Json
    seen: list[Json]
    answer: Json | None
    conclusions: list[Json]


def checked(bidder: str, told: Any) -> Any:
    """Return the input of a bidder's graph unchanged if it is valid.

    Raises:
        ConfigError: the input is invalid; the cause of the error has a note with the JSON schema.
    """
    try:
        given = BidderInput.model_validate(told)
    except ValidationError as error:
        error.add_note(json.dumps(BidderInput.model_json_schema()))  # printed above the line with the remedy
        raise ConfigError(f"bidder {bidder!r}: {first_fault(error, 'the input')}; {REMEDY}") from error
    if given.ask.bidder != bidder:
        raise ConfigError(
            f"this graph is of bidder {bidder!r}, and the ask is to {given.ask.bidder!r}; ask its own graph"
        )
    return told


def ask_of(told: Json) -> Ask | Pause:
    """Check the input and return its ask."""
    ask = BidderInput(ask=told).ask
    if isinstance(ask, Thinking):
        return Pause(ask.bidder, tuple(ask.closed), ask.over)
    return Ask(ask.bidder, ask.item, ask.round, ask.space, ask.attempt, ask.refusal, ask.note)


def events_of(bidder: str, game: str, told: list[Json]) -> list[Event]:
    """Read the events that a bidder has seen from JSON.

    Raises:
        ConfigError: one of them is no event of the game, or is an event that the bidder may not see.
    """
    events: list[Event] = []
    for number, one in enumerate(told):
        try:
            event = line_of(json.dumps(one), game)
        except ValueError as error:
            said = first_fault(error, "the event") if isinstance(error, ValidationError) else str(error)[:SHOWN]
            raise ConfigError(
                f"bidder {bidder!r}: seen.{number} is no event of the game {game!r}: {said}; give events as in a turn"
            ) from error
        if not isinstance(event, PublicEvent) and not (isinstance(event, PrivateEvent) and event.bidder == bidder):
            raise ConfigError(f"bidder {bidder!r}: seen.{number} is an event that it may not see; leave it out")
        events.append(event)
    return events


@lru_cache(maxsize=4096)
def line_of(text: str, game: str) -> Event:
    """Return an event of a game.

    Raises:
        ValueError: the text is no such event.
    """
    return event_of(text, find("game", game).events)


def as_json(event: Event) -> Json:
    """Return an event as JSON."""
    told: Json = json.loads(event_json(event))
    return told
