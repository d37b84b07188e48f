"""What a process last wrote to its standard error before it died, in one line, and what may mend that."""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from harbor._core.redaction import SECRET_NAME, redact

SHOWN = 300
"""How many characters an error shows."""
_FRAME = re.compile(r"\s+at ")
"""How a line of a stack begins that Node and Java write, which is no error and follows it."""
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")


def last_words(complaints: bytes, variables: Collection[str]) -> str:
    """Tell what a process complained of.

    Args:
        complaints: the end of what it wrote to its standard error.
        variables: the environment variables that it had.
    """
    lines = redact(complaints.decode(errors="replace")).splitlines()
    last = " ".join(" ".join(line for line in lines if not _FRAME.match(line)).split())[-SHOWN:]
    told = f"its stderr ends in {last!r}"
    for name in _VARIABLE.findall(last):
        if name not in variables and _is_one(name):
            return f"{told}; it has few variables of yours: name this one in its settings, as env = [{name!r}]"
    return told


def _is_one(name: str) -> bool:
    return name in os.environ or SECRET_NAME.search(name) is not None
