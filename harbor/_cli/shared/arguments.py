"""Arguments and options that commands share, and the effects of `--agent` and `--set`."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from harbor._cli.shared import shell
from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.basics.redaction import HIDDEN
from harbor._core.plugins.extensions import NAME, REFERENCE

if TYPE_CHECKING:
    from harbor._config.auction import AuctionConfig
    from harbor.evaluation._experiments.design import Experiment
    from harbor.evaluation._experiments.variations import Variation

Preset = Annotated[
    str | None, typer.Option(help="A preset by name, such as water; default: demo.", autocompletion=shell.auctions)
]
Items = Annotated[int | None, typer.Option(help="Replace the number of items.")]
Named = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE.toml", help="A published experiment, or a TOML file.", autocompletion=shell.experiments
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="The model of slot @1; repeat it for @2 and so on; default: the built-in one."),
]
Arms = Annotated[list[str] | None, typer.Option("--arm", help="Only this arm; repeatable.")]
Repeats = Annotated[int | None, typer.Option(min=1, help="Games per arm and condition; default: as designed.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="models.NAME.KEY=VALUE",
        help="Replace a setting of a model, such as models.openai:gpt-4.1.temperature=1; no VALUE: the default."
        " Repeatable.",
    ),
]


@dataclass(frozen=True)
class Changes:
    """Changes of an auction by the options of a command; None: no change."""

    seed: Annotated[int | None, typer.Option(help="Replace the seed.")] = None
    model: Annotated[str | None, typer.Option(help="Replace the model of every bidder that has one.")] = None
    items: Items = None


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
"""Address of a server."""


def seated(config: AuctionConfig, given: Iterable[str]) -> AuctionConfig:
    """Apply --agent to an auction.

    Raises:
        ConfigError: no bidder has the name, or its player is refused.
    """
    from harbor._config.auction import AuctionConfig, check

    if not (agents := _agents_of(given)):
        return config
    values = config.model_dump()
    return check(AuctionConfig, {**values, "bidders": _with_agents(values["bidders"], agents)}, "command line")


def seated_in_experiment(experiment: Experiment, given: Iterable[str]) -> Experiment:
    """Apply --agent to all games of an experiment.

    Raises:
        ConfigError: no bidder has the name, an arm or a condition sets its player, or an agent is refused.
    """
    if not (agents := _agents_of(given)):
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
    """Return whether an arm or a condition sets the player of a bidder."""
    from harbor._config.thinking import PLAYERS

    bidders = variation.auction.get("bidders", {})
    if not isinstance(bidders, Mapping):
        return any(isinstance(one, Mapping) for one in bidders)
    changes = (bidders.get("*", {}), bidders.get(name, {}))
    return any(player in change for change in changes for player in PLAYERS)


def _agents_of(given: Iterable[str]) -> dict[str, Any]:
    """Read the values of --agent, by bidder, in the form of a file."""
    agents = {}
    for one in given:
        name, equals, what = (part.strip() for part in one.partition("="))
        if not (name and equals and what):
            raise ConfigError(f"--agent {one!r}: write NAME=WHAT, such as Ann=mymodule:bid")
        agents[name] = _agent(name, what)
    return agents


def _agent(name: str, what: str) -> Any:
    from harbor._core.plugins.finding import names

    if _ADDRESS.fullmatch(what):
        return {"url": what}
    if REFERENCE.fullmatch(what) or (NAME.fullmatch(what) and what in names("agent")):
        return what
    try:
        return {"command": shlex.split(what)}
    except ValueError as error:
        raise ConfigError(f"--agent {name}={what}: no command can be read ({error}); close the quotes") from error


def _with_agents(bidders: Iterable[Mapping[str, Any]], agents: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the bidders with agents as players, without the settings of the previous players."""
    from harbor._config.thinking import reseated

    known = [str(bidder.get("name")) for bidder in bidders]
    for name in agents:
        if name not in known:
            raise ConfigError(f"--agent: {unknown('bidder', name, known)}")
    return [
        reseated(bidder, "agent", agents[bidder["name"]]) if bidder.get("name") in agents else dict(bidder)
        for bidder in bidders
    ]


T = TypeVar("T")
_TABLES = ("extra", "headers", "simulated")
"""Settings that are tables themselves: a KEY may have parts inside them."""
_PLACE = re.compile(rf"(.+?)\.((?:{'|'.join(_TABLES)})\..+|[^.]+)")
"""NAME.KEY of a place, for names that no bidder uses."""
_OWN_PLACE = "models."
"""Prefix of a place in --set."""
_PLAIN = (bool, int, float, str, list, dict)
"""TOML types that settings use; other values, such as dates, stay texts."""


@dataclass(frozen=True, slots=True)
class Change:
    """A setting of the model called `name`, under these keys; `value` None restores the default."""

    place: str
    name: str
    keys: tuple[str, ...]
    value: Any


def changes(given: Iterable[str], used: Collection[str]) -> list[Change]:
    """Read the values of --set.

    Args:
        given: texts from the command line.
        used: the names of models that bidders use.

    Raises:
        ConfigError: a text is not of the form models.NAME.KEY=VALUE, or no bidder uses the name. The message never
            contains VALUE, which may be a key.
    """
    return [_change(*one.partition("="), used) for one in given]


def _change(place: str, equals: str, text: str, used: Collection[str]) -> Change:
    within = place.removeprefix(_OWN_PLACE)
    if not equals or within == place:
        shown = f" {place!r}" if equals else ""
        raise ConfigError(f"--set{shown}: write models.NAME.KEY=VALUE, such as models.simulated.repairs=3")
    names = sorted((name for name in used if within.startswith(f"{name}.")), key=len)
    if names:
        name, key = names[-1], within.removeprefix(f"{names[-1]}.")
    elif parts := _PLACE.fullmatch(within):
        name, key = parts.groups()
        raise ConfigError(f"--set {place!r}: no bidder uses it: {unknown('model', name, used)}")
    else:
        raise ConfigError(f"--set {place!r} names no setting; write models.NAME.KEY=VALUE")
    keys = _keys(key)
    if len(keys) > 1 and keys[0] not in _TABLES:
        raise ConfigError(f"--set {place!r}: {keys[0]!r} is no table; set it as a whole")
    return Change(place, name, keys, _read(text, key))


def _keys(key: str) -> tuple[str, ...]:
    """Split a key at its dots; the name of a header stays whole."""
    table, dot, rest = key.partition(".")
    return (table, rest) if dot and table == "headers" else tuple(key.split("."))


def _read(text: str, key: str) -> Any:
    """Read a value as TOML, or else as text; an empty one is None."""
    if not text.strip():
        return None
    try:
        found = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    value = found["value"] if len(found) == 1 else text
    as_text = not isinstance(value, _PLAIN) or (key.startswith("headers.") and not isinstance(value, str))
    return text if as_text else value


def set_in(models: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """Apply a change to the settings of models; a model without settings gets a table with its `use`.

    Raises:
        ConfigError: a key continues inside a setting that is no table.
    """
    own = models.get(change.name)
    return {**models, change.name: _put({"use": change.name} if own is None else own, change.keys, change)}


def _put(table: Any, keys: tuple[str, ...], change: Change) -> dict[str, Any]:
    if not isinstance(table, Mapping):
        raise ConfigError(f"--set {change.place!r}: {keys[0]!r} is in no table; set the whole one")
    first, *rest = keys
    if rest:
        return {**table, first: _put(table.get(first) or {}, tuple(rest), change)}
    if change.value is None:
        return {key: value for key, value in table.items() if key != first}
    return {**table, first: change.value}


def in_config(config: AuctionConfig, given: Iterable[str]) -> AuctionConfig:
    """Apply --set to an auction.

    Raises:
        ConfigError: a setting or its value is refused.
    """
    from harbor._config.auction import AuctionConfig, check
    from harbor._runs.inputs import models_in_use

    for change in changes(given, models_in_use(config)):
        values = config.model_dump()
        values["models"] = set_in(values["models"], change)
        config = _told_without_value(partial(check, AuctionConfig, values, "command line"), change)
    return config


def in_experiment(experiment: Experiment, given: Iterable[str]) -> Experiment:
    """Apply --set to all games of an experiment; a temperature without a value is left out of calls.

    Raises:
        ConfigError: a setting or its value is refused, or an arm or a condition has that setting itself.
    """
    if not (given := list(given)):
        return experiment
    from harbor._runs.inputs import models_in_use
    from harbor.evaluation._experiments.trials import trials

    configs = [trial.config for trial in trials(experiment, 1)]
    for change in changes(given, {name for config in configs for name in models_in_use(config)}):
        _refuse_varied(experiment, change)
        models = set_in(experiment.auction.get("models", {}), change)
        if change.value is None and change.keys == ("temperature",):
            models[change.name]["temperature"] = None  # else the experiment's temperature would apply
        experiment = experiment.model_copy(update={"auction": {**experiment.auction, "models": models}})
        _told_without_value(partial(trials, experiment, 1), change)
    return experiment


def _refuse_varied(experiment: Experiment, change: Change) -> None:
    """Refuse a setting that an arm or a condition varies: with another value it would be another arm."""
    for one in (*experiment.arms, *experiment.conditions):
        if change.keys[0] in one.auction.get("models", {}).get(change.name, {}):
            raise ConfigError(f"--set {change.place!r}: {one.name!r} sets it itself; change it in the design")


def _told_without_value(make: Callable[[], T], change: Change) -> T:
    """Return the result of `make`; an error does not contain the value, which may be a misplaced key."""
    try:
        return make()
    except ConfigError as error:
        said = str(error)
        if isinstance(change.value, str) and change.keys != ("use",):
            said = said.replace(f" {change.value!r}", "").replace(change.value, HIDDEN)
        raise ConfigError(said) from None
