"""The file of a prompt: a text with one blank for its facts."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from string import Template

BLANK = "<facts>\n${facts}\n</facts>"
"""Where a prompt takes its facts; the built-in model reads them there."""


def unfillable(prompt: Traversable) -> str:
    """Say why a prompt can't be filled; empty if it can."""
    try:
        text = prompt.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, AttributeError) as error:
        return f"has a prompt that can't be read ({error}); give it the file of a text"
    template = Template(text)
    if not template.is_valid() or template.get_identifiers() != ["facts"] or text.count(BLANK) != 1:
        return f"has a prompt that can't be filled: {str(prompt)!r} must have {BLANK!r} once and no other blank"
    return ""
