"""A mechanism gives the rules of a game as pure functions of a state, and draws from chance in events alone.

Each draw among more than one is an event. Rules are pure if a random step of play gives the same from the same, and
changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from random import Random
from typing import Any, Literal, NoReturn, Protocol, TypeVar

from harbor._core.asking.amounts import Number
from harbor._core.asking.asks import Action, Ask, Bid, Withdraw
from harbor._core.basics.errors import ConfigError, HarborError
from harbor._core.log.acts import Acted, ActedSealed, Drawn, DrawnOpenly, Unit
from harbor._core.log.events import Event

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


S = TypeVar("S")
Shown = Literal["open", "sealed"]
"""Whether everyone learns of it at once."""


class Mechanism(Protocol[S]):
    """The rules of a game; no I/O, clock, global random or framework."""

    def start(self) -> S:
        """Give the state before the opening."""
        ...

    def asks(self, state: S) -> Sequence[Ask]:
        """Say who must act now, at the same moment, and the legal range; nobody: it is over, or not yet open."""
        ...

    def settle(self, state: S, actions: Mapping[str, Action], chance: Chance) -> list[Event]:
        """Say what follows from one legal action of each bidder asked; with no actions, before the opening, open.

        The acts are applied before they are settled: as `Acted` events in an open game, else as `ActedSealed`.
        """
        ...

    def apply(self, state: S, event: Event) -> S:
        """Give the state after an event; an event of no concern to the rules changes nothing."""
        ...


def fold(rules: Mechanism[S], events: Iterable[Event]) -> S:
    """Rebuild the state of the rules from events."""
    state = rules.start()
    for event in events:
        state = rules.apply(state, event)
    return state


def acted(ask: Ask, action: Action, acts: Shown) -> Acted | ActedSealed:
    """Say what a bidder did, in public or to itself: what it offered in vain is left out, as it may reveal a budget."""
    if type(action) is Withdraw and action.offered is not None:
        action = Withdraw(action.reason)
    if acts == "sealed":
        return ActedSealed(ask.bidder, ask.item, action, ask.round, ask.attempt)
    unit: Unit = "number" if type(ask.space) is Number else "dollars"
    return Acted(ask.bidder, ask.item, action, ask.round, ask.attempt, unit)


def acts_of(asks: Iterable[Ask], actions: Mapping[str, Action], acts: Shown) -> list[Acted | ActedSealed]:
    """Say what everyone of a turn did, in the order of these asks."""
    return [acted(ask, actions[ask.bidder], acts) for ask in asks]


ALONE = "draw with `chance`, and by nothing else"


def settled(
    rules: Mechanism[Any], state: Any, actions: dict[str, Action], rng: Random, acts: Shown, draws: Shown
) -> tuple[list[Event], list[Event], Any]:
    """Settle three times: once, again, and with the answers in reverse order.

    Args:
        rules: of any game.
        state: in which everybody has been asked, or before the opening.
        actions: of everybody who is asked.
        rng: of what is drawn.
        acts: as of the game.
        draws: as of the game.

    Returns:
        the acts as events, what was drawn and what follows, and the state after.

    Raises:
        AssertionError: they differ, or something was changed.
    """
    asks = rules.asks(state)
    require(asks == rules.asks(state), "asking twice in one state gives different asks", state)
    told: list[Event] = [*acts_of(asks, actions, acts)]
    state = _applied(rules, state, told)
    before, ties = _shown(rules, state, actions), rng.getrandbits(64)
    noted: list[Event] = []
    events = rules.settle(state, actions, Chance(Random(ties), noted.append, kind=kind_of(draws)))
    _unchanged("settling", before, _shown(rules, state, actions))
    again = rules.settle(state, actions, Chance(Random(ties)))
    require(events == again, f"equal states, actions and ties give different events; {ALONE}", [events, again])
    require(
        not any(isinstance(event, kind_of(draws)) for event in events), f"rules write draws themselves; {ALONE}", events
    )
    late = rules.settle(state, dict(reversed(actions.items())), Chance(Random(ties)))
    require(events == late, "the order in which answers arrive makes a difference", [events, late])
    events = [*noted, *events]
    return told, events, _applied(rules, state, events)


def _applied(rules: Mechanism[Any], state: Any, events: list[Event]) -> Any:
    for event in events:
        kept = _shown(rules, state, event)
        following = rules.apply(state, event)
        require(following == rules.apply(state, event), "applying an event twice gives two states", event)
        _unchanged("applying an event", kept, _shown(rules, state, event))
        state = following
    return state


def drawn(ask: Ask, rng: Random) -> Action:
    """Draw a legal action: the bounds often, and every kind of withdrawal, which a failed answer counts as."""
    if rng.random() < 1 / 4:
        return rng.choice(_withdrawals(ask))
    edges = ask.space.edges()
    return rng.choice([edges[0], edges[0], edges[-1], ask.space.draw(rng)])


def require(kept: object, broken: str, evidence: object = "") -> None:
    """Refuse what is broken, with the evidence.

    Raises:
        AssertionError: it is.
    """
    if not kept:
        raise AssertionError(f"{broken}: {evidence!r}"[:2_000] if evidence != "" else broken)


def _shown(rules: Mechanism[Any], state: Any, given: object) -> dict[str, str]:
    """Show what a call must not change: of rules, their fields, as they may keep results of their own aside."""
    shown = repr(rules if is_dataclass(rules) else vars(rules))
    return {"the rules": shown, "the state": repr(state), "its arguments": repr(given)}


def _unchanged(doing: str, before: dict[str, str], after: dict[str, str]) -> None:
    for name, shown in before.items():
        require(after[name] == shown, f"{doing} changed {name}", shown)


def _withdrawals(ask: Ask) -> list[Withdraw]:
    failed = [Withdraw("fault"), Withdraw("failed bids")]
    if not ask.space.can_withdraw:
        return failed
    over = [Withdraw("failed bids", bid.amount + 1) for bid in ask.space.edges()[-1:] if isinstance(bid, Bid)]
    return [Withdraw(), *failed, *over]
