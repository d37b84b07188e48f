"""The Water Allocation Challenge: each day, residents make sealed bids for the water they need to stay alive.

Source: Alympics (Mao et al. 2024), sec. 3 and 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from harbor._config.rules import RuleSettings
from harbor._core.asking.amounts import Amount
from harbor._core.asking.asks import Action, Ask, Bid, Withdraw
from harbor._core.basics.numbers import CENT, Money, dollars
from harbor._core.log.acts import HOUSE, Acted, Allocated, Paid
from harbor._core.log.events import Event, LotClosed, LotOpened, PublicEvent
from harbor._core.settings import Dollars, Name, Settings
from harbor._games.mechanism import Chance


def _bounds(given: Any) -> Any:
    """Return two bounds of the supply, from bounds or from the name of a supply."""
    if isinstance(given, str):
        if given not in SUPPLIES:
            raise ValueError("is not a supply; choose low, medium or high, or give two bounds")
        return SUPPLIES[given]
    return given


def _in_order(bounds: tuple[int, int]) -> tuple[int, int]:
    if bounds[0] > bounds[1]:
        raise ValueError(f"runs from {bounds[0]} down to {bounds[1]}; put the lower bound first")
    return bounds


Units = Annotated[int, Field(ge=0, le=10**6)]


class Resident(Settings):
    """The daily need and the daily salary of a resident.

    Attributes:
        need: Units of water that the resident needs each day.
        salary: Dollars that the resident is paid each day.
    """

    need: int = Field(ge=1, le=10**6)
    salary: Dollars


RESIDENTS = {
    "Alex": Resident(need=8, salary=Decimal(70)),
    "Bob": Resident(need=9, salary=Decimal(75)),
    "Cindy": Resident(need=10, salary=Decimal(100)),
    "David": Resident(need=11, salary=Decimal(120)),
    "Eric": Resident(need=12, salary=Decimal(120)),
}
SUPPLIES = {"low": (10, 20), "medium": (15, 25), "high": (20, 30)}
"""Least and greatest supply of a day in units, by name."""


class WaterRules(RuleSettings):
    """The settings of the Water Allocation Challenge.

    Attributes:
        days: Number of days.
        supply: The range from which the supply of each day is drawn: "low", "medium", "high", or two bounds in units,
            both included.
        supplies: The supply of each day in units, if it is not to be drawn.
        history: Number of past days that a resident is shown, or "all".
        residents: The need and the salary of each bidder, by the bidder's name.

    Source: Alympics (Mao et al. 2024), sec. 3 and 4.
    """

    public: ClassVar[frozenset[str]] = RuleSettings.public | frozenset({"days", "history"})

    game: str = "water"
    days: int = Field(20, ge=1, le=1_000)
    supply: Annotated[tuple[Units, Units], BeforeValidator(_bounds), AfterValidator(_in_order)] = SUPPLIES["medium"]
    supplies: Annotated[tuple[Units, ...], Field(min_length=1)] | None = None
    history: Annotated[int, Field(ge=0)] | Literal["all"] = 5
    residents: Annotated[dict[Name, Resident], Field(min_length=1)] = RESIDENTS

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest supply of a day in units."""
        if self.supplies:
            return min(self.supplies), max(self.supplies)
        return self.supply

    @model_validator(mode="after")
    def _one_supply_per_day(self) -> WaterRules:
        if self.supplies and self.supply != WaterRules.model_fields["supply"].default:
            raise ValueError(f"supplies fix each day, so supply {list(self.supply)} is not used; drop one")
        if self.supplies and len(self.supplies) != self.days:
            raise ValueError(f"supplies has {len(self.supplies)} days, but days is {self.days}; make them equal")
        return self


HEALTH_AT_FIRST, MOST_HEALTH, HEALTH_OF_WATER = 8, 10, 2
"""Health at the start, greatest health, and gain of health on a day with water, in points."""
MOST_OFFERED = Decimal(10**12)
"""The greatest bid above the balance, in dollars, that is made public."""


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a resident: its health (0: it is dead), its balance in dollars, and `dry`.

    `dry` is the health that the resident loses on the next day on which it gets no water.
    """

    health: int
    balance: Money
    dry: int


# ---------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class WaterOpened(PublicEvent):
    """The game begins: the residents' needs and salaries, the number of days, and the range and mean of daily supply.

    `history` is the number of past days that a resident is shown (None: all past days).
    """

    needs: dict[str, int]
    salaries: dict[str, Money]
    days: int
    least_supply: int
    most_supply: int
    mean_supply: float
    history: int | None = 5

    @property
    def bidders(self) -> tuple[str, ...]:
        """The residents."""
        return tuple(self.needs)

    @property
    def words(self) -> str:
        """The rules in words."""
        return " ".join(self.sentences())

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """The rules, part by part."""
        people = "; ".join(
            f"{name} needs {need} units a day and earns {dollars(self.salaries[name])}"
            for name, need in self.needs.items()
        )
        return (
            f"Welcome. The aim is to be alive after {self.days} days without rain.",
            f"{people}.",
            f"Each day {self.least_supply} to {self.most_supply} units of water are supplied, {self.mean_supply:g} on "
            "average.",
            "Each day you seal one bid for all the water that you need.",
            "The highest bid is served first, then the next one whose need still fits what is left, and so on; of "
            "equal bids, the smaller need is served first; if these are equal too, the lot decides.",
            f"A resident that is served pays its bid and gains {HEALTH_OF_WATER} health, up to {MOST_HEALTH}.",
            "A resident that is not served pays nothing and loses health: 1 on the first dry day in a row, 2 on the "
            "second, and so on.",
            f"Everybody begins with {HEALTH_AT_FIRST} health and $0, before the first salary; at 0 health you are "
            "eliminated, and all your money is lost.",
            "A bid of $0 can be served; if you withdraw, you are not served that day.",
            "After the water is allocated, all bids, healths and balances are made public.",
            "A bid that stays above your balance cannot win, and is made public all the same.",
        )


@dataclass(frozen=True, slots=True)
class DayOpened(LotOpened):
    """A day begins: salaries are paid, and the supply is known."""

    supply: int

    @property
    def words(self) -> str:
        """The supply."""
        return f"{self.item.capitalize()} begins: salaries are paid, and {self.supply} units of water are supplied."


@dataclass(frozen=True, slots=True)
class DayClosed(LotClosed):
    """A day ends: the event names the residents that get water, and the status of each that was alive that day."""

    served: tuple[str, ...]
    statuses: dict[str, Status]

    @property
    def words(self) -> str:
        """The served residents and all statuses."""
        return " ".join(self.sentences())

    def sentences(self, hearer: str = "") -> tuple[str, ...]:
        """The served residents and all statuses; an eliminated hearer is addressed directly."""
        served = f"{' and '.join(self.served)} {'is' if len(self.served) == 1 else 'are'} served."
        statuses = [self._status(name, hearer) for name in self.statuses]
        return (served if self.served else "Nobody is served.", *statuses)

    def _status(self, name: str, hearer: str) -> str:
        status = self.statuses[name]
        if not status.health:
            return "You are eliminated, and out of the game." if name == hearer else f"{name} is eliminated."
        return f"{name} has health {status.health} and {dollars(status.balance)}; a dry day would cost {status.dry}."


# ---------------------------------------------------------------- rules


class WaterState(NamedTuple):
    """The state of the game: the day (0 before the first), its supply, the statuses, and whether bids are awaited."""

    day: int
    supply: int
    statuses: Mapping[str, Status]
    open: bool

    @property
    def living(self) -> list[str]:
        """The residents that are alive, in seat order."""
        return [name for name, status in self.statuses.items() if status.health]


@dataclass(frozen=True)
class Water:
    """The rules of one game.

    Args:
        residents: the need and the salary of each resident, by name in seat order.
        supplies: the supply of each day in units of water.
        bounds: the least and the greatest supply of a day that residents are told.
        mean_supply: the expected supply of a day in units (None: the middle of the bounds).
        history: the number of past days that a resident is shown (None: all).
    """

    residents: Mapping[str, Resident]
    supplies: Sequence[int]
    bounds: tuple[int, int]
    mean_supply: float | None = None
    history: int | None = 5

    def start(self) -> WaterState:
        """Return the state before the first day."""
        return WaterState(0, 0, dict.fromkeys(self.residents, Status(HEALTH_AT_FIRST, Decimal(0), 1)), open=False)

    def asks(self, state: WaterState) -> Sequence[Ask]:
        """Ask each living resident for a bid up to its balance."""
        if not state.open:
            return []
        item = f"day {state.day}"
        return [Ask(name, item, 1, Amount(Decimal(0), state.statuses[name].balance)) for name in state.living]

    def settle(self, state: WaterState, actions: Mapping[str, Action], chance: Chance) -> list[Event]:
        """Allocate the water of the day; open the next day, if there is one and somebody is alive."""
        if not state.day:
            return [self._opened(), self._day(1)]
        events, closed = self._close(state, actions, chance)
        alive = any(status.health for status in closed.statuses.values())
        following = [self._day(state.day + 1)] if alive and state.day < len(self.supplies) else []
        return [*events, closed, *following]

    def apply(self, state: WaterState, event: Event) -> WaterState:
        """Return the state after an event."""
        match event:
            case DayOpened(supply=supply):
                return WaterState(state.day + 1, supply, dict(self._paid(state)), open=True)
            case DayClosed(statuses=statuses):
                return WaterState(state.day, state.supply, {**state.statuses, **statuses}, open=False)
            case _:
                return state

    def _opened(self) -> WaterOpened:
        needs = {name: resident.need for name, resident in self.residents.items()}
        salaries = {name: resident.salary for name, resident in self.residents.items()}
        mean = sum(self.bounds) / 2 if self.mean_supply is None else self.mean_supply
        return WaterOpened(needs, salaries, len(self.supplies), *self.bounds, mean, self.history)

    def _day(self, day: int) -> DayOpened:
        return DayOpened(f"day {day}", self.supplies[day - 1])

    def _paid(self, state: WaterState) -> Iterator[tuple[str, Status]]:
        for name, status in state.statuses.items():
            salary = self.residents[name].salary if status.health else 0
            yield name, Status(status.health, status.balance + salary, status.dry)

    def _close(self, state: WaterState, actions: Mapping[str, Action], chance: Chance) -> tuple[list[Event], DayClosed]:
        """Show all acts and allocate the water; a bid above the balance is shown, but can't win."""
        item = f"day {state.day}"
        acts = {name: _shown(actions.get(name, Withdraw()), state.statuses[name].balance) for name in state.living}
        bids = {name: act.amount for name, act in acts.items() if isinstance(act, Bid)}
        served = self._allocate(bids, state.supply, chance)
        events: list[Event] = [Acted(name, item, act) for name, act in acts.items()]
        for name in served:
            events.append(Allocated(name, item, Decimal(self.residents[name].need)))
            events.append(Paid(name, HOUSE, item, bids[name]))
        paid = {name: bids[name] for name in served}
        statuses = {name: after(state.statuses[name], paid.get(name)) for name in acts}
        return events, DayClosed(item, served, statuses)

    def _allocate(self, bids: Mapping[str, Decimal], supply: int, chance: Chance) -> tuple[str, ...]:
        """Serve bids from the highest down if the need still fits. Equal bids: the smaller need first, then by lot."""
        needs = {name: self.residents[name].need for name in bids}
        left, served = list(bids), []
        while left:
            rank = min((-bids[name], needs[name]) for name in left)
            name = chance.pick("who is served first", [one for one in left if (-bids[one], needs[one]) == rank])
            left.remove(name)
            if needs[name] <= supply:
                supply -= needs[name]
                served.append(name)
        return tuple(served)


def after(status: Status, paid: Decimal | None) -> Status:
    """Return the status after a day: with water at the price paid in dollars, or without water (None)."""
    if paid is None:
        return Status(max(0, status.health - status.dry), status.balance, status.dry + 1)
    return Status(min(MOST_HEALTH, status.health + HEALTH_OF_WATER), status.balance - paid, 1)


def _shown(action: Action, balance: Decimal) -> Action:
    """Return the public form of an act: a withdrawal keeps its last failed bid only if it was above the balance."""
    if not isinstance(action, Withdraw):
        return action
    offered = action.offered
    is_over = offered is not None and balance < offered <= MOST_OFFERED and not offered % CENT
    return Withdraw(action.reason, offered) if is_over else Withdraw()
