"""Commands that hold an auction, play in it, resume it, or tell it again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harbor.commands.conduct import conduct
from harbor.commands.configs import chosen_config, override, seat_person
from harbor.commands.output import Json, Quiet, say, show

Config = Annotated[str | None, typer.Argument(metavar="[CONFIG.toml]", help="A TOML file, or a preset.")]
Preset = Annotated[str | None, typer.Option(help="A preset by name, such as water; default: demo.")]
Seed = Annotated[int | None, typer.Option(help="Replace the seed.")]
Model = Annotated[str | None, typer.Option(help="Replace the model of every bidder that has one.")]
Items = Annotated[int | None, typer.Option(help="Replace the number of items.")]
Out = Annotated[Path | None, typer.Option(help="A new folder for the run; default: runs/<utc>-<name>-<id>.")]


def auction(
    config: Config = None,
    preset: Preset = None,
    seed: Seed = None,
    model: Model = None,
    items: Items = None,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Hold an auction; print the standings and where the log is."""
    from harbor.folder import run_name

    chosen = override(chosen_config(config, preset), seed, model, items)
    folder = out or Path("runs") / run_name(chosen.name)
    conduct(lambda listen, _: chosen.arun(out=folder, listen=listen), folder, as_json, quiet)


def play(
    config: Config = None,
    preset: Preset = None,
    name: Annotated[
        str | None, typer.Option("--as", help="Whom you play; default: the config's person, else its first bidder.")
    ] = None,
    seed: Seed = None,
    model: Model = None,
    items: Items = None,
    out: Out = None,
) -> None:
    """Bid in an auction yourself; Ctrl-C pauses it."""
    from harbor.folder import run_name

    chosen, player = seat_person(chosen_config(config, preset), name)
    chosen = override(chosen, seed, model, items)
    folder = out or Path("runs") / run_name(chosen.name)
    conduct(lambda listen, people: chosen.arun(out=folder, listen=listen, people=people), folder, player=player)


def resume(
    run: Annotated[Path, typer.Argument(help="The folder of an interrupted run.")],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Continue an interrupted run; no model call that is recorded is paid again."""
    from harbor.folder import complete, read_config
    from harbor.resuming import aresume

    if (done := complete(run)) is not None:
        from harbor.evaluation.metrics.summary import summarise

        say(f"run {str(run)!r} is complete; there is nothing to resume")
        show(summarise(done.entries), as_json, with_items=not quiet)
        return
    player = next((bidder for bidder in read_config(run).bidders if bidder.person), None)
    conduct(lambda listen, people: aresume(run, listen=listen, people=people), run, as_json, quiet, player)


def replay(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or its events.jsonl.")], as_json: Json = False
) -> None:
    """Rebuild the results of a run from its log alone, without a model."""
    from harbor.evaluation.metrics.summary import summarise
    from harbor.folder import EVENTS
    from harbor.log import read_log

    reading = read_log(run / EVENTS if run.is_dir() else run)
    if reading.warning:
        say(f"warning: {reading.warning}")
    show(summarise(reading.entries), as_json)
