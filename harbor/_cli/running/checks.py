"""Commands that replay a game to check it: whether its log follows from the rules, and whether secrets leak."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harbor._audit.secrets import SECRETS
from harbor._cli.shared import shell
from harbor._cli.shared.arguments import Changes, Items, Preset
from harbor._cli.shared.files import chosen_config, override
from harbor._cli.shared.shell import Json
from harbor._core.basics.errors import ConfigError
from harbor._core.basics.numbers import counted
from harbor._core.files.layout import DESIGN, RESULTS, log_of, public_auctions
from harbor._core.files.marks import is_in_own, read_as_data

if TYPE_CHECKING:
    from harbor._audit.auditing import Audit, Row
    from harbor._house.compared_log import Verdict

DOES_NOT_FOLLOW = 1
"""Exit code for a log that does not follow."""
NOT_CHECKED = 2
"""Exit code for a log that could not be checked."""
MOST_SHOWN = 12
"""The greatest number of sentences shown on unchecked parts; `--json` has all."""


def verify(
    run: Annotated[
        Path, typer.Argument(metavar="RUN|DIR", help="The folder of a run, a series or an experiment, or events.jsonl.")
    ],
    deep: Annotated[
        bool,
        typer.Option(
            "--deep", help="Play it again too, from settings, seed and recorded answers: every event, every prompt."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check that a log follows from its game's rules, without a model; exit 1 if it does not, 2 if that is unknown."""
    if not (run / DESIGN).is_file() and not public_auctions(run):
        log_of(run)  # refuse a folder without a log before more is imported
    found = list(_verdicts(run))
    if deep and all(verdict.follows for _, verdict in found):
        found = [*_played_again(run), *(one for one in found if one[0] == run and run.is_dir())]
    wrong = [one for one in found if not one[1].follows]
    path, verdict = wrong[0] if wrong else (found[0][0] if len(found) == 1 else run, _together([v for _, v in found]))
    is_unknown = not wrong and verdict.level == "heading"
    if as_json:
        counts = {"path": str(path), "checked": len(found), "differ": len(wrong)}
        typer.echo(json.dumps(asdict(verdict) | counts | ({"follows": None} if is_unknown else {})))
    else:
        _show_verdict(path, verdict, found, len(wrong))
    if wrong:
        raise typer.Exit(DOES_NOT_FOLLOW)
    if is_unknown:
        raise typer.Exit(NOT_CHECKED)


def _verdicts(run: Path) -> Iterator[tuple[Path, Verdict]]:
    """Yield the verdict on each log and, if all follow, on the results and on the copies in a pack."""
    from harbor._runs.verification import logs_checked

    is_experiment, follow = (run / DESIGN).is_file(), True
    if is_experiment:
        from harbor.evaluation._running.verifying import games_checked, results_checked
    for one in games_checked(run) if is_experiment else logs_checked(run):
        yield one.log, one.verdict
        follow = follow and one.verdict.follows
    if follow and is_experiment:
        yield run, results_checked(run)
    if follow and (run / RESULTS).is_file():
        from harbor._packs.contents import copy_checked

        if copied := copy_checked(run):
            yield run, copied


def _played_again(run: Path) -> Iterator[tuple[Path, Verdict]]:
    from harbor._runs.deep_verification import verdicts

    return verdicts(run if run.is_dir() else run.parent)


def _together(verdicts: list[Verdict]) -> Verdict:
    """Return one verdict for several logs that all follow."""
    unchecked = dict.fromkeys(sentence for one in verdicts for sentence in one.unchecked)
    levels = {one.level for one in verdicts}
    least = next((level for level in ("heading", "public") if level in levels), verdicts[0].level)
    return replace(verdicts[0], level=least, unchecked=tuple(unchecked))


def _counted(checked: list[tuple[Path, Verdict]]) -> str:
    """Return how many logs are checked, and whether results are."""
    logs = sum(path.is_file() for path, _ in checked)
    return f"{counted(logs, 'log')}{' and the results' * (logs < len(checked))}"


def _show_verdict(path: Path, verdict: Verdict, checked: list[tuple[Path, Verdict]], differ: int) -> None:
    from harbor._core.basics.actions import printable

    source = "settings, seed and recorded answers" if verdict.level == "deep" else "the rules"
    if not verdict.follows:
        many = f" ({differ} of {_counted(checked)} checked; this is the first)" if len(checked) > 1 else ""
        where = "" if verdict.line is None else f"line {verdict.line}, "
        typer.echo(f"does not follow from {source}{many}: {printable(str(path))}")
        typer.echo(printable(f"{where}{verdict.event}"))
        typer.echo(printable(f"expected: {verdict.expected}"))
        typer.echo(printable(f"found:    {verdict.found}"))
        return
    what = {"public": "public events follow", "heading": "not checked whether it follows"}.get(verdict.level, "follows")
    seen = "checked" if verdict.level != "heading" else "read"
    typer.echo(
        f"{what} from {source}: {printable(str(path))}" + (f" ({_counted(checked)} {seen})" if len(checked) > 1 else "")
    )
    for sentence in verdict.unchecked[:MOST_SHOWN]:
        typer.echo(printable(f"not checked: {sentence}"))
    if len(verdict.unchecked) > MOST_SHOWN:
        typer.echo(f"and {len(verdict.unchecked) - MOST_SHOWN} more; see --json")


Game = Annotated[
    str | None,
    typer.Argument(metavar="[CONFIG.toml|RUN]", help="A TOML file, a preset, or a run.", autocompletion=shell.auctions),
]
Secrets = Annotated[
    list[str] | None, typer.Option("--secret", help=f"Only this kind of secret, of: {', '.join(SECRETS)}.")
]


def audit(
    game: Game = None, preset: Preset = None, items: Items = None, secret: Secrets = None, as_json: Json = False
) -> None:
    """Change each secret of each bidder in turn, and check that every other bidder is told the same as before."""
    from harbor._runs.folder import read_config

    place = Path(game) if game is not None else None
    source = _source(place, preset)
    sent = place is not None and (place.is_dir() or place.suffix == ".json") and not is_in_own(place)
    with read_as_data(place) if place is not None and sent else nullcontext():  # settings from others load no code
        config = read_config(place) if place is not None and place.is_dir() else chosen_config(game, preset)
        from harbor._audit.auditing import audited

        found = audited(override(config, Changes(items=items)), secret or (), trusted=not sent)
    if not found.compared:
        raise ConfigError(f"{source}: there is nothing to compare, {_why_nothing(found)}; audit other secrets")
    if as_json:
        typer.echo(json.dumps(found.as_json() | {"source": source}))
    else:
        _show_audit(found, source)
    raise typer.Exit(1 if found.leaks else 0)


def _source(place: Path | None, preset: str | None) -> str:
    """Return the audited source in words: a folder and a preset may have the same name."""
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


def _show_audit(found: Audit, source: str) -> None:
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
    """Return lines on secrets that nobody has in this game, and on those that some bidders lack."""
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
