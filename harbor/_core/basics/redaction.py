"""Keeps API keys out of logs and messages: known keys, any long piece of them, and texts that look like keys.

Errors from foreign code are written here too, as their texts may hold keys.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TypeVar

from harbor._core.basics.actions import scrub
from harbor._core.basics.errors import ConfigError, HarborError

T = TypeVar("T")
HIDDEN = "[redacted]"
PIECE = 8
"""Characters of the shortest piece of a key that is hidden: a server may repeat a part of the key that it refuses."""
SHORTEST = 6
"""Characters of the shortest key; a shorter value is a word or a number."""
NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")
"""Endings of the names of environment variables with keys."""
SECRET_NAME = re.compile(
    r"authorization|cookie|password|secret|api[-_]?key|(^|[-_])(auth|access|token|key)$", re.IGNORECASE
)
"""Parts of the names of headers, parameters and settings with keys."""
_KNOWN: set[str] = set()
"""The keys that `known_secret` hides."""
_VARIABLES: set[str] = set()
"""The names of environment variables that `secret_variable` hides."""
_LOOKS = re.compile(
    r"\b(?:sk|pk|xai|gsk)[-_][\w*.-]{8,}|(?<![\w/-])key[-_][\w*-]{16,}"
    r"|\b(?:hf|r8|ghp|gho|pplx|nvapi|csk|tgp|fw)[-_][\w*-]{16,}"
    r"|\bAIza[\w*-]{8,}|\bAQ\.[\w*-]{20,}|\bAKIA[A-Z0-9]{12,}|\beyJ[\w-]{16,}[\w.-]*"
    r"|(?<=://)[^\s/@:]*:[^\s/@]+(?=@)"
    r"|(?i:(?<=\bbearer )|(?<=\bbasic ))(?:(?=.[a-z._~+/*-]*[\dA-Z=])[\w.~+/=*-]{8,}|[\w.~+/=*-]{20,})"
    r"|(?i:(?<=[?&]key=)|(?<=[?&]api_key=)|(?<=[?&]api-key=)|(?<=[?&]apikey=)|(?<=token=)|(?<=password=))[^\s&\"'<>]+",
    re.ASCII,
)
"""Keys of providers by their prefix, user and password in an address, bearer tokens, keys in the query of an address.

Each alternative reads on from its start up to a character that it can't contain, so a text is read once.
"""


def known_secret(value: object) -> None:
    """Hide a key from now on; it is a text, or an object such as pydantic's `SecretStr`."""
    told = getattr(value, "get_secret_value", lambda: value)()
    if isinstance(told, str) and len(told.strip()) >= SHORTEST:
        _KNOWN.add(told.strip())


def named_secret(name: str, of: str) -> str:
    """Return the value of an environment variable that settings name, and hide it from now on.

    Args:
        name: of the variable.
        of: its owner, for the error.

    Raises:
        ConfigError: it is not set, or blank.
    """
    value = os.environ.get(name, "").strip()
    if not value:
        raise ConfigError(f"{of}: the environment variable {name!r} is not set; set it")
    known_secret(value)
    return value


def known_secrets_of(thing: object) -> None:
    """Hide from now on the API keys in the fields of an object, such as a chat model, and in its headers."""
    for value in vars(thing).values():
        if hasattr(value, "get_secret_value"):
            known_secret(value)
        elif isinstance(value, Mapping):
            for name, inner in value.items():
                if SECRET_NAME.search(str(name)):
                    known_secret(inner)


def secret_variable(name: str) -> str:
    """Hide the value of this environment variable from now on, and return its name."""
    _VARIABLES.add(name)
    return name


def redact(text: str) -> str:
    """Replace API keys: known ones, those in environment variables, pieces of both, and texts that look like keys.

    A text is read once for known keys and once for texts that look like keys, however many keys there are.

    >>> redact("Incorrect API key provided: sk-abcdefgh12345678")
    'Incorrect API key provided: [redacted]'
    """
    text = scrub(text)
    covered = bytearray(len(text))
    for first, last in chain(_known_in(text), (found.span() for found in _LOOKS.finditer(text))):
        covered[first:last] = b"x" * (last - first)
    kept, end = list[str](), 0
    for found in re.finditer(b"x+", covered):
        kept += [text[end : found.start()], HIDDEN]
        end = found.end()
    return "".join([*kept, text[end:]])


def _known_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each piece of a known key in a text."""
    for size, pieces in _pieces().items():
        for at in range(len(text) - size + 1):
            if text[at : at + size] in pieces:
                yield at, at + size


def _pieces() -> dict[int, set[str]]:
    """Return every piece of every key, by length; a short key is one piece."""
    pieces: dict[int, set[str]] = {}
    for secret in {*_KNOWN, *_in_environment()}:
        size = min(PIECE, len(secret))
        pieces.setdefault(size, set()).update(secret[at : at + size] for at in range(len(secret) - size + 1))
    return pieces


def _in_environment() -> Iterator[str]:
    for name, value in os.environ.items():
        secret = value.strip()
        if (name.upper().endswith(NAMES) or name in _VARIABLES) and len(secret) >= SHORTEST and not _is_path(secret):
            yield secret


def _is_path(value: str) -> bool:
    """Tell whether a value is the path of a key; pieces of a path stand in many messages, and are no secret."""
    return value.startswith(("/", ".")) and os.path.exists(value)  # noqa: PTH110 - Path raises at a value that is too long


def told(error: BaseException) -> str:
    """Write an error from foreign code in one line without keys; only its type if it can't be shown."""
    try:
        lines = redact(str(error) or _asserted(error)).splitlines()
    except (Exception, SystemExit):
        lines = []
    return ": ".join([type(error).__name__, *lines[:1]])


def _asserted(error: BaseException) -> str:
    """Return the source of an `assert` that has no text of its own."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__) if isinstance(error, AssertionError) else []
    return str(frames[-1].line) if frames else ""


def placed(error: BaseException) -> str:
    """Write an error from foreign code in one line, with its file and line."""
    import traceback  # here, as `harbor --help` has no use for it

    frames = traceback.extract_tb(error.__traceback__)
    return f"{told(error)}, at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else told(error)


def of_strangers(what: str, call: Callable[[], T]) -> T:
    """Call foreign code, which may raise anything.

    Raises:
        ConfigError: the code raises; one line that names it. An error of Harbor's is raised unchanged.
    """
    try:
        return call()
    except (HarborError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise ConfigError(f"{what} failed ({told(error)}); mend it") from error
