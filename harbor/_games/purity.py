"""Whether rules are pure: played at random for a while, they give the same from the same, and change nothing."""

from __future__ import annotations

from dataclasses import is_dataclass
from random import Random
from typing import Any

from harbor._config.auction import AuctionConfig
from harbor._core.asks import Action, Ask, Bid, Withdraw
from harbor._core.errors import ConfigError
from harbor._core.events import Event
from harbor._core.extensions import Found
from harbor._games.game import Game
from harbor._games.mechanism import Mechanism

MOST_TURNS = 20
"""How many turns of a stranger's game are tried before it is first run."""
_PURE: dict[str, Game] = {}
"""The games that were found to be pure in this process, by name."""


def check_pure(one: Found, config: AuctionConfig) -> None:
    """Refuse a game of somebody else's whose rules are not pure; each is tried once per process.

    Raises:
        ConfigError: they are not, or they break; one line that names the package.
    """
    if one.builtin or _PURE.get(one.name) is one.value:
        return
    try:
        rules = one.value.build(config.rules, config)  # of their own: those of the auction stay as they are
        _try(rules, Random(config.seed))
    except (Exception, SystemExit) as error:  # a stranger's rules may raise anything
        kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
        why = kind + (str(error).splitlines() or [""])[0]
        raise ConfigError(
            f"{one.whose}: the rules of the game {one.name!r} can't be relied on ({why});"
            " mend them until harbor.testing.check_game passes"
        ) from error
    _PURE[one.name] = one.value


def _try(rules: Mechanism[Any], rng: Random) -> None:
    _, state = settled(rules, rules.start(), {}, rng)
    for _ in range(MOST_TURNS):
        asks = rules.asks(state)
        if not asks:
            return
        _, state = settled(rules, state, {ask.bidder: drawn(ask, rng) for ask in asks}, rng)


def settled(rules: Mechanism[Any], state: Any, actions: dict[str, Action], rng: Random) -> tuple[list[Event], Any]:
    """Settle three times: once, again, and with the answers in reverse order; give the events and the state after.

    Raises:
        AssertionError: they differ, or something was changed.
    """
    before, ties = _shown(rules, state, actions), rng.getrandbits(64)
    require(rules.asks(state) == rules.asks(state), "asking twice in one state gives different asks", state)
    events = rules.settle(state, actions, Random(ties))
    _unchanged("settling", before, _shown(rules, state, actions))
    again = rules.settle(state, actions, Random(ties))
    require(events == again, "equal states, actions and ties give different events", [events, again])
    late = rules.settle(state, dict(reversed(actions.items())), Random(ties))
    require(events == late, "the order in which answers arrive makes a difference", [events, late])
    after = state
    for event in events:
        kept = _shown(rules, after, event)
        following = rules.apply(after, event)
        require(following == rules.apply(after, event), "applying an event twice gives two states", event)
        _unchanged("applying an event", kept, _shown(rules, after, event))
        after = following
    return events, after


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
