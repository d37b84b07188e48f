"""Numbers of things in words."""

from __future__ import annotations


def counted(count: int, thing: str) -> str:
    """Say how many there are, such as "1 game" and "1,200 games"."""
    return f"{count:,} {thing if count == 1 else f'{thing}s'}"
