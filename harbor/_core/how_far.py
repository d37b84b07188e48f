"""How far a long piece of work has come: deep code tells it, and whoever began the work may listen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
MOST_TOLD = 1_000
Listen = Callable[[int, int, str], None]
"""Is told how many steps are done, of how many, and what they are, such as "games read"."""


def _unheard(*_: object) -> None:
    """Listen to nothing."""


_listens: ContextVar[Listen] = ContextVar("_listens", default=_unheard)


@contextmanager
def heard_by(listen: Listen) -> Iterator[None]:
    """Let `listen` hear each step that is taken inside."""
    before = _listens.set(listen)
    try:
        yield
    finally:
        _listens.reset(before)


def steps(things: Collection[T], what: str) -> Iterator[T]:
    """Go through things and tell how many are done, some `MOST_TOLD` times at most; steps in a step are not told."""
    listen, apart = _listens.get(), 1 + len(things) // MOST_TOLD
    _listens.set(_unheard)
    try:
        for done, thing in enumerate(things):
            if done % apart == 0:
                listen(done, len(things), what)
            yield thing
    finally:  # whoever goes through them may stop early
        _listens.set(listen)
        listen(len(things), len(things), what)
