"""The command that audits the secrecy of a game."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harbor._audit.secrets import SECRETS
from harbor._cli import completing
from harbor._cli.auctions import Items, Preset
from harbor._cli.configs import chosen_config, override
from harbor._cli.output import Json
from harbor._core.errors import ConfigError
from harbor._core.marks import is_in_own, read_as_data

if TYPE_CHECKING:
    from harbor._audit.auditing import Audit, Row

Game = Annotated[
    str | None,
    typer.Argument(
        metavar="[CONFIG.toml|RUN]", help="A TOML file, a preset, or a run.", autocompletion=completing.auctions
    ),
]
Secrets = Annotated[
    list[str] | None, typer.Option("--secret", help=f"Only this kind of secret, of: {', '.join(SECRETS)}.")
]


def audit(
    game: Game = None, preset: Preset = None, items: Items = None, secret: Secrets = None, as_json: Json = False
) -> None:
    """Change each secret of each bidder in turn, and see that no other is told anything else."""
    from harbor._runs.folder import read_config

    place = Path(game) if game is not None else None
    source = _source(place, preset)
    sent = place is not None and (place.is_dir() or place.suffix == ".json") and not is_in_own(place)
    with read_as_data(place) if place is not None and sent else nullcontext():  # what was sent names no code
        config = read_config(place) if place is not None and place.is_dir() else chosen_config(game, preset)
        from harbor._audit.auditing import audited

        found = audited(override(config, None, None, items), secret or (), trusted=not sent)
    if not found.compared:
        raise ConfigError(f"{source}: there is nothing to compare, {_why_nothing(found)}; audit other secrets")
    if as_json:
        typer.echo(json.dumps(found.as_json() | {"source": source}))
    else:
        _show(found, source)
    raise typer.Exit(1 if found.leaks else 0)


def _source(place: Path | None, preset: str | None) -> str:
    """Say what is audited, as a folder and a preset may have the same name."""
    if place is not None and place.is_dir():
        return f"the run in {str(place)!r}"
    if place is not None and place.suffix in (".toml", ".json"):
        return f"the settings in {str(place)!r}"
    return f"the preset {str(place or preset or 'demo')!r}"


def _why_nothing(found: Audit) -> str:
    kinds = ", ".join(dict.fromkeys(row.secret for row in found.rows))
    if any(row.seat for row in found.rows):
        return f"as the first public event tells of {kinds}"
    return f"as no bidder has {kinds} in this game"


def _show(found: Audit, source: str) -> None:
    from harbor._cli.display.render import Table, render

    pairs = list(dict.fromkeys((row.secret, row.whose) for row in found.rows if row.seat))
    held = {pair: [row for row in found.rows if (row.secret, row.whose) == pair] for pair in pairs}
    rows = [_line(secret, whose, rows) for (secret, whose), rows in held.items()]
    legend = [f"{secret}: {SECRETS[secret]}" for secret in dict.fromkeys(secret for secret, _ in pairs)]
    details = [
        f"leak of {row.secret} of {row.whose} to {row.seat}, by {row.channel}:\n  before: {row.before}\n"
        f"  now:    {row.now}"
        for row in found.leaks
    ]
    lines = [*_absent(found), *found.notes, *details, _verdict(found)]
    render([Table(f"Secrets of {source}", rows), *legend, *lines])


def _absent(found: Audit) -> list[str]:
    """Say which secrets nobody has in this game, and which some do not have."""
    there = {row.secret for row in found.rows if row.seat}
    absent: dict[str, list[str]] = {}
    for row in found.rows:
        if not row.seat:
            absent.setdefault(row.secret, []).append(row.whose)
    nobody = ", ".join(secret for secret in absent if secret not in there)
    some = [f"without {one}: {', '.join(whose)}" for one, whose in absent.items() if one in there]
    return [*([f"nobody has, in this game: {nobody}"] if nobody else []), *some]


def _verdict(found: Audit) -> str:
    crossed, checked = len({(row.secret, row.whose, row.seat) for row in found.leaks}), len(found.compared)
    verdict = f"{crossed} of {checked} cross" if crossed else f"nothing crosses: {_equal(found)} of {checked} are equal"
    left = sum(1 for row in found.rows if row.status == "not compared")
    return f"{verdict}; {left} more were not compared" if left else verdict


def _equal(found: Audit) -> int:
    return sum(1 for row in found.compared if row.status == "equal")


def _line(secret: str, whose: str, rows: list[Row]) -> dict[str, object]:
    by = {status: [row.seat for row in rows if row.status == status] for status in ("equal", "disclosed", "leak")}
    first = rows[0]
    until = f", until {first.until}" if first.until else ""
    everyone = len(by["equal"]) == len(rows) and len(rows) > 1
    return {
        "secret": secret,
        "whose": whose,
        "equal for": f"all {len(rows)} others" if everyone else ", ".join(by["equal"]),
        "disclosed by the settings": ", ".join(by["disclosed"]),
        "LEAKS TO": ", ".join(by["leak"]),
        "public events compared": f"{first.compared} of {first.events}{until}",
    }
