"""Which names a file in a pack may have: those that stay in the folder, and mean one file on every system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from harbor._packs.contents import LONGEST_NAME

DEVICES = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])(\..*)?", re.IGNORECASE
)
"""What Windows takes for a device, with any ending."""
ODD = frozenset('<>:"|?*\\')
"""What Windows does not take in a name, or takes for a folder, a drive or a stream."""
LONGEST_PART = 200


def fault_of(name: str) -> str:
    """Say what is wrong with the name of a file in a pack; empty if nothing is."""
    if len(name) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters"
    if name.startswith("/"):
        return "is absolute"
    if odd := next((letter for letter in name if letter in ODD or not letter.isprintable()), ""):
        return f"has the character {odd!r}"
    if name != unicodedata.normalize("NFC", name):
        return "is in another Unicode form than NFC"
    return next(filter(None, map(_fault_of_part, name.split("/"))), "")


def _fault_of_part(part: str) -> str:
    if part in ("", ".", ".."):
        return f"has the part {part!r}"
    if part[-1] in ". ":
        return "has a part that ends with a dot or a space"
    if len(part.encode(errors="replace")) > LONGEST_PART:
        return f"has a part of more than {LONGEST_PART} bytes"
    return "is that of a device" if DEVICES.fullmatch(part) else ""


def clash(names: Iterable[str]) -> str:
    """Say which two names mean one file on some system, or a file and a folder; empty if none do."""
    listed = [(_folded(name), name) for name in names]
    files: dict[str, str] = {}
    for folded, name in listed:
        if folded in files:
            return f"{files[folded]!r} and {name!r} mean one file"
        files[folded] = name
    for folded, name in listed:
        parts = folded.split("/")
        above = next(filter(files.get, ("/".join(parts[:depth]) for depth in range(1, len(parts)))), None)
        if above is not None:
            return f"{files[above]!r} is a file, and a folder for {name!r}"
    return ""


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
