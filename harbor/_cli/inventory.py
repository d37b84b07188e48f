"""The command that lists what there is to name: Harbor's own, and what installed packages bring."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from enum import StrEnum
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, NamedTuple, cast

import typer

from harbor._cli.output import Json
from harbor._core.extensions import HARBOR
from harbor._core.version import __version__

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from harbor._core.extensions import Found, Kind

What = StrEnum(
    "What",
    ["games", "presets", "metrics", "models", "personas", "policies", "figures", "agents", "nodes", "catalogues"],
)


class Row(NamedTuple):
    """What is listed of one: its name, what it is, the package or the code that brings it, and the version.

    The version of a catalogue, and of the personas in it, is its own; that of all else is the package's.
    """

    name: str
    description: str
    origin: str = HARBOR
    version: str = __version__


def list_(
    what: Annotated[What | None, typer.Argument(help="What to list; without it, what can be listed is said.")] = None,
    game: Annotated[
        str | None,
        typer.Option(help="Of metrics: those that measure this game (by name, or module:NAME), and why not."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List what settings and commands can name, and where it comes from."""
    from harbor._cli.display.render import Table, render

    if what is None:
        typer.echo(json.dumps(list(What)) if as_json else f"What can be listed: {', '.join(What)}.")
        if not as_json:
            typer.echo("Name one of them, such as: harbor list presets")
        return
    if game is not None:
        _list_measuring(what, game, as_json)
        return
    rows = [one._asdict() for one in _rows(what)]
    if as_json:
        typer.echo(json.dumps(rows))
    elif rows:
        render([Table(what.capitalize(), [_told(one) for one in rows])])
    else:
        typer.echo(f"no {what} are installed")


def _list_measuring(what: What, game: str, as_json: bool) -> None:
    """List the metrics that measure a game; then name the others, and say why they do not."""
    from harbor._cli.display.render import Table, render
    from harbor._cli.display.result_tables import left_out
    from harbor._core.finding import asked
    from harbor.evaluation._metrics.registry import fits, kinds_of

    if what is not What.metrics:
        raise typer.BadParameter(f"{what} are not listed by game; write: harbor list metrics --game {game}")
    misfits = fits(kinds_of(asked("game", game)))
    rows = [row for row, _ in _found("metric")]
    if as_json:
        typer.echo(json.dumps([row._asdict() | {"why_not": misfits[row.name]} for row in rows]))
        return
    fitting = [_told(row._asdict()) for row in rows if not misfits[row.name]]
    others = left_out({name: why for name, why in misfits.items() if why})
    render([Table(f"Metrics that measure {game}", fitting), *(f"left out: {line}" for line in others)])


def _told(row: dict[str, str]) -> dict[str, str]:
    """Leave out that something is of Harbor itself, in this version."""
    own = (row["origin"], row["version"]) == (HARBOR, __version__)
    return row | {"origin": "", "version": ""} if own else row


def _rows(what: What) -> Iterator[Row]:
    match what:
        case What.presets:
            yield from _presets()
        case What.personas:
            yield from _personas()
        case What.catalogues:
            yield from (row._replace(version=one.value.version) for row, one in _found("catalogue"))
        case What.models:
            yield from (row for row, _ in _found("model"))
            yield from _providers()
        case _:
            kind = "policy" if what is What.policies else what.removesuffix("s")
            yield from (row for row, _ in _found(cast("Kind", kind)))


def _found(kind: Kind) -> Iterator[tuple[Row, Found]]:
    """Give what is installed of a kind; what can't be loaded is warned of."""
    from harbor._core.finding import everything

    for one in everything(kind):
        yield Row(one.name, one.value.description, one.package, one.version), one


def _personas() -> Iterator[Row]:
    for row, one in _found("catalogue"):
        for persona in one.value.personas.values():
            yield Row(persona.id, f"{persona.name}, in the catalogue {row.name!r}", row.origin, one.value.version)


def _providers() -> Iterator[Row]:
    from harbor._config.dialects import PROVIDERS

    for name in PROVIDERS:
        yield Row(f"{name}:MODEL", f"a model of {name}; needs: pip install 'harbor-auctions[{name}]'")


def _presets() -> Iterator[Row]:
    from importlib.resources import files

    from harbor._cli.configs import presets
    from harbor.evaluation._experiments.library import presets as experiments

    for name, file in presets().items():
        yield Row(name, f"auction: {_first_sentence(file)}")
    for name in experiments():
        design = files("harbor.evaluation._experiments.presets") / f"{name}.toml"
        yield Row(name, f"experiment: {tomllib.loads(design.read_text(encoding='utf-8'))['title']}")


def _first_sentence(file: Traversable) -> str:
    """Give the first sentence of the comment that a preset begins with."""
    lines = takewhile(lambda line: line.startswith("#"), file.read_text(encoding="utf-8").splitlines())
    return " ".join(line.lstrip("# ") for line in lines).partition(". ")[0].rstrip(".")
