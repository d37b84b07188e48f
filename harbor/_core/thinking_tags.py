"""Splits what a model thought aloud from what it said: thoughts stand between tags, and never answer."""

from __future__ import annotations

import re
from typing import NamedTuple

_TAG = re.compile(r"<(?P<end>/?) ?(?:think(?:ing)?|thoughts?|reasoning) ?>", re.IGNORECASE)


class Spoken(NamedTuple):
    """A text in two parts: what was said, and what was thought."""

    said: str
    thought: str


def without_thinking(text: str) -> Spoken:
    """Split a text at its tags of thinking.

    All before a closing tag that none opens is thought, and so is all after an opening tag that none closes. An opening
    tag inside a thought is a part of it.

    >>> without_thinking("<think>I bid $5?</think>I withdraw.")
    Spoken(said='I withdraw.', thought='I bid $5?')
    """
    if "<" not in text:
        return Spoken(text, "")
    said, thought = list[str](), list[str]()
    place, is_open = 0, False
    for tag in _TAG.finditer(text):
        if tag["end"]:
            thought += said if not is_open else ()
            said = said if is_open else []
            thought.append(text[place : tag.start()])
        elif is_open:
            continue
        else:
            said.append(text[place : tag.start()])
        place, is_open = tag.end(), not tag["end"]
    (thought if is_open else said).append(text[place:])
    return Spoken("".join(said), "\n".join(filter(None, (part.strip() for part in thought))))
