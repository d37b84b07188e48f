"""Reads which commit a folder is a checkout of, without git: git runs programs that the folder's settings name."""

from __future__ import annotations

import os
import re
from pathlib import Path

from harbor._core.sent_files import read_sent

MOST_HEAD = 4096
MOST_REFS = 16 * 2**20
"""Bytes; Linux has 100 bytes for each of its thousand tags."""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BRANCH = re.compile(r"ref: (refs(?:/(?!\.)[^/\s\0]+)+)")


def commit_of(folder: Path) -> str | None:
    """Return the commit that is checked out in a folder or in the nearest one above it that has a `.git`; else None.

    Only `.git` itself is read, and no link is followed: a worktree and a submodule, whose `.git` names another folder,
    have none. Nothing in it is an error.
    """
    git = next((one / ".git" for one in (folder, *folder.parents) if os.path.lexists(one / ".git")), None)
    try:
        return _head_of(git) if git else None
    except (OSError, ValueError):
        return None


def _head_of(git: Path) -> str | None:
    head = _text(git, "HEAD", MOST_HEAD).strip()
    if not (named := _BRANCH.fullmatch(head)):
        return _commit(head)
    branch = named[1]
    try:
        return _commit(_text(git, branch, MOST_HEAD).strip())
    except OSError:  # git keeps those that stay as they are in one file
        lines = (line.split() for line in _text(git, "packed-refs", MOST_REFS).splitlines())
        return next((_commit(words[0]) for words in lines if words[1:] == [branch]), None)


def _text(git: Path, name: str, most_bytes: int) -> str:
    place = git
    for part in Path(name).parts:
        if place.is_symlink():
            raise OSError(f"{str(place)!r} is a link")
        place /= part
    return read_sent(place, most_bytes).decode()


def _commit(text: str) -> str | None:
    return text if _COMMIT.fullmatch(text) else None
