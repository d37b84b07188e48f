"""Audits secrecy: changes each secret of each bidder in turn; all others must be told exactly the same.

This is non-interference: a bidder that acts as before may have other money, aims, thoughts and memories, and nobody
else can tell. The items of the settings are listed before the audit. The built-in model and scripts replace other
players. Of the draws with which a game is built, one is changed at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial, wraps
from random import Random
from typing import Any, Literal

from harbor._audit.changes import bid_changes, changes, kept_otherwise
from harbor._audit.secrets import SECRETS
from harbor._audit.tape import OF_THE_HOUSE, Tape
from harbor._audit.taped_games import NOTHING_CHANGED, Change, Difference, differences, hold
from harbor._config.auction import AuctionConfig, Bidder, Houses
from harbor._config.models import BUILT_IN, ModelSettings
from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.plugins.finding import find
from harbor._games.game import build
from harbor._games.mechanism import Mechanism
from harbor._house.compared_log import fields_of
from harbor._runs.inputs import RunInputs, anybody_remembers
from harbor._runs.resolve import ResolvedAuction, resolve
from harbor.personas._catalog.catalogue import with_items

HASHING = "hashing"
"""The embedding of an audited game, which needs no model."""


def prepared(config: AuctionConfig, trusted: bool = True) -> tuple[AuctionConfig, list[str]]:
    """Return settings of a game that contacts nobody and writes nothing, and sentences that list the replacements.

    Args:
        config: the settings.
        trusted: whether agents that they name may be loaded.
    """
    notes = []
    bidders, models = [], {}
    for bidder in config.bidders:
        seated, why = _seated(bidder, trusted)
        notes += [why] if why else []
        if seated.uses_model:
            settings = config.models.get(bidder.model) or ModelSettings(use=bidder.model)
            if settings.use != BUILT_IN:
                notes.append(f"{bidder.name}: the built-in model plays in place of {bidder.model!r}")
            seated = seated.model_copy(update={"model": f"model of {bidder.name}"})
            models[seated.model] = ModelSettings(repairs=settings.repairs, simulated=settings.simulated)
        bidders.append(seated)
    memory = config.memory.model_copy(update={"store": None, "embedding": HASHING})
    if config.memory.embedding != HASHING:
        notes.append(f"memories are found by hashing in place of {config.memory.embedding!r}")
    if config.memory.store is not None:
        notes.append(f"the memories in {config.memory.store!r} are not opened; memories begin empty")
    if config.series is not None:
        notes.append("of the series, as many auctions are held as a secret needs: two where memories are audited")
    changes = {"bidders": tuple(bidders), "models": models, "memory": memory, "series": None}
    ready = config.model_copy(update=changes)
    return with_items(ready) if isinstance(ready.items, Houses) else ready, notes


def _seated(bidder: Bidder, trusted: bool) -> tuple[Bidder, str]:
    """Return the bidder, or one with a script if no player is there, and a sentence about the replacement."""
    if isinstance(bidder.agent, str) and trusted:
        return bidder, ""
    if not bidder.agent and not bidder.person:
        return bidder, ""
    agent = "your agent" if bidder.agent is True else f"the agent {str(bidder.agent)!r}"
    whom = "a person" if bidder.person else agent
    scripted = bidder.model_copy(update={"agent": False, "person": False, "rule": "rational"})
    return scripted, f"{bidder.name}: the rule 'rational' plays in place of {whom}"


Status = Literal["equal", "leak", "disclosed", "not compared", "not in this game"]
HOUSE = "the house"
"""The owner of a secret that belongs to no bidder."""


@dataclass(frozen=True, slots=True)
class Row:
    """Whether the bidder `seat` learned a secret of `whose`: of another bidder, or of the house.

    `seat` is empty if the game has no such secret. `compared` of `events` public events were compared, and `until` says
    why the comparison ended there. "disclosed" means that the settings tell this seat the secret. "not compared" means
    that the first public event already depends on the secret.
    """

    secret: str
    whose: str
    seat: str
    status: Status
    compared: int = 0
    events: int = 0
    until: str = ""
    channel: str = ""
    before: str = ""
    now: str = ""


@dataclass(frozen=True, slots=True)
class Audit:
    """The rows of an audit, and `notes` of the players and stores that were replaced for it."""

    name: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]

    @property
    def leaks(self) -> list[Row]:
        """The rows whose secret reached another seat."""
        return [row for row in self.rows if row.status == "leak"]

    @property
    def compared(self) -> list[Row]:
        """The rows of seats that were compared."""
        return [row for row in self.rows if row.seat and row.status != "not compared"]

    def as_json(self) -> dict[str, Any]:
        """Return the audit as JSON."""
        rows = [asdict(row) for row in self.rows]
        return {"name": self.name, "leaks": len(self.leaks), "rows": rows, "notes": list(self.notes)}


async def audit(config: AuctionConfig, secrets: Collection[str] = (), trusted: bool = True) -> Audit:
    """Audit the secrecy of a game.

    Args:
        config: its settings.
        secrets: the kinds of secrets to change (none: all).
        trusted: whether agents that the settings name may be loaded.

    Raises:
        ConfigError: a setting is refused, there is no such secret, or two equal games differ.
    """
    for secret in secrets:
        if secret not in SECRETS:
            raise ConfigError(unknown("secret", secret, SECRETS))
    ready, notes = prepared(config, trusted)
    base = await _base(ready)
    rows: list[Row] = []
    for change in _changes(ready, base[0], secrets or SECRETS):
        rows += await _changed(ready, base, change)
    rows += _absent(ready, rows, secrets or SECRETS)
    return Audit(config.name, tuple(sorted(rows, key=_place)), tuple(notes))


async def _base(config: AuctionConfig) -> list[Tape]:
    """Hold the game twice, as only a game that repeats itself can be audited.

    Raises:
        ConfigError: the two games differ.
    """
    auctions = 2 if anybody_remembers(config) else 1
    first, second = [await hold(config, auctions) for _ in range(2)]
    for one, other in zip(first, second, strict=True):
        found = differences(one, other, NOTHING_CHANGED, [bidder.name for bidder in config.bidders])
        for seat, difference in found.items():
            raise ConfigError(
                f"config {config.name!r} can't be audited: two equal games differ in a {difference.channel} of {seat!r}"
                f" ({difference.before!r}, then {difference.now!r}); use agents that answer alike"
            )
    return first


def _changes(config: AuctionConfig, base: Tape, secrets: Collection[str]) -> Iterator[Change]:
    auction, game = resolve(config, RunInputs()), find("game", config.rules.game)
    names = [bidder.name for bidder in config.bidders]
    rules: Mechanism[Any] = auction.rules
    for change in (*changes(auction, game, base), *bid_changes(rules, base, names)):
        if change.kind in secrets:
            yield change


async def _changed(config: AuctionConfig, base: Sequence[Tape], change: Change) -> list[Row]:
    """Hold the game with a secret changed, and return a row for each other seat."""
    auctions = len(base) if change.kind == "memory" else 1
    tapes = await hold(config, auctions, change, base)
    owner = change.owner
    if owner and all(_same(before, now, owner) for before, now in zip(base, tapes, strict=False)):
        return []
    seats = [bidder for bidder in config.bidders if bidder.name != owner]
    rows, compared = [], _compared(base, tapes)
    found: dict[str, Difference] = {}
    for before, now in zip(base, tapes, strict=False):
        found = {**differences(before, now, change, [seat.name for seat in seats]), **found}
    for seat in seats:
        leak = found.get(seat.name)
        told = change.kind == "persona" and seat.theory_of_mind == "true"
        equal: Status = "equal" if compared[0] else "not compared"
        status: Status = equal if leak is None else "disclosed" if told else "leak"
        rows.append(Row(change.kind, owner or HOUSE, seat.name, status, *compared, *_shown(leak)))
    return rows


def _same(before: Tape, now: Tape, owner: str) -> bool:
    """Say whether a change has changed nothing, not even for its owner: then the game has no such secret."""
    return before.said[owner] == now.said[owner] and [one.text for one in before.told[owner]] == [
        one.text for one in now.told[owner]
    ]


def _compared(base: Sequence[Tape], tapes: Sequence[Tape]) -> tuple[int, int, str]:
    """Return the number of public events compared, the number of all, and the type of the event that ended it."""
    events = sum(len(tape.public) for tape in base[: len(tapes)] if tape.public)
    last = tapes[-1]
    before = sum(len(tape.public) for tape in tapes[:-1])
    end = last.differs if last.parted is None else min(last.parted, last.differs or last.parted)
    if end is None:
        return before + len(last.public), events, ""
    if end != last.differs:
        return before + end, events, "an act that is no longer legal"
    first = [tape.public[end] for tape in (base[len(tapes) - 1], last) if end < len(tape.public)]
    until = next((one for one in first if not isinstance(one, OF_THE_HOUSE)), first[0])
    return before + end, events, fields_of(until)["type"]


def _shown(leak: Difference | None) -> tuple[str, str, str]:
    return ("", "", "") if leak is None else (leak.channel, leak.before, leak.now)


def _absent(config: AuctionConfig, rows: Sequence[Row], secrets: Collection[str]) -> list[Row]:
    """List the secrets that a bidder does not have in this game."""
    there = {(row.secret, row.whose) for row in rows}
    names = [bidder.name for bidder in config.bidders]
    return [
        Row(kind, owner, "", "not in this game")
        for kind in secrets
        for owner in ([HOUSE] if kind == "true value" else names)
        if (kind, owner) not in there
    ]


def _place(row: Row) -> int:
    return list(SECRETS).index(row.secret)


def audited(config: AuctionConfig, secrets: Collection[str] = (), trusted: bool = True) -> Audit:
    """Audit the secrecy of a game where no event loop is running; the arguments are those of `audit`."""
    return asyncio.run(audit(config, secrets, trusted))


OF_THE_STATE = ("seed", "getstate", "setstate")
"""Methods of `Random` that draw nothing."""
METHODS = (
    "random",
    "getrandbits",
    *(name for name, one in vars(Random).items() if name[0] != "_" and callable(one) and name not in OF_THE_STATE),
)
"""Methods of `Random` that draw."""
MOST_DRAWS = 30
"""The greatest number of draws that are changed; of more, this many are chosen by lot. Each costs an auction."""
TRIES = 50
"""Attempts to draw another result; a draw from a single option never has one."""


def draw_changes(config: AuctionConfig) -> Iterator[Change]:
    """Yield a change for each draw with which rules are built, and for all draws that they keep in one place.

    The owner of a draw is the one bidder under whose name the rules keep its result, if there is one. A place is one
    bidder's entry in one table of the rules: values are changed together, and apart from lots for ties.
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
    """Build the rules, with other results of the draws of these numbers; return also the number of draws."""
    draws = _Draws(changed)
    with draws.watched():
        return build(config), draws.count


class _Draws:
    """Counts draws, and changes the results of some; later draws come out as before."""

    def __init__(self, changed: Collection[int]) -> None:
        self.count, self._changed, self._inside = 0, changed, False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch every stream, as a foreign game may seed one by itself."""
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
    """Draw from other streams until the result differs; a shuffle changes its argument."""
    before = repr((result, given))
    for seed in range(TRIES):
        other = method(Random(seed), *given, **named)
        if repr((other, given)) != before:
            return other
    return result
