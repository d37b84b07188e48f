"""The command that begins a game, a metric or an experiment: a folder that passes its conformance suite."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from typing import Annotated

import typer

from harbor._core.errors import ConfigError, RunFolderError
from harbor._core.extensions import NAME

What = StrEnum("What", ["game", "metric", "experiment", "prompts"])
PACKAGED = ("__init__.py", "game.py", "metric.py", "system.md", "bid.md")
"""Files that stand in the package itself, and not beside it."""


def new(
    what: Annotated[What, typer.Argument(help="What to begin.")],
    name: Annotated[str, typer.Argument(help="Its name, in lower case, such as 'lowest-unique'.")],
    game: Annotated[str, typer.Option(help="Of prompts: the game that they are for.")] = "english",
    protocol: Annotated[str, typer.Option(help="Of prompts: the protocol that they are a copy of.")] = "native",
) -> None:
    """Write a folder to begin from; `pytest` in it runs the conformance suite (of prompts: there is none)."""
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
    """Give the prompts of every thought that a game knows.

    Raises:
        ConfigError: the game or the protocol is unknown, or does not know the other.
    """
    from harbor._config.auction import Bidder
    from harbor._core.finding import asked
    from harbor.graphs._context.wording import check_wording, copied
    from harbor.graphs._wiring.mind import usual_nodes

    played = asked("game", game)
    mind = Bidder("you", protocol=protocol)
    check_wording(mind, played, ())
    return copied(mind, played, usual_nodes(played))


def _check(what: What, name: str, module: str) -> None:
    """Refuse a name that can't be used, or is used.

    Raises:
        ConfigError: it is no name, or Python or an installed package has it.
        RunFolderError: there is such a folder.
    """
    from harbor._core.finding import names

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
    """Put a name in place of another, in each of the ways in which programs spell it."""
    for theirs, ours in zip(_spellings(old), _spellings(new), strict=True):
        text = text.replace(theirs, ours)
    return text


def _spellings(name: str) -> tuple[str, str, str, str, str]:
    """Spell a name as it is, as that of a module, of a constant and of a class, and as words."""
    module = name.replace("-", "_")
    words = module.split("_")
    return name, module, module.upper(), "".join(map(str.capitalize, words)), " ".join(words).capitalize()
