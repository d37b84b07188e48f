"""Keeps API keys out of logs and messages: known keys, any long piece of them, and whatever looks like one.

Errors of somebody else's code are told here too, as their texts may hold keys.
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
"""So many characters of a key in a row are hidden: a server may repeat a part of the key that it refuses."""
SHORTEST = 6
"""A shorter value is a word or a number rather than a key."""
NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")
"""What the names of environment variables with keys end in."""
SECRET_NAME = re.compile(
    r"authorization|cookie|password|secret|api[-_]?key|(^|[-_])(auth|access|token|key)$", re.IGNORECASE
)
"""What the names of headers, parameters and settings with keys contain."""
_KNOWN: set[str] = set()
_VARIABLES: set[str] = set()
_LOOKS = re.compile(
    r"\b(?:sk|pk|xai|gsk)[-_][\w*.-]{8,}|(?<![\w/-])key[-_][\w*-]{16,}"
    r"|\b(?:hf|r8|ghp|gho|pplx|nvapi|csk|tgp|fw)[-_][\w*-]{16,}"
    r"|\bAIza[\w*-]{8,}|\bAQ\.[\w*-]{20,}|\bAKIA[A-Z0-9]{12,}|\beyJ[\w-]{16,}[\w.-]*"
    r"|(?<=://)[^\s/@:]*:[^\s/@]+(?=@)"
    r"|(?i:(?<=\bbearer )|(?<=\bbasic ))(?:(?=.[a-z._~+/*-]*[\dA-Z=])[\w.~+/=*-]{8,}|[\w.~+/=*-]{20,})"
    r"|(?i:(?<=[?&]key=)|(?<=[?&]api_key=)|(?<=[?&]api-key=)|(?<=[?&]apikey=)|(?<=token=)|(?<=password=))[^\s&\"'<>]+",
    re.ASCII,
)
"""Keys of providers by how they begin, user and password in an address, bearer tokens, keys in the query of an address.

Each alternative reads on from where it begins up to a character that it can't contain, so a text is read once.
"""


def known_secret(value: object) -> None:
    """Hide a key from now on, wherever it came from; it is a text, or an object such as pydantic's `SecretStr`."""
    told = getattr(value, "get_secret_value", lambda: value)()
    if isinstance(told, str) and len(told.strip()) >= SHORTEST:
        _KNOWN.add(told.strip())


def named_secret(name: str, of: str) -> str:
    """Give what an environment variable that settings name holds; from now on it is hidden.

    Args:
        name: of the variable.
        of: whose it is, for the error.

    Raises:
        ConfigError: it is not set, or blank.
    """
    value = os.environ.get(name, "").strip()
    if not value:
        raise ConfigError(f"{of}: the environment variable {name!r} is not set; set it")
    known_secret(value)
    return value


def known_secrets_of(thing: object) -> None:
    """Hide the keys that an object holds in its fields, as chat models do, and in headers among them."""
    for value in vars(thing).values():
        if hasattr(value, "get_secret_value"):
            known_secret(value)
        elif isinstance(value, Mapping):
            for name, inner in value.items():
                if SECRET_NAME.search(str(name)):
                    known_secret(inner)


def secret_variable(name: str) -> str:
    """Hide the value of this environment variable from now on, and give its name."""
    _VARIABLES.add(name)
    return name


def redact(text: str) -> str:
    """Replace API keys: known ones, those in environment variables, pieces of both, and whatever looks like one.

    A text is read once for what is known and once for what looks like a key, however many keys there are.

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
    """Give every place of a text where a piece of a known key stands."""
    for size, pieces in _pieces().items():
        for at in range(len(text) - size + 1):
            if text[at : at + size] in pieces:
                yield at, at + size


def _pieces() -> dict[int, set[str]]:
    """Give every piece of every key, by length: the whole of a short one."""
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
    """Tell whether a value is where a key is: pieces of a path stand in many messages, and are no secret."""
    return value.startswith(("/", ".")) and os.path.exists(value)  # noqa: PTH110 - Path raises at a value that is too long


def told(error: BaseException) -> str:
    """Put an error of somebody else's code in one line without keys; one that can't even be shown has its type."""
    try:
        lines = redact(str(error) or _asserted(error)).splitlines()
    except (Exception, SystemExit):
        lines = []
    return ": ".join([type(error).__name__, *lines[:1]])


def _asserted(error: BaseException) -> str:
    """Give the source of an `assert` that has no text of its own."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__) if isinstance(error, AssertionError) else []
    return str(frames[-1].line) if frames else ""


def placed(error: BaseException) -> str:
    """Put an error of somebody else's code in one line, with the file and the line that it comes from."""
    import traceback  # here, as `harbor --help` has no use for it

    frames = traceback.extract_tb(error.__traceback__)
    return f"{told(error)}, at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else told(error)


def of_strangers(what: str, call: Callable[[], T]) -> T:
    """Call somebody else's code, which may raise anything.

    Raises:
        ConfigError: it does; one line that names the code. An error of Harbor's goes on as it is.
    """
    try:
        return call()
    except (HarborError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise ConfigError(f"{what} failed ({told(error)}); mend it") from error
