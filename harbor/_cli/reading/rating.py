"""Commands that rate runs: metrics measure a log anew; people and a judge model rate blinded transcripts."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harbor._cli.shared.shell import Json, group, say
from harbor._cli.shared.trust import measuring
from harbor._core.basics.errors import RatingError
from harbor._core.files.layout import KEY, check_ratings, log_of, logs_in
from harbor._core.plugins.finding import asked

if TYPE_CHECKING:
    from harbor.evaluation._rating.judging import Judged
    from harbor.evaluation._rating.rating_results import CriterionAgreement, CriterionScores, Merged


def score(
    run: Annotated[Path, typer.Argument(help="The folder of a run or of a series, or its events.jsonl.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(help="A metric by name, or module:NAME; give it again for more. Default: all of the game."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure an earlier run anew, from its log alone."""
    log = log_of(run)
    from harbor._cli.display.render import render
    from harbor._cli.display.result_tables import score_tables
    from harbor._core.log.log import read_log
    from harbor.evaluation._metrics.summary import score as measured

    names = list(dict.fromkeys(metric or ()))
    for name in names:
        asked("metric", name)  # refuse an unknown one before reading the log
    reading = read_log(log)
    if reading.warning:
        say(f"warning: {reading.warning}; it is measured as far as it goes")
    with measuring(log, reading.entries):
        found = measured(reading.entries, names)
        if as_json:
            typer.echo(json.dumps(found.as_json()))
        else:
            render(score_tables(found))


rate = group("rate", "Have people or models rate blinded transcripts.")

Runs = Annotated[list[Path], typer.Argument(metavar="DIR|RUN...", help="Folders of experiments or runs.")]
Records = Annotated[int | None, typer.Option(min=1, help="How many bidders' games to draw; default: all.")]
Seed = Annotated[int, typer.Option(min=0, help="The seed of the draw.")]


@rate.command()
def sheets(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="A new folder for sheets, transcripts and key.")],
    records: Records = None,
    raters: Annotated[int, typer.Option(min=1, help="The number of raters.")] = 1,
    each: Annotated[int | None, typer.Option(min=1, help="Raters per record; default: all.")] = None,
    seed: Seed = 0,
) -> None:
    """Make a folder per rater. It contains a sheet to fill, instructions, and shuffled blinded transcripts."""
    for run in runs:
        logs_in(run)  # refuse a folder without logs before more is imported
    from harbor.evaluation._rating.sheets import SHEETS, write_sheets
    from harbor.evaluation._rating.transcript import rateables

    key = write_sheets(out, rateables(runs), records, raters, each, seed)
    typer.echo(f"{len(key.records)} records for {len(key.raters)} raters")
    for rater in key.raters:
        typer.echo(f"  give {rater}: {out / SHEETS / rater}")
    typer.echo(f"  keep for yourself: {out / KEY}, which tells what is what")


@rate.command()
def judge(
    runs: Annotated[
        list[Path], typer.Argument(metavar="FOLDER|DIR|RUN...", help="A folder of ratings, or of experiments or runs.")
    ],
    model: Annotated[str, typer.Option(help="The judge: simulated, or provider:name.")],
    out: Annotated[Path | None, typer.Option(help="A new folder of ratings, where there is none yet.")] = None,
    records: Records = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Have a model rate the records of a folder. It resumes where it was interrupted."""
    from harbor._cli.display.progress import told_each_minute
    from harbor._models.providers import settings_of

    settings_of(model, {})  # refuse a wrong name before making a folder
    folder = _folder(runs, out, records, seed)
    import asyncio

    from harbor.evaluation._rating import judging

    try:
        with told_each_minute():
            judged = asyncio.run(judging.judge(folder, model))
    except KeyboardInterrupt:
        say(f"stopped; resume with: harbor rate judge {folder} --model {model}")
        raise typer.Exit(130) from None
    for id_, complaint in judged.failed.items():
        say(f"warning: no verdict on {id_}: {complaint}")
    if as_json:
        typer.echo(json.dumps(_judged(judged, model == "simulated")))
        return
    cost = "unknown" if judged.cost is None else f"${judged.cost:,.4f}"
    label = " (simulated judge: its scores mean nothing)" if model == "simulated" else ""
    typer.echo(f"{judged.rater} rated {judged.records} records in {len(judged.calls)} calls, cost {cost}{label}")
    typer.echo(f"sheet: {judged.sheet}")


def _folder(runs: list[Path], out: Path | None, records: int | None, seed: int) -> Path:
    """Return the named folder of ratings, or draw records for a new one."""
    if len(runs) == 1 and (runs[0] / KEY).is_file():
        if out is not None or records is not None:
            raise RatingError(f"{str(runs[0])!r} has its records drawn already; drop --out and --records")
        return runs[0]
    if out is None:
        raise RatingError(f"{str(runs[0])!r} is no folder of ratings; name a new one with --out")
    for run in runs:
        logs_in(run)
    from harbor.evaluation._rating.sheets import write_sheets
    from harbor.evaluation._rating.transcript import rateables

    write_sheets(out, rateables(runs), records, raters=0, seed=seed)
    return out


def _judged(judged: Judged, simulated: bool) -> dict[str, Any]:
    return {
        "rater": judged.rater,
        "sheet": str(judged.sheet),
        "records": judged.records,
        "failed": judged.failed,
        "calls": len(judged.calls),
        "input_tokens": sum(call.input_tokens for call in judged.calls),
        "output_tokens": sum(call.output_tokens for call in judged.calls),
        "cost_dollars": judged.cost,
        "simulated": simulated,
    }


@rate.command()
def merge(
    folder: Annotated[Path, typer.Argument(help="A folder of ratings, with its key.")],
    filled: Annotated[
        list[Path] | None, typer.Argument(metavar="[SHEET.csv...]", help="Filled sheets; default: all in the folder.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Merge and unblind filled sheets; print scores and agreement."""
    check_ratings(folder)
    from harbor.evaluation._rating.rating_results import agreements, scores
    from harbor.evaluation._rating.rating_results import merge as merged_of

    merged = merged_of(folder, filled or ())
    if not merged.ratings:
        remedy = f"fill one in, or have a model do it: harbor rate judge {shlex.quote(str(folder))} --model NAME"
        raise RatingError(f"no sheet of {str(folder)!r} has a score; {remedy}")
    for line in _gaps(merged):
        say(f"missing: {line}")
    described, agreed = scores(merged), agreements(merged)
    if as_json:
        typer.echo(json.dumps(_merged(merged, described, agreed)))
    else:
        from harbor._cli.display.rating_tables import rating_tables
        from harbor._cli.display.render import render

        render(rating_tables(merged, described, agreed))


def _gaps(merged: Merged) -> Iterator[str]:
    """Yield the gaps: one line per rater without any score, else one line per record."""
    filled = {rating.rater for rating in merged.ratings}
    idle = dict.fromkeys(gap.rater for gap in merged.missing if gap.rater not in filled)
    yield from (f"{rater} has rated nothing" for rater in idle)
    for gap in merged.missing:
        if gap.rater in filled:
            yield f"{gap.rater} has not rated {gap.record} on {', '.join(gap.criteria)}"


def _merged(merged: Merged, described: list[CriterionScores], agreed: list[CriterionAgreement]) -> dict[str, Any]:
    from harbor.evaluation._rating.sheets import published

    return {
        "ratings": len(merged.ratings),
        "criteria": [asdict(one) for one in described],
        "agreement": [{"criterion": one.criterion, "source": one.source, **asdict(one.agreement)} for one in agreed],
        "published": published().model_dump(),
        "missing": [asdict(gap) for gap in merged.missing],
        "simulated": merged.simulated,
    }
