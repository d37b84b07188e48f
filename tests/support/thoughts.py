"""A third-party thought as the text of a module, with changes to its parts."""

from __future__ import annotations

from pathlib import Path

TEXT = """
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from harbor._core.log.events import PrivateEvent
from harbor.graphs import ThoughtNode


class Words(BaseModel):
    lesson: str


@dataclass(frozen=True, slots=True)
class Reflected(PrivateEvent):
    item: str
    lesson: str


class Loud(Reflected):
    pass


REFLECT = ThoughtNode({parts})
"""
PARTS = {
    "name": "'reflect'",
    "description": "'after an item, say what it taught'",
    "occasions": "('closed',)",
    "event": "Reflected",
    "needs": "('believe',)",
    "prompt": "Path(__file__).with_name('reflect.md')",
    "facts": "lambda view: {'item': view.results[-1].item, 'price': view.results[-1].price}",
    "reply": "Words",
    "answer": "lambda facts, settings, chance: {'lesson': f\"{facts['item']} cost {facts['price']}\"}",
    "conclude": "lambda reply, view: Reflected(view.name, view.results[-1].item, reply.lesson)",
    "fold": "lambda note, event: [*(note or ()), event.lesson]",
    "tells": "'`reflect`, if it is there, is what the items so far taught you.'",
}
PROMPT = "What does `item`, sold at `price`, teach you?\n\n<facts>\n${facts}\n</facts>\n"


def thought(folder: Path, module: str, text: str | None = PROMPT, **changes: str) -> str:
    """Write the module and its prompt. Return the reference to the node. An empty change drops a part."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = ", ".join(f"{part}={value}" for part, value in (PARTS | changes).items() if value)
    (folder / f"{module}.py").write_text(TEXT.replace("{parts}", listed), encoding="utf-8")
    if text is not None:
        (folder / "reflect.md").write_text(text, encoding="utf-8")
    return f"{module}:REFLECT"
