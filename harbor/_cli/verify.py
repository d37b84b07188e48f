"""The command that says whether a run, a series or an experiment follows from the rules of its game."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harbor._cli.output import Json
from harbor._core.counting import counted
from harbor._core.layout import DESIGN, RESULTS, log_of, public_auctions

if TYPE_CHECKING:
    from harbor._house.verdict import Verdict

DOES_NOT_FOLLOW = 1
NOT_CHECKED = 2
MOST_SHOWN = 12
"""Sentences of what is not checked, in words; `--json` has all."""


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
        log_of(run)  # what has no log is refused before more is imported
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
        _show(path, verdict, found, len(wrong))
    if wrong:
        raise typer.Exit(DOES_NOT_FOLLOW)
    if is_unknown:
        raise typer.Exit(NOT_CHECKED)


def _verdicts(run: Path) -> Iterator[tuple[Path, Verdict]]:
    """Give the verdict on each log and, if all follow, on the results and on what came with them in a pack."""
    from harbor._runs.following import logs_checked

    is_experiment, follow = (run / DESIGN).is_file(), True
    if is_experiment:
        from harbor.evaluation._running.verifying import games_checked, results_checked
    for one in games_checked(run) if is_experiment else logs_checked(run):
        yield one.log, one.verdict
        follow = follow and one.verdict.follows
    if follow and is_experiment:
        yield run, results_checked(run)
    if follow and (run / RESULTS).is_file():
        from harbor._packs.copies import copy_checked

        if copied := copy_checked(run):
            yield run, copied


def _played_again(run: Path) -> Iterator[tuple[Path, Verdict]]:
    from harbor._runs.playing_again import verdicts

    return verdicts(run if run.is_dir() else run.parent)


def _together(verdicts: list[Verdict]) -> Verdict:
    """Join verdicts that all say that a log follows."""
    unchecked = dict.fromkeys(sentence for one in verdicts for sentence in one.unchecked)
    levels = {one.level for one in verdicts}
    least = next((level for level in ("heading", "public") if level in levels), verdicts[0].level)
    return replace(verdicts[0], level=least, unchecked=tuple(unchecked))


def _counted(checked: list[tuple[Path, Verdict]]) -> str:
    """Say how many logs are checked, and whether results are."""
    logs = sum(path.is_file() for path, _ in checked)
    return f"{counted(logs, 'log')}{' and the results' * (logs < len(checked))}"


def _show(path: Path, verdict: Verdict, checked: list[tuple[Path, Verdict]], differ: int) -> None:
    from harbor._core.parsing import printable

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
