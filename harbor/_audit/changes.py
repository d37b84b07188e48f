"""Changes alter one secret of one bidder, or its sealed bids, without changing the others' permitted knowledge."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from functools import partial
from random import Random
from typing import Any

from pydantic import BaseModel

from harbor._audit.tape import Settled, Tape
from harbor._audit.taped_games import Change
from harbor._config.auction import AuctionConfig, Bidder
from harbor._core.asking.asks import Action, Ask, Bid
from harbor._core.basics.numbers import to_cents
from harbor._core.log.acts import Signal, Worth
from harbor._core.log.events import EVERYONE, Event, SharedEvent
from harbor._core.log.log_entries import seats_of
from harbor._games.game import Game
from harbor._games.mechanism import Mechanism
from harbor._runs.resolve import ResolvedAuction

UNLIKE = "This is what I keep to myself."
"""Text that is added to a changed text, and that no prompt contains otherwise."""
FACTOR, MORE = Decimal("1.17"), Decimal("0.37")
"""A changed amount is `amount * FACTOR + MORE`, in dollars."""
LEAST_WORDS = 3
"""Words of the shortest text that counts as a model's own sentence."""
Make = Callable[[ResolvedAuction, Bidder], Iterator[Change]]


def changed(value: Any) -> Any:
    """Change a value, of any type: each number and each text in it."""
    match value:
        case bool() | None:
            return value
        case Decimal():
            return to_cents(value * FACTOR + MORE)
        case int():
            return value + 1
        case float():
            return value * float(FACTOR)
        case str():
            return f"{value} {UNLIKE}".strip()
        case list() | tuple():
            return type(value)(changed(one) for one in value)
        case Mapping():
            return {key: changed(one) for key, one in value.items()}
        case BaseModel():
            return value.model_copy(update={name: changed(getattr(value, name)) for name in type(value).model_fields})
        case _ if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{one.name: changed(getattr(value, one.name)) for one in fields(value) if one.init})
    return value


def changes(auction: ResolvedAuction, game: Game, base: Tape) -> Iterator[Change]:
    """Yield a change for each secret of each bidder, and for those of the house; `bid_changes` changes bids.

    Args:
        auction: the unchanged auction.
        game: the game of the auction.
        base: a tape of the auction.
    """
    for bidder in auction.config.bidders:
        for make in (_budget, _estimates, _objective, _persona, _thoughts, _memory, _values):
            yield from make(auction, bidder, game)
        if any(one.settled and told_by_rules(game, one.event) == (bidder.name,) for one in base.log):
            yield Change("told", bidder.name, event=partial(_told, bidder.name, game))
    if auction.items:
        yield Change("true value", config=_dearer(auction.config), resolved=partial(_same_estimates, auction))


def _with(auction: ResolvedAuction, bidder: Bidder, **update: Any) -> AuctionConfig:
    other = bidder.model_copy(update=update)
    bidders = tuple(other if one is bidder else one for one in auction.config.bidders)
    return auction.config.model_copy(update={"bidders": bidders})


def _budget(auction: ResolvedAuction, bidder: Bidder, game: Game) -> Iterator[Change]:
    """Raise its budget a little above the greatest one: it can act as before, and an order by budgets changes."""
    if "budget" in game.uses:
        most = max(one.budget for one in auction.config.bidders)
        config = _with(auction, bidder, budget=most + MORE)
        yield Change("budget", bidder.name, config=config)


def _estimates(auction: ResolvedAuction, bidder: Bidder, game: Game) -> Iterator[Change]:
    if "overestimate" in game.uses and auction.items:
        config = _with(auction, bidder, overestimate=bidder.overestimate + Decimal("0.0731"))
        yield Change("estimates", bidder.name, config=config)


def _objective(auction: ResolvedAuction, bidder: Bidder, game: Game) -> Iterator[Change]:
    if "objective" in game.uses:
        objective = "profit" if bidder.objective == "items" else "items"
        yield Change("objective", bidder.name, config=_with(auction, bidder, objective=objective))


def _persona(auction: ResolvedAuction, bidder: Bidder, game: Game) -> Iterator[Change]:  # noqa: ARG001
    taken = {key for one in auction.config.bidders for key in one.persona}
    free = [key for key in auction.catalog if key not in taken] or [
        key for key in auction.catalog if key not in bidder.persona
    ]
    if bidder.persona and free:
        yield Change("persona", bidder.name, config=_with(auction, bidder, persona={free[0]: 1.0}))


def _thoughts(auction: ResolvedAuction, bidder: Bidder, game: Game) -> Iterator[Change]:  # noqa: ARG001
    if bidder.uses_model:
        yield Change("thoughts", bidder.name, reply=_otherwise)


def _memory(auction: ResolvedAuction, bidder: Bidder, game: Game) -> Iterator[Change]:  # noqa: ARG001
    if bidder.remembers and bidder.uses_model:
        yield Change("memory", bidder.name, memory=changed)


def _values(auction: ResolvedAuction, bidder: Bidder, game: Game) -> Iterator[Change]:
    """Change the values that the rules keep for each bidder by name: in their own fields, or in their settings."""
    names, budgets = (
        {one.name for one in auction.config.bidders},
        {one.name: one.budget for one in auction.config.bidders},
    )
    rules: Any = auction.rules
    kept = _by_bidder(rules, names) if is_dataclass(rules) else {}
    kept = {name: table for name, table in kept.items() if "budget" not in game.uses or dict(table) != budgets}
    if kept:
        yield Change("value", bidder.name, resolved=partial(_other_rules, kept, bidder.name))
        return
    settings = auction.config.rules
    given = {
        name: table
        for name in type(settings).model_fields
        if isinstance(table := getattr(settings, name), Mapping) and bidder.name in table
    }
    if given:
        other = {name: {**table, bidder.name: changed(table[bidder.name])} for name, table in given.items()}
        config = auction.config.model_copy(update={"rules": settings.model_copy(update=other)})
        yield Change("value", bidder.name, config=config)


def house_values(auction: ResolvedAuction) -> Iterator[Change]:
    """Change the truth that only the analyst is told, and the values of the rules that belong to no bidder.

    Each number, table or row of numbers among these values is changed in turn.
    """
    yield Change(
        "value", event=lambda event: replace(event, values=changed(event.values)) if isinstance(event, Worth) else event
    )
    rules: Any = auction.rules
    names = {one.name for one in auction.config.bidders}
    kept = [one.name for one in fields(rules) if one.init] if is_dataclass(rules) else []
    for name in kept:
        if _is_numbers(getattr(rules, name)) and name not in _by_bidder(rules, names):
            yield Change("value", resolved=partial(_other_field, name))


def _is_numbers(value: Any) -> bool:
    inner = list(value.values()) if isinstance(value, Mapping) else value
    return isinstance(value, Decimal | float) or (
        isinstance(inner, list | tuple) and bool(inner) and all(map(_is_numbers, inner))
    )


def _other_field(name: str, auction: ResolvedAuction) -> ResolvedAuction:
    rules: Any = auction.rules
    return replace(auction, rules=replace(rules, **{name: changed(getattr(rules, name))}))


def _by_bidder(rules: Any, names: set[str]) -> dict[str, Mapping[str, Any]]:
    tables = {one.name: getattr(rules, one.name) for one in fields(rules) if one.init}
    return {name: table for name, table in tables.items() if isinstance(table, Mapping) and names <= set(table)}


def kept_otherwise(rules: Any, other: Any, bidders: Sequence[str]) -> list[tuple[str, str]]:
    """Return the bidders, with the tables by bidder, whose entries differ between two rules of a game."""
    kept, now = (_by_bidder(one, set(bidders)) if is_dataclass(one) else {} for one in (rules, other))
    return [(name, key) for name in bidders for key in kept if kept[key][name] != now.get(key, {}).get(name)]


def in_need(auction: ResolvedAuction) -> Change:
    """Return a change that leaves one bidder a dollar, so that a budget that seldom binds does."""
    poor = auction.config.bidders[0]
    return Change("budget", poor.name, config=_with(auction, poor, budget=Decimal(1)))


def _other_rules(kept: Mapping[str, Mapping[str, Any]], bidder: str, auction: ResolvedAuction) -> ResolvedAuction:
    rules: Any = auction.rules
    other = {name: {**table, bidder: changed(table[bidder])} for name, table in kept.items()}
    return replace(auction, rules=replace(rules, **other))


def told_by_rules(game: Game, event: Event) -> tuple[str, ...]:
    """Return the seats to which the rules of a game tell an event that is not for everyone."""
    is_of_rules = isinstance(event, Signal | SharedEvent) or type(event) in game.events
    return seats_of(event) if is_of_rules else ()


def _told(bidder: str, game: Game, event: Event) -> Event:
    """Change the numbers of an event that the rules tell one bidder; its texts are names."""
    if told_by_rules(game, event) != (bidder,):
        return event
    numbers = {
        one.name: changed(value)
        for one in fields(event)
        if isinstance(value := getattr(event, one.name), Decimal | float)
        or (isinstance(event, Signal) and isinstance(value, Mapping))
    }
    with suppress(ValueError, TypeError):
        return replace(event, **numbers)
    return event


def _dearer(config: AuctionConfig) -> AuctionConfig:
    """Return settings with another true value of the last item, which is secret for longest."""
    *others, last = config.items if isinstance(config.items, tuple) else ()
    other = last.model_copy(update={"true_value": to_cents(3 * last.true_value + MORE)})
    return config.model_copy(update={"items": (*others, other)})


def _same_estimates(before: ResolvedAuction, auction: ResolvedAuction) -> ResolvedAuction:
    """Restore the earlier estimates of the bidders, as estimates are drawn from the true values."""
    pairs = zip(auction.bidders, before.bidders, strict=True)
    return replace(auction, bidders=tuple(replace(now, estimates=then.estimates) for now, then in pairs))


def _otherwise(message: Any, prompt: str) -> None:
    """Change a model's own words, which are sentences that are not in its prompt, and numbers."""
    for call in message.tool_calls:
        call["args"] = _other_words(call["args"], prompt)
    if message.tool_calls:
        return
    try:
        message.content = json.dumps(_other_words(json.loads(message.content), prompt))
    except ValueError:
        message.content = f"{UNLIKE} {message.content}"


def _other_words(value: Any, prompt: str) -> Any:
    match value:
        case dict():
            return {key: _other_words(one, prompt) for key, one in value.items()}
        case list():
            return [_other_words(one, prompt) for one in value]
        case str() if len(value.split()) >= LEAST_WORDS and value not in prompt:
            return f"{value} {UNLIKE}"
        case bool():
            return value
        case int():  # such as a priority: another valid one
            return value - 1 if value > 1 else value + 1
        case float():
            return round(value * 0.97, 4)
    return value


DRAWS = 5
"""Random legal actions that are tried in place of a bid."""
NEAR = (Decimal("0.01"), Decimal(1))
"""Dollars by which a bid is also moved up and down."""


def bid_changes(rules: Mechanism[Any], tape: Tape, bidders: Sequence[str]) -> Iterator[Change]:
    """Yield a change of bids for each bidder that bids.

    Every bid that does not affect the others' information is changed. If each bid affects it, the first bid is changed:
    it is public from its settlement on, and secret before.
    """
    for bidder in bidders:
        acted = [(number, one) for number, one in enumerate(tape.settled, 1) if bidder in one.places]
        acted = [(number, one) for number, one in acted if one.places[bidder] not in tape.failed[bidder]]
        quiet, first = {}, None
        for number, one in acted:
            place = one.places[bidder]
            ask = tape.asks[bidder][place]
            for other in _others(ask, one.actions[bidder]):
                first = first or (number, place, ask.space.say(other))
                if _unheard(rules, one, bidder, other):
                    quiet[place] = ask.space.say(other)
                    break
        if quiet:
            yield Change("bid", bidder, said=quiet)
        elif first is not None:
            yield Change("bid", bidder, said={first[1]: first[2]}, public_at=first[0])


def _others(ask: Ask, action: Action) -> list[Action]:
    """List other legal actions, distant ones first: they show more of the effect of a bid."""
    chance, found = Random(0), []
    near = [Bid(action.amount + sign * by) for by in NEAR for sign in (-1, 1)] if isinstance(action, Bid) else []
    for other in (*(ask.space.draw(chance) for _ in range(DRAWS)), *ask.space.edges(), *near):
        if other != action and other not in found and not ask.space.refusal(other):
            found.append(other)
    return found


def _unheard(rules: Mechanism[Any], settled: Settled, bidder: str, other: Action) -> bool:
    """Say whether the rules tell others the same for both actions."""
    then, now = (
        [event for event in settled.again(rules, actions) if _is_for_others(event, bidder)]
        for actions in (settled.actions, {**settled.actions, bidder: other})
    )
    return repr(then) == repr(now)


def _is_for_others(event: Event, bidder: str) -> bool:
    return event.audience == EVERYONE or any(seat != bidder for seat in seats_of(event))
