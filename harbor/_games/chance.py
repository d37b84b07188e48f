"""Chance, as rules draw from it: each draw among more than one is an event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NoReturn, TypeVar

from harbor._core.acts import Drawn, DrawnOpenly
from harbor._core.errors import ConfigError, HarborError

T = TypeVar("T")
N = TypeVar("N", int, float)
Draw = Drawn | DrawnOpenly
Told = Callable[[], Draw | None]
"""Gives the next draw that a log tells; None: it tells of none."""


def kind_of(draws: str) -> type[Draw]:
    """Give the type of the events of draws: whether everyone learns of them."""
    return DrawnOpenly if draws == "open" else Drawn


class Undrawn(HarborError):
    """A log does not tell the draw that its rules make here, or tells one that can't be.

    `among`: what may have been drawn; empty where that is a number.
    """

    def __init__(self, why: str, among: tuple[str, ...] = ()) -> None:
        super().__init__(why)
        self.among = among


class Chance(Random):
    """Draws for rules, by `pick`, or by any method of `Random`; what was drawn is noted.

    >>> noted = []
    >>> Chance(Random(1), noted.append).pick("who leads", ["Ann"]), noted
    ('Ann', [])

    Args:
        source: draws anew. None: nothing is drawn, and `told` gives what was.
        note: takes each draw among more than one.
        told: gives what a log tells, where there is no source.
        kind: the type of the events: whether everyone learns of draws.
    """

    def __init__(
        self,
        source: Random | None,
        note: Callable[[Draw], None] = lambda _: None,
        told: Told = lambda: None,
        kind: type[Draw] = Drawn,
    ) -> None:
        self._source, self._note, self._told, self._kind = source, note, told, kind
        self.gauss_next = None

    def pick(self, what: str, among: Sequence[T]) -> T:
        """Draw one of these, with equal chances; `what` says in words what for.

        Raises:
            ConfigError: there is none to draw.
        """
        source = self._source
        if len(among) == 0:  # an array has no truth
            raise ConfigError(f"{what!r} is drawn among nothing; give at least one thing to draw")
        if source is not None:
            chosen = source.choice(among)  # also of one: what is drawn later hangs on it
            if len(among) > 1:
                self._note(self._kind(what, tuple(map(str, among)), str(chosen)))
            return chosen
        return among[0] if len(among) == 1 else self._told_among(what, among)

    def _told_among(self, what: str, among: Sequence[T]) -> T:
        """Take what a log tells.

        Raises:
            Undrawn: it tells no draw, or one of something else.
        """
        drawn, texts = self._told(), tuple(map(str, among))
        if drawn is None or drawn.chosen not in texts:
            raise Undrawn(f"one of {', '.join(texts)} is drawn for {what!r}, and the log tells {drawn!r}", texts)
        self._note(self._kind(what, texts, drawn.chosen))
        return among[texts.index(drawn.chosen)]

    # ------------------------------------------------------------ what all methods of Random draw by

    def _randbelow(self, n: int) -> int:
        return self._number("a number", n - 1, lambda source: source.randrange(n), int)

    def random(self) -> float:
        """Draw a number from 0 to 1."""
        return self._number("a share", 1, lambda source: source.random(), float)

    def getrandbits(self, k: int, /) -> int:
        """Draw so many bits."""
        return self._number("bits", 2**k - 1, lambda source: source.getrandbits(k), int)

    def getstate(self) -> tuple[Any, ...]:
        """Give the state of the source."""
        return () if self._source is None else self._source.getstate()

    def seed(self, *_: object, **__: object) -> NoReturn:
        """Refuse to begin anew: rules draw from the source that the house gives them, or nobody could check them.

        Raises:
            TypeError: always.
        """
        raise TypeError("rules can't seed chance or set its state; draw what is needed, and keep that in the state")

    setstate = seed

    def _number(self, what: str, most: int, draw: Callable[[Random], N], read: Callable[[str], N]) -> N:
        source = self._source
        number = draw(source) if source is not None else _within(self._told(), most, read) if most else read("0")
        if most:
            self._note(self._kind(what, (f"0 to {most}",), repr(number)))
        return number


def _within(drawn: Draw | None, most: int, read: Callable[[str], N]) -> N:
    """Read a number from 0 to `most` that a log tells.

    Raises:
        Undrawn: it tells none.
    """
    try:
        number = read(drawn.chosen) if drawn is not None else None
    except ValueError:
        number = None
    if number is None or not 0 <= number <= most or (read is float and number == most):  # a share is below 1
        raise Undrawn(f"a number from 0 to {most} is drawn, and the log tells {drawn!r}")
    return number
