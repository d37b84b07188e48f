"""The command that says what an experiment will cost, before a model is paid."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harbor._cli.choosing import Arms, Models, Named, Repeats
from harbor._cli.output import Json, say

if TYPE_CHECKING:
    from rich.console import Console

    from harbor.evaluation._experiments.dry_run import ArmUsage, DryRun, ModelUse, Usage
    from harbor.evaluation._experiments.trials import Trial


def estimate(
    name: Named,
    model: Models = None,
    repeats: Repeats = None,
    arm: Arms = None,
    games: Annotated[int, typer.Option(min=1, help="How many games of each to play on the built-in model.")] = 1,
    as_json: Json = False,
) -> None:
    """Say what an experiment takes in calls, tokens and dollars, by playing a few games on the built-in model."""
    from harbor.evaluation._experiments.library import experiment

    design = experiment(name)  # before the frameworks are imported
    import asyncio

    from harbor._display.screen import Screen
    from harbor.evaluation._experiments.choices import chosen
    from harbor.evaluation._experiments.dry_run import dry_run

    design = chosen(design, model or (), arm or (), repeats)
    found = asyncio.run(dry_run(design, games, _shown_at_work))
    for unpriced in (use for use in found.usage.models if use.cost is None):
        say(
            f"warning: no price of model {unpriced.model!r} is known, so no cost; "
            "give its settings in [models] an input_price and an output_price, in dollars per million tokens"
        )
    if as_json:
        typer.echo(json.dumps(_as_json(found)))
    else:
        _print(Screen(highlight=False), found)


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


def _print(console: Console, found: DryRun) -> None:
    from rich.table import Table

    from harbor._display.screen import cell

    amounts = ("calls", "tokens in", "tokens out", "dollars")
    arms = Table("arm", "games", *amounts, "a game", "chain", title=f"Estimate of {found.experiment}")
    for arm in found.arms:
        arms.add_row(cell(arm.arm), f"{arm.games:,}", *_row(arm.usage), _range(arm), f"{arm.usage.chain:,.0f}")
    arms.add_row("in all", f"{found.games:,}", *_row(found.usage), "", f"{found.usage.chain:,.0f}")
    models = Table("model", *amounts, "a million in", "a million out")
    for use in found.usage.models:
        models.add_row(cell(use.model), *_row(use), _dollars(use.input_price), _dollars(use.output_price))
    console.print(arms, models, *_remarks(found), sep="\n")


def _remarks(found: DryRun) -> list[str]:
    from harbor._models.prices import price_table

    table = price_table()
    return [
        f"{found.played} of {found.games} games were played, on the built-in model (simulated bidders), and stand for"
        " the others of their arm and condition. A game waits for its chain of calls, one after another.",
        "Tokens are counted as the built-in model has them, four characters each: another model counts its own, may"
        " think at length, and may go on for more or fewer rounds.",
        f"Prices are those of {table.package} {table.version}, whose newest change is of {table.date}.",
    ]


def _row(used: Usage | ModelUse) -> tuple[str, ...]:
    read, written = (f"{tokens / 1000:,.0f}k" for tokens in (used.input_tokens, used.output_tokens))
    return (f"{used.calls:,.0f}", read, written, _dollars(used.cost))


def _range(arm: ArmUsage) -> str:
    """Say what a game costs that was played, from the least to the most."""
    costs = [usage.cost for usage in arm.played if usage.cost is not None]
    ends = dict.fromkeys(_dollars(end) for end in (min(costs), max(costs))) if costs else ["unknown"]
    return " to ".join(ends)


def _dollars(amount: float | None) -> str:
    """Write dollars, small ones to a hundredth of a cent."""
    return "unknown" if amount is None else f"${amount:,.2f}" if amount >= 0.1 or not amount else f"${amount:,.4f}"
