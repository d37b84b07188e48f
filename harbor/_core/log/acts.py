"""Events of every game: acts of bidders, random draws, allocations, payments and values.

Amounts are dollars (`Decimal`). In place of a bidder, "" stands for the house, which sells the items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import PlainSerializer, PlainValidator

from harbor._core.asking.decisions import as_reply
from harbor._core.basics.actions import (
    Accept,
    Action,
    Answer,
    Bid,
    BundleBid,
    Choose,
    Say,
    Take,
    Unreadable,
    Wait,
    Withdraw,
    WithdrawalReason,
)
from harbor._core.basics.numbers import MOST_DIGITS, Claim, Money, as_number, dollars
from harbor._core.log.events import AnalystEvent, PrivateEvent, PublicEvent, SharedEvent

Unit = Literal["dollars", "number"]

# ---------------------------------------------------------------- an act as JSON


def act_json(action: Action) -> dict[str, Any]:
    """Write an action as JSON, as the reply that means it; a withdrawal that was not chosen also has its reason.

    >>> act_json(Bid(Decimal("47.50"))), act_json(Withdraw("fault"))
    ({'action': 'bid', 'amount': 47.5}, {'action': 'withdraw', 'reason': 'fault'})
    """
    written = as_reply(action)
    if isinstance(action, Withdraw):
        written |= {} if action.reason == "declined" else {"reason": action.reason}
        written |= {} if action.offered is None else {"offered": as_number(action.offered)}
    return written


def act_of(written: Any) -> Action:
    """Read an action that `act_json` wrote.

    Raises:
        ValueError: it is none.
    """
    if isinstance(written, Action):
        return written
    if not isinstance(written, Mapping):
        raise ValueError(f"{written!r} is no act; it is an object, such as {{'action': 'withdraw'}}")
    try:
        action = _READERS[written.get("action") or next(iter(written), None)](written)
    except (KeyError, TypeError):
        action = None
    if action is None or act_json(action) != dict(written):
        raise ValueError(f"{written!r} is no act of a bidder; restore it as it was written")
    return action


def as_told(answer: Answer) -> Action | None:
    """Return an action as a reader of its JSON gets it; None if the JSON means no action or another one."""
    try:
        told = None if isinstance(answer, Unreadable) else act_of(act_json(answer))
    except (ValueError, ArithmeticError):
        return None
    return told if told == answer else None


def _amount(written: Any) -> Decimal:
    amount = Decimal(str(written)) if type(written) in (int, float) else Decimal("NaN")
    if not amount.is_finite() or len(amount.as_tuple().digits) > MOST_DIGITS:
        raise ValueError(f"{written!r} is no amount; write a number")
    return amount


def _bid(written: Mapping[str, Any]) -> Action:
    if "items" not in written:
        return Bid(_amount(written.get("amount")))
    return BundleBid(tuple(str(item) for item in written["items"]), _amount(written.get("amount")))


def _withdrawal(written: Mapping[str, Any]) -> Action:
    reason, offered = written.get("reason", "declined"), written.get("offered")
    if reason not in get_args(WithdrawalReason):
        raise ValueError(f"{reason!r} is no reason of a withdrawal")
    return Withdraw(reason, None if offered is None else _amount(offered))


def _units(written: Any) -> int:
    if type(written) is not int:
        raise ValueError(f"{written!r} is no number of units; write a whole one")
    return written


_READERS: dict[Any, Callable[[Mapping[str, Any]], Action]] = {
    "bid": _bid,
    "withdraw": _withdrawal,
    "accept": lambda _: Accept(),
    "wait": lambda _: Wait(),
    "option": lambda written: Choose(str(written["option"])),
    "units": lambda written: Take(_units(written["units"])),
    "words": lambda written: Say(str(written["words"])),
}
Act = Annotated[Action, PlainValidator(act_of), PlainSerializer(act_json)]
"""An action as an event has it."""


# ---------------------------------------------------------------- acts


@dataclass(frozen=True, slots=True)
class Tried(PrivateEvent):
    """A failed attempt of a bidder to answer: the reason of the failure, and the act (None if it could not be read).

    This event is private even if the acts of the game are open, because the reason may reveal a budget.

    >>> Tried("Ann", "Vase", 1, 1, "the bid is below the minimum").audience
    'bidder:Ann'
    """

    item: str
    round: int
    attempt: int
    reason: str
    act: Act | None = None


@dataclass(frozen=True, slots=True)
class Acted(PublicEvent):
    """An act of a bidder, of which everyone learns: at once in a game with open acts, else when the rules disclose it.

    `attempt` counts the bidder's attempts to answer the ask from 1. `unit` is the unit of the amount: dollars, or a
    number that is not money.

    >>> Acted("Ann", "Harbor View", Bid(Decimal(500))).words
    'Ann bids $500 on Harbor View.'
    """

    bidder: str
    item: str
    act: Act
    round: int = 1
    attempt: int = 1
    unit: Unit = "dollars"

    @property
    def words(self) -> str:
        """The act in a sentence."""
        if isinstance(self.act, Withdraw):
            vain = self.act.offered
            why = "" if vain is None else f": its bid of {self._spelt(vain)} was not legal"
            return f"{self.bidder} is out of {self.item}{why}."
        where = "" if isinstance(self.act, BundleBid) else f" on {self.item}"
        return f"{self.bidder} {self.did}{where}."

    @property
    def did(self) -> str:
        """The act without its bidder and item: "bids $500"."""
        match self.act:
            case Bid(amount=amount):
                return f"{'bids' if self.unit == 'dollars' else 'chooses'} {self._spelt(amount)}"
            case BundleBid(items=items, amount=amount):
                return f"bids {dollars(amount)} for {' and '.join(items)}"
            case Choose(option=option):
                return f"chooses {option!r}"
            case Take(units=units):
                return f"takes {units:,} {'unit' if units == 1 else 'units'}"
            case Say(words=words):
                return f"says {words!r}"
            case Accept():
                return "accepts"
            case Wait():
                return "waits"
            case Withdraw():
                return "withdraws"

    def _spelt(self, amount: Decimal) -> str:
        return dollars(amount) if self.unit == "dollars" else f"{amount:f}"


@dataclass(frozen=True, slots=True)
class ActedSealed(PrivateEvent):
    """An act of a bidder in a game whose acts are sealed; the fields are those of `Acted`.

    >>> ActedSealed("Ann", "Vase", Bid(Decimal(50))).audience
    'bidder:Ann'
    """

    item: str
    act: Act
    round: int = 1
    attempt: int = 1


# ---------------------------------------------------------------- chance


@dataclass(frozen=True, slots=True)
class Drawn(AnalystEvent):
    """A random draw that the rules made: its purpose, the options, and the option that was drawn.

    If a number was drawn from a range, `among` has one text that names the range, such as "0 to 5".

    >>> Drawn("tie", ("Ann", "Bob"), "Bob").audience
    'analyst'
    """

    what: str
    among: tuple[str, ...]
    chosen: str


@dataclass(frozen=True, slots=True)
class DrawnOpenly(PublicEvent):
    """A random draw of which everyone learns by the rules of the game; the fields are those of `Drawn`.

    >>> DrawnOpenly("tie", ("Ann", "Bob"), "Bob").audience
    'everyone'
    """

    what: str
    among: tuple[str, ...]
    chosen: str


"""The house, where a bidder would stand."""
HOUSE = ""
ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class Allocated(PublicEvent):
    """A bidder gets units of an item.

    >>> Allocated("Ann", "Harbor View").units
    Decimal('1')
    """

    bidder: str
    item: str
    units: Claim = ONE


@dataclass(frozen=True, slots=True)
class AllocatedSealed(SharedEvent):
    """A bidder gets units of an item, and only the bidders in `seats` learn of it.

    >>> AllocatedSealed(("Ann", "Bob"), "Ann", "wheat", Decimal(3)).sentences("Ann")
    ('You get 3 units of wheat.',)
    """

    bidder: str
    item: str
    units: Claim = ONE

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """Return the sentence that tells the bidder `hearer` of the allocation, which no public event tells."""
        what = self.item if self.units == 1 else f"{self.units:,f} units of {self.item}"
        return (f"You get {what}." if hearer == self.bidder else f"{self.bidder} gets {what}.",)


@dataclass(frozen=True, slots=True)
class Paid(PublicEvent):
    """A payment in dollars for an item; if `fee` is true, the payment is not a price but a fine for a broken rule.

    >>> Paid("Ann", HOUSE, "Vase", Decimal(50)).payee
    ''
    """

    payer: str
    payee: str
    item: str
    amount: Money
    fee: bool = False


@dataclass(frozen=True, slots=True)
class PaidSealed(SharedEvent):
    """A payment of which only the bidders in `seats` learn; the other fields are those of `Paid`.

    >>> PaidSealed(("Ann", "Bob"), "Ann", "Bob", "wheat", Decimal(20)).sentences("Bob")
    ('Ann pays you $20 for wheat.',)
    """

    payer: str
    payee: str
    item: str
    amount: Money
    fee: bool = False

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """Return the sentence that tells the bidder `hearer` of the payment, which no public event tells."""
        amount = dollars(self.amount)
        what = f"a fee of {amount} for a broken rule in {self.item}" if self.fee else f"{amount} for {self.item}"
        if self.payer == HOUSE:
            return (f"You are paid {what}." if hearer == self.payee else f"{self.payee} is paid {what}.",)
        whom = "" if self.payee == HOUSE else " you" if hearer == self.payee else f" {self.payee}"
        return (f"You pay{whom} {what}." if hearer == self.payer else f"{self.payer} pays{whom} {what}.",)


@dataclass(frozen=True, slots=True)
class Worth(AnalystEvent):
    """The true values of items to a bidder, in dollars; if `bidder` is empty, these are their values to every bidder.

    >>> Worth({"Vase": Decimal(80)}, "Ann").audience
    'analyst'
    """

    values: dict[str, Money]
    bidder: str = ""


@dataclass(frozen=True, slots=True)
class Signal(PrivateEvent):
    """The values of items, in dollars, that the rules tell a bidder; if `noisy` is true, they are estimates.

    >>> Signal("Ann", {"wheat": Decimal(20)}).sentences()
    ('Only you know: wheat is worth $20 to you.',)
    """

    values: dict[str, Money]
    noisy: bool = False

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """Return one sentence per item; if the values are estimates, one sentence for all of them."""
        if self.noisy:
            guesses = "; ".join(f"{item} {dollars(guess)}" for item, guess in self.values.items())
            return (f"Only you know your estimates: {guesses}.",)
        return tuple(f"Only you know: {item} is worth {dollars(worth)} to you." for item, worth in self.values.items())
