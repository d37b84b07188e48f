"""The suite for thought nodes finds each broken promise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

import pytest
from pydantic import BaseModel

from harbor.events import PrivateEvent
from harbor.graphs import ThoughtNode
from harbor.testing import check_node


class Lesson(BaseModel):
    """What an item taught."""

    lesson: str


@dataclass(frozen=True, slots=True)
class LessonDrawn(PrivateEvent):
    """What a bidder told itself."""

    item: str
    lesson: str


PROMPT = "What does `item`, sold at `price`, teach you?\n\n<facts>\n${facts}\n</facts>\n"
PARTS = {
    "name": "ponder",
    "description": "after an item, say what it taught",
    "occasions": ("closed",),
    "event": LessonDrawn,
    "facts": lambda view: {"item": view.results[-1].item, "price": view.results[-1].price},
    "reply": Lesson,
    "answer": lambda facts, settings, chance: {"lesson": f"{facts['item']} cost {facts['price']}"},
    "conclude": lambda reply, view: LessonDrawn(view.name, view.results[-1].item, reply.lesson),
    "fold": lambda note, event: event.lesson,
    "tells": "`ponder`, if it is there, is what the last item taught you.",
}


@pytest.fixture
def ponder(stranger, tmp_path):
    """A thought of a stranger's; nothing of it is kept."""
    (tmp_path / "ponder.md").write_text(PROMPT)
    return ThoughtNode(**PARTS, prompt=tmp_path / "ponder.md")


NUMBERS = count()


def numbered(reply, view):
    return LessonDrawn(view.name, "", f"{next(NUMBERS)}")


def test_a_thought_of_a_strangers_keeps_its_promises_and_is_tried_with_the_settings_that_switch_it_on(ponder):
    check_node(ponder)
    check_node(replace(ponder, on=lambda mind, memory: mind.strategy == "fused", uses=("strategy", "planning")))


@pytest.mark.parametrize(
    ("promise", "changes"),
    [
        # None for a missing part, but for what it tells: then only facts speak of its note
        *((f"lacks {part}: ", {part: "" if part == "tells" else None}) for part in (*PARTS, "prompt")),
        ("the node 'ponder' is off with all that it uses", {"on": lambda mind, memory: False}),
        ("has a place in no installed game: .*needs a node that is not there", {"needs": ("nothing",)}),
        (
            r"'ponder' does not explain these facts in backticks: \['weather'\]",
            {"facts": lambda view: {"item": "Vase", "weather": "fine", "price": 1}},
        ),
        (
            "the node 'ponder' found no such fact in the game 'english'.*KeyError",
            {"facts": lambda view: {}["nothing"]},
        ),
        ("the thought 'ponder' of 'Ann' failed", {"answer": lambda *_: {"words": "none"}}),
        (
            "the node 'ponder' has a mistake in its code.*give a LessonDrawn",
            {"conclude": lambda *_: LessonDrawn("Z", "", "")},
        ),
        (
            "the node 'ponder' notes nothing that later prompts tell",
            {"adapt": lambda node, _: replace(node, fold=None)},
        ),
        ("the node 'ponder' is on, and no LessonDrawn is in the log", {"when": lambda view, ask: False}),
        ("resumed differ|two equal runs differ", {"conclude": numbered}),
    ],
)
def test_a_broken_promise_is_named(promise, changes, ponder):
    with pytest.raises(AssertionError, match=promise):
        check_node(replace(ponder, **changes))


def test_a_prompt_that_can_not_be_filled_is_named(ponder, tmp_path):
    (tmp_path / "ponder.md").write_text("What of ${item}?")
    with pytest.raises(AssertionError, match="has a prompt that can't be filled"):
        check_node(ponder)
