"""The command that says what an experiment will cost, before a model is paid."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harbor._cli.choosing import Arms, Models, Named, Repeats, Set
from harbor._cli.model_settings import in_experiment
from harbor._cli.output import Json, say

if TYPE_CHECKING:
    from harbor.evaluation._experiments.dry_run import ArmUsage, DryRun, ModelUse, Usage
    from harbor.evaluation._experiments.trials import Trial


def estimate(
    name: Named,
    model: Models = None,
    repeats: Repeats = None,
    arm: Arms = None,
    set_: Set = None,
    games: Annotated[int, typer.Option(min=1, help="How many games per arm and condition to play.")] = 1,
    as_json: Json = False,
) -> None:
    """Estimate the calls, tokens and dollars of an experiment. A few games are played with the built-in model."""
    from harbor.evaluation._experiments.library import experiment

    design = experiment(name)  # before the frameworks are imported
    import asyncio

    from harbor._cli.display.estimate_tables import estimate_tables
    from harbor._cli.display.render import render
    from harbor.evaluation._experiments.choices import chosen
    from harbor.evaluation._experiments.dry_run import dry_run

    design = in_experiment(chosen(design, model or (), arm or (), repeats), set_ or ())
    found = asyncio.run(dry_run(design, games, _shown_at_work))
    for unpriced in (use for use in found.usage.models if use.cost is None):
        say(
            f"warning: no price of model {unpriced.model!r} is known, so no cost; "
            "give its settings in [models] an input_price and an output_price, in dollars per million tokens"
        )
    if as_json:
        typer.echo(json.dumps(_as_json(found)))
    else:
        render(estimate_tables(found))


def _shown_at_work(games: Sequence[Trial]) -> Iterable[Trial]:
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    unseen = not sys.stderr.isatty()
    return track(games, "playing", console=console, transient=True, disable=unseen)


def _as_json(found: DryRun) -> dict[str, Any]:
    from harbor._models.prices import price_table

    models = [
        {"model": use.model, **_amounts(use), "input_price": use.input_price, "output_price": use.output_price}
        for use in found.usage.models
    ]
    arms = [
        {"arm": arm.arm, "games": arm.games, **_amounts(arm.usage), "chain": arm.usage.chain} | _spread(arm)
        for arm in found.arms
    ]
    whole = {"experiment": found.experiment, "games": found.games, "played": found.played, **_amounts(found.usage)}
    rest = {"chain": found.usage.chain, "models": models, "arms": arms, "prices": asdict(price_table())}
    return whole | rest | {"simulated": True}


def _amounts(used: Usage | ModelUse) -> dict[str, int | float | None]:
    """Give what is used as whole calls and tokens, and dollars to a millionth."""
    return {
        "calls": round(used.calls),
        "input_tokens": round(used.input_tokens),
        "output_tokens": round(used.output_tokens),
        "cost_dollars": None if used.cost is None else round(used.cost, 6),
    }


def _spread(arm: ArmUsage) -> dict[str, dict[str, int | float | None]]:
    """Give the leanest and the largest of the games that were played."""
    ranked = sorted(arm.played, key=lambda usage: usage.input_tokens + usage.output_tokens)
    return {"least": _amounts(ranked[0]), "most": _amounts(ranked[-1])}
