"""The file of a prompt: a text with one blank for its facts, and parts that are sent only with the fact they explain.

A line `[if NAME]` begins such a part. It ends at the next line of this kind or at an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from string import Template

BLANK = "<facts>\n${facts}\n</facts>"
"""Where a prompt takes its facts; the built-in model reads them there."""
_MARK = re.compile(r"\[if ([a-z][a-z0-9_]*)\]\n?")
_MEANT = re.compile(r"\s*\[\s*if\b", re.IGNORECASE)
_EMPTY_LINES = re.compile(r"\n{3,}")


def sent(text: str, facts: str) -> str:
    """Leave out the parts of a text that explain a fact which is not among these.

    Args:
        text: of a prompt's file, with its marks.
        facts: of the call, as JSON without spaces. A fact counts at any depth.
    """
    kept = [part for name, part in _parts(text) if not name or f'"{name}":' in facts]
    return _EMPTY_LINES.sub("\n\n", "".join(kept))


def unfillable(prompt: Traversable) -> str:
    """Say why a prompt can't be filled; empty if it can."""
    try:
        text = prompt.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, AttributeError) as error:
        return f"has a prompt that can't be read ({error}); give it the file of a text"
    template = Template(text)
    if not template.is_valid() or template.get_identifiers() != ["facts"] or text.count(BLANK) != 1:
        return f"has a prompt that can't be filled: {str(prompt)!r} must have {BLANK!r} once and no other blank"
    return _mismarked(text, str(prompt))


def _mismarked(text: str, file: str) -> str:
    """Say which mark of a text is no mark, or is about another fact than its part."""
    for line in text.splitlines():
        if _MEANT.match(line) and not _MARK.fullmatch(line):
            return f"has a prompt with the unknown mark {line!r} in {file!r}; write [if NAME] alone on a line"
    for name, part in _parts(text):
        if name and (f"`{name}`" not in part or "${facts}" in part):
            return f"has a prompt with the mark '[if {name}]' in {file!r} before no text about `{name}`; write it there"
    return ""


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Cut a text into its parts, each with the fact that it hangs on ("": none), without the marks."""
    name, part = "", ""
    for line in text.splitlines(keepends=True):
        mark = _MARK.fullmatch(line)
        if mark or not line.strip():
            yield name, part
            name, part = (mark[1], "") if mark else ("", line)
        else:
            part += line
    yield name, part
