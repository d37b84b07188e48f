"""The command that begins an extension or an experiment: a folder that passes its suite."""

from __future__ import annotations

from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from harbor._core.errors import ConfigError, RunFolderError
from harbor._core.extensions import NAME

What = StrEnum("What", ["game", "metric", "experiment"])
IN_THE_PACKAGE = ("__init__.py", "game.py", "metric.py", "system.md", "bid.md")
"""Files of the package itself; the others stand beside it. An experiment has no package."""


def new(
    what: Annotated[What, typer.Argument(help="What to begin.")],
    name: Annotated[str, typer.Argument(help="Its name, in lower case, such as 'lowest-unique'.")],
) -> None:
    """Write a folder to begin from; `pytest` in it runs its conformance suite."""
    if not NAME.fullmatch(name) or name[0].isdigit():
        raise ConfigError(f"name {name!r}: write words in lower case joined by hyphens, such as 'lowest-unique'")
    folder = Path(name)
    if folder.exists():
        raise RunFolderError(f"folder {name!r} exists; choose another name, or remove it")
    module = name.replace("-", "_")
    for template in sorted(files("harbor._cli").joinpath("templates", what.value).iterdir(), key=lambda one: one.name):
        file = template.name.removesuffix(".in")
        path = folder / module / file if file in IN_THE_PACKAGE else folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_named(template.read_text(encoding="utf-8"), f"my-{what.value}", name), encoding="utf-8")
        typer.echo(path)


def _named(text: str, old: str, new: str) -> str:
    """Put a name in place of another, in each of the ways in which programs spell it."""
    for spell in (str, _snake, _upper, _pascal, _words):
        text = text.replace(spell(old), spell(new))
    return text


def _snake(name: str) -> str:
    return name.replace("-", "_")


def _upper(name: str) -> str:
    return _snake(name).upper()


def _pascal(name: str) -> str:
    return "".join(word.capitalize() for word in _snake(name).split("_"))


def _words(name: str) -> str:
    return _snake(name).replace("_", " ").capitalize()
