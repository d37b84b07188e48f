"""Commands on the names that settings know: they list them, show them, and start new files."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from importlib.util import find_spec
from itertools import takewhile
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, cast

import typer

from harbor._cli.shared import shell
from harbor._cli.shared.files import load, presets
from harbor._cli.shared.shell import Json
from harbor._core.basics.errors import ConfigError, RunFolderError, unknown
from harbor._core.faces import __version__
from harbor._core.plugins.extensions import HARBOR, NAME

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from harbor._core.plugins.extensions import Found, Kind

Listed = StrEnum(
    "Listed",
    ["games", "presets", "metrics", "models", "personas", "policies", "figures", "agents", "nodes", "catalogues"],
)


class Row(NamedTuple):
    """A row of a list: a name, its description, the package or code that brings it, and the version.

    Catalogues, and the personas in them, have versions of their own; all else has the package's version.
    """

    name: str
    description: str
    origin: str = HARBOR
    version: str = __version__


def list_(
    what: Annotated[
        Listed | None, typer.Argument(help="The kind of values to list; without it, the kinds are listed.")
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(
            help="Of metrics: those that measure this game (by name, or module:NAME), and why the others don't."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the names that settings and commands accept, each with its package."""
    from harbor._cli.display.render import Table, render

    if what is None:
        typer.echo(json.dumps(list(Listed)) if as_json else f"What can be listed: {', '.join(Listed)}.")
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


def _list_measuring(what: Listed, game: str, as_json: bool) -> None:
    """List the metrics that measure a game; then name the others, with the reasons."""
    from harbor._cli.display.render import Table, render
    from harbor._cli.display.result_tables import left_out
    from harbor._core.plugins.finding import asked
    from harbor.evaluation._metrics.measurement import fits, kinds_of

    if what is not Listed.metrics:
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
    """Return a row without origin and version, if they are those of this Harbor."""
    own = (row["origin"], row["version"]) == (HARBOR, __version__)
    return row | {"origin": "", "version": ""} if own else row


def _rows(what: Listed) -> Iterator[Row]:
    match what:
        case Listed.presets:
            yield from _presets()
        case Listed.personas:
            yield from _personas()
        case Listed.catalogues:
            yield from (row._replace(version=one.value.version) for row, one in _found("catalogue"))
        case Listed.models:
            yield from (row for row, _ in _found("model"))
            yield from _providers()
        case _:
            kind = "policy" if what is Listed.policies else what.removesuffix("s")
            yield from (row for row, _ in _found(cast("Kind", kind)))


def _found(kind: Kind) -> Iterator[tuple[Row, Found]]:
    """Yield the installed extensions of a kind; warn of one that can't be loaded."""
    from harbor._core.plugins.finding import everything

    for one in everything(kind):
        yield Row(one.name, one.value.description, one.package, one.version), one


def _personas() -> Iterator[Row]:
    for row, one in _found("catalogue"):
        for persona in one.value.personas.values():
            yield Row(persona.id, f"{persona.name}, in the catalogue {row.name!r}", row.origin, one.value.version)


def _providers() -> Iterator[Row]:
    from harbor._config.models import PROVIDERS

    for name in PROVIDERS:
        yield Row(f"{name}:MODEL", f"a model of {name}; needs: pip install 'harbor-auctions[{name}]'")


def _presets() -> Iterator[Row]:
    from importlib.resources import files

    from harbor.evaluation._experiments.library import presets as experiments

    for name, file in presets().items():
        yield Row(name, f"auction: {_first_sentence(file)}")
    for name in experiments():
        design = files("harbor.evaluation._experiments.presets") / f"{name}.toml"
        yield Row(name, f"experiment: {tomllib.loads(design.read_text(encoding='utf-8'))['title']}")


def _first_sentence(file: Traversable) -> str:
    """Return the first sentence of the comment at the top of a preset."""
    lines = takewhile(lambda line: line.startswith("#"), file.read_text(encoding="utf-8").splitlines())
    return " ".join(line.lstrip("# ") for line in lines).partition(". ")[0].rstrip(".")


def graph(
    config: Annotated[
        str,
        typer.Argument(metavar="[CONFIG.toml]", help="A TOML file, or a preset.", autocompletion=shell.auctions),
    ] = "demo",
    bidder: Annotated[str | None, typer.Option(help="Whose graph; default: the first that has one.")] = None,
) -> None:
    """Print the graph of a bidder as Mermaid text, without the nodes that are switched off."""
    chosen = load(config)
    thinkers = {one.name: one for one in chosen.bidders if one.uses_model}
    if not thinkers:
        raise ConfigError(f"config {config!r} has no bidder with a graph; give one a model instead of a rule")
    name = bidder if bidder is not None else next(iter(thinkers))
    if name not in thinkers:
        raise ConfigError(unknown("bidder with a graph", name, thinkers))
    from langgraph.store.memory import InMemoryStore

    from harbor._models.simulated.chat_model import SimulatedChat
    from harbor.graphs._context.context import BidderContext
    from harbor.graphs._wiring.bidder import GraphBidder
    from harbor.memory._bidder.bidder_memory import BidderMemory

    memory = BidderMemory(InMemoryStore(), name, chosen.name, chosen.memory, chosen.rules.game)
    context = BidderContext.of(thinkers[name], SimulatedChat(), memory=memory, game=chosen.rules.game)
    typer.echo(GraphBidder(context).graph.get_graph().draw_mermaid())


Named = Annotated[str, typer.Option("--catalogue", help="A catalogue by name, or module:NAME.")]


def personas(catalogue: Named = "homes", as_json: Json = False) -> None:
    """List the personas of a catalogue."""
    from harbor._cli.display.render import render
    from harbor.personas._catalog.catalogue import catalogue_of

    found = catalogue_of(catalogue).personas.values()
    if as_json:
        typer.echo(json.dumps([{"id": one.id, "name": one.name, "text": one.text} for one in found]))
        return
    render(line for one in found for line in (f"{one.id}: {one.name}", f"{one.text}\n"))


def houses(catalogue: Named = "homes", as_json: Json = False) -> None:
    """List the houses, or other items, of a catalogue with labels, and how well words alone tell the labels."""
    from harbor._cli.display.render import render
    from harbor._core.basics.numbers import as_number, dollars
    from harbor.personas._catalog.catalogue import catalogue_of, named_by_words, nearest_in_words

    chosen = catalogue_of(catalogue)
    items, nearest = chosen.items, nearest_in_words(chosen)
    if as_json:
        amounts = {
            key: {"start": as_number(one.start), "true_value": as_number(one.true_value)} for key, one in items.items()
        }
        rows = [
            {"id": key, **one.model_dump(), **amounts[key], "nearest_in_words": nearest.get(key)}
            for key, one in items.items()
        ]
        typer.echo(json.dumps(rows))
        return
    for key, one in items.items():
        label = "".join(f", {persona}" for persona in one.suits)
        worth = f"{key}: {one.name}, from {dollars(one.start)}, worth {dollars(one.true_value)}{label}"
        render([worth, f"{one.listing}\n"])
    named, judged = named_by_words(chosen)
    render([f"Shared words alone name the persona of {named} of the {judged} that suit somebody."])


What = StrEnum("What", ["game", "metric", "experiment", "prompts"])
PACKAGED = ("__init__.py", "game.py", "metric.py", "system.md", "bid.md")
"""Files in the package itself; the others are beside it."""


def new(
    what: Annotated[What, typer.Argument(help="The kind of the new folder.")],
    name: Annotated[str, typer.Argument(help="Its name, in lower case, such as 'lowest-unique'.")],
    game: Annotated[str, typer.Option(help="Of prompts: their game.")] = "english",
    protocol: Annotated[str, typer.Option(help="Of prompts: the protocol to copy.")] = "native",
) -> None:
    """Write a folder to begin from. `pytest` in it runs the conformance suite; prompts have none."""
    from importlib.resources import files

    module = _spellings(name)[1]
    _check(what, name, module)
    if what is What.prompts:
        _write({Path(name, file): text for file, text in _prompts(game, protocol).items()})
        return
    templates = files("harbor._cli") / "templates" / what.value
    texts = {one.name.removesuffix(".in"): one.read_text(encoding="utf-8") for one in templates.iterdir()}
    _write(
        {
            Path(name, module, file) if file in PACKAGED else Path(name, file): _renamed(text, f"my-{what.value}", name)
            for file, text in texts.items()
        }
    )


def _write(texts: Mapping[Path, str]) -> None:
    for path in sorted(texts):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[path], encoding="utf-8")
        typer.echo(path)


def _prompts(game: str, protocol: str) -> dict[str, str]:
    """Return the prompts of every thought that a game knows.

    Raises:
        ConfigError: the game or the protocol is unknown, or does not know the other.
    """
    from harbor._config.auction import Bidder
    from harbor._core.plugins.finding import asked
    from harbor.graphs._context.prompting import check_wording, copied
    from harbor.graphs._wiring.mind import usual_nodes

    played = asked("game", game)
    mind = Bidder("you", protocol=protocol)
    check_wording(mind, played, ())
    return copied(mind, played, usual_nodes(played))


def _check(what: What, name: str, module: str) -> None:
    """Refuse a name that is invalid or taken.

    Raises:
        ConfigError: it is no name, or Python or an installed package has it.
        RunFolderError: there is such a folder.
    """
    from harbor._core.plugins.finding import names

    if not NAME.fullmatch(name) or name[0].isdigit():
        raise ConfigError(f"name {name!r}: write words in lower case joined by hyphens, such as 'lowest-unique'")
    if Path(name).exists():
        raise RunFolderError(f"folder {name!r} exists; choose another name, or remove it")
    if what in (What.experiment, What.prompts):
        return
    if iskeyword(module) or find_spec(module):
        raise ConfigError(f"name {name!r}: Python has something of that name; choose another")
    if {name, module} & set(names("game" if what is What.game else "metric")):
        raise ConfigError(f"there is a {what.value} {name!r}; choose another name")


def _renamed(text: str, old: str, new: str) -> str:
    """Replace a name in a text, in each spelling that programs use."""
    for theirs, ours in zip(_spellings(old), _spellings(new), strict=True):
        text = text.replace(theirs, ours)
    return text


def _spellings(name: str) -> tuple[str, str, str, str, str]:
    """Return a name unchanged, as a module, as a constant, as a class, and as words."""
    module = name.replace("-", "_")
    words = module.split("_")
    return name, module, module.upper(), "".join(map(str.capitalize, words)), " ".join(words).capitalize()
