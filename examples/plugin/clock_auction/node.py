"""A thought node: after each item a bidder writes one sentence about its lesson."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from pydantic import BaseModel, Field

from harbor.events import PrivateEvent
from harbor.graphs import ThoughtNode


class Reflection(BaseModel):
    """What the last item taught."""

    lesson: str = Field(max_length=300)


@dataclass(frozen=True, slots=True)
class Reflected(PrivateEvent):
    """A bidder's lesson after an item."""

    item: str
    lesson: str


REFLECT = ThoughtNode(
    api=1,
    name="reflect",
    description="after an item, say in a sentence what it taught",
    occasions=("closed",),
    facts=lambda view: {
        "item": view.results[-1].item,
        "winner": view.results[-1].winner,
        "price": view.results[-1].price,
    },
    prompt=files(__package__) / "reflect.md",
    reply=Reflection,
    conclude=lambda reply, view: Reflected(view.name, view.results[-1].item, reply.lesson),
    event=Reflected,
    fold=lambda _, event: event.lesson,
    tells="`reflect`, if it is there, is the lesson that you drew from the last item.",
    answer=lambda facts, settings, chance: {"lesson": f"{facts['item']} went to {facts['winner'] or 'nobody'}."},
)
