"""How far a long piece of work has come: deep code tells it, and whoever began the work may listen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Listen = Callable[[int, int, str], None]
"""Is told how many steps are done, of how many, and what they are, such as "games read"."""
_listens: ContextVar[Listen] = ContextVar("_listens", default=lambda *_: None)


@contextmanager
def heard_by(listen: Listen) -> Iterator[None]:
    """Let `listen` hear each step that is taken inside."""
    before = _listens.set(listen)
    try:
        yield
    finally:
        _listens.reset(before)


def steps(things: Collection[T], what: str) -> Iterator[T]:
    """Go through things and tell each that is done; it costs nothing where nobody listens."""
    listen = _listens.get()
    try:
        for done, thing in enumerate(things):
            listen(done, len(things), what)
            yield thing
    finally:  # whoever goes through them may stop early
        listen(len(things), len(things), what)
