"""The conformance suite for rules: call it in a test of rules that you write."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from random import Random
from typing import Any

from harbor._core.asks import Ask
from harbor._core.events import ANALYST, EVERYONE, Event, SaleClosed
from harbor._core.log_lines import Entry, decode, encode, named
from harbor._games.mechanism import Mechanism, fold, violation
from harbor._games.purity import drawn, require, settled
from harbor._house.auctioneer import announce, call

Secrets = Mapping[str, Collection[object]]
"""By bidder, the values that only this bidder may see: no other bidder may find them in events, asks or words."""


def check_rules(
    rules: Mechanism[Any], secrets: Secrets | None = None, games: int = 20, most_turns: int = 10_000, seed: int = 0
) -> None:
    """Check that rules keep the promises of `Mechanism`, in games of random legal play.

    Nobody is asked before the opening or after the end. Every ask is legal. The state is the fold of the events, also
    of events read back from a log. Equal states, actions and ties give equal events, in whatever order the answers
    arrive. No argument is changed. Every game ends. Secrets stay secret.

    Args:
        rules: of any game.
        secrets: what others must not see; use amounts that occur nowhere else, such as $55.37.
        games: how many games to play.
        most_turns: the number of turns within which a game must end.
        seed: of the random play.

    Raises:
        AssertionError: it names the broken promise and the evidence.
    """
    for number in range(games):
        events = _play(rules, secrets or {}, Random(f"{seed} {number}"), most_turns)
        require(fold(rules, _read_back(events)) == fold(rules, events), "a log read back gives another state", events)


def _play(rules: Mechanism[Any], secrets: Secrets, rng: Random, most_turns: int) -> list[Event]:
    state = rules.start()
    require(not rules.asks(state), "somebody is asked before the doors open", rules.asks(state))
    events, state = settled(rules, state, {}, rng)
    turns = 0
    while asks := rules.asks(state):
        turns += 1
        require(turns <= most_turns, f"the game has not ended after {most_turns} turns", asks)
        _check_asks(asks, secrets)
        happened, state = settled(rules, state, {ask.bidder: drawn(ask, rng) for ask in asks}, rng)
        require(bool(happened), "nothing follows from the actions", asks)
        events += happened
    require(not rules.asks(rules.apply(state, SaleClosed())), "somebody is asked after the end", state)
    require(fold(rules, events) == state, "the state is not the fold of the events", state)
    _check_secrets(events, secrets)
    return events


def _check_asks(asks: Sequence[Ask], secrets: Secrets) -> None:
    bidders = [ask.bidder for ask in asks]
    require(len(set(bidders)) == len(bidders), "a bidder is asked twice in one turn", asks)
    require(len({(ask.item, ask.round) for ask in asks}) == 1, "a turn asks for more than one thing", asks)
    for ask in asks:
        require((ask.attempt, ask.refusal) == (1, ""), "the rules ask again, which the auctioneer does", ask)
        _check_space(ask)
        for other, values in secrets.items():
            if other != ask.bidder:
                _require_hidden(values, _values(ask), call(ask), ask)


def _check_space(ask: Ask) -> None:
    for action in ask.space.edges():
        require(not violation(ask, action), f"the bound {action} of an ask is not legal", ask)
        words = ask.space.say(action)
        require(ask.space.read(words, ask.item) == action, f"{words!r} is not read as what was said", ask)
    for action in ask.space.beyond():
        require(bool(violation(ask, action)), f"{action} is beyond the bounds of an ask and is legal", ask)


def _check_secrets(events: Sequence[Event], secrets: Secrets) -> None:
    for event in events:
        for owner, values in secrets.items():
            if event.audience not in (ANALYST, f"bidder:{owner}"):
                _require_hidden(values, _values(event), announce(event), event)
        if event.audience not in (ANALYST, EVERYONE):
            require(announce(event) == "", "a private event is said aloud", event)


def _require_hidden(values: Collection[object], shown: Collection[object], words: str, where: object) -> None:
    for value in values:
        require(value not in shown and str(value) not in words, f"the secret {value!r} can be seen by another", where)


def _values(found: object) -> list[object]:
    """List every value that is in an event, however deep."""
    if is_dataclass(found) and not isinstance(found, type):
        return [value for field in fields(found) for value in _values(getattr(found, field.name))]
    if isinstance(found, Mapping):
        return [value for pair in found.items() for part in pair for value in _values(part)]
    if isinstance(found, list | tuple | set | frozenset):
        return [value for part in found for value in _values(part)]
    return [found]


def _read_back(events: Sequence[Event]) -> Iterator[Event]:
    """Write each event to a line and read it again."""
    for event in events:
        line, _ = encode(Entry(0, 0.0, event), "")
        read = decode(line, "", named([type(event)]))[0].event
        require(read == event, "an event read back from the log is not the event that was written", event)
        yield read
