"""The command line. Frameworks are imported inside commands, so that `harbor --help` is quick."""

from __future__ import annotations

import gc
import io
import json
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harbor import __version__
from harbor.errors import ConfigError, HarborError, RunFolderError, unknown

if TYPE_CHECKING:
    from harbor.evaluation.metrics.summary import Summary
    from harbor.run import Auction

app = typer.Typer(
    name="harbor",
    help="Hold auctions between language-model agents with personas, and study them.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def main() -> None:
    """Run the command line; every mistake is one line on stderr and exit code 2."""
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal can't show is no reason to stop
    try:
        code = typer.main.get_command(app).main(standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has gone; what is still in the buffer has nowhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except HarborError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"can't write the output ({error.strerror}); send it elsewhere")
    except Exception as error:
        if not hasattr(error, "format_message"):  # click's usage errors have it, wherever typer keeps its click
            raise
        _fail(f"{error.format_message().rstrip('.')}; see harbor --help")
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> None:
    _say(f"error: {message}")
    sys.exit(2)


def _say(message: str) -> None:
    from harbor.display import printable

    print(f"harbor: {printable(message)}", file=sys.stderr)  # noqa: T201


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    if issubclass(category, UserWarning):
        _say(f"warning: {message}")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"harbor {__version__}")
        raise typer.Exit


@app.callback()
def _harbor(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback does the work
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def auction(
    config: Annotated[str | None, typer.Argument(metavar="[CONFIG.toml]", help="A TOML file, or a preset.")] = None,
    preset: Annotated[str | None, typer.Option(help="A preset by name, such as water; default: demo.")] = None,
    seed: Annotated[int | None, typer.Option(help="Replace the seed.")] = None,
    model: Annotated[str | None, typer.Option(help="Replace the model of every bidder that has one.")] = None,
    items: Annotated[int | None, typer.Option(help="Replace the number of items.")] = None,
    out: Annotated[Path | None, typer.Option(help="A new folder for the run; default: runs/<utc>-<name>-<id>.")] = None,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the standings only.")] = False,
) -> None:
    """Hold an auction; print the standings and where the log is."""
    from harbor.display import Screen, print_summary, watching
    from harbor.folder import EVENTS, run_name

    if config is not None and preset is not None:
        raise ConfigError(f"config {config!r} and --preset {preset!r} are both given; drop one")
    chosen = _override(_load(config or preset or "demo"), seed, model, items)
    folder = out or Path("runs") / run_name(chosen.name)
    console = Screen(highlight=False)
    gc.freeze()  # the frameworks' objects are here to stay: a collection of them held up a turn by 50 ms
    try:
        if as_json or quiet:
            result = chosen.run(out=folder)
        else:
            with watching(console) as show:
                result = chosen.run(out=folder, listen=show)
    except KeyboardInterrupt:
        _say(f"stopped; what happened up to here is in {folder / EVENTS}")
        raise typer.Exit(130) from None
    except OSError as error:
        raise RunFolderError(
            f"output folder {str(folder)!r} can't be written ({error.strerror}); name another"
        ) from error
    summary = result.metrics()
    _show_failures(summary)
    if as_json:
        typer.echo(json.dumps(summary.as_json()))
        return
    print_summary(console, summary, with_items=not quiet)
    typer.echo(f"log: {folder / EVENTS}")


@app.command()
def replay(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or its events.jsonl.")], as_json: Json = False
) -> None:
    """Rebuild the results of a run from its log alone, without a model."""
    from harbor.evaluation.metrics.summary import summarise
    from harbor.folder import EVENTS
    from harbor.log import read_log

    reading = read_log(run / EVENTS if run.is_dir() else run)
    if reading.warning:
        _say(f"warning: {reading.warning}")
    summary = summarise(reading.entries)
    _show_failures(summary)
    if as_json:
        typer.echo(json.dumps(summary.as_json()))
        return
    from harbor.display import Screen, print_summary

    print_summary(Screen(highlight=False), summary)


def _show_failures(summary: Summary) -> None:
    for failure in summary.failures:
        _say(f"warning: {failure.bidder} gave no answer {failure.times} times; the first time: {failure.first}")


@app.command()
def graph(
    config: Annotated[str, typer.Argument(metavar="[CONFIG.toml]", help="A TOML file, or demo or standard.")] = "demo",
    bidder: Annotated[str | None, typer.Option(help="Whose graph; default: the first that has one.")] = None,
) -> None:
    """Print the graph of a bidder as Mermaid text; what is switched off is not in it."""
    from harbor.graphs.bidder import bidder_graph
    from harbor.graphs.state import Mind
    from harbor.simulated import SimulatedChat

    thinkers = {one.name: one for one in _load(config).bidders if not one.rule and not one.agent}
    if not thinkers:
        raise ConfigError(f"config {config!r} has no bidder with a graph; give one a model instead of a rule")
    name = bidder if bidder is not None else next(iter(thinkers))
    if name not in thinkers:
        raise ConfigError(unknown("bidder with a graph", name, thinkers))
    typer.echo(bidder_graph(Mind.of(thinkers[name], SimulatedChat())).get_graph().draw_mermaid())


@app.command()
def personas(as_json: Json = False) -> None:
    """List the personas of the catalog."""
    from harbor.personas.catalog import personas as catalog

    if as_json:
        typer.echo(json.dumps([{"id": one.id, "name": one.name, "text": one.text} for one in catalog().values()]))
        return
    for one in catalog().values():
        typer.echo(f"{one.id}: {one.name}\n  {one.text}\n")


@app.command()
def houses(as_json: Json = False) -> None:
    """List the houses of the catalog, with their labels."""
    from harbor.money import as_number, dollars
    from harbor.personas.catalog import catalog_houses

    if as_json:
        rows = [
            {
                "id": house.id,
                **house.item.model_dump(),
                "start": as_number(house.item.start),
                "true_value": as_number(house.item.true_value),
            }
            for house in catalog_houses().values()
        ]
        typer.echo(json.dumps(rows))
        return
    for house in catalog_houses().values():
        item = house.item
        typer.echo(
            f"{house.id}: {item.name}, from {dollars(item.start)}, worth {dollars(item.true_value)}, {item.persona}"
        )
        typer.echo(f"  {item.listing}\n")


def _load(config: str) -> Auction:
    """Read a preset by name, or a TOML file."""
    from importlib.resources import as_file, files

    from harbor.config import read_settings
    from harbor.run import Auction

    presets = {
        path.name.removesuffix(".toml"): path
        for path in files("harbor.presets").iterdir()
        if path.name.endswith(".toml")
    }
    if config in presets:
        with as_file(presets[config]) as path:
            return read_settings(path, Auction)
    path = Path(config)
    if not path.exists() and path.suffix not in (".toml", ".json"):
        raise ConfigError(unknown("preset", config, presets))
    return read_settings(path, Auction)


def _override(chosen: Auction, seed: int | None, model: str | None, items: int | None) -> Auction:
    """Apply the options of the command line; they are checked like the file's own settings."""
    from harbor.config import check

    values = chosen.model_dump()
    if seed is not None:
        values["seed"] = seed
    if model is not None:
        values["bidders"] = [{**bidder, "model": model} for bidder in values["bidders"]]
    if items is not None:
        if isinstance(values["items"], dict):
            values["items"] = _fewer(values["items"], items, chosen)
        elif 1 <= items <= len(values["items"]):
            values["items"] = values["items"][:items]
        else:
            raise ConfigError(f"--items {items}: the config lists {len(values['items'])} items; ask for 1 to that many")
    return check(type(chosen), values, "command line")


def _fewer(houses: dict[str, int | None], count: int, chosen: Auction) -> dict[str, int | None]:
    """Ask for this many houses, and for no more matched ones than fit in."""
    matched, personas = houses["matched"], {key for bidder in chosen.bidders for key in bidder.persona}
    if matched is not None and personas:
        matched = min(matched, max(0, count) // len(personas))
    return {"count": count, "matched": matched}
