"""Commands that turn a run or an experiment into one file or into logs of other tools, and unpack such a file."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from harbor._cli.shared.shell import say
from harbor._cli.shared.trust import warn_of
from harbor._core.plugins.finding import command

_A = {"run": "a run", "series": "a series", "experiment": "an experiment"}
"""Kinds of packs, in words."""


def pack(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run, a series or an experiment.")],
    public: Annotated[
        bool, typer.Option("--public", help="Leave out everything private, and add tables and a dataset card.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="A new file; default: beside DIR, as DIR.harbor.zip.")] = None,
    license_: Annotated[
        str, typer.Option("--license", help="The license of a public pack, as hubs name it, such as cc-by-4.0.")
    ] = "unknown",
    author: Annotated[
        list[str] | None, typer.Option("--author", help="An author to cite for a public pack; repeatable, in order.")
    ] = None,
    title: Annotated[str, typer.Option(help="The title of a public pack; default: that of the experiment.")] = "",
    embedding: Annotated[
        str | None, typer.Option(help="The embedding of its memories, if that is a model: one that you trust.")
    ] = None,
) -> None:
    """Pack a run, a series or an experiment into one file."""
    from harbor._packs.packing import pack as packed

    file = packed(folder, out, public=public, license_=license_, authors=author or (), title=title, embedding=embedding)
    if public:
        warn_of(folder)
    size = f"{file.stat().st_size:,} bytes"
    if public:
        say(f"{size} for everyone; read its README.md, which lists the parts that are left out, before you publish it")
        if not author:
            say("its CITATION.cff names no authors; to be cited, pack it again with --author 'YOUR NAME'")
    else:
        say(f"{size} with everything private (prompts, budgets, thoughts); to publish it: harbor pack --public")
    typer.echo(file)


def unpack(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `harbor pack` wrote.")],
    out: Annotated[Path | None, typer.Option(help="A new folder; default: named as FILE, here.")] = None,
) -> None:
    """Unpack a file of `harbor pack` into a new folder."""
    from harbor._packs.contents import PACK, read_contents
    from harbor._packs.unpacking import unpack as unpacked

    folder = unpacked(file, out)
    contents = read_contents((folder / PACK).read_bytes(), str(file))
    here = shlex.quote(str(folder))
    if contents.published:
        say(f"the public copy of {_A[contents.kind]}; check it with: {command()} verify {here}")
    else:
        say(f"{_A[contents.kind]} with everything private; check it with: {command()} verify {here}")
    typer.echo(folder)


Format = StrEnum("Format", ["eval"])


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run, a series or an experiment.")],
    format_: Annotated[  # noqa: ARG001 - there is one so far
        Format, typer.Option("--format", help="eval: logs of Inspect (the extra inspect), for its viewer and scanners.")
    ] = Format.eval,
    out: Annotated[
        Path | None, typer.Option(help="A new file, or a new folder for an experiment; default: beside DIR.")
    ] = None,
) -> None:
    """Write a run, a series or an experiment as logs of another tool."""
    from harbor._packs.inspect_files import write_eval

    written = write_eval(folder, out)
    warn_of(folder)
    say("it has what the folder has, so prompts, replies and budgets too; only you can read it, so publish none of it")
    say(f"look at it with: inspect view --log-dir {shlex.quote(str(written[0].parent))}")
    for file in written:
        typer.echo(file)
