"""A mechanism holds the rules of a game as pure functions of a state. Every random draw goes through `Chance`.

Each draw among more than one option is an event. `settled` checks that a random step of play gives equal results for
equal input, and changes no input.
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
"""Returns the next draw in a log; None: there is none."""


def kind_of(draws: str) -> type[Draw]:
    """Return the type of the draw events: `DrawnOpenly` if everyone learns of draws, else `Drawn`."""
    return DrawnOpenly if draws == "open" else Drawn


class Undrawn(HarborError):
    """A log lacks the draw that its rules make here, or has an impossible one.

    `among` lists the options of the draw; it is empty if the draw is a number.
    """

    def __init__(self, why: str, among: tuple[str, ...] = ()) -> None:
        super().__init__(why)
        self.among = among


class Chance(Random):
    """The source of all random draws that the rules of a game make; it records each draw.

    Rules draw with `pick`, or with any method of `Random`.

    >>> noted = []
    >>> Chance(Random(1), noted.append).pick("who leads", ["Ann"]), noted
    ('Ann', [])

    Args:
        source: the generator of new draws; None if the draws are read from a log, by `told`.
        note: called with the event of each draw among more than one option.
        told: returns the next draw in a log, or None if the log has no further draw; used if there is no `source`.
        kind: the type of the draw events: `DrawnOpenly` if everyone learns of draws, else `Drawn`.
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
        """Draw one of the options `among`, with equal chances; `what` names the purpose of the draw in words.

        Raises:
            ConfigError: there are no options.
        """
        source = self._source
        if len(among) == 0:  # an array has no truth
            raise ConfigError(f"{what!r} is drawn among nothing; give at least one thing to draw")
        if source is not None:
            chosen = source.choice(among)  # also for one option: later draws depend on it
            if len(among) > 1:
                self._note(self._kind(what, tuple(map(str, among)), str(chosen)))
            return chosen
        return among[0] if len(among) == 1 else self._told_among(what, among)

    def _told_among(self, what: str, among: Sequence[T]) -> T:
        """Return the option that a log says was drawn.

        Raises:
            Undrawn: the log has no draw here, or one that is no option.
        """
        drawn, texts = self._told(), tuple(map(str, among))
        if drawn is None or drawn.chosen not in texts:
            raise Undrawn(f"one of {', '.join(texts)} is drawn for {what!r}, and the log tells {drawn!r}", texts)
        self._note(self._kind(what, texts, drawn.chosen))
        return among[texts.index(drawn.chosen)]

    # ------------------------------------------------------------ the methods that all others of Random call

    def _randbelow(self, n: int) -> int:
        return self._number("a number", n - 1, lambda source: source.randrange(n), int)

    def random(self) -> float:
        """Draw a number in [0, 1)."""
        return self._number("a share", 1, lambda source: source.random(), float)

    def getrandbits(self, k: int, /) -> int:
        """Draw an integer of `k` random bits."""
        return self._number("bits", 2**k - 1, lambda source: source.getrandbits(k), int)

    def getstate(self) -> tuple[Any, ...]:
        """Return the state of the generator `source`; empty if there is no source."""
        return () if self._source is None else self._source.getstate()

    def seed(self, *_: object, **__: object) -> NoReturn:
        """Refuse to set a seed, because rules must draw from Harbor's generator, so that their draws can be checked.

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
    """Return the number from 0 to `most` that a log says was drawn.

    Raises:
        Undrawn: the log has no such number here.
    """
    try:
        number = read(drawn.chosen) if drawn is not None else None
    except ValueError:
        number = None
    if number is None or not 0 <= number <= most or (read is float and number == most):  # `random` is below 1
        raise Undrawn(f"a number from 0 to {most} is drawn, and the log tells {drawn!r}")
    return number


S = TypeVar("S")
Shown = Literal["open", "sealed"]
"""Says who learns of an act or a draw: "open" if everyone does at once, else "sealed"."""


class Mechanism(Protocol[S]):
    """The rules of a game, as pure functions of a state.

    Rules read and write no files, and use no clock, no global random source and no framework.
    """

    def start(self) -> S:
        """Return the state before the game opens."""
        ...

    def asks(self, state: S) -> Sequence[Ask]:
        """Return one ask for each bidder that must act now; all of them are asked at the same moment.

        Return nothing before the game opens and after its end.
        """
        ...

    def settle(self, state: S, actions: Mapping[str, Action], chance: Chance) -> list[Event]:
        """Return the events that follow from the actions of the bidders that were asked.

        `actions` has one legal action for each of these bidders. Each action has already been applied to `state` as an
        event: as `Acted` in a game whose acts are open, else as `ActedSealed`. Before the game opens, `actions` is
        empty, and the returned events open the game.
        """
        ...

    def apply(self, state: S, event: Event) -> S:
        """Return the state after an event; an event that the rules do not use leaves the state as it is."""
        ...


def fold(rules: Mechanism[S], events: Iterable[Event]) -> S:
    """Return the state of the rules after events."""
    state = rules.start()
    for event in events:
        state = rules.apply(state, event)
    return state


def acted(ask: Ask, action: Action, acts: Shown) -> Acted | ActedSealed:
    """Return the event of an action, public or sealed. Drop the offer of a failed bid, which may reveal a budget."""
    if type(action) is Withdraw and action.offered is not None:
        action = Withdraw(action.reason)
    if acts == "sealed":
        return ActedSealed(ask.bidder, ask.item, action, ask.round, ask.attempt)
    unit: Unit = "number" if type(ask.space) is Number else "dollars"
    return Acted(ask.bidder, ask.item, action, ask.round, ask.attempt, unit)


def acts_of(asks: Iterable[Ask], actions: Mapping[str, Action], acts: Shown) -> list[Acted | ActedSealed]:
    """Return the events of all actions in a turn, in the order of the asks."""
    return [acted(ask, actions[ask.bidder], acts) for ask in asks]


ALONE = "draw with `chance`, and by nothing else"


def settled(
    rules: Mechanism[Any], state: Any, actions: dict[str, Action], rng: Random, acts: Shown, draws: Shown
) -> tuple[list[Event], list[Event], Any]:
    """Settle three times, the last time with the answers in reverse order, and compare the results.

    Args:
        rules: the rules of any game.
        state: a state in which all asks are out, or the state before the opening.
        actions: one per ask, by bidder.
        rng: the source of the seed for draws.
        acts: `Game.acts`.
        draws: `Game.draws`.

    Returns:
        the acts as events, the draws and the events that follow, and the state after them.

    Raises:
        AssertionError: the results differ, or a call changed its input.
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
    """Draw a legal action: often a bound, and in 1/4 of the draws a withdrawal of any kind, failed answers included."""
    if rng.random() < 1 / 4:
        return rng.choice(_withdrawals(ask))
    edges = ask.space.edges()
    return rng.choice([edges[0], edges[0], edges[-1], ask.space.draw(rng)])


def require(kept: object, broken: str, evidence: object = "") -> None:
    """Raise an error with the evidence if a check failed; cut its text to 2,000 characters.

    Raises:
        AssertionError: `kept` is false.
    """
    if not kept:
        raise AssertionError(f"{broken}: {evidence!r}"[:2_000] if evidence != "" else broken)


def _shown(rules: Mechanism[Any], state: Any, given: object) -> dict[str, str]:
    """Return the texts of all that a call must not change; of a dataclass only its fields, as it may cache results."""
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
