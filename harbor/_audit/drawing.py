"""Changes one draw of chance at a time in what a game builds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, wraps
from random import Random
from typing import Any

from harbor._audit.holding import Change
from harbor._audit.varying import kept_otherwise
from harbor._config.auction import AuctionConfig
from harbor._games.building import build
from harbor._games.mechanism import Mechanism
from harbor._runs.resolve import ResolvedAuction

OF_THE_STATE = ("seed", "getstate", "setstate")
METHODS = (
    "random",
    "getrandbits",
    *(name for name, one in vars(Random).items() if name[0] != "_" and callable(one) and name not in OF_THE_STATE),
)
MOST_DRAWS = 30
"""How many draws are changed; of more, as many are chosen by lot. Each costs an auction."""
TRIES = 50
"""How often a draw is drawn again to come out otherwise; one of a single thing never does."""


def draw_changes(config: AuctionConfig) -> Iterator[Change]:
    """Give a change for each draw with which rules are built, and for all draws that they keep in one place.

    The owner of a draw is the one bidder for whom the rules keep by name what it decides, if there is one. A place is
    what the rules keep for one bidder in one table: values are changed together, and apart from lots for ties.
    """
    names = [bidder.name for bidder in config.bidders]
    rules, count = _built(config)
    drawn: dict[tuple[str, ...], list[int]] = {}
    for number in sorted(Random(0).sample(range(count), min(count, MOST_DRAWS))):
        kept = kept_otherwise(rules, _built(config, (number,))[0], names)
        owners, tables = {name for name, _ in kept}, [table for _, table in kept]
        drawn.setdefault((*owners, *tables) if len(owners) == 1 else ("",), []).append(number)
    for (owner, *_), numbers in drawn.items():
        for changed in [(number,) for number in numbers] + [tuple(numbers)] * (owner != "" and len(numbers) > 1):
            yield Change("draw", owner, resolved=partial(_drawn_otherwise, changed))


def _drawn_otherwise(changed: Collection[int], auction: ResolvedAuction) -> ResolvedAuction:
    return replace(auction, rules=_built(auction.config, changed)[0])


def _built(config: AuctionConfig, changed: Collection[int] = ()) -> tuple[Mechanism[Any], int]:
    """Build the rules, with other results of the draws of these numbers; say also how many draws that took."""
    draws = _Draws(changed)
    with draws.watched():
        return build(config), draws.count


class _Draws:
    """Counts what is drawn, and gives other results of some draws; those after them come out as they did."""

    def __init__(self, changed: Collection[int]) -> None:
        self.count, self._changed, self._inside = 0, changed, False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch every stream, whoever opens it: a stranger may seed one by itself."""
        own = {name: vars(Random).get(name) for name in METHODS}
        for name in METHODS:
            setattr(Random, name, self._counted(getattr(Random, name)))
        try:
            yield
        finally:
            for name, method in own.items():
                if method is None:
                    delattr(Random, name)
                else:
                    setattr(Random, name, method)

    def _counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def draw(rng: Random, *given: Any, **named: Any) -> Any:
            if self._inside:  # one draw of a method takes several of those that it calls
                return method(rng, *given, **named)
            self._inside = True
            try:
                self.count += 1
                result = method(rng, *given, **named)
                return _other(result, method, given, named) if self.count - 1 in self._changed else result
            finally:
                self._inside = False

        return draw


def _other(result: Any, method: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Draw from other streams until something else comes out; a shuffle changes what it is given."""
    before = repr((result, given))
    for seed in range(TRIES):
        other = method(Random(seed), *given, **named)
        if repr((other, given)) != before:
            return other
    return result
