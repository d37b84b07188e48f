"""Commands on a memory: show, search, export, import and forget memories of bidders."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from harbor._cli.shared.shell import Json, group, say, spread
from harbor._cli.shared.trust import Trust, settle_trust_in_memory
from harbor._core.basics.errors import ConfigError, MemoryStoreError, unknown

if TYPE_CHECKING:
    from harbor.memory._store.chroma import ChromaStore
    from harbor.memory._store.records import Record

KINDS = ("learning", "episode", "dossier")
"""Kinds of memories, the last part of a namespace."""
memory = group("memory", "Show, search, export, import or forget memories.")

Store = Annotated[str, typer.Argument(help="A memory's folder, a run's, or http://host:port.")]
Trusted = Annotated[
    str | None,
    typer.Option("--embedding", help="The embedding model, if the memory has one; name it only if you trust it."),
]


@dataclass(frozen=True)
class Wanted:
    """Filter for the memories of a command; None: no filter."""

    bidder: Annotated[str | None, typer.Option(help="Only the memories of this bidder.")] = None
    kind: Annotated[str | None, typer.Option(help="Only this kind: learning, episode or dossier.")] = None
    scope: Annotated[
        str | None, typer.Option(help="Only this scope: carried-over, or that of one auction, as shown.")
    ] = None

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in KINDS:
            raise ConfigError(unknown("kind of memory", self.kind, KINDS))

    def takes(self, record: Record) -> bool:
        """Return whether the filter accepts a memory, by its namespace: scope, bidder, kind."""
        from harbor.memory._bidder.bidder_memory import label

        wanted = (self.scope, None if self.bidder is None else label(self.bidder), self.kind)
        if not any(wanted):
            return True
        return len(record.namespace) == len(wanted) and all(
            one in (None, part) for one, part in zip(wanted, record.namespace, strict=True)
        )

    def __str__(self) -> str:
        told = {"bidder": self.bidder, "kind": self.kind, "scope": self.scope}
        return ", ".join(f"{name} {value!r}" for name, value in told.items() if value is not None)


@memory.command()
@spread
def show(
    store: Store, wanted: Wanted = Wanted(), embedding: Trusted = None, trust: Trust = False, as_json: Json = False
) -> None:
    """Show memories by bidder and kind, the oldest first."""
    with _opened(store, embedding, trust) as opened:
        _print([(record, None) for record in _chosen(opened, wanted)], as_json)


@memory.command()
@spread
def search(
    store: Store,
    query: Annotated[str, typer.Argument(help="Words to search for.")],
    k: Annotated[int, typer.Option("-k", min=1, max=10_000, help="How many memories.")] = 5,
    wanted: Wanted = Wanted(),
    embedding: Trusted = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Search memories by meaning, the nearest first."""
    with _opened(store, embedding, trust) as opened:
        from langgraph.store.base import SearchOp

        records = {(record.namespace, record.key): record for record in _chosen(opened, wanted)}
        asked = [SearchOp(namespace, query=query, limit=k) for namespace in dict.fromkeys(one for one, _ in records)]
        answers: Any = opened.batch(asked)
        every = zip(asked, answers, strict=True)
        found = [item for op, items in every for item in items if item.namespace == op.namespace_prefix]
    found.sort(key=lambda item: -(item.score or 0.0))
    _print([(records[item.namespace, item.key], item.score) for item in found[:k]], as_json)


@memory.command()
@spread
def export(
    store: Store,
    out: Annotated[Path | None, typer.Option(help="A new file; default: print.")] = None,
    wanted: Wanted = Wanted(),
    embedding: Trusted = None,
    trust: Trust = False,
) -> None:
    """Write memories as JSONL, for import."""
    with _opened(store, embedding, trust) as opened:
        from harbor.memory._store.chroma import to_line

        lines = [to_line(record) + "\n" for record in _chosen(opened, wanted)]
    if out is None:
        sys.stdout.writelines(lines)
        return
    try:
        from harbor._core.files.safe_files import open_private

        with open_private(out, "xb") as file:
            file.writelines(line.encode() for line in lines)
    except FileExistsError as error:
        raise MemoryStoreError(f"{str(out)!r} exists; name a new file or remove it") from error
    except OSError as error:
        raise MemoryStoreError(f"{str(out)!r} can't be written ({error.strerror}); name another file") from error
    say(f"{_count(len(lines))} in {out}")


@memory.command("import")
def import_(
    store: Store,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file that export wrote; - for standard input.")],
    embedding: Annotated[str | None, typer.Option(help="Of a new memory (default: hashing), or as for show.")] = None,
    trust: Trust = False,
) -> None:
    """Put exported memories into a store. Those with the same keys are replaced."""
    with _text(file) as lines:
        from harbor.memory._store.chroma import read_lines

        records = list(read_lines(lines, "standard input" if file == "-" else repr(file)))
    with _opened(store, embedding, trust, made=True) as opened:
        opened.restore(records)
    say(f"{_count(len(records))} put into {store}")


@memory.command()
@spread
def forget(
    store: Store,
    wanted: Wanted = Wanted(),
    embedding: Trusted = None,
    trust: Trust = False,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
) -> None:
    """Delete memories, by bidder, kind or scope."""
    if not str(wanted):
        raise ConfigError("no memories are named; give --bidder, --kind or --scope")
    with _opened(store, embedding, trust) as opened:
        from langgraph.store.base import PutOp

        records = _chosen(opened, wanted)
        if records and not yes:
            _confirm(f"Forget {_count(len(records))} of {wanted}?")
        opened.batch([PutOp(record.namespace, record.key, None) for record in records])
    say(f"{_count(len(records))} forgotten")


def _confirm(question: str) -> None:
    print(f"{question} [y/N]: ", end="", file=sys.stderr, flush=True)  # noqa: T201 - click would ask on standard output
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        print(file=sys.stderr)  # noqa: T201 - the input has ended
    if answer.strip().lower() not in ("y", "yes"):
        raise ConfigError("nothing was forgotten; give --yes to forget without being asked")


@contextmanager
def _opened(store: str, embedding: str | None, trust: bool, made: bool = False) -> Iterator[ChromaStore]:
    """Open an existing memory; if there is none, make it if `made`."""
    from harbor.memory._store.place import check_present, inside, is_there

    if not made:
        check_present(inside(store))  # before Chroma is imported
    if is_there(inside(store)):
        settle_trust_in_memory(Path(inside(store)), trust)
    from harbor.memory._store.chroma import ChromaStore, exists, open_existing

    new = made and not exists(store, embedding)
    with (
        ChromaStore(inside(store), embedding=embedding or "hashing") if new else open_existing(store, embedding, trust)
    ) as opened:
        yield opened


def _chosen(store: ChromaStore, wanted: Wanted) -> list[Record]:
    return sorted(
        filter(wanted.takes, store.records()), key=lambda record: (record.namespace, record.created, record.key)
    )


@contextmanager
def _text(file: str) -> Iterator[IO[str]]:
    if file == "-":
        yield sys.stdin
        return
    try:
        with Path(file).open(encoding="utf-8") as opened:
            yield opened
    except OSError as error:
        raise MemoryStoreError(f"{file!r} can't be read ({error.strerror}); give what export wrote") from error


def _print(found: list[tuple[Record, float | None]], as_json: bool) -> None:
    from harbor.memory._store.chroma import to_line

    if as_json:
        rows = [{**json.loads(to_line(record)), "score": score} for record, score in found]
        typer.echo(json.dumps({"memories": rows}))
        return
    from harbor._cli.display.render import render
    from harbor._cli.display.result_tables import memory_tables

    render(memory_tables(found))


def _count(number: int) -> str:
    return "1 memory" if number == 1 else f"{number} memories"
