"""The conformance suite for rules, and the replay of another implementation's records by the rules of a game."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from random import Random
from typing import Any, NamedTuple

from pydantic import ValidationError

from harbor._config.auction import AuctionConfig
from harbor._core.asking.asks import Action, Ask, Bid, Withdraw
from harbor._core.basics.errors import ConfigError
from harbor._core.log.events import ANALYST, EVERYONE, Event, LotClosed, SaleClosed
from harbor._core.log.log_entries import Entry, decode, encode, named
from harbor._core.plugins.finding import find
from harbor._doors.door import first_fault
from harbor._games.game import Game, build
from harbor._games.mechanism import Chance, Mechanism, Shown, acts_of, drawn, fold, require, settled
from harbor._house.auctioneer import announce
from harbor.personas._catalog.catalogue import with_items


def check_rules(
    rules: Mechanism[Any],
    games: int = 20,
    most_turns: int = 10_000,
    seed: int = 0,
    acts: Shown = "sealed",
    draws: Shown = "sealed",
) -> None:
    """Check that the rules of a game work as `Mechanism` demands, in games of random legal play.

    Nobody may be asked before the game opens or after it ends. In a turn, each bidder is asked at most once, and all
    for the same item and round. The actions at the bounds of an ask have to be legal, and actions beyond the bounds
    have to be refused. The state of the game has to follow from the events alone, also if they are written to a log and
    read. Equal states, actions and random draws have to give equal events, whatever the order of the answers. No method
    of the rules may change its arguments. Every game has to end. The auctioneer must not say a private event aloud.

    Whether the private facts of a bidder stay secret is tested by `check_game`, because the rules alone don't say which
    facts belong to one bidder.

    Args:
        rules: the rules of any game.
        games: the number of games that are played.
        most_turns: the number of turns within which a game has to end.
        seed: the seed of the random play.
        acts: "open" if everyone learns of an act at once, else "sealed"; as in `Game`.
        draws: "open" if everyone learns of random draws at once, else "sealed"; as in `Game`.

    Raises:
        AssertionError: one of these checks fails; the message says which one, and shows the evidence.
    """
    for number in range(games):
        events = _play(rules, Random(f"{seed} {number}"), most_turns, acts, draws)
        require(fold(rules, _read_back(events)) == fold(rules, events), "a log read back gives another state", events)


def _play(rules: Mechanism[Any], rng: Random, most_turns: int, acts: Shown, draws: Shown) -> list[Event]:
    state = rules.start()
    require(not rules.asks(state), "somebody is asked before the doors open", rules.asks(state))
    _, events, state = settled(rules, state, {}, rng, acts, draws)
    turns = 0
    while asks := rules.asks(state):
        turns += 1
        require(turns <= most_turns, f"the game has not ended after {most_turns} turns", asks)
        _check_asks(asks)
        told, happened, state = settled(rules, state, {ask.bidder: drawn(ask, rng) for ask in asks}, rng, acts, draws)
        require(bool(happened), "nothing follows from the actions", asks)
        events += [*told, *happened]
    require(not rules.asks(rules.apply(state, SaleClosed())), "somebody is asked after the end", state)
    require(fold(rules, events) == state, "the state is not the fold of the events", state)
    for event in events:
        if event.audience not in (ANALYST, EVERYONE):
            require(announce(event) == "", "a private event is said aloud", event)
    return events


def _check_asks(asks: Sequence[Ask]) -> None:
    bidders = [ask.bidder for ask in asks]
    require(len(set(bidders)) == len(bidders), "a bidder is asked twice in one turn", asks)
    require(len({(ask.item, ask.round) for ask in asks}) == 1, "a turn asks for more than one thing", asks)
    for ask in asks:
        require((ask.attempt, ask.refusal) == (1, ""), "the rules ask again, which the auctioneer does", ask)
        _check_space(ask)


def _check_space(ask: Ask) -> None:
    for action in ask.space.edges():
        require(not ask.space.refusal(action), f"the bound {action} of an ask is not legal", ask)
        words = ask.space.say(action)
        require(ask.space.read(words, ask.item) == action, f"{words!r} is not read as what was said", ask)
    for action in ask.space.beyond():
        require(bool(ask.space.refusal(action)), f"{action} is beyond the bounds of an ask and is legal", ask)


def _read_back(events: Sequence[Event]) -> Iterator[Event]:
    """Write each event to a line, read it again and yield it."""
    for event in events:
        line, _ = encode(Entry(0, 0.0, event), "")
        try:
            read = decode(line, "", named([type(event)]))[0].event
        except ValueError as error:
            why = first_fault(error) if isinstance(error, ValidationError) else error
            raise AssertionError(
                f"{event!r} can't be read back from a log ({why}); give each field what its type says, and dollars in"
                " whole cents"
            ) from error
        require(read == event, "an event read back from the log is not the event that was written", event)
        yield read


MOST_DRAWS = 500
"""Draws of a tie that are tried to find the recorded result."""
BID, OUTCOME = {"item", "round", "attempt", "bidder", "bid"}, {"item", "winners", "price"}
"""The columns of the record of a bid, and of an outcome."""

Row = Mapping[str, Any]
Bids = dict[str, list[Decimal | None]]
"""The bids of a round by bidder, attempt by attempt; None is a withdrawal."""


class Difference(NamedTuple):
    """A place where the records differ from the result of Harbor's rules.

    The place is an item, a round (0: the end of the item) and `what`, such as "price". `expected` is the result of
    Harbor's rules there, and `found` is the record.
    """

    item: str
    round: int
    what: str
    expected: str
    found: str


def replay(game: AuctionConfig, records: Iterable[Row]) -> list[Difference]:
    """Play again, by Harbor's rules, the bids that another implementation of a game recorded; return the differences.

    Each record is a row, which tells either a bid or the outcome of an item. A bid has `item`, `round` (1 if left out),
    `bidder`, `bid` (None if the bidder withdrew) and, if the bidder was asked more than once in the round, the number
    of the `attempt`. An outcome has `item`, `winners` (one name, several names, or None) and, if the price is to be
    compared, `price`. An empty cell (None, "" or NaN) counts as left out. Items are named as in Harbor: "run 1" in a
    game of runs, and "day 1" in the water game, in which the winners are the bidders that got water.

    If Harbor's rules draw at random among equal bidders, any result of the draw that fits the records is accepted. If
    the rules ask other bidders in a round than those in the records, the comparison ends with that round.

    >>> from harbor import Auction, Bidder, Item
    >>> game = Auction(
    ...     items=[Item(name="Vase", start=100, true_value=300)],
    ...     bidders=[Bidder(name="Ann", rule="random", budget=500), Bidder(name="Ben", rule="random", budget=500)],
    ... )
    >>> records = [
    ...     {"item": "Vase", "round": 1, "bidder": "Ann", "bid": 120},
    ...     {"item": "Vase", "round": 1, "bidder": "Ben", "bid": 150},
    ...     {"item": "Vase", "round": 2, "bidder": "Ann", "bid": None},
    ...     {"item": "Vase", "winners": "Ben", "price": 120},
    ... ]
    >>> replay(game, records)
    [Difference(item='Vase', round=0, what='price', expected='150', found='120')]

    Args:
        game: the settings of the game: items or values, bidders, budgets and rules. It does not matter who plays the
            bidders.
        records: the rows, in any order.

    Raises:
        ConfigError: the settings are refused, or a row has an unknown column, lacks its item, or has a bid or price
            that is no number.
    """
    config = with_items(game)
    rules: Game = find("game", config.rules.game)
    return list(_Replay(build(config), config.rules.reasks, records, rules.acts).differences())


class _Replay:
    def __init__(self, rules: Mechanism[Any], reasks: int, records: Iterable[Row], acts: Shown) -> None:
        self.rules, self.reasks, self.acts = rules, reasks, acts
        self.rounds: dict[tuple[str, int], Bids] = {}
        self.outcomes: dict[str, Row] = {}
        for number, row in enumerate(records, start=1):
            self._take(number, row)

    def _take(self, number: int, row: Row) -> None:
        given = _cells(number, row)
        if "bidder" not in given:
            if "price" in given:
                given["price"] = _amount(number, given["price"])
            self.outcomes[given["item"]] = given
            return
        bids = self.rounds.setdefault((given["item"], _count(number, given.get("round", 1))), {})
        attempts = bids.setdefault(given["bidder"], [])
        amount = _amount(number, given["bid"]) if "bid" in given else None
        attempts.insert(_count(number, given.get("attempt", len(attempts) + 1)) - 1, amount)

    def differences(self) -> Iterator[Difference]:
        """Play the game as recorded; yield each difference."""
        state = self.rules.start()
        events = self.rules.settle(state, {}, Chance(Random(0)))
        while True:
            for event in events:
                state = self.rules.apply(state, event)
                if isinstance(event, LotClosed):
                    yield from self._compared(event)
            asks = self.rules.asks(state)
            if not asks:
                break
            bids = self.rounds.pop((asks[0].item, asks[0].round), {})
            if set(bids) != {ask.bidder for ask in asks}:
                yield _difference(asks[0], "bidders asked", sorted(ask.bidder for ask in asks), sorted(bids))
                return
            for ask in asks:
                yield from self._refused(ask, bids[ask.bidder])
            actions = {ask.bidder: _action(ask, bids[ask.bidder]) for ask in asks}
            for act in acts_of(asks, actions, self.acts):
                state = self.rules.apply(state, act)
            events = self._settled(state, actions)
        for (item, round_), bids in self.rounds.items():
            yield Difference(item, round_, "bidders asked", "[]", str(sorted(bids)))
        for item, row in self.outcomes.items():
            yield Difference(item, 0, "item", "not in this game", f"won by {list(_names(row.get('winners')))}")

    def _refused(self, ask: Ask, attempts: Sequence[Decimal | None]) -> Iterator[Difference]:
        """Yield the attempts that one implementation refuses and the other takes."""
        for number, amount in enumerate(attempts, start=1):
            refusal = "" if amount is None else ask.space.refusal(Bid(amount))
            last = number == len(attempts)
            what = f"attempt {number} of {ask.bidder}"
            if refusal and last and number <= self.reasks:
                yield _difference(ask, what, f"refused: {refusal}", f"{amount} is taken")
            if not refusal and not last:
                yield _difference(ask, what, "taken", f"{amount} is refused")

    def _settled(self, state: Any, actions: Mapping[str, Action]) -> list[Event]:
        """Settle with a draw that gives the recorded result, if there is one; else with the first draw."""
        draws = (self.rules.settle(state, actions, Chance(Random(draw))) for draw in range(MOST_DRAWS))
        first = next(draws)
        return first if self._fits(state, first) else next((e for e in draws if self._fits(state, e)), first)

    def _fits(self, state: Any, events: Sequence[Event]) -> bool:
        for event in events:
            state = self.rules.apply(state, event)
            if isinstance(event, LotClosed) and any(self._compared(event, peek=True)):
                return False
        asks = self.rules.asks(state)
        return not asks or {ask.bidder for ask in asks} == set(self.rounds.get((asks[0].item, asks[0].round), {}))

    def _compared(self, closed: LotClosed, peek: bool = False) -> Iterator[Difference]:
        """Compare the outcome of an item with its record, if it has one."""
        row = self.outcomes.get(closed.item) if peek else self.outcomes.pop(closed.item, None)
        if row is None:
            return
        winners, price = winners_of(closed), getattr(closed, "price", None)
        if sorted(winners) != sorted(_names(row.get("winners"))):
            yield Difference(closed.item, 0, "winners", str(list(winners)), str(list(_names(row.get("winners")))))
        if "price" in row and price is not None and row["price"] != price:
            yield Difference(closed.item, 0, "price", f"{price:f}", f"{row['price']}")


def _action(ask: Ask, attempts: Sequence[Decimal | None]) -> Action:
    amount = attempts[-1]
    if amount is None:
        return Withdraw()
    return Withdraw("failed bids", amount) if ask.space.refusal(Bid(amount)) else Bid(amount)


def winners_of(closed: LotClosed) -> Sequence[str]:
    """Return the names of the winners, from the field of the event that Harbor's games have."""
    found = (getattr(closed, name, None) for name in ("winners", "served", "winner"))
    return _names(next((one for one in found if one is not None), None))


def _names(given: Any) -> Sequence[str]:
    return (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Collection) else ()


def _cells(number: int, row: Row) -> dict[str, Any]:
    """Return the cells of a row that are not empty.

    Raises:
        ConfigError: it is no row, or has a column that its kind of row does not have, or no item.
    """
    if not isinstance(row, Mapping):
        raise ConfigError(
            f"record {number} is {row!r}, which is no row; give rows by column (of a data frame: to_dict('records'))"
        )
    given = {name: value for name, value in row.items() if _is_given(value)}
    known = BID if "bidder" in given else OUTCOME
    strange = sorted(given.keys() - (BID | OUTCOME), key=str) or sorted(given.keys() - known)
    if strange or "item" not in given:
        what = f"has {strange[0]!r}" if strange else "has no item"
        raise ConfigError(
            f"record {number} {what}; columns of a bid: {_listed(BID)}; of an outcome: {_listed(OUTCOME)}"
        )
    return given


def _listed(columns: Collection[str]) -> str:
    return ", ".join(sorted(columns))


def _is_given(value: Any) -> bool:
    """Say whether a cell is not empty; an empty one is "" in a table, and NaN or NA in a data frame."""
    if value is None or isinstance(value, str):
        return bool(value)
    try:
        return bool(value == value)
    except ValueError:  # an array of names
        return True
    except TypeError:  # pandas.NA
        return False


def _amount(number: int, given: Any) -> Decimal:
    try:
        amount = Decimal(str(given))
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise ConfigError(f"record {number} has {given!r}, which is no number; write one, or None")
    return amount


def _count(number: int, given: Any) -> int:
    amount = _amount(number, given)
    if amount < 1 or amount % 1:
        raise ConfigError(f"record {number} has {given!r}, which counts nothing; rounds and attempts are 1, 2, ...")
    return int(amount)


def _difference(ask: Ask, what: str, expected: object, found: object) -> Difference:
    return Difference(ask.item, ask.round, what, str(expected), str(found))
