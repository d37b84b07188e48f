"""Keeps API keys out of logs and messages."""

from __future__ import annotations

import os
import re

from harbor._core.parsing import scrub

_SECRETS: set[str] = set()


def known_secret(value: str) -> None:
    """Remember a key that was handed to a client, so that no message shows it."""
    if len(value) >= 6:
        _SECRETS.add(value)


def redact(text: str) -> str:
    """Replace API keys: those in environment variables, and whatever looks like one.

    >>> redact("Incorrect API key provided: sk-abcdefgh12345678")
    'Incorrect API key provided: [redacted]'
    """
    for name, value in os.environ.items():
        if name.upper().endswith(("KEY", "TOKEN", "SECRET", "PASSWORD")) and len(value) >= 6:
            text = text.replace(value, "[redacted]")
    for value in _SECRETS:
        text = text.replace(value, "[redacted]")
    text = scrub(text)
    return re.sub(r"\b(?:sk|pk|key|xai|gsk)[-_][\w*.-]{8,}", "[redacted]", text)
