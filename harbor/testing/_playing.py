"""Shared by the suites: a table of bidders around an extension, a run of it, and the requirements on its log."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from harbor._core.basics.errors import HarborError
from harbor._core.basics.redaction import placed, told
from harbor._core.files.layout import CALLS, EVENTS
from harbor._core.log.acts import Tried
from harbor._core.log.events import EVERYONE, BiddersAsked, Event, LogOpened, SaleClosed, SeatFailed, ThoughtFailed
from harbor._core.log.log import difference, of_type, read_log
from harbor._core.log.log_entries import Entry
from harbor._core.plugins.extensions import Found, Kind, fault
from harbor._core.plugins.finding import GIVEN, everything, use
from harbor._games.game import Game, build
from harbor._games.mechanism import require
from harbor._models.simulated.chat_model import read_facts
from harbor._runs.auction import Auction
from harbor._runs.opening import IDLE_PROFILES
from harbor.graphs._wiring.mind import usual_nodes
from harbor.personas._catalog.catalogue import with_items

MOST_TURNS = 10_000
"""Turns after which a game counts as endless."""
MORE_BIDDERS = ("Ann", "Ben", "Cho", "Dan", "Eve", "Fay")
BIDDERS = MORE_BIDDERS[:3]
OTHER_NUMBERS = (2, 4, 5, 6)
"""Numbers of bidders that are tried in a game that takes no three."""
BUDGET = 6_000
"""Dollars of each bidder: more than both items together are worth."""
PERSONAS = ("urban-dwellers", "rural-home-seekers", "downsizing")
ITEMS = (
    {
        "name": "First House",
        "start": 1_000,
        "true_value": 2_500,
        "listing": "A small house with a garden.",
        "persona": PERSONAS[0],
    },
    {
        "name": "Second House",
        "start": 1_500,
        "true_value": 3_000,
        "listing": "A flat in the middle of town.",
        "persona": PERSONAS[1],
    },
)
THOUGHTS = {"strategy": "on", "theory_of_mind": "second"}
"""Settings with which a bidder has every thought."""
CUTS = 20
"""Pieces of a log, about; each beginning is tried as a log that broke off."""


class Asked(NamedTuple):
    """A model call: its bidder and purpose, the text that the model read, the facts in it, and the reply."""

    bidder: str
    purpose: str
    text: str
    facts: Mapping[str, Any]
    reply: str


class Played(NamedTuple):
    """A run: its log, and the calls of its models."""

    log: Sequence[Entry]
    calls: Sequence[Asked]


def whole(extension: Any, kind: Kind) -> None:
    """Require that an extension is sound and complete, and register it in this process.

    Raises:
        AssertionError: the extension lacks a part, or its name is taken.
    """
    wrong = fault(Found(kind, extension, GIVEN, ""))
    require(not wrong, wrong)
    with promised(f"{kind} {extension.name!r}"):
        if not any(one.value is extension for one in everything(kind)):
            use(extension)


@contextmanager
def promised(what: str) -> Iterator[None]:
    """Raise any refusal or error of the tested extension as a broken promise."""
    try:
        yield
    except AssertionError as error:
        if not str(error):  # somebody's `assert` without a text
            raise AssertionError(f"{what} fails with {placed(error)}") from error
        raise
    except HarborError as error:
        raise AssertionError(f"{what} is refused: {error}") from error
    except Exception as error:
        raise AssertionError(f"{what} fails with {type(error).__name__}: {error}") from error


def names_of(game: Game) -> tuple[str, ...]:
    """Name bidders with which the game can be made: three, else those whom its settings name, else fewer or more."""
    settings = game.settings()
    tables = [tuple(one) for name in type(settings).model_fields if isinstance(one := getattr(settings, name), dict)]
    for names in (BIDDERS, *filter(None, tables), *(MORE_BIDDERS[:number] for number in OTHER_NUMBERS)):
        with suppress(HarborError):
            build(with_items(table(game, seated(names, {"rule": "random"}), {})))
            return names
    return BIDDERS


def table(
    game: Game,
    seats: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Any],
    seed: int = 0,
    personas: Sequence[Mapping[str, Any]] = (),
) -> Auction:
    """Seat bidders in a game with these settings, with personas beside those of the catalogue."""
    items = {"items": ITEMS} if "items" in game.uses else {}
    purse = {"budget": BUDGET} if "budget" in game.uses else {}  # else one that never withdraws would bid for hours
    bidders = [{**purse, **seat} for seat in seats]
    rules = {"game": game.name, **settings}
    return Auction(rules=rules, bidders=bidders, seed=seed, personas=personas, **items)


def seated(bidders: Sequence[str], player: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the settings of bidders that are all played alike."""
    return [{"name": name, **player} for name in bidders]


def thinking(game: Game) -> dict[str, Any]:
    """Return the settings of a bidder that has every thought of a game, except for memories."""
    read = {setting for node in usual_nodes(game) for setting in node.settings}
    return {name: value for name, value in THOUGHTS.items() if name in read}


def played(auction: Auction) -> Played:
    """Run an auction, and require that it ends, that no seat or thought fails, and that its log is read back."""
    with TemporaryDirectory() as place, promised(f"the game {auction.rules.game!r}"):
        folder = Path(place) / "run"
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", f".*{IDLE_PROFILES}")  # calls of a suite cost nothing
            log = auction.run(out=folder, listen=end_of_patience()).log
        read = read_log(folder / EVENTS).entries
        require([one.event for one in read] == [one.event for one in log], "a log that is read back differs")
        lines = (folder / CALLS).read_text(encoding="utf-8").splitlines()
    sound(log)
    return Played(log, [_asked(json.loads(line)) for line in lines])


def end_of_patience() -> Callable[[Entry], None]:
    """Return a listener that ends a game which does not end by itself."""
    turns = count(1)

    def hear(entry: Entry) -> None:
        if isinstance(entry.event, BiddersAsked):
            require(next(turns) <= MOST_TURNS, f"the game has not ended after {MOST_TURNS} turns", entry.event)

    return hear


def sound(log: Sequence[Entry]) -> None:
    """Require that no seat or thought failed, and that the auction came to its end."""
    failures: list[SeatFailed | ThoughtFailed] = [*of_type(log, SeatFailed), *of_type(log, ThoughtFailed)]
    for failure in failures:
        what = f"thought {failure.purpose!r}" if isinstance(failure, ThoughtFailed) else "seat"
        require(False, f"the {what} of {failure.bidder!r} failed", failure.detail)
    require(type(log[-1].event) is SaleClosed, "the auction does not come to its end", log[-1].event)


def legal(log: Sequence[Entry], who: str) -> None:
    """Require that no answer was refused."""
    failed = [(event.bidder, event.reason) for event in of_type(log, Tried)]
    require(not failed, f"{who} gives answers that are not legal", failed)


def equal(log: Sequence[Entry], again: Sequence[Entry], what: str = "two equal runs") -> None:
    """Require that two logs are equal except for clocks; the first event is skipped, as it has the token of its run."""
    for one, other in zip(log[1:], again[1:], strict=False):
        require(not difference(one.event, other.event), f"{what} differ", difference(one.event, other.event))
    require(len(log) == len(again), f"{what} give logs of different lengths", (len(log), len(again)))


def public(log: Sequence[Entry]) -> list[Entry]:
    """Return the events of a log that its public version has."""
    opened = replace(of_type(log, LogOpened)[0], seed=None)
    told = [opened, *(entry.event for entry in log if entry.event.audience == EVERYONE)]
    return [Entry(number, 0.0, event) for number, event in enumerate(told)]


def cuts(log: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    """Yield beginnings of a log, as if the run had stopped after each, and the whole log last."""
    for end in range(1, len(log), max(1, len(log) // CUTS)):
        yield log[:end]
    yield log


def thinkers(game: Game, bidders: Sequence[str] = (), **mind: Any) -> list[dict[str, Any]]:
    """Return the settings of bidders with personas and every thought of a game, or with the thoughts given."""
    names = bidders or names_of(game)
    given = mind or thinking(game)
    return [{"name": name, "persona": persona, **given} for name, persona in zip(names, cycle(PERSONAS), strict=False)]


_HELD: dict[str, tuple[Game, Auction, Sequence[Entry]]] = {}
"""An auction of each installed game, by its name, with its log."""
_UNPLAYED: dict[str, str] = {}
"""The reason why an installed game could not be played, by its name."""


def held() -> Iterator[tuple[Auction, Sequence[Entry]]]:
    """Yield an auction and its log for each installed game that can be played here; each is run once per process."""
    for one in everything("game"):
        game: Game = one.value
        if one.name not in _HELD or _HELD[one.name][0] is not game:
            for kept in (_HELD, _UNPLAYED):
                kept.pop(one.name, None)
            try:
                auction = table(game, thinkers(game), {}, seed=1)
                _HELD[one.name] = game, auction, auction.run().log
            except Exception as error:  # another's game may need settings that only its author knows, or break
                _UNPLAYED[one.name] = told(error)
        if one.name in _HELD:
            yield _HELD[one.name][1:]


def unplayed(kinds: tuple[type[Event], ...]) -> str:
    """Say which installed games open with such events and can't be played by the suites, and why; empty if none."""
    games = [one.value for one in everything("game") if one.name in _UNPLAYED and issubclass(one.value.opening, kinds)]
    return "; ".join(f"the game {one.name!r} can't be played here ({_UNPLAYED[one.name]})" for one in games)


def _asked(call: Mapping[str, Any]) -> Asked:
    text = "\n".join(call["prompt"])
    return Asked(call["bidder"], call["purpose"], text, read_facts(text), call["reply"])
