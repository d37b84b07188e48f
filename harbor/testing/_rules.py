"""The conformance suite for rules: call it in a test of rules that you write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from pydantic import ValidationError

from harbor._core.asks import Ask
from harbor._core.events import ANALYST, EVERYONE, Event, SaleClosed
from harbor._core.log_lines import Entry, decode, encode, named
from harbor._doors.given import first_fault
from harbor._games.mechanism import Mechanism, Shown, fold
from harbor._games.purity import drawn, require, settled
from harbor._house.auctioneer import announce


def check_rules(
    rules: Mechanism[Any],
    games: int = 20,
    most_turns: int = 10_000,
    seed: int = 0,
    acts: Shown = "sealed",
    draws: Shown = "sealed",
) -> None:
    """Check that rules keep the promises of `Mechanism`, in games of random legal play.

    Nobody is asked before the opening or after the end. Every ask is legal. The state is the fold of the events, also
    of events read back from a log. Equal states, actions and ties give equal events, in whatever order the answers
    arrive. No argument is changed. Every game ends. Nothing private is said aloud. What others can tell of a bidder's
    own is for `check_game`, as the rules alone don't say what is its own.

    Args:
        rules: of any game.
        games: how many games to play.
        most_turns: the number of turns within which a game must end.
        seed: of the random play.
        acts: as of the `Game`: whether everyone learns at once what a bidder did.
        draws: as of the `Game`: whether everyone learns what nature drew.

    Raises:
        AssertionError: it names the broken promise and the evidence.
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
    """Write each event to a line and read it again."""
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
