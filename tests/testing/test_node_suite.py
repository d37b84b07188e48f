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


def broken(node, promise, **changes):
    with pytest.raises(AssertionError, match=promise):
        check_node(replace(node, **changes))


def test_a_thought_of_a_strangers_keeps_its_promises(ponder):
    check_node(ponder)


def test_a_thought_is_tried_with_the_settings_that_switch_it_on(ponder):
    check_node(replace(ponder, on=lambda mind, memory: mind.strategy == "fused", uses=("strategy", "planning")))


@pytest.mark.parametrize("part", [*PARTS, "prompt"])
def test_a_missing_part_is_named(part, ponder):
    broken(ponder, f"lacks {part}: ", **{part: "" if part == "tells" else None})  # None: only facts speak of its note


def test_a_thought_that_nothing_switches_on_is_named(ponder):
    broken(ponder, "the node 'ponder' is off with all that it uses", on=lambda mind, memory: False)


def test_a_thought_with_a_place_in_no_game_is_named(ponder):
    broken(ponder, "has a place in no installed game: .*needs a node that is not there", needs=("nothing",))


def test_a_prompt_that_can_not_be_filled_is_named(ponder, tmp_path):
    (tmp_path / "ponder.md").write_text("What of ${item}?")
    broken(ponder, "has a prompt that can't be filled")


def test_a_fact_that_the_prompt_does_not_explain_is_named(ponder):
    facts = {"item": "Vase", "weather": "fine", "price": 1}
    broken(ponder, r"'ponder' does not explain these facts in backticks: \['weather'\]", facts=lambda view: facts)


def test_facts_that_break_are_named(ponder):
    broken(
        ponder, "the node 'ponder' found no such fact in the game 'english'.*KeyError", facts=lambda view: {}["nothing"]
    )


def test_an_answer_that_does_not_fit_the_reply_is_named(ponder):
    broken(ponder, "the thought 'ponder' of 'Ann' failed", answer=lambda *_: {"words": "none"})


def test_a_conclusion_for_another_bidder_is_named(ponder):
    broken(
        ponder,
        "the node 'ponder' has a mistake in its code.*give a LessonDrawn",
        conclude=lambda *_: LessonDrawn("Z", "", ""),
    )


def test_a_note_that_no_later_prompt_tells_is_named(ponder):
    broken(
        ponder,
        "the node 'ponder' notes nothing that later prompts tell",
        adapt=lambda node, _: replace(node, fold=None),
    )


def test_a_thought_that_is_never_had_is_named(ponder):
    broken(ponder, "the node 'ponder' is on, and no LessonDrawn is in the log", when=lambda view, ask: False)


def test_a_thought_that_is_another_each_time_is_named(ponder):
    numbers = count()
    broken(
        ponder,
        "resumed differ|two equal runs differ",
        conclude=lambda reply, view: LessonDrawn(view.name, "", f"{next(numbers)}"),
    )
