"""Commands on records about models: their kept replies, and the properties that Harbor has learned."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harbor._cli.shared.shell import Json, group, say
from harbor._core.basics.errors import CacheError, ConfigError
from harbor._core.files.layout import CALLS

if TYPE_CHECKING:
    from harbor._models.passports.passport import Passport
    from harbor._models.replies.reply_folder import Entry, ReplyFolder

cache = group("cache", "List, prune, export or import the replies that are kept.")

Model = Annotated[str | None, typer.Option(help="Only replies of this model, such as openai:gpt-4o-mini.")]


@cache.command("list")
def list_(as_json: Json = False) -> None:
    """Show how many replies are kept, by model, and where. The folder is HARBOR_CACHE, or in ~/.cache."""
    folder = _folder()
    models: dict[str, list[tuple[Entry, int]]] = defaultdict(list)
    passed_over = 0
    for file, entry in folder.files():
        if entry is not None:
            models[entry.model].append((entry, file.stat().st_size))
        else:
            passed_over += 1
    rows = [_row({"model": model}, found) for model, found in sorted(models.items())]
    every = _row({}, [one for found in models.values() for one in found])
    if as_json:
        about = {"folder": str(folder.path), **every, "passed_over": passed_over}
        typer.echo(json.dumps({**about, "models": rows}))
        return
    from harbor._cli.display.render import Table, render

    shown = [{**row, "bytes": f"{row['bytes']:,}"} for row in rows]
    render([Table("Replies", shown), f"{_count(every['replies'])} of {len(rows)} models in {folder.path}"])
    if passed_over:
        say(f"{passed_over} files can't be read or are of another version; remove them with: harbor cache prune --all")


def _row(about: dict[str, object], found: list[tuple[Entry, int]]) -> dict[str, object]:
    times = [entry.when for entry, _ in found]
    return {
        **about,
        "replies": len(found),
        "imported": sum(entry.reply.imported for entry, _ in found),
        "bytes": sum(size for _, size in found),
        "oldest": min(times, default=None),
        "newest": max(times, default=None),
    }


@cache.command()
def prune(
    older_than: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="Only replies older than this.")
    ] = None,
    model: Model = None,
    every: Annotated[bool, typer.Option("--all", help="All that is kept, of other versions too.")] = False,
) -> None:
    """Remove kept replies, by age and model; runs that need them ask the model again."""
    if older_than is None and model is None and not every:
        raise ConfigError("no entries are named; give --older-than DAYS, --model or --all")
    if every and (older_than is not None or model is not None):
        raise ConfigError("--all removes all entries; drop it, or --older-than and --model")
    folder = _folder()
    before = None if older_than is None else (datetime.now(UTC) - timedelta(days=older_than)).isoformat()
    removed, size = 0, 0
    for file, entry in folder.files():
        if every or (entry is not None and _is_meant(entry, before, model)):
            size += file.stat().st_size
            file.unlink(missing_ok=True)
            removed += 1
    say(f"{_count(removed)} removed from {folder.path} ({size:,} bytes)")


def _is_meant(entry: Entry, before: str | None, model: str | None) -> bool:
    return (before is None or entry.when < before) and model in (None, entry.model)


@cache.command()
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file; packed if its name ends in .gz.")],
    experiment: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Only the replies that this experiment or run has used.")
    ] = None,
    model: Model = None,
) -> None:
    """Write kept replies to a file, with which others repeat your runs without a key."""
    from harbor._models.replies.reply_folder import export_entries

    folder = _folder()
    found: Iterator[Entry]
    if experiment is None:
        found = (entry for _, entry in folder.files() if entry is not None)
    else:
        found = _used(folder, experiment, _addresses(experiment))
    number = export_entries((entry for entry in found if model in (None, entry.model)), file)
    say(f"{_count(number)} in {file}")


def _addresses(experiment: Path) -> list[str]:
    """Return the addresses of kept replies in the calls of an experiment."""
    from harbor._runs.raw_calls import read_calls

    files = sorted(experiment.rglob(CALLS))
    addresses = sorted({call.address for file in files for call in read_calls(file) if call.address})
    if not addresses:
        raise CacheError(
            f"no call in {str(experiment)!r} has a kept reply: it was run without a cache, or by the built-in model"
        )
    return addresses


def _used(folder: ReplyFolder, experiment: Path, addresses: list[str]) -> Iterator[Entry]:
    gone = 0
    for address in addresses:
        if (entry := folder.read(address)) is not None:
            yield entry
        else:
            gone += 1
    if gone:
        say(f"warning: {_count(gone)} of {len(addresses)} that {experiment} has used are not kept in {folder.path}")


@cache.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `harbor cache export` wrote.")],
    trust: Annotated[
        bool, typer.Option("--trust", help="Believe the file: its replies come from the models that it names.")
    ] = False,
) -> None:
    """Keep the replies of a file, marked as imported; those that are kept already stay as they are."""
    from harbor._models.replies.reply_folder import import_entries

    folder = _folder()
    new, old = import_entries(folder, file, trust)
    say(f"{_count(new)} put into {folder.path} as imported" + (f"; {old} were there already" if old else ""))


def _folder() -> ReplyFolder:
    from harbor._models.replies.reply_folder import ReplyFolder, own_folder

    return ReplyFolder(own_folder())


def _count(number: object) -> str:
    return "1 reply" if number == 1 else f"{number} replies"


def models(as_json: Json = False) -> None:
    """Show the facts learned of each model at its server: the form of its calls, its settings, speed and price."""
    from harbor._models.passports.passport import FOLDER, passports_in
    from harbor._models.replies.reply_folder import own_folder

    folder = own_folder() / FOLDER
    found = [(one, _prices(one)) for one in passports_in(folder)]
    if as_json:
        typer.echo(json.dumps({"folder": str(folder), "models": [asdict(one) | prices for one, prices in found]}))
        return
    from harbor._cli.display.render import Table, render

    if not found:
        typer.echo("Nothing is known of any model yet: it is learned at the first calls of each, and kept.")
        return
    asking = [_asking(one) for one, _ in found]
    running = [_running(one, prices) for one, prices in found]
    where = f"Kept in {folder}; remove a file there, and its model is learned anew."
    render([Table("Models", asking), Table("Speed and price", running), where])


def _prices(passport: Passport) -> dict[str, float | None]:
    """Return today's prices of a model, in dollars per million tokens; None if unknown."""
    from harbor._config.models import PROVIDERS, ModelSettings
    from harbor._models.prices import price_of

    is_provider = passport.server in PROVIDERS
    use = f"{passport.server if is_provider else 'openai'}:{passport.model}"
    url = passport.server if passport.server.startswith("http") else None
    price = price_of(ModelSettings(use=use, base_url=url)) if is_provider or url else None
    return {
        "input_price": price.input_price if price else None,
        "output_price": price.output_price if price else None,
    }


def _asking(one: Passport) -> dict[str, str]:
    return {
        "model": one.model,
        "server": one.server,
        "form": one.form or "unknown",
        "not taken": ", ".join(one.not_taken) or "nothing",
        "thinks in": ", ".join(one.thinks) or "nothing",
        "answers as": ", ".join(one.snapshots),
    }


def _running(one: Passport, prices: dict[str, float | None]) -> dict[str, str]:
    from harbor._core.basics.numbers import cost_in_words

    return {
        "model": one.model,
        "calls": f"{one.calls:,}",
        "tokens per s": f"{one.tokens_per_second:,.0f}" if one.tokens_per_second else "unknown",
        "slowest": f"{one.slowest:,.1f} s",
        "context": f"{one.context_tokens:,}" if one.context_tokens else "unknown",
        "in": cost_in_words(prices["input_price"]),
        "out": cost_in_words(prices["output_price"]),
        "days": f"{one.first} to {one.last}" if one.first != one.last else one.first,
    }
