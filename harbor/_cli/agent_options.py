"""Agents on the command line: `--agent NAME=WHAT`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harbor._core.errors import ConfigError, unknown
from harbor._core.extensions import NAME, REFERENCE

if TYPE_CHECKING:
    from harbor._config.auction import AuctionConfig
    from harbor.evaluation._experiments.design import Experiment
    from harbor.evaluation._experiments.variations import Variation

Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        metavar="NAME=WHAT",
        help="Who plays the bidder of this name: package.module:NAME, an installed agent, the address of a server, or"
        " else a command. Repeatable.",
    ),
]
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S*")


def seated(config: AuctionConfig, given: Iterable[str]) -> AuctionConfig:
    """Apply --agent to an auction.

    Raises:
        ConfigError: no bidder has the name, or what is to play it is refused.
    """
    from harbor._config.auction import AuctionConfig, check

    if not (agents := _read(given)):
        return config
    values = config.model_dump()
    return check(AuctionConfig, {**values, "bidders": _with_agents(values["bidders"], agents)}, "command line")


def seated_in_experiment(experiment: Experiment, given: Iterable[str]) -> Experiment:
    """Apply --agent to all games of an experiment.

    Raises:
        ConfigError: no bidder has the name, an arm or a condition says who plays it, or an agent is refused.
    """
    if not (agents := _read(given)):
        return experiment
    from harbor.evaluation._experiments.trials import trials

    for one in (*experiment.arms, *experiment.conditions):
        if name := next((name for name in agents if _changes_player(one, name)), ""):
            raise ConfigError(f"--agent {name!r}: {one.name!r} says who plays it; change it in the design")
    bidders = _with_agents(experiment.auction.get("bidders", []), agents)
    changed = experiment.model_copy(update={"auction": {**experiment.auction, "bidders": bidders}})
    trials(changed, 1)
    return changed


def _changes_player(variation: Variation, name: str) -> bool:
    """Tell whether an arm or a condition says itself who plays a bidder."""
    from harbor._config.reseating import PLAYERS

    bidders = variation.auction.get("bidders", {})
    if not isinstance(bidders, Mapping):
        return any(isinstance(one, Mapping) for one in bidders)
    changes = (bidders.get("*", {}), bidders.get(name, {}))
    return any(player in change for change in changes for player in PLAYERS)


def _read(given: Iterable[str]) -> dict[str, Any]:
    """Read what --agent gives, by bidder, as a file would say it."""
    agents = {}
    for one in given:
        name, equals, what = (part.strip() for part in one.partition("="))
        if not (name and equals and what):
            raise ConfigError(f"--agent {one!r}: write NAME=WHAT, such as Ann=mymodule:bid")
        agents[name] = _agent(name, what)
    return agents


def _agent(name: str, what: str) -> Any:
    from harbor._core.finding import names

    if _ADDRESS.fullmatch(what):
        return {"url": what}
    if REFERENCE.fullmatch(what) or (NAME.fullmatch(what) and what in names("agent")):
        return what
    try:
        return {"command": shlex.split(what)}
    except ValueError as error:
        raise ConfigError(f"--agent {name}={what}: no command can be read ({error}); close the quotes") from error


def _with_agents(bidders: Iterable[Mapping[str, Any]], agents: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Have agents play bidders in place of whoever played them, whose settings go too."""
    from harbor._config.reseating import reseated

    known = [str(bidder.get("name")) for bidder in bidders]
    for name in agents:
        if name not in known:
            raise ConfigError(f"--agent: {unknown('bidder', name, known)}")
    return [
        reseated(bidder, "agent", agents[bidder["name"]]) if bidder.get("name") in agents else dict(bidder)
        for bidder in bidders
    ]
