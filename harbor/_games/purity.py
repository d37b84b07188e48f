"""Whether rules are pure: a random step of play gives the same from the same, and changes nothing."""

from __future__ import annotations

from dataclasses import is_dataclass
from random import Random
from typing import Any

from harbor._core.asks import Action, Ask, Bid, Withdraw
from harbor._core.events import Event
from harbor._games.chance import Chance, kind_of
from harbor._games.mechanism import Mechanism, Shown, acts_of

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
